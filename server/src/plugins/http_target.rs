//! Where a request may go: an address checked against what was granted.

use super::http::HttpError;
use super::origin::{Origin, has_userinfo};
use super::powers::{Powers, is_below};
use reqwest::{Method, Url};

/// An address that may be asked.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) origin: String,
    /// It may be this machine or one of the user's network: the grant names just that.
    pub(super) local: bool,
}

impl Target {
    /// Checks an address that a plugin, or an answer, gave.
    pub(super) fn check(untrusted_url: &str, method: &Method, powers: &Powers) -> Result<Self, HttpError> {
        let mut url = Url::parse(untrusted_url)
            .map_err(|error| HttpError::Invalid(format!("{untrusted_url:?} is no address: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HttpError::Refused(format!(
                "{:?} addresses are not asked: give an https one",
                url.scheme()
            )));
        }
        if has_userinfo(&url) {
            let why = "an address with a name before its host (\"user@\") is not asked, for it may mislead: leave that out";
            return Err(HttpError::Refused(why.to_owned()));
        }
        url.set_fragment(None);
        let origin = Origin::of(&url);
        let of_origin: Vec<_> = powers.http.iter().filter(|power| power.origin == origin).collect();
        if of_origin.is_empty() {
            return Err(HttpError::Denied(format!("http:{origin}")));
        }
        let path = url.path();
        let fits = |prefixes: &[String]| {
            prefixes.iter().any(|prefix| is_below(path, prefix) && is_plain(path, prefix))
        };
        let fitting: Vec<_> = of_origin
            .iter()
            .filter(|power| {
                power.methods.iter().any(|granted| granted == method.as_str()) && fits(&power.paths)
            })
            .collect();
        if fitting.is_empty() {
            let granted: Vec<String> = of_origin
                .iter()
                .map(|power| format!("{} below {}", power.methods.join(", "), power.paths.join(", ")))
                .collect();
            return Err(HttpError::Refused(format!(
                "{method} {path} is not granted at {origin}; granted is {}",
                granted.join("; ")
            )));
        }
        let names_it = Origin::parse(&origin).is_ok_and(|origin| origin.is_local());
        let local = names_it || fitting.iter().any(|power| power.local);
        Ok(Self { origin, local, url })
    }
}

/// Whether a path means to every server what it means to us. One that is bound to a prefix must not leave it by a slash
/// or dots that the server decodes later.
fn is_plain(path: &str, prefix: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    prefix == "/" || !["%2f", "%5c", "%2e", "\\", "//", ";"].iter().any(|trick| lower.contains(trick))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::powers::HttpPower;

    fn powers(origin: &str, paths: &[&str]) -> Powers {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let power =
            HttpPower { origin: origin.to_owned(), paths, methods: vec!["GET".to_owned()], local: false };
        Powers { http: vec![power], ..Powers::default() }
    }

    fn check(url: &str, powers: &Powers) -> Result<Target, HttpError> {
        Target::check(url, &Method::GET, powers)
    }

    #[test]
    fn only_the_very_origin_is_asked() {
        let powers = powers("https://api.example.com", &["/"]);
        for url in ["https://api.example.com", "https://API.example.com:443/x?y#z", "https:api.example.com/x"]
        {
            assert_eq!(check(url, &powers).unwrap().origin, "https://api.example.com", "{url}");
        }
        for url in [
            "http://api.example.com/",
            "https://api.example.com:8443/",
            "https://api.example.com.evil.example/",
            "https://evil.example/api.example.com",
            "https://xapi.example.com/",
            "https://аpi.example.com/",
            "https://api.example.com./",
            "https://api.example.com@evil.example/",
            "https://user@api.example.com/",
            "https://user:pw@api.example.com/",
            "https://evil.example\\@api.example.com/",
            "file:///etc/passwd",
            "ftp://api.example.com/",
            "data:text/plain,x",
            "not an address",
        ] {
            assert!(check(url, &powers).is_err(), "{url}");
        }
        assert_eq!(
            check("https://other.example/", &powers).unwrap_err(),
            HttpError::Denied("http:https://other.example".to_owned())
        );
    }

    #[test]
    fn a_path_is_left_by_no_trick() {
        let powers = powers("https://a.example", &["/api"]);
        for path in ["/api", "/api/", "/api/x?y=/../z", "/x/../api"] {
            assert!(check(&format!("https://a.example{path}"), &powers).is_ok(), "{path}");
        }
        for path in [
            "/",
            "/apix",
            "/api/../admin",
            "/api/%2e%2e/admin",
            "/api/..%2fadmin",
            "/api%2f..",
            "/api/..%5cadmin",
            "/api//x",
            "/api/..;/x",
        ] {
            assert!(check(&format!("https://a.example{path}"), &powers).is_err(), "{path}");
        }
        assert!(Target::check("https://a.example/api", &Method::POST, &powers).is_err());
    }

    #[test]
    fn addresses_of_the_users_own_network_are_asked_only_when_the_grant_is_for_just_them() {
        assert!(check("http://127.0.0.1:8080/", &powers("http://127.0.0.1:8080", &["/"])).unwrap().local);
        assert!(!check("https://a.example/", &powers("https://a.example", &["/"])).unwrap().local);
        assert!(!check("https://1.1.1.1/", &powers("https://1.1.1.1", &["/"])).unwrap().local);
    }
}
