//! Files of a shape that nobody reviews: too large, too many, too deep, with more than content.

use crate::review::with_files;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// Bug class: a sparse file is as large as one likes and costs nothing, until somebody reads it.
#[tokio::test]
async fn a_file_larger_than_any_disk_holds_up_no_review() {
    let (home, options) = with_files(&[("ok.txt", "old\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("truncate -s 8T huge; truncate -s 8T .huge; echo new > ok.txt").await;
    let changes = bench.changes().await;
    assert_eq!(changes.len(), 3);
    assert!(
        changes[1]["hunks"][0]["text"].as_str().unwrap().contains("a file of 8796093022208 bytes"),
        "{changes:#?}"
    );
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!((&outcome["done"], outcome["failed"].as_array().unwrap().len()), (&json!(["ok.txt"]), 2));
    assert_eq!((bench.on_disk("ok.txt").as_str(), home.workspace().join("huge").exists()), ("new\n", false));
    let outcome = bench.review("accept", json!({"paths": ["huge"]})).await;
    assert!(outcome["failed"][0]["why"].as_str().unwrap().contains("larger than 1024 MiB"), "{outcome}");
    let left = std::fs::read_dir(home.workspace()).unwrap().count();
    assert_eq!(left, 1, "nor is a part of it left");
    bench.bash("rm huge .huge").await;
    bench.end().await;
}

/// Bug class: work that grows with the square of what an attacker chooses. Each part of a file was named by the digest of the
/// whole.
#[tokio::test]
async fn a_file_of_very_many_parts_is_listed_in_the_time_of_one_look() {
    let lines: String =
        (0..60_000).map(|number| format!("a line with the number {number} in it\n")).collect();
    let (_home, options) = with_files(&[("a.txt", &lines)]);
    let bench = Workbench::with(options).await;
    bench
        .bash(
            "awk 'NR % 4 == 0 { print \"changed\", NR; next } { print }' a.txt > b && cat b > a.txt && rm b",
        )
        .await;
    let changes = bench.changes().await;
    assert_eq!(changes[0]["hunks"].as_array().unwrap().len(), 15_000);
    bench.end().await;
}

/// Bug class: archives and copies that bring more than content with them; CVE-2023-0386 was a setuid bit that came along.
#[tokio::test]
async fn what_is_accepted_is_content_and_plain_permissions_alone() {
    let (home, options) = with_files(&[("a.txt", "old\n")]);
    let bench = Workbench::with(options).await;
    bench
        .bash("cp /usr/bin/id mine; chmod 7777 mine; echo new > a.txt; chmod 6666 a.txt; mkdir d; chmod 3777 d; echo x > d/x; \
               python3 -c 'import os; os.setxattr(\"mine\", \"user.evil\", b\"x\"); os.setxattr(\"a.txt\", \"user.evil\", b\"x\")' 2>/dev/null; \
               touch -d 2099-01-01 mine a.txt d d/x")
        .await;
    bench.review("accept", json!({})).await;
    let owner = std::fs::metadata(home.workspace()).unwrap().uid();
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    for name in ["mine", "a.txt", "d", "d/x"] {
        let path = home.workspace().join(name);
        let made = std::fs::metadata(&path).unwrap();
        assert_eq!((made.mode() & 0o7022, made.uid()), (0, owner), "{name} is closed to others");
        assert!(made.modified().unwrap() < now, "{name} is from the future");
        let list = Command::new("python3")
            .args(["-c", "import os, sys; print(os.listxattr(sys.argv[1]))"])
            .arg(&path)
            .output();
        let list = String::from_utf8(list.unwrap().stdout).unwrap();
        assert!(!list.contains("evil") && !list.contains("capability"), "{name}: {list}");
    }
    bench.end().await;
}

/// A property of this design: an overlay keeps what was removed as marks on its upper folder, and what has such a mark hides the
/// user's files. CVE-2021-3493 came through marks of that kind.
#[tokio::test]
async fn marks_of_the_overlay_cannot_be_forged_from_inside() {
    let (home, options) = with_files(&[("d/keep.txt", "mine\n"), ("a.txt", "mine\n")]);
    let bench = Workbench::with(options).await;
    let forge = r#"python3 - <<'END'
import os, stat
for place in ("d", "a.txt", "."):
    for name in ("opaque", "whiteout", "redirect", "metacopy", "origin", "impure", "nlink", "upper"):
        for space in ("user", "trusted", "security"):
            for value in (b"y", b"x", b"/etc", b"../../.."):
                try:
                    os.setxattr(place, f"{space}.overlay.{name}", value)
                except OSError:
                    pass
for name in ("keep.txt", "w"):
    try:
        os.mknod(os.path.join("d", name + "-gone"), stat.S_IFCHR | 0o666, os.makedev(0, 0))
        print("made a mark")
    except OSError:
        pass
for name in ("sda", "null"):
    try:
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        print("made a device")
    except OSError:
        pass
print(sorted(os.listdir("d")))
END"#;
    assert_eq!(bench.bash(forge).await, "['keep.txt']\n");
    assert_eq!(
        bench.changes().await,
        Vec::<serde_json::Value>::new(),
        "nothing was removed, so nothing is shown as removed"
    );
    bench.review("accept", json!({})).await;
    assert_eq!(std::fs::read_to_string(home.workspace().join("d/keep.txt")).unwrap(), "mine\n");
    bench.end().await;
}

/// Bug class: recursion and paths without an end. A path may have 4096 bytes; a folder can be as deep as one likes.
#[tokio::test]
async fn folders_deeper_than_any_path_hold_up_neither_review_nor_end() {
    let (_home, options) = with_files(&[]);
    let bench = Workbench::with(options).await;
    let dig = r#"python3 -c '
import os
for _ in range(300):
    os.mkdir("d" * 60); os.chdir("d" * 60)
open("bottom", "w").write("x")
'; echo new > ok.txt"#;
    bench.bash(dig).await;
    let list = bench.editor.expect("airlock/changes/list", json!({"sessionId": bench.session})).await;
    assert!(list["remarks"].to_string().contains("more changes than can be listed"), "{list}");
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!(["ok.txt"]), "{outcome}");
    bench.editor.expect("airlock/session/close", json!({"sessionId": bench.session})).await;
    bench.end().await;
}
