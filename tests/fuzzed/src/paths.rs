//! Paths that somebody wrote.

use airlock::paths::{WorkspacePath, WorkspaceRoot};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// A folder that every machine has.
static ROOT: LazyLock<WorkspaceRoot> = LazyLock::new(|| WorkspaceRoot::open(Path::new("/usr")).unwrap());

/// A path that is taken stays inside, is one and the same however it is written, and is found again on the host.
pub fn paths(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(path) = WorkspacePath::parse(&text) {
        check(&path);
        assert_eq!(
            path.as_path(),
            Path::new(text.as_ref()).strip_prefix(".").unwrap_or(Path::new(text.as_ref()))
        );
    } else {
        let is_strange = |part| !matches!(part, Component::Normal(_) | Component::CurDir);
        let mut parts = Path::new(text.as_ref()).components();
        let from_home = Path::new(text.as_ref()).components().any(|part| part.as_os_str() == "~");
        assert!(parts.any(is_strange) || text.contains('\0') || from_home, "refused without a reason");
    }
    let host_path = Path::new(OsStr::from_bytes(bytes));
    if let Some(path) = WorkspacePath::found(host_path) {
        check(&path);
    }
    for host_path in [host_path, &Path::new("/usr").join(host_path)] {
        if let Some(path) = ROOT.relative(host_path) {
            check(&path);
            assert_eq!(ROOT.host_path(&path), host_path, "another place on the host");
        }
    }
}

fn check(path: &WorkspacePath) {
    let parts: Vec<_> = path.as_path().components().collect();
    assert!(parts.iter().all(|part| matches!(part, Component::Normal(_))), "{path:?} leads out");
    assert!(parts.first().is_none_or(|part| part.as_os_str() != "~"));
    assert!(!path.as_str().contains('\0'));
    let names: Vec<_> = parts.iter().map(|part| part.as_os_str().to_str().unwrap()).collect();
    assert_eq!(path.as_str(), names.join("/"));
    assert_eq!(WorkspacePath::parse(path.as_str()).unwrap(), *path);

    let on_host = ROOT.host_path(path);
    assert!(on_host.starts_with(ROOT.as_host()));
    assert_eq!(ROOT.relative(&on_host).as_ref(), Some(path));
    let above: Vec<_> = path.ancestors().collect();
    assert_eq!(above.len(), parts.len().saturating_sub(1));
    assert!(above.iter().all(|above| path.as_path().starts_with(above.as_path())));
}
