//! Who the guest is, and what proves where it runs.

use crate::words::{Hello, VERSION};

pub(super) fn hello() -> Hello {
    let system = rustix::system::uname();
    Hello {
        version: VERSION,
        boot_id: read("/proc/sys/kernel/random/boot_id"),
        kernel: system.release().to_string_lossy().into_owned(),
        memory_kib: memory_kib(),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        uid: rustix::process::getuid().as_raw(),
    }
}

#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// The smaller of the machine's memory and the control group's limit.
fn memory_kib() -> u64 {
    let machine = read("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok())
        .unwrap_or(0);
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limit = limits.iter().find_map(|path| read(path).parse::<u64>().ok()).map(|bytes| bytes / 1024);
    limit.map_or(machine, |limit| limit.min(machine))
}
