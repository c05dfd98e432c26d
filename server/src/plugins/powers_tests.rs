use super::*;

fn http(origin: &str, paths: &[&str], methods: &[&str]) -> Powers {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let power =
        HttpPower { origin: origin.to_owned(), paths: own(paths), methods: own(methods), local: false };
    Powers { http: vec![power], ..Powers::default() }
}

#[test]
fn what_a_plugin_gets_is_what_it_asks_for_and_was_granted() {
    let granted = Powers { exec: true, ..http("https://a", &["/x"], &["GET"]) };
    let asked = Powers { kv: true, ..http("https://a", &["/x/y"], &["GET"]) };
    assert_eq!(asked.within(&granted), http("https://a", &["/x/y"], &["GET"]));
    assert_eq!(asked.beyond(&granted).words(), ["kv"]);
    for other in [
        http("https://a", &["/x"], &["POST"]),
        http("https://b", &["/x"], &["GET"]),
        http("http://a", &["/x"], &["GET"]),
        http("https://a", &["/xy"], &["GET"]),
    ] {
        assert!(other.within(&granted).is_empty(), "{other:?}");
        assert!(!other.beyond(&granted).is_empty(), "{other:?}");
    }
}

#[test]
fn a_wider_wish_that_was_refused_takes_nothing_away() {
    let granted = http("https://a", &["/x", "/y/z"], &["GET", "HEAD"]);
    for (wider, has) in [
        (http("https://a", &["/"], &["GET", "HEAD"]), http("https://a", &["/x", "/y/z"], &["GET", "HEAD"])),
        (http("https://a", &["/x"], &["GET", "POST"]), http("https://a", &["/x"], &["GET"])),
        (http("https://a", &["/x/1", "/y", "/w"], &["GET"]), http("https://a", &["/x/1", "/y/z"], &["GET"])),
    ] {
        assert_eq!(wider.within(&granted), has, "{wider:?}");
        assert!(!wider.beyond(&granted).is_empty(), "{wider:?}");
    }
}

#[test]
fn a_wider_grant_forgets_no_word_about_the_own_network() {
    let local = |mut powers: Powers| {
        powers.http[0].local = true;
        powers
    };
    let (narrow, wide) = (http("https://a", &["/x"], &["GET"]), http("https://a", &["/"], &["GET"]));
    let both = local(narrow.clone()).with(wide.clone());
    assert_eq!(both.http, [local(narrow.clone()).http, wide.http.clone()].concat());
    assert_eq!(narrow.within(&both), local(narrow.clone()));
    assert_eq!(wide.clone().with(local(narrow.clone())).http.len(), 2);
    assert_eq!(local(wide.clone()).with(narrow), local(wide.clone()));
    assert_eq!(wide.clone().with(local(wide.clone())), local(wide.clone()));
    assert_eq!(local(wide.clone()).with(wide.clone()), local(wide));
}

#[test]
fn an_origin_of_the_own_network_says_so_in_its_line() {
    for (origin, is_local) in [
        ("http://127.0.0.1:8080", true),
        ("http://[::1]", true),
        ("https://localhost", true),
        ("https://a.example", false),
    ] {
        let line = http(origin, &["/"], &["GET"]).lines().remove(0);
        assert_eq!(line.contains("in your own network"), is_local, "{line}");
    }
}

#[test]
fn a_secret_that_would_go_elsewhere_is_another_one() {
    let secret = |origin: &str| SecretUse {
        origin: origin.to_owned(),
        header: "authorization".to_owned(),
        prefix: String::new(),
    };
    let powers = |origin| Powers { secrets: [("T".to_owned(), secret(origin))].into(), ..Powers::default() };
    assert!(powers("https://a").within(&powers("https://a")) == powers("https://a"));
    assert!(powers("https://evil").within(&powers("https://a")).is_empty());
}

#[test]
fn each_word_names_its_part() {
    let all = Powers {
        workspace: [WorkspacePower::Read, WorkspacePower::Propose].into(),
        exec: true,
        editor: true,
        kv: true,
        ..http("https://a", &["/"], &["GET"])
    };
    let parts = all.words().iter().map(|word| all.part(word).unwrap()).fold(Powers::default(), Powers::with);
    assert_eq!(parts, all);
    assert_eq!(all.part("everything"), None);
}
