//! Which package has what, a row a family of distributions.

/// Something of the system that Airlock needs, or is better with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Podman, with what it needs to start a container.
    Podman,
    /// A runtime for containers.
    Runtime,
    /// The runtime for microVMs.
    Krun,
    /// The programs that give a user ids of their own: `newuidmap`, `newgidmap`.
    IdTools,
    /// Git.
    Git,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Podman, Self::Runtime, Self::Krun, Self::IdTools, Self::Git];
}

/// Distributions that install the same packages in the same way.
#[derive(Debug)]
pub(super) struct Family {
    /// What they call themselves, or what those that are made from them call them.
    pub(super) ids: &'static [&'static str],
    /// For people.
    pub(super) name: &'static str,
    /// How a person installs something.
    pub(super) install: &'static [&'static str],
    /// What is to be done first where nobody was at it yet.
    pub(super) before: &'static [&'static [&'static str]],
    /// The same without a question.
    pub(super) unattended: &'static [&'static str],
    /// What is to be done before what was installed is there.
    pub(super) afterwards: Option<&'static str>,
    podman: Source,
    runtime: Source,
    krun: Source,
    id_tools: Source,
    git: Source,
}

/// Where something comes from.
#[derive(Debug)]
pub(super) enum Source {
    Packages(&'static [&'static str]),
    /// There is no package to install: this is to be done instead.
    Advice(&'static str),
    /// There is no package at all.
    Nowhere,
}

use Source::{Advice, Nowhere, Packages};

/// The rows. Which of them packages krun was looked up in the distributions' own lists.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        ids: &["debian", "ubuntu"],
        name: "Debian and Ubuntu",
        install: &["apt", "install"],
        before: &[&["apt-get", "update"]],
        unattended: &["apt-get", "install", "--yes"],
        afterwards: None,
        podman: Packages(&["podman", "crun", "uidmap"]),
        runtime: Packages(&["crun"]),
        krun: Nowhere,
        id_tools: Packages(&["uidmap"]),
        git: Packages(&["git"]),
    },
    // Before Fedora: what is made from it says that it is like both.
    Family {
        ids: &["rhel", "centos"],
        name: "Red Hat Enterprise Linux and those made from it",
        install: &["dnf", "install"],
        before: &[],
        unattended: &["dnf", "install", "--assumeyes"],
        afterwards: None,
        podman: Packages(&["podman", "crun"]),
        runtime: Packages(&["crun"]),
        krun: Nowhere,
        id_tools: Packages(&["shadow-utils"]),
        git: Packages(&["git"]),
    },
    Family {
        ids: &["fedora"],
        name: "Fedora",
        install: &["dnf", "install"],
        before: &[],
        unattended: &["dnf", "install", "--assumeyes"],
        afterwards: None,
        podman: Packages(&["podman", "crun"]),
        runtime: Packages(&["crun"]),
        krun: Packages(&["crun-krun"]),
        id_tools: Packages(&["shadow-utils"]),
        git: Packages(&["git"]),
    },
    Family {
        ids: &["fedora-image"],
        name: "Fedora's image-based editions",
        install: &["rpm-ostree", "install"],
        before: &[],
        unattended: &["rpm-ostree", "install", "--assumeyes", "--allow-inactive"],
        afterwards: Some("restart the machine"),
        podman: Packages(&["podman", "crun"]),
        runtime: Packages(&["crun"]),
        krun: Packages(&["crun-krun"]),
        id_tools: Packages(&["shadow-utils"]),
        git: Packages(&["git"]),
    },
    Family {
        ids: &["arch"],
        name: "Arch Linux",
        install: &["pacman", "-S"],
        before: &[],
        unattended: &["pacman", "-S", "--needed", "--noconfirm"],
        afterwards: None,
        podman: Packages(&["podman", "crun"]),
        runtime: Packages(&["crun"]),
        krun: Packages(&["krun"]),
        id_tools: Packages(&["shadow"]),
        git: Packages(&["git"]),
    },
    Family {
        ids: &["opensuse", "suse", "sles"],
        name: "openSUSE",
        install: &["zypper", "install"],
        before: &[],
        unattended: &["zypper", "--non-interactive", "install"],
        afterwards: None,
        podman: Packages(&["podman", "crun"]),
        runtime: Packages(&["crun"]),
        // Its crun is built with libkrun, and the package has the name krun too.
        krun: Packages(&["crun"]),
        id_tools: Packages(&["shadow"]),
        git: Packages(&["git"]),
    },
    Family {
        ids: &["alpine"],
        name: "Alpine Linux",
        install: &["apk", "add"],
        before: &[],
        unattended: &["apk", "add", "--update-cache"],
        afterwards: None,
        podman: Packages(&["podman", "crun", "shadow-uidmap"]),
        runtime: Packages(&["crun"]),
        krun: Nowhere,
        id_tools: Packages(&["shadow-uidmap"]),
        git: Packages(&["git"]),
    },
    Family {
        ids: &["nixos"],
        name: "NixOS",
        install: &[],
        before: &[],
        unattended: &[],
        afterwards: None,
        podman: Advice(NIX_PODMAN),
        runtime: Advice(NIX_PODMAN),
        krun: Advice(
            "nixpkgs builds crun without it: override crun in your /etc/nixos/configuration.nix with \
             `buildInputs = old.buildInputs ++ [ pkgs.libkrun ]` and `configureFlags = [ \"--with-libkrun\" ]`, and have \
             its program in PATH as `krun`",
        ),
        id_tools: Advice(NIX_PODMAN),
        git: Advice(
            "add `pkgs.git` to `environment.systemPackages` in /etc/nixos/configuration.nix, then run \
             `sudo nixos-rebuild switch`",
        ),
    },
];

const NIX_PODMAN: &str = "set `virtualisation.podman.enable = true;` in /etc/nixos/configuration.nix, then run \
                          `sudo nixos-rebuild switch`";

/// The family of a distribution that calls itself so.
pub(super) fn family(id: &str, is_image_based: bool) -> Option<&'static Family> {
    let id = if is_image_based && id == "fedora" { "fedora-image" } else { id };
    FAMILIES.iter().find(|family| family.ids.contains(&id))
}

impl Family {
    pub(super) fn source(&self, need: Need) -> &Source {
        match need {
            Need::Podman => &self.podman,
            Need::Runtime => &self.runtime,
            Need::Krun => &self.krun,
            Need::IdTools => &self.id_tools,
            Need::Git => &self.git,
        }
    }

    pub(super) fn packages(&self, need: Need) -> &'static [&'static str] {
        match self.source(need) {
            Source::Packages(packages) => packages,
            Source::Advice(_) | Source::Nowhere => &[],
        }
    }
}
