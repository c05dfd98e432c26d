//! What is to be seen of the world from inside the sandbox, and what can be done from there.

use airlock_tests::editor::Home;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;

const KEY: &str = "sk-ant-SECRET-0123456789";

#[tokio::test]
async fn neither_the_key_nor_a_folder_of_the_host_is_to_be_seen_inside() {
    let home = Home::new();
    let bench = Workbench::with(|options| {
        let options = options.home(&home).env("ANTHROPIC_API_KEY", KEY).env("MY_TOKEN", KEY);
        options.env("SSH_AUTH_SOCK", "/tmp/agent.sock").env("GITHUB_TOKEN", KEY)
    })
    .await;
    let seen = bench
        .bash("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/*/cmdline 2>/dev/null | tr '\\0' ' '; cat /proc/self/mountinfo")
        .await;
    assert!(seen.contains("/workspace") && !seen.contains(KEY) && !seen.contains("agent.sock"), "{seen}");
    let mounted = bench
        .bash("ls -A /home /root /mnt /media /host 2>&1; ls -d /Users /var/lib/containers 2>&1; true")
        .await;
    assert!(!mounted.contains(".ssh") && !mounted.contains("airlock-home"), "{mounted}");
    let whole = bench
        .bash("grep -rsl SECRET-01234''56789 /tmp /run /etc /home /var /workspace 2>/dev/null; true")
        .await;
    assert_eq!(whole, "", "the key is in a file");
    bench.end().await;
}

#[tokio::test]
async fn nothing_reaches_a_network() {
    let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let bench = Workbench::new().await;
    assert_eq!(bench.bash("ls /sys/class/net; cat /proc/net/route | wc -l").await, "lo\n1\n");
    let own = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    own.connect("192.0.2.1:9").ok();
    let address = own.local_addr().unwrap().ip();
    for place in [
        format!("{address}/{port}"),
        format!("127.0.0.1/{port}"),
        "192.0.2.1/80".to_owned(),
        "169.254.169.254/80".to_owned(),
    ] {
        let said = bench.bash(&format!("timeout 5 bash -c 'echo x > /dev/tcp/{place}' 2>&1; echo $?")).await;
        assert!(!said.ends_with("\n0\n") && said != "0\n", "{place}: {said}");
    }
    let said = bench.bash("getent hosts example.com; getent ahosts localhost.example.com; echo done").await;
    assert_eq!(said, "done\n");
    let raw = bench
        .bash("python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' 2>&1 | tail -1")
        .await;
    assert!(raw.contains("not permitted") || raw.contains("not found"), "{raw}");
    assert!(listener.accept().is_err(), "somebody came");
    bench.end().await;
}

/// Linux's abstract sockets are no files: what shares a network namespace shares them.
#[tokio::test]
async fn no_socket_of_the_host_is_there_by_name_or_without_one() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("airlock-attack-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let bench = Workbench::new().await;
    let sockets = "find / -xdev -type s 2>/dev/null; ls /run/podman /run/user /var/run/docker.sock /run/dbus 2>/dev/null; true";
    assert_eq!(bench.bash(sockets).await, "");
    let connect = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{name}\")' 2>&1 | tail -1; cat /proc/net/unix | grep -c {name}; true"
    );
    let said = bench.bash(&connect).await;
    assert!(said.contains("refused") || said.contains("not found"), "{said}");
    assert!(said.ends_with("0\n"), "{said}");
    assert!(listener.accept().is_err(), "somebody came");
    bench.end().await;
}

#[tokio::test]
async fn the_agent_gains_no_power_inside() {
    let bench = Workbench::new().await;
    let status = bench.bash("grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status").await;
    for line in status.lines().filter(|line| line.starts_with("Cap")) {
        assert!(line.ends_with("0000000000000000"), "{status}");
    }
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    for attempt in [
        "mount -t tmpfs none /mnt",
        "chroot / true",
        "mknod /tmp/d b 8 0",
        "dmesg",
        "sh -c 'echo 1 > /proc/sys/kernel/panic'",
        "sh -c 'echo x > /proc/sysrq-trigger'",
        "sh -c 'echo core > /proc/sys/kernel/core_pattern'",
        "touch /usr/bin/evil /etc/evil /lib/evil",
        "chown 0 /workspace",
        "nsenter -t 1 -m true",
        "su root -c true",
    ] {
        let said = bench.bash(&format!("{attempt} >/dev/null 2>&1 && echo DONE || echo refused")).await;
        assert_eq!(said, "refused\n", "{attempt}");
    }
    bench.end().await;
}

/// A program with the bit in the workspace would run as its owner, where mounts heed the bit.
#[tokio::test]
async fn a_setuid_program_of_the_repository_gives_nothing() {
    let home = Home::new();
    let program = home.workspace().join("id");
    std::fs::copy("/usr/bin/id", &program).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o6755)).unwrap();
    let bench = Workbench::with(|options| options.home(&home)).await;
    assert_eq!(
        bench
            .bash("./id -u; find / -xdev -perm -4000 -user root -newer /workspace/id 2>/dev/null; true")
            .await,
        "1000\n"
    );
    bench.bash("cp /usr/bin/true mine; chmod 6755 mine").await;
    bench.review("accept", json!({"paths": ["mine"]})).await;
    let accepted = std::fs::metadata(home.workspace().join("mine")).unwrap();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&accepted.permissions()) & 0o7000,
        0,
        "the bit does not come back"
    );
    bench.end().await;
}

/// What a process inside leaves for the guest that serves it: signals, ptrace, its memory, its pipes.
#[tokio::test]
async fn the_guest_cannot_be_taken_over_from_inside() {
    let bench = Workbench::new().await;
    let said = bench
        .bash("kill -9 1 2>&1; kill -STOP 1 2>&1; cat /proc/1/mem 2>&1 | head -c 10; ls -l /proc/1/fd 2>&1 | tail -1; echo x 2>/dev/null > /proc/1/fd/1; echo x 2>/dev/null > /proc/1/fd/0; echo alive")
        .await;
    assert!(said.ends_with("alive\n"), "{said}");
    assert_eq!(bench.bash("echo still here").await, "still here\n");
    bench.end().await;
}
