//! What goes wrong, on purpose.

use crate::airlock::plugin::{http, log, run, types::ToolError};
use crate::{Answer, text};
use serde_json::Value;
use std::hint::black_box;
use std::time::Duration;

pub(crate) fn until_cancelled(_: &Value) -> Answer {
    run::progress("waiting");
    while !run::cancelled() {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok("it was stopped".into())
}

pub(crate) fn sleep(args: &Value) -> Answer {
    std::thread::sleep(Duration::from_millis(args["ms"].as_u64().unwrap_or_default()));
    Ok("slept".into())
}

pub(crate) fn endless(_: &Value) -> Answer {
    eprintln!("the last words before the loop");
    run::progress("looping");
    let mut number = 0_u64;
    loop {
        number = black_box(number.wrapping_add(1));
    }
}

pub(crate) fn endless_calls(_: &Value) -> Answer {
    loop {
        log::write("info", "again");
    }
}

pub(crate) fn memory_bomb(_: &Value) -> Answer {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1_u8; 1 << 20]));
    }
}

pub(crate) fn recursion(_: &Value) -> Answer {
    #[expect(unconditional_recursion, reason = "it is what it is for")]
    fn deeper(number: u64) -> u64 {
        black_box(deeper(black_box(number + 1)) + 1)
    }
    Ok(deeper(0).into())
}

pub(crate) fn panic(args: &Value) -> Answer {
    panic!("the probe panics: {}", text(args, "why"));
}

pub(crate) fn exit(_: &Value) -> Answer {
    eprintln!("leaving");
    std::process::exit(3);
}

/// Writes much to stdout and stderr, and then fails.
pub(crate) fn flood(_: &Value) -> Answer {
    let line = "x".repeat(1000);
    for _ in 0..5_000 {
        println!("{line}");
        eprintln!("{line}");
    }
    eprintln!("the end of the flood");
    panic!("drowned");
}

pub(crate) fn long_answer(args: &Value) -> Answer {
    Ok("y".repeat(args["bytes"].as_u64().unwrap_or_default() as usize).into())
}

/// `call_tool` answers it with what is no JSON.
pub(crate) fn garbage(_: &Value) -> Answer {
    Ok(Value::Null)
}

pub(crate) fn error(args: &Value) -> Answer {
    eprintln!("this went wrong");
    Err(ToolError { code: "teapot".to_owned(), message: text(args, "message").to_owned(), retryable: true })
}

/// A string that is longer than all memory there is.
pub(crate) fn string_of_1_gb(_: &Value) -> Answer {
    let begin = Box::leak(Box::new(b'x'));
    // Nothing like that is there, which is the point: the host has to notice.
    let line = unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(begin, 1 << 30)) };
    log::write("info", line);
    Ok("taken".into())
}

/// Strings that are one and the same here, and would be gigabytes on the other side.
pub(crate) fn many_strings(_: &Value) -> Answer {
    let one = "x".repeat(1 << 20);
    let again = || unsafe { String::from_raw_parts(one.as_ptr().cast_mut(), one.len(), one.len()) };
    let headers: Vec<(String, String)> = (0..4_000).map(|_| (again(), again())).collect();
    let request =
        http::Request { method: "GET".into(), url: "https://a.example".into(), headers, body: Vec::new() };
    let answer = http::send(&request);
    std::mem::forget(request);
    answer.map(|_| "taken".into())
}

/// More random bytes than anybody needs.
pub(crate) fn random(_: &Value) -> Answer {
    let mut seeds = Vec::new();
    for _ in 0..100 {
        let state = std::collections::hash_map::RandomState::new();
        seeds.push(std::hash::BuildHasher::hash_one(&state, 1_u8));
    }
    seeds.dedup();
    Ok(seeds.len().into())
}

#[link(wasm_import_module = "wasi:clocks/monotonic-clock@0.2.0")]
unsafe extern "C" {
    #[link_name = "subscribe-duration"]
    fn subscribe_duration(nanoseconds: u64) -> i32;
}

/// Handles that it never gives back.
pub(crate) fn many_handles(_: &Value) -> Answer {
    loop {
        // It takes a number and gives one.
        black_box(unsafe { subscribe_duration(1) });
    }
}
