//! Helix and Emacs, in which Airlock is tried as an ordinary language server. Unpacked as Neovim is.

use crate::components::cache;
use crate::lab::kept::{self, Kept};
use crate::neovim;
use anyhow::Result;

/// Another text than the one that it was made from makes it anew.
const RECIPE: &str = include_str!("other_editors.rs");

/// Unpacks them where they are missing.
pub(crate) fn set_up() -> Result<()> {
    let folder = cache()?;
    std::fs::create_dir_all(&folder)?;
    let editors = Kept::new(&folder, "other-editors", RECIPE.to_owned());
    let _lock = kept::lock(&folder)?;
    if editors.is_ready() {
        return Ok(());
    }
    eprintln!("setting up Helix and Emacs in {}", editors.folder().display());
    editors.make(|folder| neovim::unpack(&folder.join("root"), "hx,emacs-nox"))
}
