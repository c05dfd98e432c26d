//! Where a repository may be pushed to: an address that is data, checked before anybody uses it.

use super::settings::GitSettings;
use super::{GitError, Room};
use crate::neutral::is_plain;
use reqwest::Url;
use std::fmt;
use std::path::{Path, PathBuf};

/// A remote of the repository, by the name that its settings give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its name, such as `origin`.
    pub name: String,
    /// Where it is pushed to.
    pub push_to: Address,
    /// Where it is fetched from, which is where its pull requests are.
    pub home: Address,
}

/// The address of a repository. It holds no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Over HTTPS, or over HTTP where the user named that origin.
    Web(Url),
    /// Over SSH, as git writes it, with its host and path.
    Ssh {
        /// All of it.
        text: String,
        /// The host, without user and port.
        host: String,
        /// The path on it.
        path: String,
    },
    /// On this machine.
    Local(PathBuf),
}

/// A user name in an address that is longer is a token.
const USER_NAME_MAX_BYTES: usize = 39;

impl Room {
    /// The remote of that name, or the one that is meant when none is named. Plain HTTP needs the user's word for that
    /// very origin.
    pub fn remote(&self, name: Option<&str>, http_origins: &[String]) -> Result<Remote, GitError> {
        let names = self.remote_names();
        let usual = self.own.get("remote.pushdefault").or_else(|| self.users.get("remote.pushdefault"));
        let name = match name {
            Some(name) if names.contains(&name) => name,
            Some(name) => return Err(no_remote(&format!("there is no remote {name:?}"), &names)),
            None => match (usual, &names[..]) {
                (Some(name), _) if names.contains(&name) => name,
                (_, [only]) => only,
                (_, names) if names.contains(&"origin") => "origin",
                (_, names) => return Err(no_remote("it is not clear which remote is meant", names)),
            },
        };
        let setting = |wanted: &'static str| {
            self.own.each("remote", wanted).find(|(remote, _)| *remote == name).map(|(_, value)| value)
        };
        let (url, push_url) = (setting("url"), setting("pushurl"));
        let home = url.or(push_url).unwrap_or_default();
        let home = rewritten(&self.users, home, &["insteadof"]);
        let push_to = match (push_url, url) {
            (Some(push_url), _) => rewritten(&self.users, push_url, &["insteadof"]),
            (None, url) => rewritten(&self.users, url.unwrap_or_default(), &["pushinsteadof", "insteadof"]),
        };
        let parse = |text: &str| Address::parse(text, &self.repository.root, http_origins);
        Ok(Remote { name: name.to_owned(), push_to: parse(&push_to)?, home: parse(&home)? })
    }

    /// The names of all remotes that can be asked for, sorted.
    pub fn remote_names(&self) -> Vec<&str> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let all = self.own.each("remote", "url").chain(self.own.each("remote", "pushurl"));
        let mut names: Vec<&str> = all.map(|(name, _)| name).collect();
        names
            .retain(|name| !name.is_empty() && !name.starts_with(['-', '.', '/']) && name.chars().all(plain));
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn no_remote(what: &str, names: &[&str]) -> GitError {
    let remedy = match names {
        [] => "this repository has none: `git remote add origin URL`".to_owned(),
        names => format!("name one of {}", names.join(", ")),
    };
    GitError::new(what, remedy)
}

/// An address as the user's own settings rewrite it: the longest beginning wins, and the first kind that fits.
fn rewritten(users: &GitSettings, address: &str, kinds: &[&str]) -> String {
    for kind in kinds {
        let fits = users.each("url", kind).filter(|(_, beginning)| address.starts_with(beginning));
        if let Some((base, beginning)) = fits.max_by_key(|(_, beginning)| beginning.len()) {
            return format!("{base}{}", &address[beginning.len()..]);
        }
    }
    address.to_owned()
}

impl Address {
    fn parse(text: &str, root: &Path, http_origins: &[String]) -> Result<Self, GitError> {
        let refuse = |what: &str, remedy: &str| Err(GitError::new(what, remedy));
        let set_url = "give it another one with `git remote set-url`";
        if text.is_empty() || text.starts_with('-') || text.chars().any(|c| !is_plain(c) || c.is_whitespace())
        {
            return refuse("the remote's address is none that can be shown", set_url);
        }
        let scheme_end =
            text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(text.len());
        if text[scheme_end..].starts_with("::") {
            return refuse("the remote's address names a program to run", set_url);
        }
        if !text.contains("://") {
            return match text.split_once(':').filter(|(host, _)| !host.contains('/')) {
                Some((host, path)) => Self::ssh(text, host, path),
                None => Ok(Self::Local(root.join(text))),
            };
        }
        let Ok(url) = Url::parse(text) else {
            return refuse("the remote's address is no URL", set_url);
        };
        let name_max =
            if matches!(url.scheme(), "http" | "https") { USER_NAME_MAX_BYTES } else { usize::MAX };
        if url.password().is_some() || url.username().len() >= name_max {
            return refuse(
                "the remote's address holds a password or token, which the agent can read",
                "take it out with `git remote set-url`, make it invalid, and keep the new one in git's credential store",
            );
        }
        match url.scheme() {
            "https" => Ok(Self::Web(url)),
            "http" if http_origins.contains(&url.origin().ascii_serialization()) => Ok(Self::Web(url)),
            "http" => refuse(
                "the remote's address is plain HTTP, so anybody on the way can read the password",
                "use https; where that cannot be, name that very origin under [forges] in your config.toml",
            ),
            "ssh" => Self::ssh(text, url.host_str().unwrap_or_default(), url.path()),
            "file" => match url.to_file_path() {
                Ok(path) => Ok(Self::Local(path)),
                Err(()) => refuse("the remote's address is no path of this machine", set_url),
            },
            _ => refuse("the remote's address is neither https nor ssh", set_url),
        }
    }

    fn ssh(text: &str, host: &str, path: &str) -> Result<Self, GitError> {
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host).trim_matches(['[', ']']);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        let user = text.trim_start_matches("ssh://");
        if host.is_empty() || host.starts_with('-') || user.starts_with('-') || path.starts_with('-') {
            return Err(GitError::new(
                "the remote's address is none for ssh",
                "correct it with `git remote set-url`",
            ));
        }
        Ok(Self::Ssh { text: text.to_owned(), host: host.to_owned(), path: path.to_owned() })
    }

    /// The one protocol that git may use for it.
    pub(super) fn protocol(&self) -> &str {
        match self {
            Self::Web(url) => url.scheme(),
            Self::Ssh { .. } => "ssh",
            Self::Local(_) => "file",
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(url) => formatter.write_str(url.as_str()),
            Self::Ssh { text, .. } => formatter.write_str(text),
            Self::Local(path) => write!(formatter, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn parse(text: &str) -> Result<Address, GitError> {
        Address::parse(text, Path::new("/w"), &["http://127.0.0.1:8080".to_owned()])
    }

    #[test]
    fn an_address_is_https_ssh_or_a_path_and_shown_as_it_is_used() {
        for (text, protocol) in [
            ("https://github.com/a/b.git", "https"),
            ("https://me@github.com/a/b.git", "https"),
            ("http://127.0.0.1:8080/a/b.git", "http"),
            ("ssh://git@host:2222/a/b.git", "ssh"),
            ("git@github.com:a/b.git", "ssh"),
            ("/srv/b.git", "file"),
        ] {
            let address = parse(text).unwrap();
            assert_eq!((address.to_string().as_str(), address.protocol()), (text, protocol));
        }
        assert_eq!(parse("../b.git").unwrap(), Address::Local("/w/../b.git".into()));
        assert_eq!(parse("file:///srv/b.git").unwrap(), Address::Local("/srv/b.git".into()));
        for (text, expected) in [("ssh://git@host:2222/a/b", "host"), ("git@github.com:a/b", "github.com")] {
            assert!(matches!(parse(text).unwrap(), Address::Ssh { host, .. } if host == expected));
        }
    }

    #[test]
    fn an_address_that_runs_something_or_hides_something_is_refused() {
        for text in [
            "",
            "-oProxyCommand=x",
            "ext::sh -c touch% /tmp/x",
            "ext::x",
            "foo::https://a/b",
            "git://host/a",
            "ftp://host/a",
            "http://127.0.0.1:8081/a/b",
            "http://127.0.0.1/a/b",
            "https://a.b/c\u{202e}d",
            "https://a.b/c d",
            "-host:a/b",
            "me@-oProxyCommand=x:a/b",
            "ssh://-oProxyCommand=x/a",
            "host:-x",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_address_with_a_secret_is_refused_and_not_repeated() {
        for text in ["https://me:hunter2@a.b/c", "https://ghp_hunter2hunter2hunter2hunter2hunter2hunt@a.b/c"]
        {
            let error = parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
