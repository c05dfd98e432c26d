//! Requests of plugins: granted origins only, and a secret that the plugin never sees.

use airlock::plugins::{Bounds, Plugin};
use airlock_tests::echo_server::EchoServer;
use airlock_tests::guests::probe;
use airlock_tests::plugin_desk::PluginDesk;
use serde_json::{Value, json};
use std::sync::Arc;

const SECRET: &str = "hunter22-and-more";

fn desk() -> PluginDesk {
    PluginDesk::with(Bounds::default(), &[("AIRLOCK_SECRET_PROBE__TOKEN", SECRET)])
}

/// The probe, with requests to this server and a secret for it.
fn install(desk: &PluginDesk, server: &EchoServer, more: &str) -> Arc<Plugin> {
    let origin = server.origin();
    let wants = format!(
        "[wants]\nkv = true\nhttp = [{{origin = \"{origin}\", methods = [\"GET\", \"POST\"]}}{more}]\n\
         [secrets.TOKEN]\norigin = \"{origin}\"\nheader = \"Authorization\"\nprefix = \"Bearer \"\n"
    );
    desk.install("probe", &wants, probe())
}

async fn http(desk: &PluginDesk, plugin: &Plugin, input: Value) -> Result<Value, String> {
    let called = desk.call(plugin, "http", input).await.unwrap_or_else(|fault| panic!("{fault}"));
    called
        .map(|said| serde_json::from_str(&said).unwrap())
        .map_err(|error| format!("{}: {}", error.code, error.message))
}

#[tokio::test]
async fn a_secret_is_in_the_request_and_nowhere_that_the_plugin_can_look() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let plugin = install(&desk, &server, "");
    let url = format!("{}/echo", server.origin());
    let input = json!({"url": url, "method": "POST", "body": "hello", "headers": {"x-mine": "1", "authorization": "mine"}});
    let answer = http(&desk, &plugin, input).await.unwrap();
    let asked = server.asked().pop().unwrap();
    assert_eq!(asked.what, "POST /echo");
    assert_eq!(asked.headers["authorization"], format!("Bearer {SECRET}"));
    assert_eq!(asked.headers["x-mine"], "1");
    // The server told the plugin all it had heard.
    assert_eq!(answer["status"], 200);
    assert!(answer["body"].as_str().unwrap().contains("Bearer [secret]"), "{answer}");
    // And it looked everywhere else, too.
    let all = desk.call(&plugin, "everything", json!({"url": url})).await.unwrap().unwrap();
    assert!(all.contains("[secret]") && !all.contains(SECRET), "{all}");
}

#[tokio::test]
async fn a_redirect_to_another_origin_brings_it_neither_the_request_nor_the_secret() {
    let (desk, server, other) = (desk(), EchoServer::start().await, EchoServer::start().await);
    let plugin = install(&desk, &server, "");
    let input = json!({"url": format!("{}/to?{}/echo", server.origin(), other.origin())});
    let error = http(&desk, &plugin, input.clone()).await.unwrap_err();
    assert!(error.starts_with("denied") && error.contains(&other.origin()), "{error}");
    assert!(other.asked().is_empty(), "{:?}", other.asked());
    // Where the other origin is granted as well, it gets the request, and still no secret.
    let more = format!(", {{origin = \"{}\"}}", other.origin());
    let plugin = install(&desk, &server, &more);
    let mut with_header = input;
    with_header["headers"] = json!({"authorization": "of the plugin", "cookie": "a=b", "accept": "x/y"});
    let answer = http(&desk, &plugin, with_header).await.unwrap();
    assert_eq!(answer["status"], 200);
    let asked = other.asked().pop().unwrap();
    assert_eq!(asked.what, "GET /echo");
    assert!(
        !asked.headers.contains_key("authorization") && !asked.headers.contains_key("cookie"),
        "{asked:?}"
    );
    assert_eq!(asked.headers["accept"], "x/y");
}

#[tokio::test]
async fn redirects_end_and_are_checked_like_the_first_request() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let plugin = install(&desk, &server, "");
    let circle = format!("{0}/to?{0}/to", server.origin());
    let round = json!({"url": format!("{}/to?/to?/to?/to?/to?/to?/to", server.origin())});
    for (input, word) in [
        (round, "redirected more than"),
        (json!({"url": format!("{}/to?file:///etc/passwd", server.origin())}), "file"),
        (json!({"url": format!("{}/to?http://169.254.169.254/latest", server.origin())}), "denied"),
        (json!({"url": format!("{}/to?http://u@{}/", server.origin(), server.address())}), "before its host"),
    ] {
        let error = http(&desk, &plugin, input).await.unwrap_err();
        assert!(error.contains(word), "{word}: {error}");
    }
    assert!(http(&desk, &plugin, json!({"url": circle})).await.is_err());
}

#[tokio::test]
async fn look_alikes_tricks_and_the_users_own_network_are_refused() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let plugin = install(&desk, &server, ", {origin = \"https://api.example.com\"}");
    let (address, port) = (server.address(), server.address().port());
    for url in [
        format!("http://localhost:{port}/echo"),
        format!("http://127.0.0.2:{port}/echo"),
        format!("http://[::ffff:127.0.0.1]:{port}/echo"),
        format!("http://{address}@api.example.com/"),
        format!("http://x:y@{address}/echo"),
        format!("https://{address}/echo"),
        "https://api.example.com.evil.example/".to_owned(),
        "https://api.example.com@127.0.0.1/".to_owned(),
        "https://аpi.example.com/".to_owned(),
        "http://api.example.com/".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "ftp://api.example.com/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let error = http(&desk, &plugin, json!({"url": url})).await.unwrap_err();
        assert!(error.starts_with("denied") || error.starts_with("invalid"), "{url}: {error}");
    }
    assert!(server.asked().is_empty(), "{:?}", server.asked());
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_refused_however_it_is_granted_but_by_the_user() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let origin = format!("http://{}:{}", name_of_this_machine(), server.address().port());
    let plugin = desk.install("probe", &format!("[wants]\nhttp = [{{origin = \"{origin}\"}}]"), probe());
    let error = http(&desk, &plugin, json!({"url": format!("{origin}/echo")})).await.unwrap_err();
    assert!(error.contains("which plugins do not reach"), "{error}");
    assert!(server.asked().is_empty());
}

/// A name that is not `localhost`, is no address, and means this machine.
pub(crate) fn name_of_this_machine() -> String {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let names = hosts
        .lines()
        .filter(|line| line.starts_with("127.") || line.starts_with("::1"))
        .flat_map(|line| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>());
    let usable =
        |name: &String| name != "localhost" && !name.ends_with(".localhost") && !name.starts_with('#');
    names.into_iter().find(usable).unwrap_or_else(|| "ip6-localhost".to_owned())
}

#[tokio::test]
async fn methods_paths_headers_and_sizes_are_bounded() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let origin = server.origin();
    let wants = format!("[wants]\nhttp = [{{origin = \"{origin}\", paths = [\"/echo\", \"/large\"]}}]");
    let plugin = desk.install("probe", &wants, probe());
    let at = |path: &str| format!("{origin}{path}");
    for (input, word) in [
        (json!({"url": at("/echo"), "method": "DELETE"}), "DELETE /echo is not granted"),
        (json!({"url": at("/echo"), "method": "CONNECT"}), "denied"),
        (json!({"url": at("/admin")}), "/admin is not granted"),
        (json!({"url": at("/echo/../admin")}), "/admin is not granted"),
        (json!({"url": at("/echo/..%2fadmin")}), "not granted"),
        (json!({"url": at("/echoes")}), "not granted"),
        (json!({"url": at("/echo"), "headers": {"host": "evil.example"}}), "host"),
        (json!({"url": at("/echo"), "headers": {"x": "a\r\ny: b"}}), "cannot be sent"),
        (json!({"url": at("/large")}), "too-large"),
    ] {
        let error = http(&desk, &plugin, input.clone()).await.unwrap_err();
        assert!(error.contains(word), "{input}: {error}");
    }
    let whats: Vec<String> = server.asked().into_iter().map(|asked| asked.what).collect();
    assert_eq!(whats, ["GET /large"]);
}

#[tokio::test]
async fn without_its_grant_a_secret_stays_at_home() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let plugin = install(&desk, &server, "");
    let mut powers = plugin.manifest.asks.clone();
    powers.secrets.clear();
    let input = json!({"url": format!("{}/echo", server.origin())});
    let called = desk.call_with(&plugin, "http", input, powers, |_| ()).await;
    assert!(called.unwrap().is_ok());
    assert!(!server.asked()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn an_error_and_a_packed_answer_are_no_way_to_a_secret() {
    let (desk, server) = (desk(), EchoServer::start().await);
    let plugin = install(&desk, &server, "");
    let at = |path: &str| json!({"url": format!("{}{path}", server.origin())});
    let moved = http(&desk, &plugin, at("/to-bearer")).await.unwrap_err();
    assert!(moved.starts_with("denied: the answer redirects") && !moved.contains(SECRET), "{moved}");
    let packed = http(&desk, &plugin, at("/packed")).await.unwrap_err();
    assert!(packed.starts_with("denied: ") && packed.contains("packed"), "{packed}");
    assert_eq!(server.asked()[1].headers["accept-encoding"], "identity");
    for header in ["accept-encoding", "range"] {
        let mut input = at("/echo");
        input["headers"] = json!({header: "x"});
        let refused = http(&desk, &plugin, input).await.unwrap_err();
        assert!(refused.contains("not a plugin's to set"), "{refused}");
    }
    // Without a secret there is nothing to find in it.
    let mut powers = plugin.manifest.asks.clone();
    powers.secrets.clear();
    assert!(desk.call_with(&plugin, "http", at("/packed"), powers, |_| ()).await.unwrap().is_ok());
}
