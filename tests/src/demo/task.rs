//! The task: a script that takes 1900 for a leap year, and how the scripted Claude goes about it.

use crate::scripted_claude::{Gate, Received, Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::time::Duration;

/// What the user asks for.
pub(super) const PROMPT: &str = "The test fails. Find out why, and mend it.";
/// The file that is mended.
pub(super) const SCRIPT: &str = "leap.sh";
/// The workspace. Only what every system has is needed to run it.
pub(super) const FILES: [(&str, &str); 2] = [(SCRIPT, BEFORE), ("test.sh", TEST)];
/// The script as it was.
pub(super) const BEFORE: &str = r#"#!/bin/sh
# Says whether a year is a leap year.
if [ $(($1 % 4)) -eq 0 ]; then
    echo yes
else
    echo no
fi
"#;
/// The script as it is to be.
pub(super) const MENDED: &str = r#"#!/bin/sh
# Says whether a year is a leap year.
if [ $(($1 % 4)) -eq 0 ] && { [ $(($1 % 100)) -ne 0 ] || [ $(($1 % 400)) -eq 0 ]; }; then
    echo yes
else
    echo no
fi
"#;
const OLD_LINE: &str = "if [ $(($1 % 4)) -eq 0 ]; then";
const NEW_LINE: &str =
    "if [ $(($1 % 4)) -eq 0 ] && { [ $(($1 % 100)) -ne 0 ] || [ $(($1 % 400)) -eq 0 ]; }; then";
const TEST: &str = r#"#!/bin/sh
# Compares what leap.sh says with what is true; fails if anything differs.
failed=0
while read -r year truth; do
    said=$(sh leap.sh "$year")
    if [ "$said" = "$truth" ]; then
        echo "ok     $year: $said"
    else
        echo "WRONG  $year: $said, but the truth is $truth"
        failed=1
    fi
done <<END
2023 no
2024 yes
1900 no
2000 yes
END
exit $failed
"#;
/// What shows which wall there is: the id of the kernel that runs, and the networks that can be seen.
const LOOK: &str = "cat /proc/sys/kernel/random/boot_id; echo networks: $(ls /sys/class/net)";

/// The ids of the calls, in order.
pub(super) const CALLS: [&str; 5] = ["toolu_test", "toolu_read", "toolu_edit", "toolu_again", "toolu_look"];

/// How long the stand-in takes for a word where somebody watches.
const WORD: Duration = Duration::from_millis(35);

/// Makes this Claude play the task. It answers whatever is asked, for people try things.
pub(super) fn teach(claude: &ScriptedClaude, is_watched: bool) {
    claude.otherwise(move |request| Some(reply(last_call(request).as_deref(), request, is_watched)));
}

fn reply(after: Option<&str>, request: &Received, is_watched: bool) -> Reply {
    let [test, read, edit, again, look] = CALLS;
    let bash = |command: &str| json!({"command": command});
    let step =
        |words: &str, id: &str, tool: &str, input: Value| say(words, is_watched).tool_use(id, tool, input);
    match after {
        None if request.messages().len() == 1 => {
            step("I run the test to see what fails.", test, "bash", bash("sh test.sh"))
        }
        None => say(
            "I am only a stand-in, and know this one task. /review shows you what I changed, /quit ends the chat.",
            is_watched,
        ),
        Some(id) if id == test => {
            step("Only 1900 is wrong. Let me look at the script.", read, "read_file", json!({"path": SCRIPT}))
        }
        Some(id) if id == read => step(
            "It knows nothing of centuries: of those, only every fourth is a leap year.",
            edit,
            "edit_file",
            json!({"path": SCRIPT, "edits": [{"old": OLD_LINE, "new": NEW_LINE}]}),
        ),
        Some(id) if id == edit => step("Now the test again.", again, "bash", bash("sh test.sh")),
        Some(id) if id == again => {
            step("It passes. Last, which kernel and which networks there are here:", look, "bash", bash(LOOK))
        }
        Some(_) => say(
            "1900 is no leap year any more, and the test passes, here in the sandbox. Your own file is still as it \
             was. /review shows you the change: 1 accepts it. /quit ends the chat.",
            is_watched,
        ),
    }
}

/// The call whose result came last, unless the user has said something since.
fn last_call(request: &Received) -> Option<String> {
    let content = request.messages().last()?["content"].as_array()?;
    let result = content.iter().find(|block| block["type"] == "tool_result")?;
    Some(result["tool_use_id"].as_str()?.to_owned())
}

/// A text, word by word, at a pace at which it can be followed.
fn say(words: &str, is_watched: bool) -> Reply {
    if !is_watched {
        return Reply::says(words);
    }
    let mut gates = Vec::new();
    let mut reply = Reply::new().text("");
    for word in words.split_inclusive(' ') {
        let gate = Gate::new();
        reply = reply.gate(&gate).more(word);
        gates.push(gate);
    }
    tokio::spawn(async move {
        for gate in gates {
            tokio::time::sleep(WORD).await;
            gate.open();
        }
    });
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edit_makes_of_the_script_what_is_promised() {
        assert_eq!(BEFORE.matches(OLD_LINE).count(), 1);
        assert_eq!(BEFORE.replace(OLD_LINE, NEW_LINE), MENDED);
    }
}
