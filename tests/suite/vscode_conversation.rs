//! A conversation in the real VS Code. What is typed and seen is in `tests/vscode/conversation.mjs`.

use airlock_tests::editor::Home;
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use airlock_tests::vscode::{ServersFinder, VsCode};
use serde_json::{Value, json};
use std::time::Duration;

const GREET: &str = "export function greet(name) {\n  return \"Hello, \" + name;\n}\n";

fn bash(id: &str, command: &str) -> Reply {
    Reply::calls(id, "bash", json!({"command": command}))
}

/// A call of the agent's, three times with the same result: then the user is asked. It begins when the gate is open.
fn in_circles(claude: &ScriptedClaude, gate: &Gate, name: &str, command: &str) {
    let call = |round: usize| format!("toolu_{name}_{round}");
    let input = json!({"command": command});
    let first = Reply::says(&format!("Let me see: {name}.")).gate(gate);
    claude.push(first.tool_use(&call(1), "bash", input));
    for round in 2..=3 {
        claude.push(bash(&call(round), command));
    }
}

/// What is not to be shown as it is, and not to be loaded.
const HOSTILE: &str = "![a picture](https://evil.example/pixel.png)\n\n\
    <img src=\"https://evil.example/tag.png\" onerror=\"window.pwned = 1\"><script>window.pwned = 2</script>\n\n\
    [click](javascript:window.pwned=3) [run](command:workbench.action.quit) \
    [open](vscode://file/etc/passwd)\n\nabc\u{202e}fed\n\n\u{1b}]52;c;ZXZpbA==\u{7}That was all of it.";

#[tokio::test]
async fn vs_code_holds_a_conversation_with_its_tools_questions_history_and_crashes() {
    let claude = ScriptedClaude::start().await;
    let home = Home::new();
    home.write("src/greet.js", GREET);
    home.write("test.sh", "echo first passed\necho second failed\nexit 3\n");
    let gate = Gate::new();
    claude.push(
        Reply::new()
            .thinking("The file has one function.", "signature")
            .text("It exports a function that **greets** somebody")
            .gate(&gate)
            .more(" by name:\n\n```js\nconsole.log(greet(\"you\"));\n```\n\nSee [greet.js](src/greet.js#L1).")
            .usage(1200, 80),
    );
    let mut vscode = VsCode::start("conversation", &claude, &home);
    vscode.reached("the answer begins").await;
    claude.push(HOSTILE);
    claude.push(bash("toolu_test", "sh test.sh")).push("One test fails. Its name is `second`.");
    claude.push(bash("toolu_serve", "echo listening; sleep 600"));
    gate.open();
    vscode.go_on().await;

    vscode.reached("stopped").await;
    let gate = Gate::new();
    in_circles(&claude, &gate, "ls", "ls");
    vscode.go_on().await;
    vscode.reached("the user is in a file").await;
    gate.open();
    vscode.go_on().await;

    vscode.reached("denied").await;
    assert!(said_no(&claude), "the agent was let go on");
    let long: String = (1..=120).map(|line| format!("echo line {line}\n")).collect();
    let gate = Gate::new();
    in_circles(&claude, &gate, "long", &format!("{long}echo the end of it"));
    vscode.go_on().await;
    vscode.reached("the chat is out of sight").await;
    gate.open();
    vscode.go_on().await;

    vscode.reached("denied by Escape").await;
    claude.push("Yes?").push("I do.");
    vscode.go_on().await;

    vscode.reached("the server may crash").await;
    let remembered = claude.requests().pop().expect("a request");
    assert!(
        remembered.first_user_text().contains("What does @src/greet.js"),
        "the whole conversation is sent"
    );
    claude.push("Here I am.");
    let servers = vscode.servers();
    let [server] = servers[..] else { panic!("one server was expected: {servers:?}") };
    kill(server);
    vscode.go_on().await;

    vscode.reached("it may crash for good").await;
    vscode.go_on().await;
    kill_all_until(&mut vscode, "it gave up").await;
    assert_eq!(vscode.servers(), Vec::<u32>::new());
    vscode.go_on().await;
    vscode.finish().await;
    let after = claude.requests().pop().expect("a request");
    assert!(after.first_user_text().contains("What does @src/greet.js"), "the conversation went on");
    assert!(history_is_kept(&home));
    claude.finish();
}

/// Nothing was asked of the model after the user had stopped the agent.
fn said_no(claude: &ScriptedClaude) -> bool {
    let requests = claude.requests();
    let last = requests.last().map(|request| request.messages().to_vec()).unwrap_or_default();
    let calls = |message: &Value| message["content"].to_string().contains("toolu_ls_3");
    !last.iter().any(calls)
}

fn history_is_kept(home: &Home) -> bool {
    home.state().join("airlock/history").is_dir()
}

/// Whatever server comes up, until the script is at this point.
async fn kill_all_until(vscode: &mut VsCode, point: &str) {
    let servers = vscode.servers_finder();
    tokio::select! {
        _ = vscode.reached(point) => {}
        () = kill_all(&servers) => {}
    }
}

async fn kill_all(servers: &ServersFinder) {
    const POLL: Duration = Duration::from_millis(20);
    loop {
        servers.find().into_iter().for_each(kill);
        tokio::time::sleep(POLL).await;
    }
}

fn kill(process: u32) {
    // It may have ended by itself.
    let _ = std::process::Command::new("kill").args(["-9", &process.to_string()]).output();
}
