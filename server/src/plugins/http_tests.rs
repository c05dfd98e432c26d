use super::*;
use crate::plugins::powers::{HttpPower, SecretUse};

fn powers(origin: &str) -> Powers {
    let methods = vec!["GET".to_owned(), "POST".to_owned()];
    let power = HttpPower { origin: origin.to_owned(), paths: vec!["/".to_owned()], methods, local: false };
    let secret =
        SecretUse { origin: origin.to_owned(), header: "x-key".to_owned(), prefix: "Key ".to_owned() };
    Powers { http: vec![power], secrets: [("KEY".to_owned(), secret)].into(), ..Powers::default() }
}

fn secrets() -> BTreeMap<String, Secret> {
    [("KEY".to_owned(), Secret::new("hunter22").unwrap())].into()
}

fn get(url: &str) -> Outgoing {
    Outgoing { method: "GET".to_owned(), url: url.to_owned(), headers: Vec::new(), body: Vec::new() }
}

#[tokio::test]
async fn a_name_that_leads_home_is_refused_after_it_was_resolved() {
    // `localhost` stands for any name that resolves to this machine; it is looked up as every other one is.
    let found = PublicOnly.resolve("localhost".parse().unwrap()).await;
    assert!(found.err().unwrap().to_string().contains("which plugins do not reach"));
}

#[tokio::test]
async fn too_many_requests_in_a_minute_are_refused_and_others_are_not_held_up() {
    let gate = HttpGate::default();
    for _ in 0..PLUGIN_REQUESTS_PER_MINUTE_MAX {
        gate.count("one").unwrap();
    }
    assert!(matches!(gate.count("one"), Err(HttpError::Unavailable(_))));
    gate.count("two").unwrap();
}

#[test]
fn a_secret_goes_to_its_origin_over_what_the_plugin_wrote_there() {
    let powers = powers("https://a.example");
    let mut headers = headers_of(&[("X-Key".to_owned(), "mine".to_owned())]).unwrap();
    let target = Target::check("https://a.example/", &Method::GET, &powers).unwrap();
    put_secrets(&mut headers, &target, &powers, &secrets()).unwrap();
    assert_eq!(headers.get_all("x-key").iter().collect::<Vec<_>>(), ["Key hunter22"]);
    let mut elsewhere = HeaderMap::new();
    let target = Target { origin: "https://b.example".to_owned(), ..target };
    put_secrets(&mut elsewhere, &target, &powers, &secrets()).unwrap();
    assert!(elsewhere.is_empty());
}

#[tokio::test]
async fn headers_that_frame_the_request_are_not_a_plugins() {
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Proxy-Authorization",
        "connection",
        "Accept-Encoding",
        "Range",
    ] {
        let error = headers_of(&[(name.to_owned(), "x".to_owned())]).unwrap_err();
        assert!(matches!(error, HttpError::Refused(_)), "{name}: {error:?}");
    }
    for (name, value) in [("a b", "x"), ("x", "line\r\nx-injected: 1"), ("", "x")] {
        assert!(headers_of(&[(name.to_owned(), value.to_owned())]).is_err(), "{name:?}");
    }
    let gate = HttpGate::default();
    let sent = gate.send("p", get("https://b.example/"), &powers("https://a.example"), &secrets()).await;
    assert_eq!(sent.unwrap_err(), HttpError::Denied("http:https://b.example".to_owned()));
}
