//! What a conversation looks like in Neovim's buffer is what it is, however it changes.

use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;

/// Neovim treats folds in Insert mode in its own way, and that is where people chat.
#[tokio::test(flavor = "multi_thread")]
async fn after_every_write_the_buffer_and_its_folds_are_those_of_the_transcript() {
    let claude = ScriptedClaude::start().await;
    let neovim = Neovim::start(NeovimOptions::new(&claude)).await;
    for (keys, mode) in [("<Esc>", "n"), ("i", "i")] {
        neovim.press(keys).await;
        neovim.wait_for_lua(&format!("return vim.fn.mode() == '{mode}'")).await;
        assert_eq!(neovim.lua_text(include_str!("nvim_transcript.lua")).await, "", "in mode {mode}");
        neovim.command("enew").await;
    }
    neovim.quit().await;
}

/// Updates were lost that came in while a frame had drawn only a part of what waited.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_is_lost_however_many_a_frame_draws_and_the_end_of_a_flood_is_shown() {
    let claude = ScriptedClaude::start().await;
    let neovim = Neovim::start(NeovimOptions::new(&claude)).await;
    assert_eq!(neovim.lua_text(include_str!("nvim_conversation.lua")).await, "");
    neovim.quit().await;
}
