//! What a plugin may be given: what it asks for in `plugin.toml`, what the user granted, and what both agree on.

use super::origin::Origin;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that can be granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Powers {
    /// Requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpPower>,
    /// The workspace's files.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub workspace: BTreeSet<WorkspacePower>,
    /// Commands in the sandbox.
    pub exec: bool,
    /// What the user has in front of them.
    pub editor: bool,
    /// A store of its own.
    pub kv: bool,
    /// Secrets that the host puts into requests.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, SecretUse>,
}

/// Requests to one origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpPower {
    /// Such as `https://api.github.com`.
    pub origin: String,
    /// Below these paths.
    #[serde(default = "everywhere")]
    pub paths: Vec<String>,
    /// With these methods.
    #[serde(default = "reading")]
    pub methods: Vec<String>,
    /// Also where the name leads to this machine or the user's own network. Only the user can say so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub local: bool,
}

/// What may be done with the workspace's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspacePower {
    /// Read, list and search.
    Read,
    /// Put new content among the changes to review.
    Propose,
}

/// Where a secret goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretUse {
    /// The only origin that gets it.
    pub origin: String,
    /// The header that it is put into.
    pub header: String,
    /// What stands before it there, such as `Bearer `.
    #[serde(default)]
    pub prefix: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn everywhere() -> Vec<String> {
    vec!["/".to_owned()]
}

fn reading() -> Vec<String> {
    vec!["GET".to_owned()]
}

impl Powers {
    /// What is in both: of what is asked for here, that which was granted there.
    #[must_use]
    pub fn within(&self, granted: &Self) -> Self {
        Self {
            http: self.http.iter().flat_map(|wanted| granted.granting(wanted)).collect(),
            workspace: self.workspace.intersection(&granted.workspace).copied().collect(),
            exec: self.exec && granted.exec,
            editor: self.editor && granted.editor,
            kv: self.kv && granted.kv,
            secrets: self
                .secrets
                .iter()
                .filter(|(name, wanted)| granted.secrets.get(*name) == Some(wanted))
                .map(|(name, wanted)| (name.clone(), wanted.clone()))
                .collect(),
        }
    }

    /// What is asked for here and was not granted there.
    #[must_use]
    pub fn beyond(&self, granted: &Self) -> Self {
        Self {
            http: self.http.iter().filter(|wanted| !granted.covers(wanted)).cloned().collect(),
            workspace: self.workspace.difference(&granted.workspace).copied().collect(),
            exec: self.exec && !granted.exec,
            editor: self.editor && !granted.editor,
            kv: self.kv && !granted.kv,
            secrets: self
                .secrets
                .iter()
                .filter(|(name, wanted)| granted.secrets.get(*name) != Some(wanted))
                .map(|(name, wanted)| (name.clone(), wanted.clone()))
                .collect(),
        }
    }

    /// What is left of it without the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let origin_goes = |power: &HttpPower| other.http.iter().any(|gone| gone.origin == power.origin);
        Self {
            http: self.http.iter().filter(|power| !origin_goes(power)).cloned().collect(),
            workspace: self.workspace.difference(&other.workspace).copied().collect(),
            exec: self.exec && !other.exec,
            editor: self.editor && !other.editor,
            kv: self.kv && !other.kv,
            secrets: self
                .secrets
                .iter()
                .filter(|(name, _)| !other.secrets.contains_key(*name))
                .map(|(name, place)| (name.clone(), place.clone()))
                .collect(),
        }
    }

    /// Both together.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for power in other.http {
            // A grant that says more takes the place of one that says less.
            self.http.retain(|old| !power.replaces(old));
            if !self.http.iter().any(|old| old.replaces(&power)) {
                self.http.push(power);
            }
        }
        self.workspace.extend(other.workspace);
        self.exec |= other.exec;
        self.editor |= other.editor;
        self.kv |= other.kv;
        self.secrets.extend(other.secrets);
        self
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part that a word of the command line names: `exec`, `workspace:read`, `http:ORIGIN`, `secret:NAME`, …
    pub fn part(&self, word: &str) -> Option<Self> {
        let named = |power: &WorkspacePower| word == format!("workspace:{}", power.as_str());
        let part = Self {
            http: self
                .http
                .iter()
                .filter(|power| word == "http" || word.strip_prefix("http:") == Some(&power.origin))
                .cloned()
                .collect(),
            workspace: self
                .workspace
                .iter()
                .filter(|power| word == "workspace" || named(power))
                .copied()
                .collect(),
            exec: self.exec && word == "exec",
            editor: self.editor && word == "editor",
            kv: self.kv && word == "kv",
            secrets: self
                .secrets
                .iter()
                .filter(|(name, _)| word.strip_prefix("secret:") == Some(name.as_str()))
                .map(|(name, wanted)| (name.clone(), wanted.clone()))
                .collect(),
        };
        (!part.is_empty()).then_some(part)
    }

    /// The words that name its parts.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.workspace.iter().map(|power| format!("workspace:{}", power.as_str())));
        for (has, word) in [(self.exec, "exec"), (self.editor, "editor"), (self.kv, "kv")] {
            words.extend(has.then(|| word.to_owned()));
        }
        words.extend(self.http.iter().map(|power| format!("http:{}", power.origin)));
        words.extend(self.secrets.keys().map(|name| format!("secret:{name}")));
        words
    }

    /// A line for people on each part.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for power in &self.workspace {
            lines.push(match power {
                WorkspacePower::Read => "workspace:read — read, list and search the workspace".to_owned(),
                WorkspacePower::Propose => {
                    "workspace:propose — put new content of files among the changes to review".to_owned()
                }
            });
        }
        for (has, line) in [
            (self.exec, "exec — run commands in the sandbox"),
            (self.editor, "editor — see open documents, the selection and diagnostics"),
            (self.kv, "kv — keep a small store of its own"),
        ] {
            lines.extend(has.then(|| line.to_owned()));
        }
        lines.extend(self.http.iter().map(HttpPower::line));
        for (name, SecretUse { origin, header, .. }) in &self.secrets {
            lines.push(format!(
                "secret:{name} — Airlock puts your secret {name} into the header {header} of requests to {origin}"
            ));
        }
        lines
    }

    /// The grants of requests like these, as far as they were asked for.
    fn granting(&self, wanted: &HttpPower) -> Vec<HttpPower> {
        let common = self.http.iter().filter_map(|granted| granted.common(wanted));
        let all = common
            .fold(Self::default(), |all, power| all.with(Self { http: vec![power], ..Self::default() }));
        all.http
    }

    /// Whether requests like these were granted, all of them.
    fn covers(&self, wanted: &HttpPower) -> bool {
        self.http.iter().any(|granted| granted.covers(wanted))
    }
}

impl HttpPower {
    /// What is both granted here and wanted there: the methods of both, and of two paths the narrower one.
    fn common(&self, wanted: &Self) -> Option<Self> {
        let methods: Vec<String> =
            wanted.methods.iter().filter(|method| self.methods.contains(method)).cloned().collect();
        let mut paths: Vec<String> = Vec::new();
        for path in &wanted.paths {
            for prefix in &self.paths {
                let narrower = match (is_below(path, prefix), is_below(prefix, path)) {
                    (true, _) => path,
                    (false, true) => prefix,
                    (false, false) => continue,
                };
                if !paths.contains(narrower) {
                    paths.push(narrower.clone());
                }
            }
        }
        let some = self.origin == wanted.origin && !methods.is_empty() && !paths.is_empty();
        some.then(|| Self { origin: self.origin.clone(), paths, methods, local: self.local })
    }

    /// Whether the other one lets nothing more.
    fn replaces(&self, other: &Self) -> bool {
        self.covers(other) && (self.local || !other.local)
    }

    fn covers(&self, wanted: &Self) -> bool {
        self.origin == wanted.origin
            && wanted.methods.iter().all(|method| self.methods.contains(method))
            && wanted.paths.iter().all(|path| self.paths.iter().any(|prefix| is_below(path, prefix)))
    }

    fn line(&self) -> String {
        let Self { origin, paths, methods, local } = self;
        let plain = if origin.starts_with("http://") { ", without encryption" } else { "" };
        let local = match (Origin::parse(origin).is_ok_and(|origin| origin.is_local()), local) {
            (true, _) => ", in your own network",
            (false, true) => ", also in your own network",
            (false, false) => "",
        };
        let paths = if paths.iter().any(|path| path == "/") {
            String::new()
        } else {
            format!(" below {}", paths.join(", "))
        };
        format!("http:{origin} — send {} requests there{paths}{plain}{local}", methods.join(", "))
    }
}

impl WorkspacePower {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Propose => "propose",
        }
    }
}

/// Whether a path is a prefix or below it: `/repos` has `/repos/x` below it, and not `/repository`.
pub(super) fn is_below(path: &str, prefix: &str) -> bool {
    match path.strip_prefix(prefix) {
        Some(rest) => rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
#[path = "powers_tests.rs"]
mod tests;
