//! Review in the real Neovim: the list, the hunk beside it, the diff, one key to accept and one to take it back.

use crate::nvim_chat::{bash, say};
use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;

fn numbered(from: usize, to: usize) -> String {
    (from..=to).map(|number| format!("line {number}\n")).collect()
}

/// A Neovim with `a.txt` open, in which the agent has run a command.
async fn after(claude: &ScriptedClaude, command: &str) -> Neovim {
    claude.push(bash("toolu_1", command)).push("Changed.");
    let options = NeovimOptions::new(claude).write("a.txt", &numbered(1, 20)).file("a.txt");
    let neovim = Neovim::start(options).await;
    neovim.wait_for("line 20").await;
    neovim.command("Airlock").await;
    neovim.wait_for("claude-sonnet-5").await;
    say(&neovim, "change it").await;
    neovim.wait_for("Changed.").await;
    neovim.wait_for("to review: :AirlockChanges").await;
    neovim
}

async fn text_of(neovim: &Neovim) -> String {
    neovim.lua_text("return table.concat(vim.fn.getbufline('a.txt', 1, '$'), '\\n') .. '\\n'").await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_hunk_is_accepted_and_undone_and_another_is_rejected() {
    let claude = ScriptedClaude::start().await;
    let neovim =
        after(&claude, "sed -i 's/line 3$/LINE 3/; s/line 17$/LINE 17/' a.txt; echo 'echo hi' > .envrc")
            .await;
    neovim.command("AirlockChanges").await;
    let screen = neovim.wait_for("a.txt:17  modified, +1 -1").await;
    assert!(screen.contains(".envrc:1  created, +1 -0, PROTECTED"), "{screen}");
    neovim.wait_for_lua("return vim.bo.buftype == 'quickfix'").await;
    neovim.press("/a.txt:17<CR>").await;
    let screen = neovim.wait_for("+LINE 17").await;
    assert!(screen.contains("hunk 2 of 2"), "{screen}");
    neovim.keep_picture("changes");
    neovim.press("ga").await;
    neovim.wait_for("accepted: a.txt").await;
    neovim.wait_until_gone("a.txt:17").await;
    let accepted = numbered(1, 16) + "LINE 17\n" + &numbered(18, 20);
    assert_eq!(text_of(&neovim).await, accepted);

    // One undo, in the file's own window, takes back the hunk and nothing else.
    neovim.command("exe bufwinnr('a.txt') 'wincmd w'").await;
    neovim.press("u").await;
    neovim.wait_for_lua("return vim.fn.getbufline('a.txt', 17)[1] == 'line 17'").await;
    assert_eq!(text_of(&neovim).await, numbered(1, 20));
    neovim.press("<C-r>").await;
    neovim.wait_for_lua("return vim.fn.getbufline('a.txt', 17)[1] == 'LINE 17'").await;
    let on_disk = neovim.home().workspace().join("a.txt");
    assert_eq!(std::fs::read_to_string(&on_disk).expect("a file"), numbered(1, 20), "saving is the user's");
    neovim.command("write").await;
    neovim.wait_for_lua("return not vim.bo[vim.fn.bufnr('a.txt')].modified").await;
    assert_eq!(std::fs::read_to_string(&on_disk).expect("a file"), accepted);

    neovim.command("AirlockChanges").await;
    neovim.wait_for_lua("return vim.bo.buftype == 'quickfix'").await;
    neovim.press("/a.txt:3<CR>gr").await;
    neovim.wait_for("rejected: a.txt").await;
    neovim.wait_until_gone("a.txt:3 ").await;
    assert_eq!(text_of(&neovim).await, accepted);
    // What may run later is left by "accept all", and taken by itself.
    neovim.command("AirlockAccept").await;
    neovim.wait_for("protected").await;
    let envrc = neovim.home().workspace().join(".envrc");
    assert!(!envrc.exists());
    // To go to it shows it, and opens no empty file under its name.
    neovim.wait_for_lua("return vim.bo.buftype == 'quickfix'").await;
    neovim.press("<CR>").await;
    neovim.wait_for(".envrc · yours").await;
    assert_eq!(neovim.lua("return vim.fn.bufloaded('.envrc')").await.as_u64(), Some(0));
    neovim.press("q").await;
    neovim.wait_until_gone(".envrc · yours").await;
    neovim.command("AirlockAccept .envrc").await;
    neovim.wait_for("accepted: .envrc").await;
    assert!(envrc.exists());
    neovim.command("AirlockChanges").await;
    neovim.wait_for("nothing waits for review").await;
    neovim.quit().await;
    claude.finish();
}

/// Presses these keys in the very moment in which a new list has come.
async fn press_at_the_next_list(neovim: &Neovim, keys: &str) {
    let code = format!(
        "local set = vim.fn.setqflist\n\
         vim.fn.setqflist = function(...) local result = set(...); vim.api.nvim_input({keys:?}); return result end"
    );
    neovim.lua(&code).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cursor_stays_after_a_verdict_and_a_second_key_takes_nothing_that_was_not_under_it() {
    let claude = ScriptedClaude::start().await;
    let command =
        "sed -i 's/line 3$/LINE 3/; s/line 10$/LINE 10/; s/line 17$/LINE 17/' a.txt; echo 'echo hi' > .envrc";
    let neovim = after(&claude, command).await;
    neovim.command("AirlockChanges").await;
    neovim.wait_for("a.txt:17").await;
    neovim.wait_for_lua("return vim.bo.buftype == 'quickfix'").await;
    neovim.press("/a.txt:10<CR>").await;
    neovim.wait_for("+LINE 10").await;
    press_at_the_next_list(&neovim, "ga").await;
    neovim.press("ga").await;
    neovim.wait_for("has just come under the cursor").await;
    neovim.wait_until_gone("a.txt:10").await;
    assert_eq!(text_of(&neovim).await, numbered(1, 9) + "LINE 10\n" + &numbered(11, 20));
    assert!(!neovim.home().workspace().join(".envrc").exists(), "nobody meant the first entry");
    neovim.wait_for_lua("return vim.fn.getline('.'):find('a.txt:17', 1, true) == 1").await;
    neovim.wait_for("+LINE 17").await;

    // What goes above the cursor does not move another entry under it.
    neovim.command("AirlockReject .envrc").await;
    neovim.wait_until_gone(".envrc").await;
    neovim.wait_for_lua("return vim.fn.getline('.'):find('a.txt:17', 1, true) == 1").await;
    // Who has gone there means it.
    neovim.press("kgr").await;
    neovim.wait_until_gone("a.txt:3 ").await;
    neovim.wait_for_lua("return vim.fn.getline('.'):find('a.txt:17', 1, true) == 1").await;
    assert_eq!(text_of(&neovim).await, numbered(1, 9) + "LINE 10\n" + &numbered(11, 20));
    neovim.quit().await;
    claude.finish();
}

/// Every list that is asked for from now on is only asked for when Lua's `list_again()` is called.
const LISTS_ARE_SLOW: &str = "local changes = require('airlock.changes')\n\
    local fetch, held = changes.fetch, {}\n\
    changes.fetch = function(...) table.insert(held, { ... }) end\n\
    function list_again()\n\
        changes.fetch = fetch\n\
        for _, arguments in ipairs(held) do fetch(unpack(arguments)) end\n\
    end";

#[tokio::test(flavor = "multi_thread")]
async fn a_path_is_accepted_as_the_list_shows_it_and_not_as_the_agent_made_it_since() {
    let claude = ScriptedClaude::start().await;
    let neovim = after(&claude, "echo shown > new.txt; echo same > other.txt").await;
    neovim.command("AirlockChanges").await;
    neovim.wait_for("+shown").await;
    neovim.lua(LISTS_ARE_SLOW).await;
    claude.push(bash("toolu_2", "echo evil > new.txt")).push("Once more.");
    neovim.command("Airlock").await;
    say(&neovim, "again").await;
    neovim.wait_for("Once more.").await;
    assert!(neovim.screen().contains("+shown"), "{}", neovim.screen());
    let made = |name: &str| std::fs::read_to_string(neovim.home().workspace().join(name)).ok();
    neovim.command("AirlockAccept").await;
    neovim.wait_for("new.txt was not accepted").await;
    assert_eq!(made("new.txt"), None);
    neovim.command("AirlockAccept new.txt other.txt").await;
    neovim.wait_for("accepted: other.txt; new.txt was not accepted").await;
    assert_eq!((made("new.txt"), made("other.txt")), (None, Some("same\n".to_owned())));
    neovim.lua("list_again()").await;
    neovim.wait_for("+evil").await;
    neovim.command("AirlockAccept new.txt").await;
    neovim.wait_for("accepted: new.txt").await;
    assert_eq!(made("new.txt"), Some("evil\n".to_owned()), "it was shown, and it was the user's decision");
    neovim.quit().await;
    claude.finish();
}

/// Lines that the user and the agent both changed.
async fn in_conflict(claude: &ScriptedClaude) -> Neovim {
    let command =
        "sed -i \"s/line 3$/the agent's 3/; s/line 10$/the agent's 10/; s/line 17$/the agent's 17/\" a.txt";
    let neovim = after(claude, command).await;
    neovim.command("exe bufwinnr('a.txt') 'wincmd w'").await;
    neovim.press(":3s/line/my/<CR>:10s/line/my/<CR>").await;
    neovim.wait_for_lua("return vim.fn.getbufline('a.txt', 10)[1] == 'my 10'").await;
    neovim.command("AirlockChanges").await;
    let screen = neovim.wait_for("a.txt:17  modified").await;
    assert_eq!(screen.matches("CONFLICT").count(), 2, "only what is one: {screen}");
    neovim.wait_for_lua("return vim.bo.buftype == 'quickfix'").await;
    neovim
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_settled_as_a_whole() {
    let claude = ScriptedClaude::start().await;
    let neovim = in_conflict(&claude).await;
    neovim.press("/a.txt:3 <CR>ga").await;
    let screen = neovim.wait_for("you and the agent changed the same lines").await;
    assert!(screen.contains("Keep both") && screen.contains("Edit by hand"), "{screen}");
    neovim.keep_picture("conflict");
    neovim.press("2<CR>").await;
    neovim.wait_until_gone("a.txt:3 ").await;
    let both = numbered(1, 2) + "my 3\nthe agent's 3\n" + &numbered(4, 9) + "my 10\n" + &numbered(11, 20);
    assert_eq!(text_of(&neovim).await, both);
    // The whole file: the conflict in it is asked about, the rest is accepted.
    // A key that comes too soon after the list has changed under the cursor is for nothing, so the cursor moves first.
    neovim.press("G").await;
    neovim.wait_for("hunk 2 of 2").await;
    neovim.press("gg").await;
    neovim.wait_for("hunk 1 of 2").await;
    neovim.press("gA").await;
    neovim.wait_for("you and the agent changed the same lines").await;
    neovim.press("3<CR>").await;
    neovim.wait_until_gone("modified, ").await;
    let kept = both.replace("line 17", "the agent's 17");
    assert_eq!(text_of(&neovim).await, kept, "yours, and not half of a mark");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_that_is_edited_by_hand_has_all_its_marks_and_no_choice_changes_nothing() {
    let claude = ScriptedClaude::start().await;
    let neovim = in_conflict(&claude).await;
    let before = text_of(&neovim).await;
    neovim.press("/a.txt:10<CR>ga").await;
    neovim.wait_for("you and the agent changed the same lines").await;
    neovim.press("<CR>").await;
    neovim.wait_until_gone("Edit by hand").await;
    assert_eq!(text_of(&neovim).await, before);
    neovim.press("ga").await;
    neovim.wait_for("Edit by hand").await;
    neovim.press("4<CR>").await;
    neovim.wait_for_lua("return #vim.fn.getbufline('a.txt', 1, '$') > 20").await;
    let marked = before.replace("my 10\n", "<<<<<<< ours\nmy 10\n=======\nthe agent's 10\n>>>>>>> theirs\n");
    assert_eq!(text_of(&neovim).await, marked);
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_shows_both_sides_and_takes_a_hunk() {
    let claude = ScriptedClaude::start().await;
    let command = "sed -i 's/line 3$/LINE 3/; s/line 17$/LINE 17/' a.txt; echo made > new.txt; rm -f b";
    let neovim = after(&claude, command).await;
    neovim.command("AirlockChanges").await;
    neovim.wait_for("a.txt:3").await;
    neovim.press("gggd").await;
    let screen = neovim.wait_for("a.txt · yours").await;
    assert!(screen.contains("LINE 3") && screen.contains("line 3"), "{screen}");
    neovim.keep_picture("diff");
    neovim.press("]c").await;
    neovim.wait_for_lua("return vim.fn.line('.') == 17").await;
    neovim.press("ga").await;
    neovim.wait_for_lua("return vim.fn.getbufline('a.txt', 17)[1] == 'LINE 17'").await;
    neovim.press("[c").await;
    neovim.wait_for_lua("return vim.fn.line('.') == 3").await;
    neovim.press("gr").await;
    // Nothing is left of the file, so its diff is gone.
    neovim.wait_until_gone("a.txt · yours").await;
    assert_eq!(text_of(&neovim).await, numbered(1, 16) + "LINE 17\n" + &numbered(18, 20));
    neovim.command("AirlockDiff new.txt").await;
    neovim.wait_for("new.txt · yours").await;
    neovim.press("gA").await;
    neovim.wait_until_gone("new.txt · yours").await;
    let made = std::fs::read_to_string(neovim.home().workspace().join("new.txt"));
    assert_eq!(made.expect("it was not open, so it was written"), "made\n");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_meanwhile_is_kept_and_a_stale_edit_is_refused() {
    let claude = ScriptedClaude::start().await;
    let neovim = after(&claude, "sed -i 's/line 3$/LINE 3/' a.txt").await;
    neovim.command("exe bufwinnr('a.txt') 'wincmd w'").await;
    neovim.press("Gounsaved<Esc>").await;
    neovim.command("AirlockAccept a.txt").await;
    neovim.wait_for("accepted: a.txt").await;
    let both = numbered(1, 2) + "LINE 3\n" + &numbered(4, 20) + "unsaved\n";
    assert_eq!(text_of(&neovim).await, both);
    neovim.press("u").await;
    neovim.wait_for_lua("return vim.fn.getbufline('a.txt', 3)[1] == 'line 3'").await;
    assert_eq!(text_of(&neovim).await, numbered(1, 20) + "unsaved\n", "one undo, and only the hunk");

    // An edit for another version than the one that is there is not made, and is not said to be made.
    let refused = neovim
        .lua_text(
            "local buf = vim.fn.bufnr('a.txt')\n\
             local range = { start = { line = 0, character = 0 }, ['end'] = { line = 1, character = 0 } }\n\
             local client = vim.lsp.get_clients({ name = 'airlock' })[1]\n\
             local answer = client.handlers['workspace/applyEdit'](nil, { edit = { documentChanges = { {\n\
               textDocument = { uri = vim.uri_from_bufnr(buf), version = 1 },\n\
               edits = { { range = range, newText = 'EVIL\\n' } } } } } }, { client_id = client.id })\n\
             return tostring(answer.applied) .. ': ' .. answer.failureReason",
        )
        .await;
    assert_eq!(refused, "false: it was changed meanwhile");
    assert_eq!(text_of(&neovim).await, numbered(1, 20) + "unsaved\n");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_a_hostile_name_is_only_a_name() {
    let claude = ScriptedClaude::start().await;
    let neovim =
        after(&claude, "echo x > '`touch pwned`'; echo y > '|!touch pwned'; echo z > '%{system(1)}.lua'")
            .await;
    neovim.command("AirlockChanges").await;
    neovim.wait_for("`touch pwned`:1  created").await;
    for _ in 0..3 {
        neovim.press("j").await;
    }
    for name in ["`touch pwned`", "|!touch pwned", "%{system(1)}.lua"] {
        neovim.command("1wincmd w").await;
        neovim
            .lua(&format!(
                "require('airlock.diff').open(require('airlock.workspace').of_buffer(0).session, {name:?})"
            ))
            .await;
        neovim.wait_for(&format!("{name} · yours")).await;
        neovim.command("tabclose").await;
        neovim.wait_until_gone(&format!("{name} · yours")).await;
    }
    assert!(!neovim.home().workspace().join("pwned").exists());
    neovim.quit().await;
    claude.finish();
}
