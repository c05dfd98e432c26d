//! What a user of the Neovim client is told: help, health, mistakes in the configuration, the statusline.

use crate::nvim_chat::{chatting, say};
use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use std::path::Path;

#[tokio::test(flavor = "multi_thread")]
async fn every_command_and_option_is_in_the_help_and_its_tags_are_whole() {
    let claude = ScriptedClaude::start().await;
    let neovim = Neovim::start(NeovimOptions::new(&claude)).await;
    let doc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/nvim/doc");
    let kept = std::fs::read_to_string(doc.join("tags")).expect("the tags");
    let copy = neovim.home().path().join("doc");
    std::fs::create_dir_all(&copy).expect("a folder");
    std::fs::copy(doc.join("airlock.txt"), copy.join("airlock.txt")).expect("the help");
    neovim.command(&format!("helptags {}", copy.display())).await;
    neovim.wait_for_lua(&format!("return vim.uv.fs_stat({:?}) ~= nil", copy.join("tags"))).await;
    let made = std::fs::read_to_string(copy.join("tags")).expect("the tags");
    assert_eq!(kept, made, "run :helptags editors/nvim/doc");

    let names = "local names = vim.tbl_filter(function(name) return vim.startswith(name, 'Airlock') end,\n\
                 vim.tbl_keys(vim.api.nvim_get_commands({})))\n\
                 table.sort(names) return table.concat(names, ' ')";
    let names = neovim.lua_text(names).await;
    assert!(names.split(' ').count() >= 9, "{names}");
    for name in names.split(' ') {
        assert!(kept.contains(&format!(":{name}\t")), ":{name} is not in the help");
    }
    let keys = "local names = vim.tbl_keys(require('airlock.options').get().keys)\n\
                table.sort(names) return table.concat(names, ' ')";
    let help = std::fs::read_to_string(doc.join("airlock.txt")).expect("the help");
    for key in neovim.lua_text(keys).await.split(' ') {
        assert!(help.contains(key), "the key {key} is not in the help");
    }
    neovim.command("help airlock").await;
    neovim.wait_for("*airlock.txt*").await;
    neovim.keep_picture("help");
    neovim.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn checkhealth_says_what_is_there_and_what_to_do() {
    let claude = ScriptedClaude::start().await;
    let neovim = chatting(NeovimOptions::new(&claude)).await;
    neovim.command("checkhealth airlock").await;
    let screen = neovim.wait_for("the server runs").await;
    assert!(screen.contains("airlock 0."), "{screen}");
    let report =
        neovim.lua_text("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    for expected in ["API key: set, for", "Podman: ", "Sandbox: one was started", "Neovim 0.10"] {
        assert!(report.contains(expected), "{expected} is not in\n{report}");
    }
    assert!(!report.contains("test-key"), "the key itself is nobody's business");
    neovim.keep_picture("checkhealth");
    neovim.quit().await;

    let options = NeovimOptions::new(&claude).env("PATH", "/nowhere").setup("cmd = { 'airlock', 'lsp' }");
    let neovim = Neovim::start(options).await;
    neovim.command("checkhealth airlock").await;
    neovim.wait_for("airlock was not found: put it into PATH").await;
    neovim.quit().await;

    let neovim = Neovim::start(NeovimOptions::new(&claude).env("PATH", "/nowhere")).await;
    neovim.command("checkhealth airlock").await;
    let screen = neovim.wait_for("Podman: podman is not installed").await;
    assert!(screen.contains("install podman"), "and what to do about it: {screen}");
    neovim.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_setup_is_named() {
    let claude = ScriptedClaude::start().await;
    let neovim = Neovim::start(NeovimOptions::new(&claude).setup("cmb = {}, chat = { wdith = 3 }")).await;
    neovim.wait_for("knows no").await;
    let messages = neovim.lua_text("return vim.fn.execute('messages')").await;
    assert!(messages.contains("cmb") && messages.contains("chat.wdith"), "{messages}");
    assert!(messages.contains(":help airlock-options"), "{messages}");
    // The rest of it works.
    neovim.command("Airlock").await;
    neovim.wait_for("claude-sonnet-5").await;
    neovim.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_statusline_tells_the_state_and_the_isolation() {
    let claude = ScriptedClaude::start().await;
    claude.push("Hello.");
    let statusline =
        "vim.o.laststatus = 3; vim.o.statusline = \"<%{%v:lua.require'airlock'.statusline()%}>\"";
    let options = NeovimOptions::new(&claude).init(statusline);
    let neovim = Neovim::start(options).await;
    neovim.wait_for("<>").await;
    neovim.command("Airlock").await;
    let ready =
        |screen: &str| screen.contains("<Airlock · container>") || screen.contains("<Airlock · microVM>");
    neovim.wait("a sandbox that is ready", ready).await;
    say(&neovim, "hi").await;
    neovim.wait_for("Hello.").await;
    neovim.wait("a sandbox that is ready", ready).await;
    neovim.quit().await;
    claude.finish();
}
