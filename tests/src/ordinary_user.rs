//! A user who is not root, as most are: what Airlock does for them is tried as them.

use crate::airlock_binary::airlock_binary;
use crate::editor::Home;
use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Somebody with ids of their own, also beneath theirs, which a podman without root needs.
pub struct OrdinaryUser {
    uid: u32,
    gid: u32,
    /// We are root and must become that user.
    other: bool,
}

/// A home in which the user's podman was used.
pub struct UserHome(Home);

impl UserHome {
    /// This one; what their podman keeps running for it ends when this is dropped.
    pub fn new(home: Home) -> Self {
        Self(home)
    }
}

impl std::ops::Deref for UserHome {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.0
    }
}

impl Drop for UserHome {
    /// Podman without root keeps a process that holds its namespaces, for as long as the user is logged in.
    fn drop(&mut self) {
        if let Ok(pid) = std::fs::read_to_string(self.runtime().join("libpod/tmp/pause.pid")) {
            // It may have ended by itself.
            let _ = Command::new("kill").args(["-9", pid.trim()]).output();
        }
    }
}

const NAME: &str = "airlock-test";

impl OrdinaryUser {
    /// Ourselves; or, when we are root, a user made for the tests.
    pub fn get() -> &'static Self {
        static USER: OnceLock<OrdinaryUser> = OnceLock::new();
        USER.get_or_init(|| {
            let (uid, gid) = (id("-u", None).expect("our own id"), id("-g", None).expect("our own id"));
            if uid != 0 {
                return Self { uid, gid, other: false };
            }
            if id("-u", Some(NAME)).is_none() {
                let made = Command::new("useradd").args(["--create-home", NAME]).output().expect("useradd");
                assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            }
            for file in ["/etc/subuid", "/etc/subgid"] {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                let ours = text.lines().any(|line| line.starts_with(&format!("{NAME}:")));
                assert!(ours, "{file} has no line for {NAME}: remove the user, and it is made again");
            }
            let (uid, gid) = (id("-u", Some(NAME)).expect("made"), id("-g", Some(NAME)).expect("made"));
            Self { uid, gid, other: true }
        })
    }

    /// The user's id.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// A fresh home that belongs to the user, with the real binary in it: the tree that it was built in may be closed
    /// to them.
    pub fn home(&self) -> UserHome {
        let home = Home::new();
        let binary = Self::binary(&home);
        std::fs::copy(airlock_binary(), &binary).expect("a copy of the binary");
        self.take_over(home.path());
        UserHome(home)
    }

    /// The binary in a home of the user's.
    pub fn binary(home: &Home) -> PathBuf {
        home.path().join("airlock")
    }

    /// Gives a folder, and all that is in it, to the user.
    pub fn take_over(&self, path: &Path) {
        lchown(path, Some(self.uid), Some(self.gid)).expect("we are root, or it is ours");
        if path.symlink_metadata().expect("it is there").is_dir() {
            for entry in std::fs::read_dir(path).expect("a folder") {
                self.take_over(&entry.expect("an entry").path());
            }
        }
    }

    /// Whether something belongs to the user.
    pub fn owns(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|metadata| metadata.uid() == self.uid)
    }

    /// The words that run a program as the user: the process that is started becomes it.
    pub fn words(&self, program: &Path, arguments: &[&str]) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if self.other {
            let (uid, gid) = (format!("--reuid={}", self.uid), format!("--regid={}", self.gid));
            words.extend(["setpriv".into(), uid.into(), gid.into(), "--init-groups".into(), "--".into()]);
        }
        words.push(program.into());
        words.extend(arguments.iter().map(Into::into));
        words
    }

    /// What a podman of the user's says, in a home of theirs.
    pub fn podman(&self, home: &Home, arguments: &[&str]) -> String {
        let words = self.words(Path::new("podman"), &[&["--cgroup-manager", "cgroupfs"], arguments].concat());
        let output = Command::new(&words[0])
            .args(&words[1..])
            .env_clear()
            .envs(home.variables())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(home.path())
            .output()
            .expect("podman starts");
        assert!(output.status.success(), "podman {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

fn id(option: &str, name: Option<&str>) -> Option<u32> {
    let output = Command::new("id").arg(option).args(name).output().expect("id starts");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number"))
}
