//! A session of the real binary, over LSP, whose agent looks around in its sandbox.

use crate::configured;
use crate::podman::podman;
use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Map, Value, json};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What the agent is made to run, each a tool call of its own. `PORT` is a door of this machine that a sandbox with a way
/// to its network would find open: the scripted Claude's own.
const COMMANDS: [(&str, &str); 4] = [
    ("look", LOOK),
    ("flood", "head -c 31457280 /dev/zero | tr '\\0' x"),
    ("hungry", "tail /dev/zero"),
    ("again", "echo boot_id=$(</proc/sys/kernel/random/boot_id); echo saved=$(<saved.txt)"),
];

/// Each fact is a line `NAME=VALUE`.
const LOOK: &str = r#"
echo kernel=$(uname -r)
echo boot_id=$(</proc/sys/kernel/random/boot_id)
echo there=$(<there.txt); rm there.txt; echo new > made.txt
echo saved=$(<saved.txt)
echo uid=$(id -u)
while read -r name value; do
    case $name in MemTotal: | Cap???: | NoNewPrivs: | Seccomp:) echo $name=$value; esac
done < <(cat /proc/meminfo /proc/self/status)
echo interfaces=$(cd /sys/class/net && echo *)
(exec 3<>/dev/tcp/127.0.0.1/PORT) 2>/dev/null && echo network=open || echo network=none
echo mounts=$(while read -r _ place kind _; do echo $place:$kind; done < /proc/mounts)
echo key=$(cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /.krun_config.json /.krun_vm.json <(env) 2>/dev/null | tr '\0' '\n' | grep -c 'test[-]key')
unshare --user true 2>/dev/null && echo namespace=made || echo namespace=refused
unshare --user --map-root-user mount -t tmpfs none /mnt 2>/dev/null && echo mount=made || echo mount=refused
perl -e 'print "vsock=", (socket(my $s, 40, 1, 0) ? "open" : "refused"), "\n"'
echo devices=$(for d in $(find /dev -type b) /dev/mem /dev/port /dev/vsock; do (: < $d) 2>/dev/null && echo $d; (: >> $d) 2>/dev/null && echo $d; done)
echo kernel_files=$(find /proc/sys /proc/sysrq-trigger /sys -type f -writable 2>/dev/null)
(echo x > /usr/evil || echo x > /etc/ssl/certs/evil || mknod /tmp/disk b 254 0) 2>/dev/null && echo root=written || echo root=refused
"#;

/// Opens a session under this configuration, and tells what came of it.
pub(crate) async fn facts(config: &str) -> Value {
    facts_of(config, &COMMANDS).await
}

/// The same with the fewest commands: where nothing can run, each further one would only take time.
pub(crate) async fn few_facts(config: &str) -> Value {
    facts_of(config, &[COMMANDS[0], COMMANDS[3]]).await
}

/// All commands but the last are run in one turn, the last in another, after the user has saved a file.
async fn facts_of(config: &str, commands: &[(&str, &str)]) -> Value {
    let claude = ScriptedClaude::start().await;
    let port = claude.base_url().rsplit_once(':').expect("a port").1.to_owned();
    let call = |(name, command): &(&str, &str)| {
        Reply::calls(&format!("toolu_{name}"), "bash", json!({"command": command.replace("PORT", &port)}))
    };
    claude.replies(commands[..commands.len() - 1].iter().map(call));
    claude.push("Done.");
    let home = configured(config);
    home.write("there.txt", "as it was\n");
    home.write("saved.txt", "before\n");
    let editor = Editor::ready(EditorOptions::new(&claude).home(&home).with_sandbox()).await;
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    let mut updates = editor.turn(&session, "look around").await;
    // As editors save: another file takes the name.
    std::fs::rename(home.write("saved.txt~", "after\n"), home.workspace().join("saved.txt"))
        .expect("a rename");
    claude.push(call(&commands[commands.len() - 1])).push("Done.");
    updates.extend(editor.turn(&session, "look again").await);
    let sandbox = updates.iter().rfind(|update| update["kind"] == "sandbox").cloned();
    let running = containers(&home).len();
    let files_max = monitor_files_max();
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    let left = containers(&home);
    editor.shutdown().await;
    let upper = home.state().join("airlock/sandboxes").join(&session).join("upper");
    json!({
        "sandbox": sandbox,
        "results": results(&claude),
        "upper": files(&upper),
        "workspace": files(&home.workspace()),
        "monitor_files_max": files_max,
        "containers_running": running,
        "containers_left": left,
    })
}

/// What each command gave back to the model, by its name.
fn results(claude: &ScriptedClaude) -> Map<String, Value> {
    let requests = claude.requests();
    let messages = requests.last().expect("a request").messages().to_vec();
    let blocks =
        messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let named = |block: Value| {
        let name = block["tool_use_id"].as_str()?.strip_prefix("toolu_")?.to_owned();
        let text = block["content"][0]["text"].as_str()?;
        // The flood is counted here: the way out of the lab is slow.
        let floods = text.bytes().filter(|byte| *byte == b'x').count();
        Some((name, if floods < 1000 { json!(text) } else { json!([floods, text.replace('x', "")]) }))
    };
    blocks.filter(|block| block["type"] == "tool_result").filter_map(named).collect()
}

/// The files of a folder with what is in them. What was deleted in a copy-on-write view is a character device.
fn files(folder: &Path) -> Map<String, Value> {
    let entries = std::fs::read_dir(folder).map(Iterator::flatten).into_iter().flatten();
    let shown = |entry: std::fs::DirEntry| {
        let kind = entry.file_type().expect("an entry that is there");
        let text = match kind {
            kind if kind.is_file() => std::fs::read_to_string(entry.path()).expect("a text"),
            kind if kind.is_char_device() => "deleted".to_owned(),
            kind => format!("{kind:?}"),
        };
        (entry.file_name().to_string_lossy().into_owned(), json!(text))
    };
    entries.map(shown).collect()
}

/// Containers of any state, by name, as the server's podman knows them.
fn containers(home: &Home) -> Vec<String> {
    let names = podman(home, &["ps", "--all", "--format", "{{.Names}}"]);
    names.lines().map(str::to_owned).collect()
}

/// How many files the monitor of a running microVM may have open.
fn monitor_files_max() -> Option<u64> {
    let mut processes =
        std::fs::read_dir("/proc").expect("it is mounted").flatten().map(|entry| entry.path());
    let named =
        |path: &PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("VM:"));
    let limits = std::fs::read_to_string(processes.find(named)?.join("limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
