//! Opening, changing and closing.

use pretty_assertions::assert_eq;
use serde_json::{Value, from_value, json};
use tower_lsp::ls_types::{ClientCapabilities, DidCloseTextDocumentParams};

use super::super::{Documents, PositionEncoding};
use crate::limits::LSP_DOCUMENTS_MAX;

const URI: &str = "file:///a.rs";

fn open(documents: &Documents, uri: &str, text: &str) {
    let item = json!({"uri": uri, "languageId": "rust", "version": 1, "text": text});
    documents.open(from_value(json!({"textDocument": item})).unwrap());
}

fn change(documents: &Documents, version: i32, changes: Value) {
    let document = json!({"uri": URI, "version": version});
    documents.change(from_value(json!({"textDocument": document, "contentChanges": changes})).unwrap());
}

fn close(documents: &Documents) {
    let params: DidCloseTextDocumentParams = from_value(json!({"textDocument": {"uri": URI}})).unwrap();
    documents.close(&params);
}

fn state(documents: &Documents) -> Option<(i32, String)> {
    let document = documents.get(URI)?;
    Some((document.version, document.text.to_string()))
}

fn insert(line: u32, character: u32, text: &str) -> Value {
    let position = json!({"line": line, "character": character});
    json!({"range": {"start": position, "end": position}, "text": text})
}

#[test]
fn changes_of_one_notification_build_on_each_other() {
    let documents = Documents::new();
    open(&documents, URI, "");
    assert_eq!(&*documents.get(URI).unwrap().language_id, "rust");
    change(&documents, 2, json!([insert(0, 0, "b\n"), insert(0, 0, "a"), insert(1, 0, "c")]));
    assert_eq!(state(&documents), Some((2, "ab\nc".into())));
    change(&documents, 3, json!([insert(0, 0, "x"), {"text": "whole"}, insert(0, 5, "!")]));
    assert_eq!(state(&documents), Some((3, "whole!".into())));
    change(&documents, 4, json!([]));
    assert_eq!(state(&documents), Some((4, "whole!".into())));
}

#[test]
fn what_is_not_open_is_left_alone() {
    let documents = Documents::new();
    change(&documents, 1, json!([{"text": "x"}]));
    close(&documents);
    assert_eq!(state(&documents), None);
    open(&documents, URI, "x");
    close(&documents);
    change(&documents, 2, json!([{"text": "y"}]));
    assert_eq!(state(&documents), None);
}

#[test]
fn a_document_that_is_opened_twice_has_the_new_text() {
    let documents = Documents::new();
    open(&documents, URI, "old");
    change(&documents, 7, json!([{"text": "older"}]));
    open(&documents, URI, "new");
    assert_eq!(state(&documents), Some((1, "new".into())));
}

#[test]
fn a_version_that_does_not_rise_costs_no_change() {
    let documents = Documents::new();
    open(&documents, URI, "");
    for (version, text) in [(5, "a"), (5, "ba"), (1, "cba")] {
        change(&documents, version, json!([insert(0, 0, &text[..1])]));
        assert_eq!(state(&documents), Some((version, text.into())));
    }
}

#[test]
fn a_snapshot_does_not_change_with_its_document() {
    let documents = Documents::new();
    open(&documents, URI, "before");
    let snapshot = documents.get(URI).unwrap();
    change(&documents, 2, json!([{"text": "after"}]));
    assert_eq!((snapshot.version, snapshot.text.to_string().as_str()), (1, "before"));
}

#[test]
fn documents_beyond_the_limit_are_not_mirrored() {
    let documents = Documents::new();
    for number in 0..LSP_DOCUMENTS_MAX {
        open(&documents, &format!("file:///{number}"), "x");
    }
    open(&documents, URI, "x");
    assert_eq!(state(&documents), None);
    open(&documents, "file:///0", "y");
    assert_eq!(documents.get("file:///0").unwrap().text.to_string(), "y");
    assert_eq!(documents.all().len(), LSP_DOCUMENTS_MAX);
}

#[test]
fn the_first_encoding_agreed_on_stays() {
    let documents = Documents::new();
    assert_eq!(documents.encoding(), PositionEncoding::Utf16);
    documents.agree_on(PositionEncoding::Utf8);
    documents.agree_on(PositionEncoding::Utf32);
    assert_eq!(documents.encoding(), PositionEncoding::Utf8);
}

#[test]
fn utf_8_is_preferred_and_utf_16_always_possible() {
    use PositionEncoding::{Utf8, Utf16, Utf32};
    let cases = [
        (json!({}), Utf16),
        (json!({"general": {}}), Utf16),
        (json!({"general": {"positionEncodings": []}}), Utf16),
        (json!({"general": {"positionEncodings": ["utf-7"]}}), Utf16),
        (json!({"general": {"positionEncodings": ["utf-16"]}}), Utf16),
        (json!({"general": {"positionEncodings": ["utf-16", "utf-32"]}}), Utf32),
        (json!({"general": {"positionEncodings": ["utf-16", "utf-32", "utf-8"]}}), Utf8),
    ];
    for (capabilities, encoding) in cases {
        let capabilities: ClientCapabilities = from_value(capabilities).unwrap();
        assert_eq!(PositionEncoding::negotiate(&capabilities), encoding);
    }
}
