//! The chat in the real Neovim: a person types, and looks at the screen.

use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::json;

/// A Neovim with the chat open, ready to type into.
pub(crate) async fn chatting(options: NeovimOptions) -> Neovim {
    let neovim = Neovim::start(options).await;
    neovim.command("Airlock").await;
    neovim.wait_for("claude-sonnet-5").await;
    neovim
}

/// Types a prompt and sends it, once the agent listens.
pub(crate) async fn say(neovim: &Neovim, text: &str) {
    neovim.wait_for("<CR> send").await;
    neovim.type_text(text).await;
    neovim.press("<CR>").await;
}

pub(crate) fn bash(id: &str, command: &str) -> Reply {
    Reply::calls(id, "bash", json!({"command": command}))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_appears_as_it_arrives_with_its_tool_call_in_a_fold() {
    let claude = ScriptedClaude::start().await;
    let gates = [Gate::new(), Gate::new()];
    claude.push(
        Reply::new()
            .thinking("They want a list.", "signature")
            .text("I will ")
            .gate(&gates[0])
            .more("**look** first.")
            .tool_use("toolu_1", "bash", json!({"command": "echo one; echo two"})),
    );
    claude.push(
        Reply::says("There are").gate(&gates[1]).more(" two lines:\n\n```sh\nls\n```\n").usage(1200, 30),
    );
    let source = "/// The names of the files here.\nfn names() -> Vec<String> {\n    todo!()\n}\n";
    let options = NeovimOptions::new(&claude).write("src/names.rs", source).file("src/names.rs");
    let neovim = chatting(options).await;
    neovim.keep_picture("chat-empty");
    say(&neovim, "what is here?").await;
    let screen = neovim.wait_for("I will").await;
    assert!(screen.contains("## You") && screen.contains("what is here?"), "{screen}");
    assert!(screen.contains("✻ thought  1 line"), "{screen}");
    assert!(!screen.contains("look"), "{screen}");
    neovim.wait_for("· thinks").await;
    gates[0].open();
    neovim.wait_for("I will **look** first.").await;
    let screen = neovim.wait_for("✓ $ echo one; echo two · exit 0").await;
    assert!(!screen.contains("    two"), "a tool call is folded\n{screen}");
    neovim.wait_for("There are").await;
    neovim.keep_picture("chat-streaming");
    gates[1].open();
    neovim.wait_for("There are two lines:").await;
    neovim.wait_until_gone("· thinks").await;
    let screen = neovim.wait_for("tokens").await;
    assert!(screen.contains("container") || screen.contains("microVM"), "the isolation is shown\n{screen}");

    let closed = "return table.concat(vim.api.nvim_win_call(require('airlock.workspace').of_buffer(0).chat.window, \
                  function() local closed = {} for line = 1, vim.fn.line('$') do \
                  if vim.fn.foldclosed(line) == line then table.insert(closed, vim.fn.getline(line)) end end \
                  return closed end), '|')";
    let closed = neovim.lua_text(closed).await;
    let (thought, call) = closed.split_once('|').expect("two folds");
    assert_eq!(thought, "✻ thought");
    assert!(call.starts_with("✓ $ echo one") && !call.contains('|'), "{closed}");

    // A person opens the fold.
    neovim.press("<Esc><C-w>k").await;
    neovim.press("/echo one<CR>zo").await;
    let screen = neovim.wait_for("    two").await;
    assert!(screen.contains("    one"), "{screen}");
    neovim.keep_picture("chat-tool-call");
    let text = neovim.buffer("airlock://chat/").await;
    assert!(text.ends_with("There are two lines:\n\n```sh\nls\n```"), "{text}");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_stopped_and_the_next_prompt_works() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("I will talk for").silence());
    claude.push(bash("toolu_1", "echo begun; sleep 600"));
    let gate = Gate::new();
    claude.push(Reply::says("Back again").gate(&gate).more(".")).push("That was all.");
    let neovim = chatting(NeovimOptions::new(&claude)).await;
    say(&neovim, "talk").await;
    neovim.wait_for("I will talk for").await;
    neovim.wait_for("the agent is at work · <C-c> stops it").await;
    neovim.type_text("too early").await;
    neovim.press("<CR>").await;
    neovim.wait_for("your question waits").await;
    neovim.command("AirlockStop").await;
    neovim.wait_for("· stopped").await;
    claude.wait_for_hangups(1).await;
    neovim.keep_picture("chat-stopped");
    // What waited was not sent, and is not lost.
    neovim.press("i<C-p>").await;
    neovim.wait_for_lua("return vim.api.nvim_get_current_line() == 'too early'").await;
    neovim.press("<C-u>").await;

    say(&neovim, "work").await;
    neovim.wait_for("works: $ echo begun").await;
    // The key, while something is written.
    neovim.press("<C-c>").await;
    neovim.wait_for("✗ $ echo begun; sleep 600").await;
    say(&neovim, "and now?").await;
    neovim.wait_for("Back again").await;
    // The next one may be sent before this one is done.
    neovim.type_text("and then?").await;
    neovim.press("<CR>").await;
    neovim.wait_for("your question waits").await;
    gate.open();
    neovim.wait_for("That was all.").await;
    let asked = claude.requests().pop().expect("a request").last_user_text();
    assert!(asked.contains("and then?"), "{asked}");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_files_are_completed() {
    let claude = ScriptedClaude::start().await;
    claude.push("Blue.");
    let options = NeovimOptions::new(&claude).without_sandbox();
    let neovim = chatting(options.write("notes/plan.md", "Paint it blue.").write("notes/.hidden", "")).await;
    neovim.type_text("/s").await;
    let screen = neovim.wait_for("List the conversations").await;
    assert!(!screen.contains("Summarise"), "{screen}");
    neovim.keep_picture("completion-commands");
    neovim.press("<Tab>").await;
    neovim.wait_for("\n").await;
    neovim.press("<CR>").await;
    neovim.wait_for_lua("return vim.api.nvim_get_current_line() == '/sessions'").await;
    neovim.press("<CR>").await;
    neovim.wait_for("There are none yet in this workspace.").await;

    neovim.type_text("what is in @no").await;
    neovim.wait_for("@notes/").await;
    neovim.press("<Tab>").await;
    neovim.wait_for_lua("return vim.api.nvim_get_current_line() == 'what is in @notes/'").await;
    neovim.press("<C-y>").await;
    neovim.type_text("p").await;
    neovim.wait_for("@notes/plan.md").await;
    neovim.keep_picture("completion-files");
    neovim.press("<Tab><CR>").await;
    neovim.wait_for_lua("return vim.api.nvim_get_current_line() == 'what is in @notes/plan.md'").await;
    neovim.press("<CR>").await;
    neovim.wait_for("Blue.").await;
    assert!(claude.requests()[0].last_user_text().contains("Paint it blue."));
    // What was sent comes back.
    neovim.press("<C-p>").await;
    neovim.wait_for_lua("return vim.api.nvim_get_current_line() == 'what is in @notes/plan.md'").await;
    // A path that leaves the workspace completes to nothing.
    neovim.press("<C-u>").await;
    neovim.type_text("@../").await;
    neovim.wait_for_lua("return vim.api.nvim_get_current_line() == '@../'").await;
    assert_eq!(neovim.lua("return vim.fn.pumvisible()").await.as_u64(), Some(0));
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_may_have_several_lines_and_a_line_may_be_anything() {
    let claude = ScriptedClaude::start().await;
    let nasty = "escape \u{1b}]52;c;Zm9v\u{7} over\u{202e}ride %{system('touch pwned')} tag\u{e0041}";
    claude.push(Reply::says(nasty)).push(bash("toolu_1", "true '%{system(\"touch pwned\")}' # %!"));
    claude.push("```\nopen fence").push("after");
    let options = NeovimOptions::new(&claude)
        .init("vim.o.laststatus = 2; vim.o.statusline = \"%{%v:lua.require'airlock'.statusline()%}\"");
    let neovim = chatting(options).await;
    neovim.type_text("one").await;
    neovim.press("<M-CR>").await;
    neovim.type_text("two").await;
    neovim.press("<C-j>").await;
    say(&neovim, "three").await;
    let screen = neovim.wait_for("tag<U+E0041>").await;
    assert!(screen.contains("escape ␛]52;c;Zm9v␇ over<U+202E>ride"), "{screen}");
    let asked = claude.requests()[0].last_user_text();
    assert!(asked.contains("one\ntwo\nthree"), "{asked}");
    say(&neovim, "go").await;
    neovim.wait_for("open fence").await;
    say(&neovim, "next").await;
    neovim.wait_for("after").await;
    let text = neovim.buffer("airlock://chat/").await;
    assert!(text.contains("```\nopen fence\n```\n\n## You"), "{text}");
    assert!(!neovim.home().workspace().join("pwned").exists(), "a statusline ran what a title said");
    neovim.quit().await;
    claude.finish();
}
