//! What the model may say in a turn: words, commands, files, plugins, and streams that break.

use crate::scripted_claude::Reply;
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// One message of the model.
#[derive(Clone)]
pub(super) struct Say {
    pub(super) reply: Reply,
    /// All of it arrives.
    pub(super) is_whole: bool,
}

/// What a turn is made of.
pub(super) struct Script {
    pub(super) says: Vec<Say>,
    /// The API fails in it, so the turn may.
    pub(super) may_fail: bool,
}

/// How many files the agents, the user and the editor share.
pub(super) const FILES: usize = 24;

impl Say {
    pub(super) fn whole(reply: Reply) -> Self {
        Self { reply, is_whole: true }
    }

    fn broken(reply: Reply) -> Self {
        Self { reply, is_whole: false }
    }
}

/// The name of one of the shared files.
pub(super) fn file(dice: &mut Rng) -> String {
    format!("f{}.txt", dice.usize(..FILES))
}

/// A turn of words.
pub(super) fn talk(dice: &mut Rng) -> Script {
    let pieces = vec!["A few words, ".to_owned(); dice.usize(1..40)];
    let reply = match dice.bool() {
        true => Reply::new().thinking("Let me see.", &format!("signature-{}", number())),
        false => Reply::new(),
    };
    let reply = reply.text_in(pieces.iter().map(String::as_str));
    Script { says: vec![Say::whole(reply)], may_fail: false }
}

/// Any turn.
pub(super) fn any(dice: &mut Rng) -> Script {
    match dice.usize(..10) {
        0 => talk(dice),
        1 => failing(dice),
        _ => {
            let mut says: Vec<Say> = (0..dice.usize(1..4)).map(|_| Say::whole(calls(dice))).collect();
            says.extend(talk(dice).says);
            Script { says, may_fail: false }
        }
    }
}

/// One message with one to three calls.
fn calls(dice: &mut Rng) -> Reply {
    (0..dice.usize(1..4)).fold(Reply::says("So."), |reply, _| {
        let (tool, input) = call(dice);
        reply.tool_use(&format!("toolu_{}", number()), tool, input)
    })
}

fn call(dice: &mut Rng) -> (&'static str, Value) {
    let (n, path) = (number(), file(dice));
    match dice.usize(..14) {
        0..=5 => ("bash", json!({"command": command(dice)})),
        6 => ("bash", json!({"command": format!("sleep 30{n}"), "background": true})),
        7 => (
            "write_file",
            json!({"path": path, "content": format!("written {n}\n").repeat(dice.usize(1..50))}),
        ),
        8 => ("read_file", json!({"path": path})),
        9 => {
            ("edit_file", json!({"path": path, "edits": [{"old": "written", "new": format!("edited {n}")}]}))
        }
        10 => ("list_files", json!({"depth": dice.usize(1..4)})),
        11 => ("search_files", json!({"pattern": format!("{}", n % 100)})),
        _ => ("echo", json!({"n": n})),
    }
}

/// No two are the same: a call that repeats itself asks the user.
fn command(dice: &mut Rng) -> String {
    let (n, path) = (number(), file(dice));
    match dice.usize(..14) {
        0 => format!("echo {n} > {path}; cat {path}"),
        1 => format!("seq {n} $(({n} + 2000))"),
        2 => format!("mkdir -p d{0}; cp f*.txt d{0}/; ls d{0} | wc -l; : {n}", dice.usize(..6)),
        3 => format!("rm -rf {path} d{}; echo {n}", dice.usize(..6)),
        4 => format!("for i in 1 2 3 4 5 6 7 8; do echo line $i of {n}; sleep 0.05; done"),
        5 => format!("(sleep 30{n} & sleep 31{n} &); echo started"),
        6 => format!("nohup setsid sleep 30{n} > /dev/null 2>&1 & echo {n}"),
        7 => format!("kill -9 1; sh -c 'kill -9 -1'; echo never {n}"),
        8 => format!("head -c 3000000 /dev/urandom | base64; : {n}"),
        9 => format!("yes {n} | head -c 30000000"),
        10 => format!("sleep 1.{n}"),
        11 => format!("cd /tmp; export X={n}; pwd"),
        12 => format!("trap '' TERM INT; sleep 0.{n}; echo $X"),
        _ => format!("printf '%s\\n' {n} {n} {n} >> {path}; sort -u {path} | tail -n 3"),
    }
}

/// The stream breaks, or the API is busy.
fn failing(dice: &mut Rng) -> Script {
    let words = Reply::says("Some words that may not ").more("arrive").more(" whole.");
    let broken = match dice.usize(..5) {
        0 => words.cut_after(dice.usize(..900)),
        1 => words.end_after(dice.usize(..900)),
        2 => Reply::status(529).header("retry-after-ms", "20"),
        3 => words.error_event("overloaded_error", "Overloaded"),
        _ => calls(dice).cut_after(dice.usize(200..900)),
    };
    Script { says: vec![Say::broken(broken), Say::whole(Reply::says("Here I am again."))], may_fail: true }
}

/// A number that no other call has.
fn number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
