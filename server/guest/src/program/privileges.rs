//! Gives up what an ordinary user does not have.
//!
//! In a container the guest starts as that user, and in a microVM of a libkrun that is new enough to be told who. Older
//! ones start it as root with every capability: it becomes that user before it reads the first byte.

use super::system_calls;
use rustix::process::{
    DumpableBehavior, Gid, Resource, Rlimit, Uid, geteuid, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::io;

/// The user that the agent is, inside the sandbox.
pub const USER: u32 = 1000;

/// Becomes the ordinary user, for good.
pub fn become_ordinary() -> io::Result<()> {
    if geteuid().is_root() {
        forbid_user_namespaces();
        drop_bounding_set();
        rustix::thread::set_thread_groups(&[])?;
        let (user, group) = (Uid::from_raw(USER), Gid::from_raw(USER));
        rustix::thread::set_thread_res_gid(group, group, group)?;
        rustix::thread::set_thread_res_uid(user, user, user)?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_no_new_privs(true)?;
    leave_no_core()?;
    system_calls::refuse().map_err(io::Error::other)?;
    // What is ours in /proc belongs to root then: nobody inside can write to our link or look into our memory.
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Who crashes in a container is handed to a program of the host's, as root, with all that is in its memory. A limit of one
/// byte is the kernel's word for "not even that"; none at all is not.
fn leave_no_core() -> io::Result<()> {
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(1), maximum: Some(1) })?)
}

/// In a microVM the kernel is ours alone. Where it knows no such limit it knows no such namespaces either.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
fn forbid_user_namespaces() {
    let _ = std::fs::write("/proc/sys/user/max_user_namespaces", "0");
}

/// No program that is started later can get a capability back. Those that this kernel does not know are not there.
fn drop_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
}
