//! The three tasks that users start with, end to end: the real binary, a real sandbox, the scripted Claude.

use crate::sandboxed;
use airlock_tests::editor::{Editor, EditorOptions};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};

async fn ready(claude: &ScriptedClaude) -> Editor {
    sandboxed::ready(EditorOptions::new(claude)).await
}

/// What each tool call gave back to the model, in order.
fn results(claude: &ScriptedClaude) -> Vec<String> {
    sandboxed::results(claude).iter().map(sandboxed::text).collect()
}

fn call(id: &str, name: &str, input: Value) -> Reply {
    Reply::calls(id, name, input)
}

#[tokio::test]
async fn a_hello_world_script_is_written_shown_and_run() {
    let claude = ScriptedClaude::start().await;
    claude
        .push(call(
            "toolu_1",
            "write_file",
            json!({"path": "hello.py", "content": "print('Hello, world!')\n"}),
        ))
        .push(call("toolu_2", "read_file", json!({"path": "hello.py"})))
        .push(call("toolu_3", "bash", json!({"command": "python3 hello.py && uname -r"})))
        .push("Done.");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "write a hello world script and run it").await;
    let ready = updates.iter().find(|update| update["kind"] == "sandbox" && update["state"] == "ready");
    assert_eq!(ready.expect("the sandbox is told")["isolation"], "container");
    let results = results(&claude);
    assert!(results[0].contains("created"), "{results:?}");
    assert_eq!(results[1], "     1\tprint('Hello, world!')\n");
    assert!(results[2].starts_with("Hello, world!\n") && results[2].contains("[exit code 0"), "{results:?}");
    assert!(!editor.home().workspace().join("hello.py").exists(), "nothing lands unreviewed");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_web_service_is_started_in_the_background_and_queried() {
    let service = "import http.server\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        \
                   self.send_response(200 if self.path == '/health' else 404)\n        self.end_headers()\n        \
                   self.wfile.write(b'ok')\nhttp.server.HTTPServer(('127.0.0.1', 8080), H).serve_forever()\n";
    let query = "import time, urllib.request\nfor _ in range(200):\n    try:\n        \
                 print(urllib.request.urlopen('http://127.0.0.1:8080/health').read().decode())\n        break\n    \
                 except OSError:\n        time.sleep(0.05)\n";
    let claude = ScriptedClaude::start().await;
    claude
        .push(call("toolu_1", "write_file", json!({"path": "service.py", "content": service})))
        .push(call("toolu_2", "bash", json!({"command": "python3 service.py", "background": true})))
        .push(call("toolu_3", "bash", json!({"command": format!("python3 - <<'E'\n{query}E")})))
        .push("It answers.");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    editor.turn(&session, "a small web service with a health endpoint").await;
    let results = results(&claude);
    assert!(results[1].contains("started in the background"), "{results:?}");
    assert!(results[2].starts_with("ok\n"), "{results:?}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_csv_filter_with_sample_data_and_tests_is_written_and_all_run() {
    let filter = "import csv, sys\ndef keep(rows, column, value):\n    return [row for row in rows if row[column] == value]\n\
                  if __name__ == '__main__':\n    rows = list(csv.DictReader(open(sys.argv[1])))\n    \
                  for row in keep(rows, sys.argv[2], sys.argv[3]):\n        print(','.join(row.values()))\n";
    let tests = "import unittest\nfrom filter import keep\nclass T(unittest.TestCase):\n    def test_keep(self):\n        \
                 self.assertEqual(keep([{'a': '1'}, {'a': '2'}], 'a', '2'), [{'a': '2'}])\nunittest.main()\n";
    let claude = ScriptedClaude::start().await;
    claude
        .push(
            Reply::new()
                .tool_use("toolu_1", "write_file", json!({"path": "filter.py", "content": filter}))
                .tool_use(
                    "toolu_2",
                    "write_file",
                    json!({"path": "data.csv", "content": "name,city\nAda,London\nBo,Oslo\n"}),
                )
                .tool_use("toolu_3", "write_file", json!({"path": "test_filter.py", "content": tests})),
        )
        .push(call("toolu_4", "bash", json!({"command": "python3 filter.py data.csv city Oslo"})))
        .push(call("toolu_5", "bash", json!({"command": "python3 test_filter.py"})))
        .push(Reply::new().tool_use("toolu_6", "list_files", json!({})).tool_use(
            "toolu_7",
            "search_files",
            json!({"pattern": "def \\w+", "glob": "*.py"}),
        ))
        .push("All green.");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    editor.turn(&session, "a CSV filter with sample data and tests").await;
    let results = results(&claude);
    assert!(results[3].starts_with("Bo,Oslo\n"), "{results:?}");
    assert!(results[4].contains("Ran 1 test") && results[4].contains("OK"), "{results:?}");
    assert!(results[5].contains("data.csv\nfilter.py\n"), "{results:?}");
    assert!(results[6].contains("filter.py:2:def keep"), "{results:?}");
    editor.shutdown().await;
    claude.finish();
}
