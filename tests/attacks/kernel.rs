//! The kernel is the wall of a container, and what a command can ask of it is the size of the wall.

use airlock_tests::editor::Home;
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;

/// Asks for what no command needs, each in a word, and tells which of them the kernel did not refuse. A call that got
/// through its filter says something else than "not permitted" or "no such call".
const ASK: &str = r#"python3 - <<'END'
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
NEW_USER, CHILD, X32 = 0x10000000, 17, 0x40000000
calls = {
    "unshare": (272, NEW_USER), "unshare of all": (272, 0x7E020000), "clone": (56, NEW_USER | CHILD, 0, 0, 0, 0),
    "clone3": (435, 0, 0), "setns": (308, 0, 0), "mount": (165, 0, 0, 0, 0, 0), "fsopen": (430, 0, 0), "open_tree": (428, 0, 0, 0),
    "open_by_handle_at": (304, 0, 0, 0), "io_uring": (425, 1, 0), "bpf": (321, 0, 0, 0), "perf": (298, 0, 0, 0, 0, 0),
    "userfaultfd": (323, 1), "keyctl": (250, 0, -3, 0, 0, 0), "add_key": (248, 0, 0, 0, 0, 0), "request_key": (249, 0, 0, 0, 0),
    "kexec": (246, 0, 0, 0, 0), "module": (313, -1, 0, 0), "syslog": (103, 3, 0, 0), "unshare by its other number": (X32 | 272, NEW_USER),
}
for name, numbers in calls.items():
    got = libc.syscall(*[ctypes.c_long(number) for number in numbers])
    if got == 0 and name == "clone":
        os._exit(0)
    if got >= 0 or ctypes.get_errno() not in (1, 38):
        print(name, got, ctypes.get_errno())
families = {"vsock": 40, "alg": 38, "packet": 17, "key": 15, "rds": 21, "tipc": 30, "can": 29, "bluetooth": 31, "xdp": 44, "smc": 43}
for name, family in families.items():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
        try:
            socket.socket(family, kind)
            print(name, kind)
        except PermissionError:
            pass
        except OSError as error:
            print(name, kind, error)
socket.socketpair(); socket.socket(socket.AF_INET); socket.socket(socket.AF_INET6); socket.if_nameindex()
print("asked")
END"#;

/// podman's own filter lets a command make a user namespace, in which it has every capability: the way to CVE-2022-0185,
/// CVE-2022-0492, CVE-2023-0386 and CVE-2024-1086. Sockets to the host of a virtual machine are in no network namespace
/// (moby's pull request 44562); io_uring, bpf and their like had a hole a year.
#[tokio::test]
async fn no_namespace_of_its_own_and_no_far_corner_of_the_kernel_is_a_commands_to_use() {
    let bench = Workbench::new().await;
    assert_eq!(bench.bash(ASK).await, "asked\n");
    let said = bench.bash("unshare --user --map-root-user id -u 2>&1; unshare --user --net true 2>&1; bwrap --version; true").await;
    assert!(!said.starts_with("0\n") && said.contains("not permitted"), "{said}");
    // What the filter is around is whatever the agent starts, also in the background and by itself.
    let said = bench.bash("setsid env -i grep -c 'Seccomp_filters:.*[2-9]' /proc/self/status").await;
    assert_eq!(said, "1\n");
    bench.end().await;
}

/// The same where podman runs without root, which is the usual case.
#[tokio::test]
async fn an_ordinary_users_sandbox_has_the_same_filter() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    let editor = crate::rootless::editor_of(user, &home, &claude).await;
    let session = editor.new_session().await;
    let called = crate::sandboxed::bash(&editor, &claude, &session, ASK).await;
    assert!(called.result.starts_with("asked\n[exit code 0"), "{}", called.result);
    editor.shutdown().await;
}

/// CVE-2022-0492 (`release_agent`) and its many relatives: a file of the kernel's that names a program of the host's, or
/// changes something for all.
#[tokio::test]
async fn no_file_of_the_kernels_takes_a_word_from_inside() {
    let bench = Workbench::new().await;
    let writable = "find /proc/sys /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi /proc/sysrq-trigger /sys -writable \
                    ! -type l 2>/dev/null | head; true";
    assert_eq!(bench.bash(writable).await, "");
    for (what, attempt) in [
        ("a program for empty control groups", "echo /workspace/x > /sys/fs/cgroup/release_agent"),
        ("a control group", "mkdir /sys/fs/cgroup/x"),
        ("a program for crashes", "echo '|/workspace/x' > /proc/sys/kernel/core_pattern"),
        ("a program for devices", "echo /workspace/x > /sys/kernel/uevent_helper"),
        ("a program for modules", "echo /workspace/x > /proc/sys/kernel/modprobe"),
        ("a program for formats", "echo ':x:M::x::/workspace/x:' > /proc/sys/fs/binfmt_misc/register"),
        ("the clock", "date -s 2001-01-01"),
        ("its name", "hostname evil"),
        ("the memory of the machine", "head -c 1 /dev/mem || head -c 1 /proc/kcore | grep -q ."),
        ("a disk", "ls /dev/sd* /dev/vd* /dev/nvme* /dev/kvm /dev/fuse /dev/vhost-vsock"),
    ] {
        let said = bench.bash(&format!("({attempt}) >/dev/null 2>&1 && echo DONE || echo refused")).await;
        assert_eq!(said, "refused\n", "{what}");
    }
    let devices =
        bench.bash("find /dev -type b; find /dev -type c -printf '%f\\n' | sort | tr '\\n' ' '").await;
    let harmless = ["console", "full", "null", "ptmx", "random", "tty", "urandom", "zero"];
    assert!(devices.split_whitespace().all(|name| harmless.contains(&name)), "{devices}");
    bench.end().await;
}

/// CVE-2025-4598 and other handlers of crashes: the kernel hands the memory of who crashes in a container to a program of
/// the host's, as root, unless its limit is one byte. None at all is not enough.
#[tokio::test]
async fn who_crashes_inside_is_handed_to_no_program_of_the_host() {
    let bench = Workbench::new().await;
    let limit = bench.bash("grep 'core file' /proc/self/limits | tr -s ' '; (ulimit -c unlimited) 2>/dev/null && echo raised; true").await;
    assert_eq!(limit.trim_end(), "Max core file size 1 1 bytes");
    bench.bash("sh -c 'kill -SEGV $$'; true").await;
    assert_eq!(bench.changes().await.len(), 0, "nothing is left in the workspace");
    bench.end().await;
}

/// CVE-2024-21626: a handle that the runtime forgot to close leads to the host's own files.
#[tokio::test]
async fn no_handle_of_the_host_is_left_open_inside() {
    let bench = Workbench::new().await;
    let handles = bench
        .bash("for p in /proc/[0-9]*; do for f in $p/fd/* $p/cwd $p/root; do readlink $f; done; done 2>/dev/null | sort -u")
        .await;
    let leads = |line: &&str| line.starts_with('/') && !["/", "/dev/null", "/workspace"].contains(line);
    let inside = |line: &&str| line.starts_with("/tmp/") || line.starts_with("/proc/");
    let others: Vec<&str> = handles.lines().filter(leads).filter(|line| !inside(line)).collect();
    assert_eq!(others, Vec::<&str>::new());
    let up = bench.bash("for i in 3 4 5 6 7 8 9 10; do ls /proc/self/fd/$i/../../../../etc/hostname; done 2>/dev/null; true").await;
    assert_eq!(up, "");
    bench.end().await;
}

/// CVE-2019-5736: who can write to the program that the runtime started runs on the host with the next one. Inside, the root is the
/// agent's own to spoil; it must be a copy, and gone with the sandbox.
#[tokio::test]
async fn what_is_rewritten_around_the_guest_is_never_the_hosts_and_gone_with_the_sandbox() {
    let home = Home::new();
    let bench = Workbench::with(|options| options.home(&home)).await;
    let said = bench
        .bash("for f in /proc/1/exe /bin/sh /usr/bin/env /usr/lib/x /etc/ssl/certs/x; do (echo x >> $f) 2>/dev/null && echo wrote $f; done; \
               for f in /.airlock-guest /etc/passwd /etc/ld.so.preload /etc/evil; do (rm -f $f; echo evil > $f) 2>/dev/null; done; echo tried")
        .await;
    assert_eq!(said, "tried\n");
    let sandboxes = std::fs::read_dir(home.state().join("airlock/sandboxes")).unwrap().flatten();
    let root =
        sandboxes.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("/root-")).unwrap();
    assert!(std::fs::read_to_string(root.join("etc/passwd")).unwrap().starts_with("root:x:0:0"));
    assert!(std::fs::metadata(root.join(".airlock-guest")).unwrap().len() > 100_000);
    assert!(!root.join("etc/ld.so.preload").exists() && !root.join("etc/evil").exists());
    bench.end().await;
    let bench = Workbench::with(|options| options.home(&home)).await;
    assert_eq!(
        bench.bash("head -1 /etc/passwd; ls /etc/evil /etc/ld.so.preload 2>/dev/null; true").await,
        "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    );
    bench.end().await;
}

/// A property of this design: the processes of a call are known by a mark in their environment, which they can shed.
#[tokio::test]
async fn a_process_that_hides_from_its_call_ends_with_the_session() {
    let bench = Workbench::new().await;
    let time = format!("86400.{}", std::process::id());
    bench.bash(&format!("setsid env -i /bin/sh -c '(sleep {time} &) ; exit' > /dev/null 2>&1; true")).await;
    let running = || {
        let found =
            std::process::Command::new("pgrep").args(["-fx", &format!("sleep {time}")]).output().unwrap();
        String::from_utf8(found.stdout).unwrap().lines().count()
    };
    assert_eq!(running(), 1, "it hides well");
    bench.editor.expect("airlock/session/close", serde_json::json!({"sessionId": bench.session})).await;
    assert_eq!(running(), 0);
    bench.end().await;
}
