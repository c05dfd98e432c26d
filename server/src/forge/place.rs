//! Which forge a remote lives on, and what its repository is called there.

use crate::config::{Forge, ForgeKind};
use crate::git::Address;
use reqwest::Url;
use std::collections::BTreeMap;

/// A repository on a forge.
pub struct Place {
    /// The forge that the user configured.
    pub forge: Forge,
    /// Who it belongs to.
    pub owner: String,
    /// Its name.
    pub name: String,
}

/// Finds the place of a remote among the forges that the user configured, each under its origin.
pub fn find(forges: &BTreeMap<String, Forge>, address: &Address) -> Result<Place, String> {
    let (origin, path) = match address {
        Address::Web(url) => (url.origin().ascii_serialization(), url.path().to_owned()),
        Address::Ssh { host, path, .. } => (origin_of_host(forges, host)?, path.clone()),
        Address::Local(path) => {
            let shown = path.display();
            return Err(format!(
                "{shown} is a folder of this machine, which takes no pull requests: merge it there"
            ));
        }
    };
    let Some(forge) = forges.get(&origin) else {
        return Err(format!(
            "there is no token for {origin}: add [forges.\"{origin}\"] with token = \"…\" to your config.toml"
        ));
    };
    let path = path.trim_matches('/');
    let plain = |part: &str| {
        let letters = part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        letters && !part.is_empty() && part != "." && part != ".."
    };
    match path.strip_suffix(".git").unwrap_or(path).split('/').collect::<Vec<_>>()[..] {
        [owner, name] if plain(owner) && plain(name) => {
            Ok(Place { forge: forge.clone(), owner: owner.to_owned(), name: name.to_owned() })
        }
        _ => Err(format!(
            "{address} does not end with OWNER/REPOSITORY, so it is not clear which one is meant"
        )),
    }
}

/// A host says nothing about how the web reaches it, so the user's configuration has to.
fn origin_of_host(forges: &BTreeMap<String, Forge>, host: &str) -> Result<String, String> {
    let is_it = |origin: &&String| {
        Url::parse(origin).is_ok_and(|url| url.host_str().is_some_and(|name| name.eq_ignore_ascii_case(host)))
    };
    match forges.keys().filter(is_it).collect::<Vec<_>>()[..] {
        [origin] => Ok(origin.clone()),
        [] => Err(format!(
            "there is no token for {host}: add [forges.\"https://{host}\"] with token = \"…\" to your config.toml"
        )),
        _ => Err(format!("your config.toml has several [forges] at {host}: leave one")),
    }
}

impl Place {
    /// Where pull requests are made.
    pub(super) fn endpoint(&self) -> String {
        format!("{}/repos/{}/{}/pulls", self.forge.api, self.owner, self.name)
    }

    /// The header's value that shows who asks. It is the one place in which the token is shown.
    pub(super) fn authorization(&self) -> String {
        let word = match self.forge.kind {
            ForgeKind::Github => "Bearer",
            ForgeKind::Gitea => "token",
        };
        format!("{word} {}", self.forge.token.expose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    fn forges() -> BTreeMap<String, Forge> {
        let forge = |kind, api: &str| Forge { kind, api: api.into(), token: Secret::new("t").unwrap() };
        BTreeMap::from([
            ("https://github.com".to_owned(), forge(ForgeKind::Github, "https://api.github.com")),
            ("http://127.0.0.1:1".to_owned(), forge(ForgeKind::Gitea, "http://127.0.0.1:1/api/v1")),
        ])
    }

    fn endpoint(address: &Address) -> Result<String, String> {
        find(&forges(), address).map(|place| place.endpoint())
    }

    fn web(text: &str) -> Address {
        Address::Web(Url::parse(text).unwrap())
    }

    #[test]
    fn a_remote_leads_to_its_api_by_web_and_by_ssh() {
        let ssh = Address::Ssh { text: String::new(), host: "GitHub.com".into(), path: "a/b.git".into() };
        for (address, expected) in [
            (web("https://github.com/a/b.git"), "https://api.github.com/repos/a/b/pulls"),
            (web("https://me@github.com/a/b/"), "https://api.github.com/repos/a/b/pulls"),
            (ssh, "https://api.github.com/repos/a/b/pulls"),
            (web("http://127.0.0.1:1/a/b"), "http://127.0.0.1:1/api/v1/repos/a/b/pulls"),
        ] {
            assert_eq!(endpoint(&address).unwrap(), expected);
        }
    }

    #[test]
    fn a_token_goes_to_no_origin_but_its_own() {
        for address in [
            web("http://github.com/a/b"),
            web("https://github.com:444/a/b"),
            web("https://github.com.evil.example/a/b"),
            web("http://127.0.0.1:2/a/b"),
            web("https://github.com/a"),
            web("https://github.com/a/b/c"),
            web("https://github.com/a/b%2fc"),
            Address::Ssh { text: String::new(), host: "evil.example".into(), path: "a/b".into() },
            Address::Ssh { text: String::new(), host: "github.com".into(), path: "../b".into() },
            Address::Local("/srv/b.git".into()),
        ] {
            assert!(endpoint(&address).is_err(), "{address}");
        }
    }
}
