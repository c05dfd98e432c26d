//! Gives up what an ordinary user does not have.
//!
//! In a container the guest starts as that user. In a microVM it starts as root with every capability, and becomes
//! that user before it reads the first byte.

use rustix::io;
use rustix::process::{DumpableBehavior, Gid, Uid, geteuid, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// The user that the agent is, inside the sandbox.
pub const USER: u32 = 1000;

/// Becomes the ordinary user, for good.
pub fn become_ordinary() -> io::Result<()> {
    if geteuid().is_root() {
        drop_bounding_set();
        rustix::thread::set_thread_groups(&[])?;
        let (user, group) = (Uid::from_raw(USER), Gid::from_raw(USER));
        rustix::thread::set_thread_res_gid(group, group, group)?;
        rustix::thread::set_thread_res_uid(user, user, user)?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_no_new_privs(true)?;
    // What is ours in /proc belongs to root then: nobody inside can write to our link or look into our memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// No program that is started later can get a capability back. Those that this kernel does not know are not there.
fn drop_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
}
