//! Conversations in Neovim that outlive something: a session that is opened again, a server that crashes.

use crate::nvim_chat::{bash, chatting, say};
use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;

fn kill9(pid: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill starts").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_conversation_is_opened_again_with_all_that_was_said() {
    let claude = ScriptedClaude::start().await;
    claude.push(bash("toolu_1", "echo from the tool")).push("The first answer.");
    let options = NeovimOptions::new(&claude);
    let neovim = chatting(options.clone()).await;
    say(&neovim, "remember the number 17").await;
    neovim.wait_for("The first answer.").await;
    neovim.quit().await;

    claude.push("It was 17.");
    let neovim = chatting(options).await;
    neovim.command("AirlockSessions").await;
    let screen = neovim.wait_for("remember the number 17").await;
    assert!(screen.contains("Go on with:") && screen.contains("messages)"), "{screen}");
    neovim.keep_picture("sessions");
    neovim.press("1<CR>").await;
    let screen = neovim.wait_for("The first answer.").await;
    assert!(screen.contains("## You") && screen.contains("✓ $ echo from the tool"), "{screen}");
    neovim.press("i").await;
    say(&neovim, "which number?").await;
    neovim.wait_for("It was 17.").await;
    let requests = claude.requests();
    assert!(requests.last().expect("a request").first_user_text().contains("remember the number 17"));
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_the_server_is_told_and_the_session_goes_on() {
    let claude = ScriptedClaude::start().await;
    let options = NeovimOptions::new(&claude).write("a.txt", "hello\n").file("a.txt");
    claude.push(bash("toolu_1", "echo changed > a.txt")).push("Before the crash.");
    let neovim = chatting(options).await;
    say(&neovim, "first").await;
    neovim.wait_for("Before the crash.").await;
    neovim.wait_for("1 change in 1 file").await;
    claude.push(Reply::says("Half an ans").silence());
    say(&neovim, "second").await;
    neovim.wait_for("Half an ans").await;
    let before = neovim.server_pid();
    kill9(before);
    let screen = neovim.wait_for("started again.").await;
    assert!(screen.contains("signal 9"), "{screen}");
    let screen = neovim.wait_for("Before the crash.").await;
    assert!(screen.contains("first") && !screen.contains("thinks"), "{screen}");
    assert_ne!(neovim.server_pid(), before);
    neovim.wait_for("1 change ").await;
    neovim.keep_picture("crash");
    claude.push("After the crash.");
    say(&neovim, "third").await;
    neovim.wait_for("After the crash.").await;
    let last = claude.requests().pop().expect("a request");
    assert!(last.first_user_text().contains("first"), "the same conversation");
    // The file is known to the new server too.
    neovim
        .wait_for_lua("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.txt'), name = 'airlock' }) == 1")
        .await;
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_again_and_again_is_left_alone_and_one_that_never_starts_says_why() {
    let claude = ScriptedClaude::start().await;
    let neovim = chatting(NeovimOptions::new(&claude).without_sandbox()).await;
    let mut last = 0;
    for _ in 0..4 {
        neovim
            .wait_for_lua(&format!(
                "local w = require('airlock.workspace').of_buffer(0)\n\
                 return w.client ~= nil and w.client.id ~= {last} and w.session.id ~= nil and not w.opening"
            ))
            .await;
        last = neovim
            .lua("return require('airlock.workspace').of_buffer(0).client.id")
            .await
            .as_u64()
            .expect("an id");
        kill9(neovim.server_pid());
    }
    neovim.wait_for("left alone").await;
    let text = neovim.buffer("airlock://chat/").await;
    assert!(
        text.contains("4 times in a minute") && text.contains(":AirlockSessions starts it again"),
        "{text}"
    );
    neovim.quit().await;

    let neovim = Neovim::start(NeovimOptions::new(&claude).setup("cmd = { 'no-such-airlock', 'lsp' }")).await;
    neovim.command("Airlock").await;
    let screen = neovim.wait_for("no-such-airlock was not found").await;
    assert!(screen.contains("PATH"), "{screen}");
    neovim.keep_picture("no-server");
    neovim.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_editors_on_one_workspace_do_not_cross() {
    let claude = ScriptedClaude::start().await;
    let one = NeovimOptions::new(&claude).write("a.txt", "one\ntwo\nthree\n").file("a.txt");
    let first = Neovim::start(one.clone()).await;
    let second = Neovim::start(one).await;
    for neovim in [&first, &second] {
        neovim.command("Airlock").await;
        neovim.wait_for("claude-sonnet-5").await;
    }
    let gate = Gate::new();
    claude.on("alpha", bash("toolu_a", "sed -i s/one/ALPHA/ a.txt; cat a.txt"));
    claude.on("toolu_a", Reply::says("Alpha ").gate(&gate).more("is done."));
    claude.on("beta", bash("toolu_b", "sed -i s/three/BETA/ a.txt; cat a.txt"));
    claude.on("toolu_b", Reply::says("Beta is done."));
    say(&first, "alpha please").await;
    gate.reached().await;
    say(&second, "beta please").await;
    second.wait_for("Beta is done.").await;
    gate.open();
    first.wait_for("Alpha is done.").await;
    second.wait_for("1 change in 1 file").await;
    first.wait_for("1 change in 1 file").await;
    for (neovim, own, other) in [(&first, "alpha", "beta"), (&second, "beta", "alpha")] {
        let text = neovim.buffer("airlock://chat/").await.to_lowercase();
        assert!(text.contains(own) && !text.contains(other), "{text}");
    }
    // Each accepts its own, and the second keeps what the first wrote.
    first.command("AirlockAccept").await;
    first.wait_for("accepted: a.txt").await;
    first.command("wall").await;
    first.wait_for_lua("return not vim.bo[vim.fn.bufnr('a.txt')].modified").await;
    let file = first.home().workspace().join("a.txt");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "ALPHA\ntwo\nthree\n");
    second.command("checktime").await;
    second.wait_for_lua("return vim.fn.getbufline('a.txt', 1)[1] == 'ALPHA'").await;
    second.command("AirlockAccept").await;
    second.wait_for("accepted: a.txt").await;
    second.command("wall").await;
    second.wait_for_lua("return not vim.bo[vim.fn.bufnr('a.txt')].modified").await;
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "ALPHA\ntwo\nBETA\n");
    // A conversation that is open in one cannot be opened in the other.
    second.command("AirlockSessions").await;
    second.wait_for("alpha please").await;
    second.press("1<CR>").await;
    second.wait_for("is open").await;
    second.press("<CR>").await;
    first.quit().await;
    second.quit().await;
    claude.finish();
}
