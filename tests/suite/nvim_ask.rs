//! Questions about code in Neovim: by range, by motion, by code action on a diagnostic.

use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::ScriptedClaude;

const SOURCE: &str = "fn main() {\n    let naïve = \"✓ 日本\";\n    let unused = 1;\n}\n";

async fn with_source(claude: &ScriptedClaude) -> Neovim {
    let options = NeovimOptions::new(claude)
        .without_sandbox()
        .write("src/main.rs", SOURCE)
        .file("src/main.rs")
        .init("vim.keymap.set({ 'n', 'x' }, 'gz', '<Plug>(airlock-ask)')");
    let neovim = Neovim::start(options).await;
    neovim.wait_for("let unused").await;
    neovim.wait_for_lua("return #vim.lsp.get_clients({ bufnr = 0, name = 'airlock' }) == 1").await;
    neovim
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_a_motion_and_a_selection_are_asked_about() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["About two lines.", "About a word.", "About letters."]);
    let neovim = with_source(&claude).await;
    neovim.command("2,3AirlockAsk what are these?").await;
    let screen = neovim.wait_for("About two lines.").await;
    assert!(screen.contains("about src/main.rs, lines 2–3"), "{screen}");
    let asked = claude.requests()[0].last_user_text();
    assert!(asked.contains("let naïve = \"✓ 日本\";\n    let unused = 1;"), "{asked}");
    assert!(!asked.contains("fn main") && asked.contains("what are these?"), "{asked}");

    neovim.command("exe bufwinnr('main.rs') 'wincmd w'").await;
    // A change that nobody saved is what the agent sees.
    neovim.press("3GfuciwUNSAVED<Esc>").await;
    neovim.press("gziw").await;
    neovim.wait_for("Ask Airlock:").await;
    neovim.keep_picture("ask-motion");
    neovim.type_text("and this word?").await;
    neovim.press("<CR>").await;
    neovim.wait_for("About a word.").await;
    let asked = claude.requests()[1].last_user_text();
    assert!(asked.contains("UNSAVED") && !asked.contains("let UNSAVED"), "{asked}");

    neovim.command("exe bufwinnr('main.rs') 'wincmd w'").await;
    neovim.press("2Gf✓vllgz").await;
    neovim.wait_for("Ask Airlock:").await;
    neovim.type_text("letters?").await;
    neovim.press("<CR>").await;
    neovim.wait_for("About letters.").await;
    let asked = claude.requests()[2].last_user_text();
    assert!(asked.contains("✓ 日") && !asked.contains("日本"), "{asked}");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_action_fixes_what_another_tool_found() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["It is fixed.", "Because."]);
    let neovim = with_source(&claude).await;
    // As a linter or another language server tells it.
    neovim
        .lua(
            "vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), 0, { { lnum = 2, col = 8, end_col = 14,\n\
             message = 'unused variable: `unused`', severity = vim.diagnostic.severity.WARN, source = 'rustc' } })",
        )
        .await;
    neovim.press("3G").await;
    neovim.command("lua vim.lsp.buf.code_action()").await;
    let screen = neovim.wait_for("Fix with Airlock").await;
    assert!(screen.contains("Explain with Airlock"), "{screen}");
    neovim.keep_picture("code-action");
    let number =
        screen.lines().find_map(|line| line.split_once(": Fix with Airlock")).expect("a number").0.trim();
    neovim.press(&format!("{number}<CR>")).await;
    let screen = neovim.wait_for("It is fixed.").await;
    assert!(screen.contains("about src/main.rs, line 3"), "{screen}");
    let asked = claude.requests()[0].last_user_text();
    assert!(asked.contains("line 3: warning: unused variable: `unused` (rustc)"), "{asked}");

    neovim.command("exe bufwinnr('main.rs') 'wincmd w'").await;
    neovim.press("2GV").await;
    neovim.press("<Cmd>lua vim.lsp.buf.code_action()<CR>").await;
    let screen = neovim.wait_for("Ask Airlock…").await;
    assert!(!screen.contains("Explain with Airlock"), "no diagnostic is on that line\n{screen}");
    neovim.press("1<CR>").await;
    neovim.wait_for("Ask Airlock:").await;
    neovim.type_text("why?").await;
    neovim.press("<CR>").await;
    neovim.wait_for("Because.").await;
    let asked = claude.requests()[1].last_user_text();
    assert!(asked.contains("why?") && asked.contains("日本") && !asked.contains("unused = 1"), "{asked}");
    neovim.quit().await;
    claude.finish();
}
