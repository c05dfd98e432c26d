//! What a plugin does wrong becomes an error within the limits, with its last words, and the next call works.

use airlock::limits::{
    PLUGIN_HANDLES_MAX, PLUGIN_HOST_CALL_MAX_BYTES, PLUGIN_LOG_LINE_MAX_BYTES, PLUGIN_LOG_LINES_MAX,
    PLUGIN_PROGRESS_MAX, PLUGIN_STDERR_TAIL_BYTES, PLUGIN_TICK_MS,
};
use airlock::plugins::{Bounds, Fault, Plugin};
use airlock::tools::Progress;
use airlock_tests::guests::{bomb, probe};
use airlock_tests::plugin_desk::PluginDesk;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The fault of a call. The law of every one: the next call works.
async fn fault(desk: &PluginDesk, plugin: &Plugin, tool: &str, input: Value) -> Fault {
    let called = desk.call(plugin, tool, input).await;
    let fault = called.expect_err(&format!("{tool} should fail"));
    assert_eq!(
        desk.call(plugin, "echo", json!({"n": 1})).await,
        Ok(Ok("{\"n\":1}".to_owned())),
        "after {tool}"
    );
    fault
}

#[tokio::test]
async fn an_endless_loop_is_ended_in_time_and_its_last_words_are_kept() {
    let desk = PluginDesk::impatient();
    let plugin = desk.install("probe", "", probe());
    plugin.load(desk.plugins()).await.unwrap();
    let begun = Instant::now();
    let fault = fault(&desk, &plugin, "endless", json!({})).await;
    let took = begun.elapsed();
    assert!(fault.what.contains("computed for more than 0.3 s"), "{fault}");
    assert!(fault.last_words.contains("the last words before the loop"), "{fault}");
    // The bench holds the promise to the millisecond; here the machine may be busy.
    assert!(took < Duration::from_millis(300 + 50 * PLUGIN_TICK_MS), "{took:?}");
}

#[tokio::test]
async fn a_loop_holds_nobody_else_up() {
    // One thread for everything: what the loop does not give back, nobody has.
    let desk = PluginDesk::impatient();
    let plugin = desk.install("probe", "", probe());
    plugin.load(desk.plugins()).await.unwrap();
    let ticks = AtomicUsize::new(0);
    let others = async {
        loop {
            tokio::task::yield_now().await;
            ticks.fetch_add(1, Ordering::Relaxed);
        }
    };
    tokio::select! {
        called = desk.call(&plugin, "endless", json!({})) => assert!(called.is_err()),
        () = others => unreachable!("it never ends"),
    }
    assert!(ticks.load(Ordering::Relaxed) > 5, "the others had {} turns", ticks.load(Ordering::Relaxed));
}

#[tokio::test]
async fn calls_of_the_host_are_no_way_around_the_clock() {
    let bounds =
        Bounds { cpu_max: Duration::from_millis(200), call_max: Duration::from_secs(2), ..Bounds::default() };
    let desk = PluginDesk::with(bounds, &[]);
    let plugin = desk.install("probe", "", probe());
    let lines = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lines);
    let powers = plugin.manifest.asks.clone();
    let called = desk
        .call_with(&plugin, "endless_calls", json!({}), powers, |context| {
            context.log = Arc::new(move |_, _| {
                counted.fetch_add(1, Ordering::Relaxed);
            });
        })
        .await;
    let fault = called.unwrap_err();
    assert!(fault.what.contains("and was ended"), "{fault}");
    assert_eq!(lines.load(Ordering::Relaxed), PLUGIN_LOG_LINES_MAX);
}

#[tokio::test]
async fn one_that_waits_too_long_is_ended() {
    let desk = PluginDesk::with(Bounds { call_max: Duration::from_millis(200), ..Bounds::default() }, &[]);
    let plugin = desk.install("probe", "", probe());
    plugin.load(desk.plugins()).await.unwrap();
    let fault = fault(&desk, &plugin, "sleep", json!({"ms": 60_000})).await;
    assert!(fault.what.contains("took longer than 0.2 s"), "{fault}");
}

#[tokio::test]
async fn waiting_does_not_count_as_computing() {
    let desk = PluginDesk::with(Bounds { cpu_max: Duration::from_millis(150), ..Bounds::default() }, &[]);
    let plugin = desk.install("probe", "", probe());
    assert_eq!(desk.call(&plugin, "sleep", json!({"ms": 400})).await, Ok(Ok("slept".to_owned())));
}

#[tokio::test]
async fn a_memory_bomb_is_told_how_much_there_is() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let fault = fault(&desk, &plugin, "memory_bomb", json!({})).await;
    assert!(fault.what.contains("64 MiB of memory"), "{fault}");
}

#[tokio::test]
async fn memories_and_tables_are_bounded_together() {
    let desk = PluginDesk::new();
    let grow_table = "(loop $again (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 10000)) (i32.const -1)))) unreachable";
    let plugin = desk.install("tables", "", &bomb(1, "(table $t 1 funcref)", grow_table));
    let fault = desk.call(&plugin, "bomb", json!({})).await.unwrap_err();
    assert!(fault.what.contains("table of more than"), "{fault}");
    let plugin = desk.install("memories", "", &bomb(2000, "", "unreachable"));
    let fault = desk.call(&plugin, "bomb", json!({})).await.unwrap_err();
    assert!(fault.what.contains("64 MiB of memory"), "{fault}");
    let plugin = desk.install("first-table", "", &bomb(1, "(table 10000000 funcref)", "unreachable"));
    let fault = desk.call(&plugin, "bomb", json!({})).await.unwrap_err();
    assert!(fault.what.contains("table of more than"), "{fault}");
}

#[tokio::test]
async fn deep_recursion_ends_at_the_end_of_its_stack() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let fault = fault(&desk, &plugin, "recursion", json!({})).await;
    assert!(fault.what.contains("recursed too deep"), "{fault}");
}

#[tokio::test]
async fn a_panic_and_an_exit_bring_their_last_words() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let panicked = fault(&desk, &plugin, "panic", json!({"why": "of this"})).await;
    assert!(panicked.what.contains("panicked"), "{panicked}");
    assert!(panicked.last_words.contains("the probe panics: of this"), "{panicked}");
    let left = fault(&desk, &plugin, "exit", json!({})).await;
    assert!(left.what.contains("exit code"), "{left}");
    assert!(left.last_words.contains("leaving"), "{left}");
}

#[tokio::test]
async fn strings_that_are_too_long_for_the_host_are_not_taken() {
    let desk = PluginDesk::new();
    let wants = "[wants]\nhttp = [{origin = \"https://a.example\"}]";
    let plugin = desk.install("probe", wants, probe());
    let outside = fault(&desk, &plugin, "string_of_1_gb", json!({})).await;
    assert!(!outside.what.is_empty(), "{outside}");
    let many = fault(&desk, &plugin, "many_strings", json!({})).await;
    let limit = format!("more than {} MiB at once", PLUGIN_HOST_CALL_MAX_BYTES >> 20);
    assert!(many.what.contains(&limit), "{many}");
}

#[tokio::test]
async fn an_answer_outside_of_its_memory_is_a_fault_like_any_other() {
    let desk = PluginDesk::new();
    // An answer that points outside of its memory.
    let plugin = desk.install("points-out", "", &bomb(1, "", "i32.const 0x7fffff00"));
    let fault = desk.call(&plugin, "bomb", json!({})).await.unwrap_err();
    assert!(!fault.what.is_empty(), "{fault}");
    let plugin = desk.install("probe", "", probe());
    assert!(desk.call(&plugin, "echo", json!({})).await.unwrap().is_ok());
}

#[tokio::test]
async fn a_flood_of_output_leaves_its_end() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let fault = fault(&desk, &plugin, "flood", json!({})).await;
    assert!(fault.last_words.len() <= PLUGIN_STDERR_TAIL_BYTES, "{}", fault.last_words.len());
    assert!(fault.last_words.contains("the end of the flood"), "{fault}");
    assert!(fault.last_words.contains("drowned"), "{fault}");
}

#[tokio::test]
async fn it_has_no_files_no_sockets_and_no_environment_whatever_it_is_granted() {
    let desk = PluginDesk::with(Bounds::default(), &[("AIRLOCK_SECRET_PROBE__TOKEN", "hunter22")]);
    let wants = "[wants]\nhttp = [{origin = \"https://a.example\"}]\nworkspace = [\"read\", \"propose\"]\nexec = true\neditor = true\nkv = true";
    let plugin = desk.install("probe", wants, probe());
    let files: Vec<String> =
        serde_json::from_str(&desk.call(&plugin, "files", json!({})).await.unwrap().unwrap()).unwrap();
    assert!(files.iter().all(|said| said.starts_with("refused")), "{files:#?}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let said = desk.call(&plugin, "sockets", json!({"address": address})).await.unwrap().unwrap();
    let sockets: Vec<String> = serde_json::from_str(&said).unwrap();
    assert!(sockets.iter().all(|said| said.starts_with("refused")), "{sockets:#?}");
    let all = desk.call(&plugin, "everything", json!({})).await.unwrap().unwrap();
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!((&all["environment"], &all["arguments"]), (&json!([]), &json!([])));
    assert!(!all.to_string().contains("hunter22"), "{all}");
}

#[tokio::test]
async fn log_lines_are_bounded_and_have_a_known_level() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let input = json!({"level": "shout", "line": "z".repeat(100_000), "times": 3});
    let powers = plugin.manifest.asks.clone();
    let called = desk.call_with(&plugin, "log", input, powers, |context| {
        context.log = Arc::new(move |level, line| kept.lock().unwrap().push((level.to_owned(), line.len())));
    });
    assert_eq!(called.await, Ok(Ok("logged".to_owned())));
    assert_eq!(*lines.lock().unwrap(), vec![("info".to_owned(), 4096); 3]);
}

#[tokio::test]
async fn progress_is_bounded_and_plain() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let (sink, mut shown) = tokio::sync::mpsc::channel(2 * PLUGIN_PROGRESS_MAX);
    let times = PLUGIN_PROGRESS_MAX + 10;
    let input = json!({"text": format!("\u{1b}[2Ja\nb{}", "z".repeat(10_000)), "times": times});
    let powers = plugin.manifest.asks.clone();
    let called = desk.call_with(&plugin, "progress", input, powers, |context| {
        context.progress = Progress::of_call(0, sink);
    });
    assert_eq!(called.await, Ok(Ok("shown".to_owned())));
    let mut lines = Vec::new();
    while let Some((_, line)) = shown.recv().await {
        lines.push(line);
    }
    assert_eq!(lines.len(), PLUGIN_PROGRESS_MAX);
    for line in lines {
        assert!(!line.contains('\u{1b}') && line.trim_end().lines().count() == 1, "{line:?}");
        assert!(line.len() < PLUGIN_LOG_LINE_MAX_BYTES + 100, "{}", line.len());
    }
}

#[tokio::test]
async fn handles_that_are_never_given_back_run_out() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    let fault = fault(&desk, &plugin, "many_handles", json!({})).await;
    let limit = format!("it holds more than {PLUGIN_HANDLES_MAX} handles at once");
    assert!(fault.what.contains(&limit), "{fault}");
}

#[tokio::test]
async fn what_was_not_granted_is_denied_by_its_name_and_once() {
    let desk = PluginDesk::new();
    let wants = "[wants]\nworkspace = [\"read\", \"propose\"]\nexec = true\neditor = true\nkv = true";
    let plugin = desk.install("probe", wants, probe());
    for (tool, input, grant) in [
        ("editor", json!({}), "editor"),
        ("exec", json!({"command": "true"}), "exec"),
        ("propose", json!({"path": "a", "content": ""}), "workspace:propose"),
        ("read", json!({"path": "a"}), "workspace:read"),
        ("kv_get", json!({"key": "a"}), "kv"),
    ] {
        // All the others are granted.
        let asks = &plugin.manifest.asks;
        let powers = asks.without(&asks.part(grant).unwrap());
        let error = desk.call_with(&plugin, tool, input, powers, |_| ()).await.unwrap().unwrap_err();
        let expected = format!(
            "the plugin probe has no grant {grant}; only the user can give it, with `airlock plugin grant probe {grant}`"
        );
        assert_eq!((error.code.as_str(), error.message), ("denied", expected));
    }
}

#[tokio::test]
async fn a_fresh_instance_each_time_draws_other_random_numbers() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    assert_eq!(desk.call(&plugin, "random", json!({})).await, Ok(Ok("100".to_owned())));
}

#[tokio::test]
async fn a_stopped_plugin_can_still_say_something_and_is_ended_if_it_does_not() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    plugin.load(desk.plugins()).await.unwrap();
    for (tool, listens) in [("until_cancelled", true), ("sleep", false)] {
        let cancel = tokio_util::sync::CancellationToken::new();
        let token = cancel.clone();
        let powers = plugin.manifest.asks.clone();
        let called =
            desk.call_with(&plugin, tool, json!({"ms": 60_000}), powers, |context| context.cancel = token);
        cancel.cancel();
        let begun = Instant::now();
        match called.await {
            Ok(said) => assert!(listens && said == Ok("it was stopped".to_owned()), "{said:?}"),
            Err(fault) => assert!(!listens && fault.what.contains("stopped by the user"), "{fault}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
