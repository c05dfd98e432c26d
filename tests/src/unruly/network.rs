//! A network to the API that misbehaves as a test says.

use super::Trouble;
use super::proxy::Proxy;
use crate::scripted_claude::ScriptedClaude;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// Gone with the test; so are the connections through it.
pub struct UnrulyNetwork {
    proxy: Arc<Proxy<TcpStream>>,
    address: SocketAddr,
}

/// The calls that troubles are about. What is asked about models passes.
const MESSAGES: &str = "POST /v1/messages";

impl UnrulyNetwork {
    /// One that leads to this Claude.
    pub fn to(claude: &ScriptedClaude) -> Self {
        let url = claude.base_url();
        let place = url.strip_prefix("http://").expect("plain HTTP").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound listener");
        let proxy = Proxy::closing(move || TcpStream::connect(&place));
        let serving = Arc::clone(&proxy);
        std::thread::spawn(move || serving.serve_all(listener.incoming()));
        Self { proxy, address }
    }

    /// What `ANTHROPIC_BASE_URL` is to be.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next `times` requests for a message go wrong.
    pub fn trouble(&self, trouble: Trouble, times: usize) {
        self.proxy.trouble(MESSAGES, trouble, times);
    }
}

impl Drop for UnrulyNetwork {
    fn drop(&mut self) {
        self.proxy.end();
        // Wakes who waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}
