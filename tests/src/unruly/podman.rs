//! A podman that misbehaves as a test says: the real one, with a proxy between it and the server that started it.
//!
//! It is a program that comes first in `PATH`. The service that it starts listens elsewhere than it was told, and where
//! it should there is the proxy, which belongs to the test.

use super::Trouble;
use super::proxy::Proxy;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Gone with the test; so are the connections through it.
pub struct UnrulyPodman {
    proxy: Arc<Proxy<UnixStream>>,
    folder: TempDir,
}

impl UnrulyPodman {
    /// One that behaves.
    #[allow(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("unruly-").expect("a temporary directory");
        let listener = UnixListener::bind(folder.path().join("proxy.sock")).expect("a socket");
        let real = folder.path().join("real.sock");
        let proxy = Proxy::new(move || UnixStream::connect(&real));
        let serving = Arc::clone(&proxy);
        std::thread::spawn(move || serving.serve_all(listener.incoming()));
        let program = folder.path().join("podman");
        std::fs::write(&program, script(folder.path())).expect("a file");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("our own file");
        Self { proxy, folder }
    }

    /// A `PATH` on which it comes first.
    pub fn path(&self) -> String {
        format!("{}:{}", self.folder.path().display(), std::env::var("PATH").expect("a PATH"))
    }

    /// The next `times` calls with these words in their first line go wrong.
    pub fn trouble(&self, words: &str, trouble: Trouble, times: usize) {
        self.proxy.trouble(words, trouble, times);
    }

    /// All goes well from now on.
    pub fn behave(&self) {
        self.proxy.behave();
    }

    /// How many calls with these words in their first line there were.
    pub fn calls(&self, words: &str) -> usize {
        self.proxy.calls(words)
    }

    /// Waits until so many calls were left without an answer, or wait for one.
    pub async fn silences(&self, count: usize) {
        self.proxy.silences(count).await;
    }

    /// Breaks the connections to containers.
    pub fn cut_attached(&self) {
        self.proxy.cut_attached();
    }

    /// Nothing passes through the connections to containers that are there now.
    pub fn freeze_attached(&self) {
        self.proxy.freeze_attached();
    }

    /// Waits until something was said to a container through a frozen connection.
    pub async fn unheard(&self) {
        self.proxy.unheard().await;
    }

    /// Sends these bytes to whoever listens to a container.
    pub fn inject_into_attached(&self, bytes: &[u8]) {
        self.proxy.inject_into_attached(bytes);
    }
}

impl Drop for UnrulyPodman {
    fn drop(&mut self) {
        self.proxy.end();
        // Wakes who waits for connections.
        let _ = UnixStream::connect(self.folder.path().join("proxy.sock"));
    }
}

/// Every service has a socket of its own, and the newest is the one that is spoken to.
fn script(folder: &Path) -> String {
    let (folder, podman) = (folder.display(), real_podman());
    let podman = podman.display();
    format!(
        "#!/bin/sh\n\
         case \" $* \" in *' system service '*) ;; *) exec {podman} \"$@\" ;; esac\n\
         real={folder}/$$.sock\n\
         for word; do\n\
             shift\n\
             case $word in unix://*) ln -s {folder}/proxy.sock \"${{word#unix://}}\"; word=unix://$real ;; esac\n\
             set -- \"$@\" \"$word\"\n\
         done\n\
         ln -s \"$real\" {folder}/$$.link && mv -T {folder}/$$.link {folder}/real.sock\n\
         exec {podman} \"$@\"\n"
    )
}

fn real_podman() -> PathBuf {
    let path = std::env::var("PATH").expect("a PATH");
    let mut places = path.split(':').map(|folder| Path::new(folder).join("podman"));
    places.find(|place| place.is_file()).expect("podman is installed")
}
