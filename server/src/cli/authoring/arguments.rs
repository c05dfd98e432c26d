//! How an author calls us.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `airlock plugin new`.
#[derive(Debug, Args)]
pub(in crate::cli) struct NewArguments {
    /// The plugin's name, and its folder's: small letters, digits, - and _
    #[arg(value_name = "NAME")]
    pub(in crate::cli) name: String,

    /// What it is written in
    #[arg(short, long, value_enum, default_value_t)]
    pub(in crate::cli) language: Language,
}

/// What a plugin is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Language {
    /// Small and quick; built with cargo
    #[default]
    Rust,
    /// With all of Python's library, 18 MB large; built with componentize-py
    Python,
}

/// `airlock plugin build`.
///
/// Builds the component with cargo or componentize-py, checks it, and writes plugin.wasm beside plugin.toml.
#[derive(Debug, Args)]
pub(in crate::cli) struct BuildArguments {
    /// The plugin's folder; else where you are
    #[arg(value_name = "DIR")]
    pub(in crate::cli) folder: Option<PathBuf>,

    /// Take this component, made by a tool of your own, instead of building one
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) component: Option<PathBuf>,
}

/// `airlock plugin test`.
///
/// Runs the cases in tests/*.json against plugin.wasm. Files, servers, commands and the rest are what each case says:
/// nothing real is touched.
#[derive(Debug, Args)]
pub(in crate::cli) struct TestArguments {
    /// Run only cases whose name contains this
    #[arg(value_name = "NAME")]
    pub(in crate::cli) filter: Option<String>,

    /// The plugin's folder; else where you are
    #[arg(short, long, value_name = "DIR")]
    pub(in crate::cli) folder: Option<PathBuf>,
}
