//! Text that must not be seen.

/// A secret, such as an API key.
///
/// It has neither `Debug` nor `Serialize`, so it cannot slip into a log, a history or a message by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret. White space around it is dropped: it comes from files and environment variables.
    pub fn new(untrusted_text: &str) -> Option<Self> {
        let text = untrusted_text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
