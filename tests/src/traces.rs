//! What a server leaves in the world: processes, mounts, containers, folders. Others may test on the same machine, so
//! only that counts which leads to the home of this one.

use crate::editor::Home;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;

/// Every process that belongs to a home, with what it is; ourselves not among them.
pub fn processes(home: &Home) -> Vec<(i32, String)> {
    let home = home.path().to_str().expect("UTF-8");
    let ourselves = std::process::id().cast_signed();
    let of_home = |pid: &i32| {
        let mentions = |file: &str| {
            fs::read(format!("/proc/{pid}/{file}"))
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(home))
        };
        *pid != ourselves
            && (mentions("cmdline") || mentions("environ") || workspace_mount(*pid).contains(home))
    };
    let found = pids().into_iter().filter(of_home);
    found.map(|pid| (pid, format!("{} ({})", command_line(pid), state(pid)))).collect()
}

/// The first process of a session's sandbox.
pub fn guest_of(home: &Home, session: &str) -> Option<i32> {
    let upper = format!("{}/airlock/sandboxes/{session}/upper", home.state().display());
    pids().into_iter().filter(|pid| workspace_mount(*pid).contains(&upper)).min()
}

/// The podman services of a home.
pub fn services(home: &Home) -> Vec<i32> {
    let socket = format!("unix://{}/airlock-podman-", home.runtime().display());
    pids().into_iter().filter(|pid| command_line(*pid).contains(&socket)).collect()
}

/// The folders of their sockets.
pub fn service_folders(home: &Home) -> Vec<PathBuf> {
    let mut folders = entries(home.runtime());
    folders.retain(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("airlock-podman-"))
    });
    folders
}

/// What is in a folder.
pub fn entries(folder: PathBuf) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Mounts that lead to a home or into it.
pub fn mounts(home: &Home) -> Vec<String> {
    let home = home.path().to_str().expect("UTF-8");
    let all = fs::read_to_string("/proc/self/mountinfo").expect("a kernel tells its mounts");
    all.lines().filter(|line| line.contains(home)).map(str::to_owned).collect()
}

/// The containers of a server, each with its session.
pub async fn containers(server: u32) -> Vec<(String, String)> {
    let format = "{{.ID}} {{index .Labels \"airlock.owner\"}} {{index .Labels \"airlock.session\"}}";
    let mut podman = Command::new("podman");
    podman.args(["ps", "--all", "--filter", "label=airlock.owner", "--format", format]);
    let output = podman.stdin(Stdio::null()).output().await.expect("podman starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let owner = format!("{server}@");
    let ours = |line: &str| {
        let mut words = line.split(' ');
        let (id, label, session) = (words.next()?, words.next()?, words.next()?);
        label.starts_with(&owner).then(|| (id.to_owned(), session.to_owned()))
    };
    text.lines().filter_map(ours).collect()
}

/// Children of a process, also those that are dead and not waited for.
pub fn children(parent: u32) -> Vec<String> {
    let is_child = |pid: &i32| {
        let after_name = stat(*pid).rsplit_once(')').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        after_name.split_whitespace().nth(1).is_some_and(|found| found == parent.to_string())
    };
    let found = pids().into_iter().filter(is_child);
    found.map(|pid| format!("{pid} {} ({})", command_line(pid), state(pid))).collect()
}

/// The pools that the C library's allocator has made for the threads of a process, beside its first one: each begins where
/// a multiple of its size does, and what is not used of it yet is there without being accessible.
pub fn allocator_pools(pid: u32) -> usize {
    const POOL_BYTES: u64 = 64 << 20;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("the process runs");
    let mapping = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        Some((address(start)?, address(end)?, rest.get(..4)?.to_owned()))
    };
    let maps: Vec<(u64, u64, String)> = maps.lines().filter_map(mapping).collect();
    let is_pool = |pair: &&[(u64, u64, String)]| {
        let ((start, used, first), (unused, end, second)) = (&pair[0], &pair[1]);
        let apart = first == "rw-p" && second == "---p" && used == unused;
        apart && start % POOL_BYTES == 0 && end - start == POOL_BYTES
    };
    maps.windows(2).filter(is_pool).count()
}

/// What is left although the server has ended, a line each.
pub async fn left_by_the_dead(home: &Home) -> Vec<String> {
    let processes =
        processes(home).into_iter().map(|(pid, what)| format!("the process {pid} is left: {what}"));
    let mounts = mounts(home).into_iter().map(|mount| format!("a mount is left: {mount}"));
    let folders = service_folders(home).into_iter();
    let folders = folders.map(|folder| format!("a folder is left: {}", folder.display()));
    processes.chain(mounts).chain(folders).collect()
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The line about `/workspace` in the mounts that a process sees: there is one in a sandbox and nowhere else.
fn workspace_mount(pid: i32) -> String {
    let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
    let of_workspace = mounts.lines().find(|line| line.split(' ').nth(4) == Some("/workspace"));
    of_workspace.unwrap_or_default().to_owned()
}

fn command_line(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
}

fn state(pid: i32) -> String {
    let stat = stat(pid);
    stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or("gone").to_owned()
}

fn stat(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default()
}
