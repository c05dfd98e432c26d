//! What the kernel counts per user of this machine: who watches all that a user may watch leaves the user's editor none.
//!
//! The agent is the user, so its sandbox counts with them. But a user namespace has limits of its own below that, and every
//! sandbox has such a namespace. It is entered from outside to set them: inside nobody may.

use super::container;
use super::podman::PodmanService;
use crate::limits::{SANDBOX_USER_SHARE, SANDBOX_WATCHERS_MAX};
use crate::storage;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// How many of each the sandbox may have, as a share of what the user may.
const SHARED: [&str; 2] = ["max_inotify_watches", "max_fanotify_marks"];
/// How many of each it may have however many the user may. Namespaces have no use in there.
const FEW: [(&str, u64); 3] = [
    ("max_inotify_instances", SANDBOX_WATCHERS_MAX),
    ("max_fanotify_groups", SANDBOX_WATCHERS_MAX),
    ("max_user_namespaces", 0),
];

/// Bounds what a running container takes of the user's. Gives what to tell the user when that can't be.
pub(super) async fn bound(service: &PodmanService, id: &str) -> Option<String> {
    let Some(pid) = container::process(service, id).await else {
        return Some("its process is not known".to_owned());
    };
    let set = tokio::task::spawn_blocking(move || set_below(pid));
    let set = set.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    set.err().map(|error| error.to_string())
}

fn set_below(pid: u32) -> io::Result<()> {
    let file = |name: &str| Path::new("/proc/sys/user").join(name);
    let of_user = |name| storage::read_text(&file(name), 64).ok().flatten()?.trim().parse::<u64>().ok();
    let shares = SHARED.iter().filter_map(|name| Some((*name, of_user(name)? / SANDBOX_USER_SHARE)));
    let settings: Vec<(CString, String)> = shares
        .chain(FEW)
        .map(|(name, most)| Ok((CString::new(file(name).as_os_str().as_encoded_bytes())?, most.to_string())))
        .collect::<io::Result<_>>()?;
    let namespace =
        openat(CWD, format!("/proc/{pid}/ns/user"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    in_a_child(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::User))?;
        for (file, most) in &settings {
            match openat(CWD, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
                Ok(setting) => drop(rustix::io::write(&setting, most.as_bytes())?),
                // A kernel that counts no such thing.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    })
}

/// Does this in a process of its own, which becomes no program: a process with threads cannot enter a user namespace.
#[expect(clippy::disallowed_methods, reason = "no program is started")]
#[expect(unsafe_code, reason = "between fork and exec there are system calls and nothing else")]
fn in_a_child(work: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    const DONE: i32 = libc::ECANCELED;
    let mut child = std::process::Command::new("/proc/self/exe");
    // SAFETY: it allocates nothing and takes no lock.
    let child = unsafe { child.pre_exec(move || work().and(Err(io::Error::from_raw_os_error(DONE)))) };
    match child.spawn() {
        Err(error) if error.raw_os_error() == Some(DONE) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::other("it became a program")),
    }
}
