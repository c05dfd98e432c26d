//! A small image, made on the spot from a few programs of this machine: no network, no registry.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The content of an image as a tar file.
pub struct ImageTar {
    folder: TempDir,
}

/// What an image has: bash and the least that is needed to look around.
const PROGRAMS: [&str; 6] = ["bash", "cat", "ls", "id", "env", "sleep"];

impl ImageTar {
    /// An image with bash, and a file `/made-by-the-test`.
    #[allow(clippy::new_without_default, reason = "it writes files")]
    pub fn new() -> Self {
        Self::with(&PROGRAMS)
    }

    /// The same without bash.
    pub fn without_bash() -> Self {
        Self::with(&PROGRAMS[1..])
    }

    fn with(programs: &[&str]) -> Self {
        let folder = TempDir::with_prefix("airlock-image-").expect("a folder");
        let root = folder.path().join("root");
        for name in ["bin", "etc", "lib64", "proc", "sys", "dev", "tmp"] {
            std::fs::create_dir_all(root.join(name)).expect("a folder");
        }
        // As in every image.
        std::fs::set_permissions(root.join("tmp"), PermissionsExt::from_mode(0o1777))
            .expect("our own folder");
        std::fs::write(root.join("made-by-the-test"), "a marker\n").expect("a file");
        for name in programs {
            let program = Path::new("/usr/bin").join(name);
            copy(&program, &root.join("bin").join(name));
            for library in libraries(&program) {
                copy(&library, &root.join(library.strip_prefix("/").expect("absolute")));
            }
        }
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(&root).arg("-cf").arg(folder.path().join("tar")).arg(".");
        assert!(tar.status().expect("tar starts").success());
        // For whoever imports it.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("our own folder");
        Self { folder }
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tar")
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().expect("a file has a folder")).expect("a folder");
    std::fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}

/// The libraries of a program, its loader among them.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("ldd starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}
