//! What a sandbox takes of the machine that it is on: nothing is written but where that is bounded or watched, nothing is
//! used up that the user needs, and nothing of the machine's own is to be read or changed.

use crate::world::configured;
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Does this in a sandbox of root's and in one of an ordinary user's, if we are root; else in one of our own.
async fn in_each(look: impl AsyncFn(&Workbench)) {
    let user = OrdinaryUser::get();
    for home in [None, Some(user.home())] {
        let options = |options: EditorOptions| match &home {
            None => options,
            Some(home) => options.user(user, home),
        };
        let bench = Workbench::with(options).await;
        look(&bench).await;
        bench.end().await;
    }
}

/// CVE-2024-21626's cousins begin with a write outside of the mounts; and what is written to a container's root fills a disk
/// that nobody watches, until no podman of the user's starts anything.
#[tokio::test]
async fn nothing_is_writable_but_what_is_bounded_or_watched() {
    // What is mounted, what is below the root, and by trying.
    const WRITABLE: &str = "while read -r _ _ _ _ point _; do [ -w \"$point\" ] && [ ! -c \"$point\" ] && echo \"$point\"; done \
                            < /proc/self/mountinfo | sort -u";
    const BELOW_ROOT: &str = "find / -xdev -writable ! -type l 2>/dev/null; \
        for d in / /etc /var /run /run/secrets /usr /opt /root /home /mnt /srv /sys /sys/fs/cgroup /proc /dev /dev/pts /bin; do \
        (echo x > $d/evil) 2>/dev/null && echo $d; mkdir $d/evil.d 2>/dev/null && echo $d; done; \
        for f in /etc/hosts /etc/hostname /etc/resolv.conf /run/.containerenv /etc/passwd /.airlock-guest; do \
        (echo x >> $f) 2>/dev/null && echo $f; done; true";
    const SIZES: &str =
        "for p in /tmp /dev/shm; do stat -f -c '%b %S' $p | { read b s; echo $(( b * s >> 20 )); }; done";
    in_each(async |bench| {
        let writable = bench.bash(WRITABLE).await;
        // The last is bounded by a limit of each process.
        let known = ["/workspace", "/home/agent", "/tmp", "/dev/shm", "/dev/mqueue"];
        let below_root = bench.bash(BELOW_ROOT).await;
        let all = writable.lines().chain(below_root.lines());
        assert_eq!(all.filter(|place| !known.contains(place)).collect::<Vec<_>>(), Vec::<&str>::new());
        assert!(known[..4].iter().all(|point| writable.lines().any(|line| line == *point)), "{writable}");
        assert_eq!(bench.bash(SIZES).await, "256\n64\n");
        let queues = bench.bash("grep -c 'msgqueue size *819200 *819200' /proc/self/limits").await;
        assert_eq!(queues, "1\n");
        // What needs a place for a while has one.
        assert_eq!(
            bench.bash("echo x > /var/tmp/x; cat /tmp/x; echo y > /dev/shm/y; cat /dev/shm/y").await,
            "x\ny\n"
        );
    })
    .await;
}

/// The runtime binds the machine's own devices. In a workspace of root's the agent is root outside, whose they are.
#[tokio::test]
async fn no_device_of_the_machine_changes_its_permissions_for_the_agent() {
    in_each(async |bench| {
        let changed = bench
            .bash(
                "for f in $(find /dev -type c) /proc/keys /proc/kcore /proc/timer_list; do \
                   chmod $(stat -c %a $f) $f && echo $f; done 2>/dev/null; true",
            )
            .await;
        // A terminal of the sandbox's own.
        let of_machine: Vec<&str> = changed.lines().filter(|name| !name.starts_with("/dev/pts/")).collect();
        assert_eq!(of_machine, Vec::<&str>::new());
        let used = "echo x > /dev/null && head -c 3 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c && \
                    script -qc tty /dev/null && cat <(echo y) && echo z > /dev/stdout";
        assert_eq!(bench.bash(used).await.replace('\r', ""), "3\n3\n/dev/pts/0\ny\nz\n");
    })
    .await;
}

/// podman takes the sandbox's `/etc/hosts` from the host's, and on some systems mounts the machine's subscription.
#[tokio::test]
async fn what_podman_would_take_from_the_hosts_files_is_airlocks_own() {
    let user = OrdinaryUser::get();
    let home = user.home();
    let (folder, secrets) = (home.config().join("containers"), home.path().join("subscription"));
    for folder in [&folder, &secrets] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(secrets.join("key"), "SECRET of the machine").unwrap();
    // As RHEL and Fedora have it for all users.
    std::fs::write(folder.join("mounts.conf"), format!("{}:/run/secrets\n", secrets.display())).unwrap();
    user.take_over(home.path());
    for home in [Home::new(), home.clone()] {
        let bench = if home.path().join("airlock").exists() {
            Workbench::with(|options| options.user(user, &home)).await
        } else {
            Workbench::with(|options| options.home(&home)).await
        };
        let said = bench
            .bash("cat /etc/hosts /etc/hostname /etc/resolv.conf /run/.containerenv; ls -A /run/secrets")
            .await;
        assert_eq!(said, "127.0.0.1 localhost sandbox\n::1 localhost\nsandbox\n");
        assert_eq!(
            bench.bash("grep -rs SECRET /run /etc; hostname; getent hosts sandbox").await,
            "sandbox\n127.0.0.1       localhost sandbox\n"
        );
        // Nothing is mounted from podman's own folders, but the workspace's view, which is made there.
        let mounted = bench.bash("grep /userdata/ /proc/self/mountinfo | grep -v ' /workspace '; true").await;
        assert_eq!(mounted, "");
        bench.end().await;
    }
}

/// All of a user's programs share so many watchers of files. Without them editors and builds fail.
#[tokio::test]
async fn watchers_of_files_are_not_used_up_for_the_user() {
    const EXHAUST: &str = r#"python3 -c '
import ctypes, os
libc = ctypes.CDLL(None)
watchers = 0
while libc.inotify_init1(0) >= 0: watchers += 1
print(watchers)'
cat /proc/sys/user/max_inotify_instances"#;
    let of_user: u64 =
        std::fs::read_to_string("/proc/sys/user/max_inotify_watches").unwrap().trim().parse().unwrap();
    in_each(async |bench| {
        assert_eq!(bench.bash(EXHAUST).await, "32\n32\n");
        let watches: u64 =
            bench.bash("cat /proc/sys/user/max_inotify_watches").await.trim().parse().expect("a number");
        assert_eq!(watches, of_user / 4);
        assert_eq!(bench.bash("cat /proc/sys/user/max_user_namespaces").await, "0\n");
    })
    .await;
}

/// Podman keeps what a container says unless it is told not to: the whole link, with every file that was read.
#[tokio::test]
async fn what_the_server_and_the_sandbox_say_to_each_other_is_kept_in_no_log() {
    let bench = Workbench::new().await;
    bench.bash("echo a-word-of-the-agent").await;
    let id = crate::sandboxed::container(&bench.session, &bench.editor);
    let inspect = |format: &str| crate::sandboxed::podman(&["inspect", "--format", format, &id]);
    assert_eq!(inspect("{{.HostConfig.LogConfig.Type}}"), "none");
    let folder = inspect("{{.StaticDir}}");
    let kept = std::process::Command::new("grep").args(["-rl", "a-word-of-the-agent", &folder]).output();
    assert_eq!(String::from_utf8(kept.expect("grep").stdout).unwrap(), "");
    bench.end().await;
}

/// Whoever may run longest when memory is short: never a command, always the guest.
#[tokio::test]
async fn commands_die_before_the_guest_where_memory_is_short() {
    in_each(async |bench| {
        let said = bench.bash("cat /proc/self/oom_score_adj; setsid cat /proc/self/oom_score_adj; cat /proc/1/oom_score_adj").await;
        let scores: Vec<i32> = said.lines().map(|line| line.parse().expect("a number")).collect();
        assert_eq!(scores[..2], [1000, 1000]);
        assert!(scores[2] < 1000, "{said}");
        let log = bench.call("bash", serde_json::json!({"command": "cat /proc/self/oom_score_adj", "background": true})).await;
        let log = log.trim().rsplit(' ').next().expect("a path").to_owned();
        assert_eq!(bench.bash(&format!("until [ -s {log} ]; do :; done; cat {log}")).await, "1000\n");
    })
    .await;
}

/// A command that holds an end of the link could speak for the guest, and hear what the server sends.
#[tokio::test]
async fn a_command_has_its_own_three_handles_and_no_other() {
    in_each(async |bench| {
        // The fourth is what `ls` looks with.
        assert_eq!(bench.bash("ls /proc/self/fd").await, "0\n1\n2\n3\n");
        assert_eq!(bench.bash("(ls /proc/self/fd | cat)").await, "0\n1\n2\n3\n");
    })
    .await;
}

#[tokio::test]
async fn what_a_session_takes_of_the_disk_is_counted_and_told() {
    const TELLS: &str = "1.2 GiB of the disk: 0.6 in the workspace, 0.6 in";
    let home = configured("max_session_disk_gib = 1");
    let bench = Workbench::with(|options| options.home(&home)).await;
    let said = bench.bash("truncate -s 100G sparse; fallocate -l 600M big; fallocate -l 600M ~/big").await;
    assert_eq!(said, "", "there is next to nothing in the sparse one");
    // The home is counted between calls.
    let (mut calls, mut updates, mut result) = (0, Vec::new(), String::new());
    while !result.contains(TELLS) {
        assert!(calls < 100, "it is never counted: {result}");
        calls += 1;
        (result, updates) = bench.call_with_updates("bash", json!({"command": "true"})).await;
    }
    let told = |updates: &[Value]| {
        let texts = updates.iter().filter_map(|update| update["text"].as_str());
        texts.filter(|text| text.contains(TELLS) && text.contains("max_session_disk_gib = 1")).count()
    };
    assert_eq!(told(&updates), 1, "{updates:?}");
    let (result, updates) = bench.call_with_updates("bash", json!({"command": "true"})).await;
    assert!(result.contains(TELLS) && told(&updates) == 0, "the user is told once: {result} {updates:?}");
    let said = bench.bash("rm big").await;
    assert!(!said.contains("GiB"), "{said}");
    bench.end().await;
}
