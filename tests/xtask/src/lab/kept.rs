//! A folder of the cache that is made once and is either whole or not there.

use anyhow::{Context, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Says what a folder was made from, so that another recipe makes it anew.
const MARKER: &str = ".made-from";

/// Such a folder.
pub(crate) struct Kept {
    folder: PathBuf,
    unfinished: PathBuf,
    recipe: String,
}

/// Waits until nobody else builds here. The lock ends with the file.
pub(crate) fn lock(folder: &Path) -> Result<File> {
    let file = File::create(folder.join(".lock"))?;
    file.lock().with_context(|| format!("{} cannot be locked", folder.display()))?;
    Ok(file)
}

impl Kept {
    pub(crate) fn new(parent: &Path, name: &str, recipe: String) -> Self {
        Self { folder: parent.join(name), unfinished: parent.join(format!("{name}.unfinished")), recipe }
    }

    pub(crate) fn is_ready(&self) -> bool {
        std::fs::read_to_string(self.folder.join(MARKER)).is_ok_and(|made_from| made_from == self.recipe)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it is made until it is whole.
    pub(crate) fn unfinished(&self) -> &Path {
        &self.unfinished
    }

    /// Begins anew, in an empty folder.
    pub(crate) fn begin(&self) -> Result<PathBuf> {
        remove(&self.unfinished)?;
        std::fs::create_dir_all(&self.unfinished)?;
        Ok(self.unfinished.clone())
    }

    /// It is whole.
    pub(crate) fn finish(&self) -> Result<()> {
        std::fs::write(self.unfinished.join(MARKER), &self.recipe)?;
        remove(&self.folder)?;
        std::fs::rename(&self.unfinished, &self.folder)?;
        Ok(())
    }

    pub(crate) fn make(&self, build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        build(&self.begin()?)?;
        self.finish()
    }
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_finished_or_was_made_from_another_recipe_is_never_used() {
        let parent = tempfile::tempdir().unwrap();
        let kept = Kept::new(parent.path(), "part", "flour".to_owned());
        assert!(kept.make(|_| anyhow::bail!("no power")).is_err());
        assert!(!kept.is_ready() && !kept.folder().exists());
        kept.make(|folder| Ok(std::fs::write(folder.join("bread"), "1")?)).unwrap();
        assert!(kept.is_ready() && kept.folder().join("bread").exists());
        let other = Kept::new(parent.path(), "part", "rye".to_owned());
        assert!(!other.is_ready());
        other.make(|_| Ok(())).unwrap();
        assert!(other.is_ready() && !kept.is_ready() && !kept.folder().join("bread").exists());
    }
}
