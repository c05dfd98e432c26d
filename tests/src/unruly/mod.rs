//! What misbehaves as a test says: podman, and the network to the API. Both are the real thing with a proxy before it.

mod connection;
mod network;
mod podman;
mod proxy;

pub use network::UnrulyNetwork;
pub use podman::UnrulyPodman;

/// What goes wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The connection is closed, and nobody hears of the call.
    HangUp,
    /// The call is made, and so many bytes of its answer arrive.
    CutAfter(usize),
    /// The same, and then the connection is reset.
    ResetAfter(usize),
    /// Nobody hears of the call, and this is the answer.
    Answer(String),
    /// Nobody hears of the call, this is the beginning of the answer, and of the rest a byte comes now and then.
    Drip(String),
    /// Nobody hears of the call, and nothing comes back.
    Silence,
    /// The call is made when all goes well again.
    Late,
}

impl Trouble {
    /// An answer that says that the other side has a problem, as podman words it.
    pub fn status_500() -> Self {
        const PROBLEM: &str = r#"{"cause":"unruly","message":"the database is locked","response":500}"#;
        let length = PROBLEM.len();
        let head =
            "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nConnection: close";
        Self::Answer(format!("{head}\r\nContent-Length: {length}\r\n\r\n{PROBLEM}"))
    }

    /// An answer that is no HTTP.
    pub fn garbage() -> Self {
        Self::Answer("\x16\x03\x01\x02 nobody speaks HTTP here\r\n\r\n".to_owned())
    }
}
