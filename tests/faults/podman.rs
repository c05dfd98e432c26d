//! A podman that misbehaves behind a proxy which the test holds: what can be made good is, what cannot is said with what
//! to do about it, nothing waits for ever, and no container is left behind.

use crate::sandboxed::podman as run_podman;
use airlock::limits::PODMAN_ANSWER_MAX_MS;
use airlock::sandbox::SandboxError;
use airlock_tests::deadline::DEADLINE;
use airlock_tests::sandbox_desk::SandboxDesk;
use airlock_tests::unruly::{Trouble, UnrulyPodman};
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::Stdio;
use std::task::Poll;
use std::time::Duration;
use tokio::process::Command;

/// The calls of a start, in order.
const LIST: &str = "libpod/containers/json";
const CREATE: &str = "libpod/containers/create";
const ATTACH: &str = "/attach";
const START: &str = "/start";

fn desk() -> (UnrulyPodman, SandboxDesk) {
    let podman = UnrulyPodman::new();
    let desk = SandboxDesk::with_programs(&podman.path());
    (podman, desk)
}

/// Lets time pass for everybody who waits in this runtime.
async fn pass_time(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// One start in which one call goes wrong once: nobody notices.
async fn is_made_good(call: &str, trouble: Trouble) {
    let (podman, desk) = desk();
    podman.trouble(call, trouble.clone(), 1);
    let said = desk.bash("echo up").await;
    assert!(said.starts_with("up\n"), "{call} {trouble:?}: {said}");
    assert_eq!(desk.containers().len(), 1, "{call} {trouble:?}");
    let tries = if call == LIST { 1 } else { 2 };
    assert!(podman.calls(call) >= tries, "{call} {trouble:?}: it was made again");
    desk.view().stop().await;
    assert_eq!(desk.containers(), Vec::<String>::new(), "{call} {trouble:?}");
}

#[tokio::test]
async fn a_call_that_is_not_heard_is_made_again() {
    for call in [LIST, CREATE, ATTACH, START] {
        is_made_good(call, Trouble::HangUp).await;
    }
}

#[tokio::test]
async fn a_problem_of_podmans_own_is_tried_again() {
    for call in [LIST, CREATE, ATTACH, START] {
        is_made_good(call, Trouble::status_500()).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_or_cut_leaves_no_second_container() {
    for (call, bytes) in [(CREATE, 0), (CREATE, 100), (ATTACH, 0), (ATTACH, 40), (ATTACH, 160), (START, 0)] {
        is_made_good(call, Trouble::CutAfter(bytes)).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_an_answer_that_is_lost() {
    for call in [CREATE, START] {
        is_made_good(call, Trouble::garbage()).await;
    }
}

/// A start that must fail.
async fn refused(desk: &SandboxDesk) -> SandboxError {
    match desk.view().ready().await {
        Ok(_) => panic!("it came up"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_podman_that_stays_broken_is_told_with_what_to_do_and_works_when_it_is_mended() {
    for (call, doing) in
        [(CREATE, "make a container"), (ATTACH, "attach to the container"), (START, "start the container")]
    {
        for trouble in [Trouble::status_500(), Trouble::HangUp, Trouble::CutAfter(0)] {
            let (podman, desk) = desk();
            podman.trouble(call, trouble.clone(), usize::MAX);
            let error = refused(&desk).await;
            let said = error.to_string();
            assert!(said.contains(&format!("podman could not {doing}: ")), "{trouble:?}: {said}");
            assert!(error.remedy.text.contains("`podman info`"), "{trouble:?}: {said}");
            assert_eq!(said.contains("the database is locked"), trouble == Trouble::status_500(), "{said}");
            // An answer that is lost may leave one that nobody knows of until the next start.
            let lost = call == CREATE && trouble == Trouble::CutAfter(0);
            assert!(lost || desk.containers().is_empty(), "{call} {trouble:?}");
            podman.behave();
            assert!(desk.bash("echo up").await.starts_with("up\n"));
            assert_eq!(desk.containers().len(), 1, "{call} {trouble:?}");
            desk.end().await;
        }
    }
}

#[tokio::test]
async fn a_podman_that_keeps_silent_is_waited_for_only_so_long() {
    for call in [CREATE, ATTACH, START] {
        let (podman, desk) = desk();
        podman.trouble(call, Trouble::Silence, usize::MAX);
        let mut silences = 0;
        let said = {
            let mut refused = pin!(refused(&desk));
            loop {
                tokio::select! {
                    error = &mut refused => break error.to_string(),
                    () = podman.silences(silences + 1) => silences += 1,
                }
                pass_time(Duration::from_millis(PODMAN_ANSWER_MAX_MS + 1000)).await;
            }
        };
        assert!(said.contains(": no answer within 30 s; try `podman info`"), "{call}: {said}");
        assert!(silences <= 3, "{call}: once for each runtime, and not {silences} times");
        podman.behave();
        assert!(desk.bash("echo up").await.starts_with("up\n"));
        assert_eq!(desk.containers().len(), 1, "{call}");
        desk.end().await;
    }
}

#[tokio::test]
async fn a_sandbox_ends_tidily_though_one_podman_after_the_other_dies_over_it() {
    let (podman, desk) = desk();
    assert!(desk.bash("echo up").await.starts_with("up\n"));
    // Each is asked whether the container is gone, and hangs up.
    podman.trouble("/exists", Trouble::HangUp, 2);
    desk.view().stop().await;
    assert!(podman.calls("/exists") >= 3, "the third one says so");
    assert_eq!(desk.containers(), Vec::<String>::new());
    for left in ["work", "owner"] {
        assert!(!desk.folder().join(left).exists(), "{left} is of no use any more");
    }
}

/// As when podman dies over a start, and another one removes the container and does not know of its monitor.
#[tokio::test]
async fn a_container_that_somebody_else_removes_while_it_starts_leaves_no_monitor() {
    let (podman, desk) = desk();
    podman.trouble(START, Trouble::Late, 1);
    let removed = async {
        podman.silences(1).await;
        let [made] = &desk.containers()[..] else { panic!("one is made") };
        let id = run_podman(&["inspect", "--format", "{{.Id}}", made]);
        let mut monitor = Command::new("cat");
        monitor.arg0("conmon").args(["-", &id]).stdin(Stdio::piped()).kill_on_drop(true);
        let monitor = monitor.spawn().expect("cat");
        run_podman(&["rm", "--force", &id]);
        podman.behave();
        monitor
    };
    let (said, mut monitor) = tokio::join!(desk.bash("echo up"), removed);
    assert!(said.contains("up\n"), "a new one is made at once: {said}");
    // Or waiting would close it, and that alone would end it.
    let _input = monitor.stdin.take();
    let ended = tokio::time::timeout(DEADLINE, monitor.wait()).await.expect("it is ended").expect("ours");
    assert_eq!(ended.signal(), Some(9));
    desk.end().await;
}

#[tokio::test]
async fn a_podman_that_is_late_is_waited_for() {
    for call in [CREATE, ATTACH, START] {
        let (podman, desk) = desk();
        podman.trouble(call, Trouble::Late, 1);
        let mended = async {
            podman.silences(1).await;
            podman.behave();
        };
        let (said, ()) = tokio::join!(desk.bash("echo up"), mended);
        assert!(said.contains("up\n"), "{call}: {said}");
        desk.view().stop().await;
    }
}

#[tokio::test]
async fn a_guest_that_does_not_answer_any_more_is_taken_for_dead_and_replaced() {
    for (tool, input) in
        [("bash", json!({"command": "true", "timeout_s": 100})), ("read_file", json!({"path": "kept.txt"}))]
    {
        let (podman, desk) = desk();
        desk.bash("echo kept > kept.txt").await;
        let frozen = desk.containers();
        podman.freeze_attached();
        let said = {
            let mut call = pin!(desk.call(tool, input));
            tokio::select! {
                outcome = &mut call => panic!("it was heard: {}", outcome.all_text()),
                () = podman.unheard() => {}
            }
            // What it waits for is seen only when it is looked at, and it may wait for one thing after the other.
            loop {
                match futures::poll!(&mut call) {
                    Poll::Ready(outcome) => break outcome,
                    Poll::Pending => pass_time(Duration::from_secs(140)).await,
                }
            }
        };
        let why = "the sandbox ended in the middle of this call: it did not answer any more";
        assert!(said.is_error && said.all_text().starts_with(why), "{tool}: {}", said.all_text());
        let next = desk.bash("cat kept.txt").await;
        assert!(next.starts_with("[the sandbox was started afresh") && next.contains("\nkept\n"), "{next}");
        assert!(desk.containers().len() == 1 && desk.containers() != frozen);
        desk.end().await;
    }
}
