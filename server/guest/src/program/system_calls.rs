//! What of the kernel commands have no use for, and who wants to get out has.
//!
//! A container has its runtime's filter around it. That one still lets a command make a user namespace, in which it has
//! every capability and reaches parts of the kernel that were written for root; and a microVM has no filter at all. So
//! the guest puts one around itself before it starts anything: it holds in both, whatever podman and its runtime are.

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// System calls that are refused, whatever they are asked for.
const REFUSED: &[i64] = &[
    // Another namespace, and what is only of use in one.
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Large parts of the kernel in which holes were found again and again.
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Keys are not kept apart by any namespace but the user's.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_acct,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
];

/// The families of sockets that there are: within the sandbox, on its loopback, and with the kernel, which tells the
/// addresses there. A machine that is itself a virtual one has others, such as those to its host, which no network
/// namespace keeps apart.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Puts the filter around this process and all that it starts, for good. A kernel that knows no filters, as that of a microVM
/// may be, has none.
pub(super) fn refuse() -> Result<(), Error> {
    match refuse_all() {
        Err(Error::Seccomp(error) | Error::Prctl(error)) if is_unknown(&error) => Ok(()),
        refused => refused,
    }
}

fn is_unknown(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS))
}

fn refuse_all() -> Result<(), Error> {
    let new_user = |argument| condition(argument, SeccompCmpOp::MaskedEq(NEW_USER), NEW_USER);
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    refused.insert(libc::SYS_unshare, vec![SeccompRule::new(vec![new_user(0)?])?]);
    refused.insert(libc::SYS_clone, vec![SeccompRule::new(vec![new_user(0)?])?]);
    let other_family = FAMILIES.iter().map(|family| condition(0, SeccompCmpOp::Ne, *family as u64));
    refused.insert(libc::SYS_socket, vec![SeccompRule::new(other_family.collect::<Result<_, _>>()?)?]);
    apply(refused, libc::EPERM)?;
    // What it is asked for is out of a filter's sight. Who is told that there is no such call takes the older one.
    apply(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
}

const NEW_USER: u64 = libc::CLONE_NEWUSER as u64;

fn condition(argument: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, value)?)
}

fn apply(mut refused: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> Result<(), Error> {
    // Some kernels have every call a second time, under another number.
    const X32: i64 = 0x4000_0000;
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> = refused.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        refused.extend(twins);
    }
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(errno as u32);
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, refuse, here)?;
    seccompiler::apply_filter(&BpfProgram::try_from(filter)?)
}
