//! Neovim takes keys while the agent says much at once.

use crate::nvim_chat::{bash, say};
use airlock_tests::nvim::{Neovim, NeovimOptions};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use std::time::Duration;

const CHUNKS: usize = 5_000;
/// What a person does not notice, for most keys; and what is still no stall on a busy machine, for the worst one.
const MOST_KEYS: Duration = Duration::from_millis(50);
const WORST_KEY: Duration = Duration::from_millis(500);
/// Less than that between two writes is more than one a frame.
const FRAME_NS: f64 = 15e6;

/// A Neovim with the chat and a file, in which the times of all writes to the chat are noted.
async fn watched(options: NeovimOptions) -> Neovim {
    let neovim = Neovim::start(options.write("a.txt", "").file("a.txt")).await;
    neovim.command("Airlock").await;
    neovim.wait_for("claude-sonnet-5").await;
    neovim
        .lua(
            "_G.writes = {}\n\
             vim.api.nvim_buf_attach(require('airlock.workspace').of_buffer(0).session.conversation.transcript.buf, false, {\n\
               on_lines = function() table.insert(_G.writes, vim.uv.hrtime()) end })",
        )
        .await;
    neovim
}

/// Types into the file until the turn has ended, and gives how long each key took to be on the screen. However quick the
/// machine is, some keys come after each gate.
async fn type_through(neovim: &Neovim, gates: &[Gate]) -> Vec<Duration> {
    let ended = "return require('airlock.workspace').of_buffer(0).session.turn == false";
    let mut samples = Vec::new();
    let mut gates = gates.iter();
    loop {
        gates.next().inspect(|gate| gate.open());
        for _ in 0..10 {
            samples.push(neovim.key_latency("x").await);
        }
        neovim.press("<CR>").await;
        if neovim.lua(ended).await == true.into() {
            samples.sort();
            return samples;
        }
    }
}

async fn judge(neovim: &Neovim, name: &str, samples: &[Duration]) {
    let at = |percent: usize| samples[(samples.len() * percent / 100).min(samples.len() - 1)];
    let gaps = "local least = math.huge\n\
                for i = 2, #_G.writes do least = math.min(least, _G.writes[i] - _G.writes[i - 1]) end\n\
                return { #_G.writes, least }";
    let gaps = neovim.lua(gaps).await;
    let (writes, least) = (gaps[0].as_u64().expect("a number"), gaps[1].as_f64().expect("a number"));
    let worst = *samples.last().expect("a sample");
    neovim.keep_note(
        name,
        &format!(
            "{} keys during the burst: p50 {:?}, p99 {:?}, worst {worst:?}; {writes} writes, at least {:.1} ms apart\n",
            samples.len(),
            at(50),
            at(99),
            least / 1e6
        ),
    );
    assert!(samples.len() >= 20, "too few keys to judge: {}", samples.len());
    assert!(at(50) <= MOST_KEYS, "half of the keys took longer than {:?}", at(50));
    assert!(worst <= WORST_KEY, "a key took {worst:?}");
    assert!(least >= FRAME_NS, "two writes in one frame: {least} ns apart");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_5000_chunks_keeps_input_responsive() {
    let claude = ScriptedClaude::start().await;
    let gates: Vec<Gate> = (0..4).map(|_| Gate::new()).collect();
    let pieces: Vec<String> = (1..=CHUNKS).map(|number| format!("- item *{number}* of `many`\n")).collect();
    let mut reply = Reply::says("Here they come:\n\n");
    for (pieces, gate) in pieces.chunks(CHUNKS / gates.len()).zip(&gates) {
        reply = pieces.iter().fold(reply.gate(gate), |reply, piece| reply.more(piece));
    }
    claude.push(reply);
    let neovim = watched(NeovimOptions::new(&claude).without_sandbox()).await;
    say(&neovim, "talk").await;
    neovim.wait_for("Here they come:").await;
    neovim.command("exe bufwinnr('a.txt') 'wincmd w'").await;
    neovim.press("i").await;
    neovim.wait_for("INSERT").await;
    let samples = type_through(&neovim, &gates).await;
    judge(&neovim, "burst-of-chunks", &samples).await;
    neovim.wait_for("item *5000*").await;
    let text = neovim.buffer("airlock://chat/").await;
    assert!(text.ends_with(pieces.concat().trim_end()), "nothing is lost");
    neovim.quit().await;
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_a_tools_output_keeps_input_responsive() {
    let claude = ScriptedClaude::start().await;
    claude.push(bash("toolu_0", "true")).push("Warm.");
    claude.push(bash("toolu_1", "seq 1 200000; echo the end")).push("That was much.");
    let neovim = watched(NeovimOptions::new(&claude)).await;
    say(&neovim, "warm up").await;
    neovim.wait_for("Warm.").await;
    say(&neovim, "flood").await;
    neovim.command("exe bufwinnr('a.txt') 'wincmd w'").await;
    neovim.press("i").await;
    let samples = type_through(&neovim, &[]).await;
    judge(&neovim, "flood-of-output", &samples).await;
    neovim.wait_for("That was much.").await;
    neovim.quit().await;
    claude.finish();
}
