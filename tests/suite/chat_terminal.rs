//! `airlock chat` for people: the real binary in a real terminal.

use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::deadline::DEADLINE;
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use airlock_tests::terminal::Terminal;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// A Claude and a terminal with a prompt in it.
async fn chat() -> (ScriptedClaude, Terminal, AirlockCommand) {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["chat"]);
    let terminal = Terminal::start(&command);
    terminal.wait_for_prompt_after("Ctrl-D ends").await;
    (claude, terminal, command)
}

fn ls(number: u32) -> Reply {
    Reply::calls(&format!("toolu_{number}"), "bash", json!({"command": "ls"}))
}

/// What the user said last, as the model got it: the last block of the last message.
fn last_words(claude: &ScriptedClaude) -> String {
    let requests = claude.requests();
    let message = requests.last().and_then(|request| request.messages().last()).expect("a message");
    let content = message["content"].as_array().expect("blocks");
    content.last().expect("a block")["text"].as_str().expect("a text").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_appears_as_it_arrives() {
    let (claude, terminal, command) = chat().await;
    let screen = terminal.screen();
    let workspace = command.home().workspace().canonicalize().expect("a folder");
    assert!(screen.starts_with("airlock 0."), "{screen}");
    assert!(screen.contains("claude-sonnet-5"), "{screen}");
    assert!(screen.contains(workspace.to_str().expect("UTF-8")), "{screen}");
    assert!(screen.contains("no sandbox"), "{screen}");

    let gates = [Gate::new(), Gate::new()];
    let reply = Reply::new().thinking("They greet\nme.", "signature").text("Good ").gate(&gates[0]);
    claude.push(reply.more("morn").gate(&gates[1]).more("ing.").usage(1200, 30));
    terminal.send("hello there");
    let screen = terminal.wait_for("Good").await;
    assert!(screen.contains("> hello there\n\n· They greet\n· me.\n\nGood"), "{screen}");
    assert!(!screen.contains("morn"), "{screen}");
    gates[0].open();
    let screen = terminal.wait_for("Good morn").await;
    assert!(!screen.contains("ing."), "{screen}");
    gates[1].open();
    let screen = terminal.wait_for_prompt_after("session:").await;
    assert!(screen.contains("Good morning.\n\nsession: 1,200 tokens in · 30 out · $"), "{screen}");
    terminal.press(&["C-d"]);
    assert_eq!(terminal.wait_for_end().await, 0);
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paste_of_several_lines_is_one_prompt() {
    let (claude, terminal, _command) = chat().await;
    claude.push("Pasted.");
    terminal.paste("fn main() {\n\tlet a = 1; \\\n}");
    terminal.wait_for("}").await;
    terminal.press(&["Enter"]);
    terminal.wait_for_prompt_after("Pasted.").await;
    assert_eq!(last_words(&claude), "fn main() {\n\tlet a = 1; \\\n}");
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_may_have_several_lines() {
    let (claude, terminal, _command) = chat().await;
    claude.replies(["First.", "Second."]);
    terminal.type_text("one");
    terminal.press(&["M-Enter"]);
    terminal.send("two\\");
    terminal.send("three");
    terminal.wait_for_prompt_after("First.").await;
    assert_eq!(last_words(&claude), "one\ntwo\nthree");
    terminal.send("```rust");
    terminal.send("let x;");
    terminal.send("```");
    terminal.wait_for_prompt_after("Second.").await;
    assert_eq!(last_words(&claude), "```rust\nlet x;\n```");
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_the_command_and_not_the_sandbox() {
    let claude = ScriptedClaude::start().await;
    let bash = |id, command| Reply::calls(id, "bash", json!({"command": command}));
    claude.push(bash("toolu_1", "export KEPT=here; echo up")).push("Set.");
    claude.push(bash("toolu_2", "echo begun; sleep 600"));
    claude.push(bash("toolu_3", "echo still $KEPT")).push("Done.");
    let command = AirlockCommand::new(&claude, &["chat"]).without_env("USE_SANDBOX");
    let terminal = Terminal::start(&command);
    terminal.wait_for_prompt_after("Ctrl-D ends").await;
    terminal.send("one");
    terminal.wait_for_prompt_after("Set.").await;
    terminal.send("two");
    terminal.wait_for("  begun").await;
    terminal.press(&["C-c"]);
    terminal.wait_for_prompt_after("stopped").await;
    terminal.send("three");
    let screen = terminal.wait_for_prompt_after("Done.").await;
    assert!(screen.contains("still here"), "{screen}");
    assert!(!screen.contains("unexpectedly"), "{screen}");
    terminal.press(&["C-d"]);
    assert_eq!(terminal.wait_for_end().await, 0);
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_the_turn_and_the_next_prompt_works() {
    let (claude, terminal, _command) = chat().await;
    let gate = Gate::new();
    claude.push(Reply::says("I will talk for").gate(&gate).more(" ever"));
    claude.push("Back again.");
    terminal.send("talk");
    terminal.wait_for("I will talk for").await;
    terminal.press(&["C-c"]);
    let screen = terminal.wait_for_prompt_after("stopped").await;
    assert!(!screen.contains("ever"), "{screen}");
    claude.wait_for_hangups(1).await;
    terminal.type_text("thrown away");
    terminal.press(&["C-c"]);
    terminal.wait_for_prompt_after("Ctrl-D ends, and so does /quit").await;
    terminal.send("and now?");
    terminal.wait_for_prompt_after("Back again.").await;
    assert_eq!(last_words(&claude), "and now?");
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_during_a_turn_is_the_next_prompt() {
    let (claude, terminal, _command) = chat().await;
    let gate = Gate::new();
    claude.push(Reply::says("Wait").gate(&gate).more(" for it."));
    claude.push("There.");
    terminal.send("go");
    terminal.wait_for("Wait").await;
    terminal.send("typed ahead");
    terminal.paste("of\ntime");
    gate.open();
    let screen = terminal.wait_for("of\n  time").await;
    assert!(screen.contains("Wait for it.\n"), "{screen}");
    assert!(screen.contains("> typed ahead\n\nThere."), "{screen}");
    assert_eq!(last_words(&claude), "typed ahead");
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_listed_and_completed() {
    let (claude, terminal, command) = chat().await;
    terminal.send("/help");
    let screen = terminal.wait_for_prompt_after("/trust").await;
    assert!(screen.contains("- `/sessions` List the conversations of this workspace"), "{screen}");
    terminal.type_text("/ses");
    terminal.press(&["Tab"]);
    terminal.wait_for("> /sessions").await;
    terminal.press(&["Enter"]);
    terminal.wait_for_prompt_after("There are none yet in this workspace.").await;
    terminal.type_text("/c");
    terminal.press(&["Tab"]);
    terminal.wait_for("\n/compact  Summarise the conversation to make room").await;
    terminal.press(&["C-c"]);

    command.home().write("notes/plan.md", "Paint it blue.");
    claude.push("Blue.");
    terminal.wait_for_prompt_after("so does /quit").await;
    terminal.type_text("what is in @no");
    terminal.press(&["Tab"]);
    terminal.wait_for("@notes/").await;
    terminal.press(&["Tab"]);
    terminal.wait_for("@notes/plan.md").await;
    terminal.press(&["Enter"]);
    terminal.wait_for_prompt_after("Blue.").await;
    assert!(claude.requests()[0].last_user_text().contains("Paint it blue."));
    terminal.send("/quit");
    assert_eq!(terminal.wait_for_end().await, 0);
    assert!(terminal.screen().ends_with("> /quit"), "{}", terminal.screen());
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn permission_is_asked_in_the_terminal() {
    let (claude, terminal, _command) = chat().await;
    let gate = Gate::new();
    claude.replies([ls(1), ls(2), ls(3).hold(&gate)]);
    claude.push("I gave up.");
    terminal.send("list the files");
    gate.reached().await;
    // It must not answer a question that was not there yet. tmux sends keys on their way before it shows its screen.
    terminal.send("1");
    terminal.screen();
    gate.open();
    let screen = terminal.wait_for("1-3?").await;
    assert!(screen.contains("● $ ls\n  there is no sandbox"), "{screen}");
    let question = "? The agent made the same call 3 times with the same result. Go on?
  │ $ ls
  │ command: ls
  1) Continue
  2) Continue, do not ask again
  3) Stop
1-3?";
    assert!(screen.ends_with(question), "{screen}");
    terminal.send("7");
    terminal.wait_for("give a number from 1 to 3").await;
    terminal.send("2");
    let screen =
        terminal.wait("the typed prompt", |screen| screen.contains("I gave up.") && screen.ends_with("> 1"));
    screen.await;
    assert_eq!(claude.requests().len(), 4);
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_refuses() {
    let (claude, terminal, _command) = chat().await;
    claude.replies([1, 2, 3].map(ls));
    claude.push("Fine.");
    terminal.send("list the files");
    terminal.wait_for("1-3?").await;
    terminal.press(&["C-c"]);
    let screen = terminal.wait_for_prompt_after("stopped").await;
    assert!(screen.contains("refused"), "{screen}");
    terminal.send("never mind");
    terminal.wait_for_prompt_after("Fine.").await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn trust_is_asked_for_with_the_whole_list() {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["chat"]);
    command.home().write("CLAUDE.md", "Be brief.");
    command.home().write(".airlock/commands/greet.md", "---\ndescription: Says hello\n---\nSay hello.");
    let terminal = Terminal::start(&command);
    terminal.wait_for_prompt_after("until you trust it").await;
    terminal.send("/trust");
    let screen = terminal.wait_for("1-2?").await;
    assert!(screen.contains("│ CLAUDE.md (9 bytes)"), "{screen}");
    assert!(screen.contains("│ .airlock/commands/greet.md"), "{screen}");
    terminal.send("1");
    terminal.wait_for_prompt_after("is trusted as it is now").await;
    // A command that came with trust is completed at once.
    terminal.type_text("/gr");
    terminal.press(&["Tab"]);
    terminal.wait_for("> /greet").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_prompt_may_be_given_and_earlier_ones_are_remembered() {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["chat", "say hi"]);
    claude.replies(["Hi.", "Sure."]);
    let terminal = Terminal::start(&command);
    let screen = terminal.wait_for_prompt_after("Hi.").await;
    assert!(screen.contains("> say hi\n\nHi."), "{screen}");
    terminal.send("remember this");
    terminal.wait_for_prompt_after("Sure.").await;
    let file = command.home().state().join("airlock/prompts.txt");
    let mode = file.metadata().expect("the prompts").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    terminal.press(&["C-d"]);
    assert_eq!(terminal.wait_for_end().await, 0);

    claude.replies(["Hi.", "Sure."]);
    let terminal = Terminal::start(&command);
    terminal.wait_for_prompt_after("Hi.").await;
    terminal.press(&["Up"]);
    terminal.wait_for("> remember this").await;
    terminal.press(&["Enter"]);
    terminal.wait_for_prompt_after("Sure.").await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_and_gives_the_terminal_back() {
    let at_the_prompt = chat().await;
    let in_a_turn = chat().await;
    in_a_turn.0.push(Reply::says("half").silence());
    in_a_turn.1.send("hello");
    in_a_turn.1.wait_for("half").await;
    for (_claude, terminal, _command) in [at_the_prompt, in_a_turn] {
        let id = terminal.process_id();
        let killed = std::process::Command::new("kill").args(["-TERM", &id]).status();
        assert!(killed.expect("kill starts").success());
        assert_eq!(terminal.wait_for_end().await, 143);
        // It shows again what is typed, in a line of its own.
        terminal.type_text("seen");
        terminal.wait_for("\nseen").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_that_is_closed_during_a_question_ends_the_chat() {
    let (claude, terminal, _command) = chat().await;
    claude.replies([1, 2, 3].map(ls));
    terminal.send("list the files");
    terminal.wait_for("1-3?").await;
    let process = std::path::PathBuf::from("/proc").join(terminal.process_id());
    assert!(process.exists());
    drop(terminal);
    let since = std::time::Instant::now();
    while process.exists() {
        assert!(since.elapsed() < DEADLINE, "airlock does not end");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_answers_goes_away() {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["chat"]);
    let configuration = command.home().config().join("airlock");
    std::fs::create_dir_all(&configuration).expect("a folder");
    std::fs::write(configuration.join("config.toml"), "permission_timeout_s = 1\n").expect("a file");
    claude.replies([1, 2, 3].map(ls));
    claude.push("Fine.");
    let terminal = Terminal::start(&command);
    terminal.wait_for_prompt_after("Ctrl-D ends").await;
    terminal.send("list the files");
    terminal.wait_for("1-3?").await;
    terminal.wait_for_prompt_after("no longer asked").await;
    terminal.send("never mind");
    terminal.wait_for_prompt_after("Fine.").await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_colours_there_are_no_escape_sequences_but_the_line_editors() {
    let claude = ScriptedClaude::start().await;
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        claude.push("Plain.");
        let command = AirlockCommand::new(&claude, &["chat"]).env(name, value);
        let terminal = Terminal::start(&command);
        terminal.wait_for_prompt_after("Ctrl-D ends").await;
        terminal.send("hello");
        terminal.wait_for("Plain.").await;
        terminal.wait_for("session:").await;
        assert_eq!(terminal.styles(), Vec::<String>::new(), "{name}");
    }
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_reviewed_hunk_by_hunk_in_the_terminal_and_later_by_airlock_review() {
    let claude = ScriptedClaude::start().await;
    let script = "sed -i 's/^two$/TWO/; s/^nine$/NINE/' a.txt; echo made > b.txt; echo other > c.txt";
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": script}))).push("Changed.");
    let command = AirlockCommand::new(&claude, &["chat"]).without_env("USE_SANDBOX");
    let home = command.home().clone();
    let before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    home.write("a.txt", before);
    let terminal = Terminal::start(&command);
    terminal.wait_for_prompt_after("Ctrl-D ends").await;
    terminal.send("change it");
    let screen = terminal.wait_for_prompt_after("Changed.").await;
    assert!(screen.contains("4 changes in 3 files to review: /review"), "{screen}");
    terminal.send("/review");
    let screen = terminal.wait_for("5) Stop here").await;
    assert!(screen.contains("Change to a.txt (1 of 3)") && screen.contains("│ -two"), "{screen}");
    terminal.send("3");
    terminal.wait_for("hunk 1 of 2").await;
    terminal.send("1");
    terminal.wait_for("hunk 2 of 2").await;
    terminal.send("2");
    terminal.wait_for("New file b.txt (2 of 3)").await;
    terminal.send("1");
    terminal.wait_for("New file c.txt (3 of 3)").await;
    terminal.send("3");
    terminal.wait_for_prompt_after("One file is left for later").await;
    let read = |path: &str| std::fs::read_to_string(home.workspace().join(path)).ok();
    assert_eq!(read("a.txt"), Some(before.replace("two", "TWO")));
    assert_eq!((read("b.txt").as_deref(), read("c.txt")), (Some("made\n"), None));
    terminal.press(&["C-d"]);
    assert_eq!(terminal.wait_for_end().await, 0);

    let listed = command.again(&["review"]).process().output().await.expect("it runs");
    let listed = String::from_utf8(listed.stdout).expect("text");
    assert_eq!(listed, "c.txt\n@@ line 1 @@\n+other\n");
    let terminal = Terminal::start(&command.again(&["review"]));
    terminal.wait_for("New file c.txt (1 of 1)").await;
    terminal.send("1");
    assert_eq!(terminal.wait_for_end().await, 0);
    assert_eq!(read("c.txt").as_deref(), Some("other\n"));
    let nothing = command.again(&["review"]).process().output().await.expect("it runs");
    assert_eq!(String::from_utf8(nothing.stdout).expect("text"), "Nothing waits for review.\n");
    claude.finish();
}
