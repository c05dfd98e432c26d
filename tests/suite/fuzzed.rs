//! The properties that are fuzzed, without libFuzzer: over the corpus that is kept, over changes of it, and over random
//! bytes.

use airlock_fuzzed::{ALL, Property};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// All of it together; the repository is no place for what a fuzzer finds in a night.
const CORPUS_MAX_BYTES: usize = 400 << 10;

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = place().join("corpus").join(name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort_unstable();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn every_input_of_the_corpus_holds() {
    for (name, property) in ALL {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for (path, bytes) in inputs {
            assert!(catch_unwind(|| property(&bytes)).is_ok(), "{} does not hold", path.display());
        }
    }
}

#[test]
fn the_corpus_stays_small() {
    let bytes: usize = ALL.iter().flat_map(|(name, _)| corpus(name)).map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes <= CORPUS_MAX_BYTES, "the corpus has {bytes} bytes: keep the inputs that matter");
}

/// A target does nothing but call its property, so what holds here holds there.
#[test]
fn every_property_has_a_target_that_does_nothing_else() {
    let manifest = std::fs::read_to_string(place().join("Cargo.toml")).unwrap();
    let targets = std::fs::read_dir(place().join("fuzz_targets")).unwrap();
    let targets: BTreeSet<_> = targets.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(targets, ALL.iter().map(|(name, _)| format!("{name}.rs")).collect());
    for (name, _) in ALL {
        let target = std::fs::read_to_string(place().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        let call = format!("libfuzzer_sys::fuzz_target!(|bytes: &[u8]| airlock_fuzzed::{name}(bytes));");
        assert_eq!(target, format!("#![no_main]\n\n{call}\n"));
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n")));
    }
}

/// One byte more, one byte less, another byte, or a piece twice.
#[derive(Clone, Debug)]
enum Edit {
    Insert(u8),
    Remove,
    Replace(u8),
    Repeat(u8),
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, Edit)>> {
    let byte = || prop_oneof![any::<u8>(), prop::sample::select(b"\n\r\0\xff {}[]\":/.$@'\\=".to_vec())];
    let edit = prop_oneof![
        byte().prop_map(Edit::Insert),
        Just(Edit::Remove),
        byte().prop_map(Edit::Replace),
        any::<u8>().prop_map(Edit::Repeat),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), edit), 1..6)
}

fn edited(mut bytes: Vec<u8>, edits: &[(prop::sample::Index, Edit)]) -> Vec<u8> {
    for (place, edit) in edits {
        let at = place.index(bytes.len() + 1);
        let end = |length: usize| bytes.len().min(at + length);
        let (range, new) = match edit {
            Edit::Insert(byte) => (at..at, vec![*byte]),
            Edit::Remove => (at..end(1), Vec::new()),
            Edit::Replace(byte) => (at..end(1), vec![*byte]),
            Edit::Repeat(length) => (at..at, bytes[at..end(usize::from(*length))].to_vec()),
        };
        bytes.splice(range, new);
    }
    bytes
}

fn property() -> impl Strategy<Value = Property> {
    prop::sample::select(ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changes_of_the_corpus_hold((name, property) in property(), input: prop::sample::Index, edits in edits()) {
        let mut inputs = corpus(name);
        let (_, bytes) = inputs.swap_remove(input.index(inputs.len()));
        property(&edited(bytes, &edits));
    }

    #[test]
    fn random_bytes_hold((_, property) in property(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        property(&bytes);
    }
}
