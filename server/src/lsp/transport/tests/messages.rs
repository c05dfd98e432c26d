//! What is a message, what is none, and what each is answered.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Id, Request, Response};

use super::super::message::{Incoming, read};
use crate::limits::LSP_REQUEST_ID_MAX_BYTES;

/// The code and id that the body is answered with; `None` if with nothing.
fn answer(body: &str) -> Option<(i64, Value)> {
    let answer = read(body.as_bytes()).expect_err(body).answer()?;
    let answer = serde_json::to_value(answer).unwrap();
    Some((answer["error"]["code"].as_i64().unwrap(), answer["id"].clone()))
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    for body in ["", "{", "{}}", "nul", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"", "\u{feff}{}"] {
        assert_eq!(answer(body), Some((-32700, Value::Null)), "{body:?}");
    }
    let bad = read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}").unwrap_err();
    assert_eq!(bad.answer().unwrap().error().unwrap().code.code(), -32700);
    let deep = "[".repeat(100_000);
    assert_eq!(answer(&deep), Some((-32700, Value::Null)));
}

#[test]
fn what_is_no_request_is_an_invalid_request_with_its_id_if_it_has_one() {
    let cases = [
        ("[]", Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, Value::Null),
        ("1", Value::Null),
        ("null", Value::Null),
        ("{}", Value::Null),
        (r#"{"jsonrpc":"2.0"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (r#"{"id":7,"method":"a"}"#, json!(7)),
        (r#"{"jsonrpc":"1.0","id":"x","method":"a"}"#, json!("x")),
        (r#"{"jsonrpc":2.0,"id":7,"method":"a"}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":1}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, Value::Null),
        (r#"{"method":"a"}"#, Value::Null),
    ];
    for (body, id) in cases {
        assert_eq!(answer(body), Some((-32600, id)), "{body}");
    }
    let long_id = "x".repeat(LSP_REQUEST_ID_MAX_BYTES + 1);
    let body = json!({"jsonrpc": "2.0", "id": long_id, "method": "a"}).to_string();
    assert_eq!(answer(&body), Some((-32600, Value::Null)));
}

#[test]
fn a_bad_response_is_not_answered() {
    for body in [
        r#"{"id":1,"result":null}"#,
        r#"{"jsonrpc":"2.0","result":null}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":[],"result":1}"#,
    ] {
        assert_eq!(answer(body), None, "{body}");
    }
}

#[test]
fn requests_and_notifications_keep_all_that_they_carry() {
    let body = r#"{"id":"a","params":[1],"method":"m","jsonrpc":"2.0","more":1}"#;
    let request = Request::build("m").id("a").params(json!([1])).finish();
    assert_eq!(read(body.as_bytes()), Ok(Incoming::Call(request)));
    let body = r#"{"jsonrpc":"2.0","method":"m","params":null}"#;
    let notification = Request::build("m").params(Value::Null).finish();
    assert_eq!(read(body.as_bytes()), Ok(Incoming::Call(notification)));
}

#[test]
fn a_sloppy_response_still_reaches_the_one_who_waits_for_it() {
    let result = |body: &str| match read(body.as_bytes()) {
        Ok(Incoming::Answer(response)) => response,
        other => panic!("{other:?}"),
    };
    let ok = Response::from_ok(Id::Number(1), json!(2));
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"result":2}"#), ok);
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"result":2,"error":null}"#), ok);
    let failed = result(
        r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":5,"message":"no","extra":1,"data":[3]}}"#,
    );
    let error = failed.error().unwrap();
    assert_eq!((error.code.code(), &*error.message, &error.data), (5, "no", &Some(json!([3]))));
    let failed = result(r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#);
    assert_eq!(failed.error().unwrap().code.code(), -32603);
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    let params = |text: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"m","params":["{text}"]}}"#);
        match read(body.as_bytes()) {
            Ok(Incoming::Call(request)) => request.params().unwrap()[0].as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(params(r"a\ud83dz"), "a\u{fffd}z");
    assert_eq!(params(r"\uDE00\ud83d\ude00\ud83d"), "\u{fffd}😀\u{fffd}");
    assert_eq!(params(r"\ud83d\ud83d\ude00"), "\u{fffd}😀");
    assert_eq!(params(r"\\ud83d\ud83d\n"), "\\ud83d\u{fffd}\n");
    assert_eq!(answer(r#"["\ud83d"#), Some((-32700, Value::Null)));
}
