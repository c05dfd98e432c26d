//! `SECURITY.md` names the tests that hold its promises. A name that is none promises nothing.

use std::path::Path;

/// Where the tests are, from the name of one: the file, and the function if one is named.
fn place(name: &str) -> (String, Option<&str>) {
    let parts: Vec<&str> = name.split("::").collect();
    let suite = format!("tests/suite/{}.rs", parts[0]);
    let module = format!("server/src/{}", parts.join("/"));
    match parts[..] {
        [ref module @ .., "tests", test] => (format!("server/src/{}.rs", module.join("/")), Some(test)),
        [folder @ ("attacks" | "faults"), file] => (format!("tests/{folder}/{file}.rs"), None),
        [folder @ ("attacks" | "faults"), file, test] => (format!("tests/{folder}/{file}.rs"), Some(test)),
        // Unit tests of a module.
        _ if root().join(&module).with_extension("rs").is_file() => (module, None),
        [_, test] if root().join(&suite).is_file() => (suite, Some(test)),
        _ => (module, None),
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

#[test]
fn every_test_that_is_named_is_there() {
    let text = std::fs::read_to_string(root().join("SECURITY.md")).expect("it is there");
    let is_name = |word: &&str| {
        let letters =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_:".contains(letter);
        word.contains("::") && word.chars().all(letters)
    };
    let names: Vec<&str> = text.split('`').filter(is_name).collect();
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        let (file, test) = place(name);
        let file = root().join(file);
        assert!(
            file.exists() || file.with_extension("rs").exists(),
            "{name}: there is no {}",
            file.display()
        );
        if let Some(test) = test {
            let source = std::fs::read_to_string(&file).expect("a file of tests");
            assert!(source.contains(&format!("fn {test}(")), "{name} is in no file");
        }
    }
}
