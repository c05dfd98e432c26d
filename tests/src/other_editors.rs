//! Helix and Emacs in a terminal, set up with the very lines of `server/docs/editors.md`.

use crate::airlock_binary::airlock_binary;
use crate::airlock_command::AirlockCommand;
use crate::components::installed;
use crate::editor::Home;
use crate::scripted_claude::ScriptedClaude;
use crate::terminal::Terminal;
use crate::tree::repository;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Helix with a file of the workspace.
pub fn helix(claude: &ScriptedClaude, home: &Home, file: &str) -> Terminal {
    let languages = home.config().join("helix/languages.toml");
    std::fs::create_dir_all(languages.parent().expect("a folder")).expect("a folder");
    std::fs::write(languages, block("Helix", "toml")).expect("a file");
    let root = root();
    let environment = [("HELIX_RUNTIME", root.join("usr/lib/hx/runtime").into())];
    start(claude, home, &environment, unpacked("usr/bin/hx", &[]), file)
}

/// Emacs with a file of the workspace.
pub fn emacs(claude: &ScriptedClaude, home: &Home, file: &str) -> Terminal {
    let init = home.path().join(".emacs.d/init.el");
    std::fs::create_dir_all(init.parent().expect("a folder")).expect("a folder");
    std::fs::write(init, format!("(setq inhibit-startup-screen t)\n{}", block("Emacs", "elisp")))
        .expect("a file");
    let (share, programs) =
        (only(&root().join("usr/share/emacs"), "3"), only(&root().join("usr/libexec/emacs"), "3"));
    let programs = programs.join("x86_64-linux-gnu");
    let environment = [
        ("EMACSLOADPATH", share.join("lisp").into()),
        ("EMACSDATA", share.join("etc").into()),
        ("EMACSDOC", share.join("etc").into()),
        ("EMACSPATH", programs.clone().into()),
    ];
    let mut dump = OsString::from("--dump-file=");
    dump.push(only(&programs, "emacs-"));
    start(claude, home, &environment, unpacked("usr/bin/emacs-nox", &[dump]), file)
}

fn start(
    claude: &ScriptedClaude,
    home: &Home,
    environment: &[(&str, OsString)],
    mut words: Vec<OsString>,
    file: &str,
) -> Terminal {
    let programs = home.path().join("bin");
    std::fs::create_dir_all(&programs).expect("a folder");
    std::os::unix::fs::symlink(airlock_binary(), programs.join("airlock")).expect("a link");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH"));
    let mut command =
        AirlockCommand::new(claude, &[]).with_home(home).without_env("USE_SANDBOX").env("PATH", path);
    command = command.env("LANG", "C.UTF-8");
    for (name, value) in environment {
        command = command.env(name, value);
    }
    words.push(file.into());
    Terminal::start_program(&command.words_of(words), &home.workspace())
}

/// What stands in the document below a heading, as a block of this kind.
fn block(heading: &str, kind: &str) -> String {
    let document =
        std::fs::read_to_string(repository().join("server/docs/editors.md")).expect("the document");
    let below = document.split_once(&format!("## {heading}\n")).expect("the heading").1;
    let block = below.split_once(&format!("```{kind}\n")).expect("the block").1;
    block.split_once("```").expect("the block's end").0.to_owned()
}

fn root() -> PathBuf {
    installed("other-editors/root")
}

/// A program with its own loader and libraries: it is built for a newer Debian than this may be.
fn unpacked(program: &str, arguments: &[OsString]) -> Vec<OsString> {
    let root = root();
    let mut words: Vec<OsString> =
        vec![root.join("usr/lib64/ld-linux-x86-64.so.2").into(), "--library-path".into()];
    words.push(root.join("usr/lib/x86_64-linux-gnu").into());
    words.push(root.join(program).into());
    words.extend(arguments.iter().cloned());
    words
}

/// The only entry of a folder whose name begins like this.
fn only(folder: &Path, prefix: &str) -> PathBuf {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.next().unwrap_or_else(|| panic!("no {prefix}* in {}", folder.display())).path()
}
