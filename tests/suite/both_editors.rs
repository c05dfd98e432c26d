//! VS Code and Neovim at the same time, in the same folder and the same file: nothing is crossed and nothing is lost.

use crate::nvim_chat::{bash, say};
use airlock_tests::editor::Home;
use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::vscode::VsCode;
use pretty_assertions::assert_eq;

fn notes(changed: &[usize]) -> String {
    let line = |number| {
        if changed.contains(&number) { format!("LINE {number}\n") } else { format!("line {number}\n") }
    };
    (1..=20).map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_editors_work_in_one_folder_and_on_one_file() {
    let (of_vscode, of_neovim) = (ScriptedClaude::start().await, ScriptedClaude::start().await);
    let home = Home::new();
    home.write("notes.txt", &notes(&[]));
    let on_disk = || std::fs::read_to_string(home.workspace().join("notes.txt")).expect("a file");
    of_vscode.push(bash("toolu_1", "sed -i 's/line 3$/LINE 3/' notes.txt")).push("The third is done.");
    of_neovim.push(bash("toolu_2", "sed -i 's/line 17$/LINE 17/' notes.txt")).push("So is the seventeenth.");

    let mut vscode = VsCode::start("beside", &of_vscode, &home);
    let neovim = Neovim::start(NeovimOptions::new(&of_neovim).home(&home).file("notes.txt")).await;
    neovim.command("Airlock").await;
    neovim.wait_for("claude-sonnet-5").await;
    say(&neovim, "And the other one").await;
    neovim.wait_for("So is the seventeenth.").await;
    neovim.wait_for("1 change in 1 file").await;
    vscode.reached("its change waits").await;
    assert_eq!(on_disk(), notes(&[]), "nothing lands unreviewed");
    vscode.go_on().await;

    vscode.reached("its change is saved").await;
    assert_eq!(on_disk(), notes(&[3]), "one editor's change and not the other's");
    // As when the user comes back to the window.
    neovim.command("checktime").await;
    neovim.wait_for_lua("return vim.fn.getbufline('notes.txt', 3)[1] == 'LINE 3'").await;
    assert!(!neovim.screen().contains("The third"), "the other conversation is not here");
    neovim.command("AirlockAccept").await;
    neovim.wait_for("accepted: notes.txt").await;
    neovim.command("exe bufwinnr('notes.txt') 'wincmd w'").await;
    neovim.command("write").await;
    neovim.wait_for_lua("return not vim.bo[vim.fn.bufnr('notes.txt')].modified").await;
    assert_eq!(on_disk(), notes(&[3, 17]), "nobody's change is lost");
    vscode.go_on().await;
    vscode.reached("it shows both").await;
    neovim.quit().await;
    vscode.go_on().await;
    vscode.finish().await;
    of_vscode.finish();
    of_neovim.finish();
}
