//! The user's system: which one it is, and which of its packages has what Airlock needs.
//!
//! | file | holds |
//! |---|---|
//! | `os_release` | reads `/etc/os-release` |
//! | `packages` | the table: a row a family of distributions, a package a need |
//! | `remedy` | what to do about something: words for people, and commands for who runs them |
//!
//! Architecture invariant: whoever tells a user what to install asks here. What is not in the table is nowhere else.

mod os_release;
mod packages;
mod remedy;

pub use packages::Need;
pub use remedy::{HostCommand, Remedy};

use crate::storage;
use os_release::OsRelease;
use packages::{Family, Source};
use std::path::Path;

/// Where a system says what it is; the first one that is there counts.
const FILES: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];
const FILE_MAX_BYTES: usize = 64 << 10;
/// Where there is no package of krun, it is made from these.
const KRUN_SOURCES: &str = "build libkrun and libkrunfw (github.com/containers/libkrun), then crun with \
                            `./configure --with-libkrun` (github.com/containers/crun), and install that crun as `krun`";

/// A distribution of Linux.
#[derive(Clone, Debug)]
pub struct Distribution {
    id: String,
    name: String,
    family: Option<&'static Family>,
}

impl Distribution {
    /// The one that this machine runs.
    pub fn of_system() -> Self {
        let read = |file| storage::read_text(Path::new(file), FILE_MAX_BYTES).ok().flatten();
        Self::of_text(&FILES.into_iter().find_map(read).unwrap_or_default())
    }

    /// The one whose `os-release` says this.
    pub fn of_text(os_release: &str) -> Self {
        let OsRelease { id, like, name, is_image_based } = OsRelease::parse(os_release);
        let family = std::iter::once(&id).chain(&like).find_map(|id| packages::family(id, is_image_based));
        Self { id, name, family }
    }

    /// Its name for programs, such as `debian`; `linux` where it tells none.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What gets something here: `lead` is how the sentence begins, such as "install it".
    pub fn remedy(&self, lead: &str, need: Need) -> Remedy {
        let (text, needs) = match self.family.map(|family| (family, family.source(need))) {
            Some((family, Source::Packages(_))) => {
                let after = family.afterwards.map(|then| format!(", then {then}")).unwrap_or_default();
                (format!("{lead}: `{}`{after}", self.typed(need)), vec![need])
            }
            Some((_, Source::Advice(advice))) => ((*advice).to_owned(), Vec::new()),
            Some((family, Source::Nowhere)) => {
                (format!("{} have no package of it: {KRUN_SOURCES}", family.name), Vec::new())
            }
            None if need == Need::Krun => (format!("{lead}, or {KRUN_SOURCES}"), Vec::new()),
            None => (format!("{lead} with your system's package manager"), Vec::new()),
        };
        Remedy { needs, ..Remedy::from(text) }
    }

    /// What a person types for a remedy, a command a line of a shell.
    pub fn commands(&self, remedy: &Remedy) -> Vec<String> {
        let installs = remedy.needs.iter().map(|need| self.typed(*need));
        installs.chain(remedy.commands.iter().map(HostCommand::to_string)).collect()
    }

    /// What gets all of this in one go, without a question of the package manager's own.
    pub fn installation(&self, needs: &[Need]) -> Vec<HostCommand> {
        let Some(family) = self.family else { return Vec::new() };
        let mut packages: Vec<&str> = Vec::new();
        for package in needs.iter().flat_map(|need| family.packages(*need)) {
            if !packages.contains(package) {
                packages.push(package);
            }
        }
        if packages.is_empty() {
            return Vec::new();
        }
        let first = family.before.iter().map(|words| HostCommand::as_root(words));
        let install = HostCommand::as_root(&[family.unattended, &packages].concat());
        first.chain([install]).collect()
    }

    fn typed(&self, need: Need) -> String {
        let words = self.family.map(|family| [family.install, family.packages(need)].concat());
        HostCommand::as_root(&words.unwrap_or_default()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    /// What is shown to somebody who is not root; tests may be.
    fn told(os_release: &str, need: Need) -> String {
        Distribution::of_text(os_release).remedy("install it", need).text.replace("`sudo ", "`")
    }

    const DEBIAN: &str = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n";
    const MINT: &str = "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n";
    const FEDORA: &str = "NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=42\n";
    const SILVERBLUE: &str = "ID=fedora\nVARIANT_ID=silverblue\nOSTREE_VERSION='42.1'\n";
    const ROCKY: &str = "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n";
    const RHEL: &str = "ID=\"rhel\"\nID_LIKE=\"fedora\"\n";
    const MANJARO: &str = "ID=manjaro\nID_LIKE=arch\n";
    const TUMBLEWEED: &str = "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n";
    const ALPINE: &str = "ID=alpine\n";
    const NIXOS: &str = "ID=nixos\n";

    #[test]
    fn each_distribution_is_told_its_own_command_for_podman() {
        for (os_release, expected) in [
            (DEBIAN, "install it: `apt install podman crun uidmap`"),
            (MINT, "install it: `apt install podman crun uidmap`"),
            (FEDORA, "install it: `dnf install podman crun`"),
            (SILVERBLUE, "install it: `rpm-ostree install podman crun`, then restart the machine"),
            (ROCKY, "install it: `dnf install podman crun`"),
            (MANJARO, "install it: `pacman -S podman crun`"),
            (TUMBLEWEED, "install it: `zypper install podman crun`"),
            (ALPINE, "install it: `apk add podman crun shadow-uidmap`"),
            ("ID=plan9\n", "install it with your system's package manager"),
            ("", "install it with your system's package manager"),
        ] {
            assert_eq!(told(os_release, Need::Podman), expected, "{os_release}");
        }
        assert!(told(NIXOS, Need::Podman).contains("virtualisation.podman.enable = true"));
    }

    #[test]
    fn krun_is_offered_where_there_is_a_package_of_it_and_its_source_where_there_is_none() {
        for (os_release, package) in [
            (FEDORA, "`dnf install crun-krun`"),
            (SILVERBLUE, "`rpm-ostree install crun-krun`"),
            (MANJARO, "`pacman -S krun`"),
            (TUMBLEWEED, "`zypper install crun`"),
        ] {
            assert!(told(os_release, Need::Krun).contains(package), "{}", told(os_release, Need::Krun));
        }
        for os_release in [DEBIAN, MINT, RHEL, ROCKY, ALPINE, NIXOS, ""] {
            let text = told(os_release, Need::Krun);
            assert!(text.contains("--with-libkrun") && !text.contains(" install crun"), "{text}");
            let distribution = Distribution::of_text(os_release);
            assert!(distribution.installation(&[Need::Krun]).is_empty());
        }
        assert!(told(DEBIAN, Need::Krun).starts_with("Debian and Ubuntu have no package of it"));
    }

    #[test]
    fn everything_is_installed_in_one_go_and_nothing_twice() {
        let shown = |os_release, needs: &[Need]| -> Vec<String> {
            let all = Distribution::of_text(os_release).installation(needs);
            all.iter().map(|command| command.words().join(" ")).collect()
        };
        let needs = [Need::Podman, Need::Runtime, Need::IdTools, Need::Git];
        assert_eq!(shown(DEBIAN, &needs), ["apt-get update", "apt-get install --yes podman crun uidmap git"]);
        assert_eq!(shown(FEDORA, &needs), ["dnf install --assumeyes podman crun shadow-utils git"]);
        assert_eq!(shown(NIXOS, &needs), Vec::<String>::new());
        assert_eq!(shown(DEBIAN, &[]), Vec::<String>::new());
    }

    #[test]
    fn every_family_says_something_of_every_need() {
        for family in packages::FAMILIES {
            for need in Need::ALL {
                let text = told(&format!("ID={}\n", family.ids[0]), need);
                assert!(text.len() > 10 && !text.contains("``"), "{}: {text}", family.name);
            }
        }
    }
}
