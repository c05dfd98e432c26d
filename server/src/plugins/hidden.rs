//! Secrets, kept out of what a plugin is told.

use super::http::{HttpError, Incoming};
use super::powers::Powers;
use crate::secret::Secret;
use std::collections::BTreeMap;

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// The secrets of a plugin. An answer may repeat what was sent, and the plugin does not get to see it all the same.
pub(super) struct Hidden<'s>(Vec<&'s str>);

impl<'s> Hidden<'s> {
    pub(super) fn of(powers: &Powers, secrets: &'s BTreeMap<String, Secret>) -> Self {
        Self(powers.secrets.keys().filter_map(|name| secrets.get(name)).map(Secret::expose).collect())
    }

    /// In any case, for that of a host's name does not matter.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        let is_at = |window: &[u8], secret: &str| window.eq_ignore_ascii_case(secret.as_bytes());
        self.0.iter().any(|secret| bytes.windows(secret.len()).any(|window| is_at(window, secret)))
    }

    fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    pub(super) fn answer(&self, incoming: Incoming) -> Incoming {
        let Incoming { status, headers, body } = incoming;
        let headers = headers.iter().map(|(name, value)| (self.text(name), self.text(value))).collect();
        let hide = |body: Vec<u8>, secret: &&str| replace(&body, secret.as_bytes(), HIDDEN.as_bytes());
        Incoming { status, headers, body: self.0.iter().fold(body, hide) }
    }

    pub(super) fn error(&self, why: HttpError) -> HttpError {
        match why {
            HttpError::Denied(word) => HttpError::Denied(self.text(&word)),
            HttpError::Refused(why) => HttpError::Refused(self.text(&why)),
            HttpError::Invalid(why) => HttpError::Invalid(self.text(&why)),
            HttpError::TooLarge(why) => HttpError::TooLarge(self.text(&why)),
            HttpError::Unavailable(why) => HttpError::Unavailable(self.text(&why)),
        }
    }
}

fn replace(bytes: &[u8], wanted: &[u8], with: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(wanted.len()).position(|window| window == wanted) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(with);
        rest = &rest[at + wanted.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::powers::SecretUse;

    #[test]
    fn neither_an_answer_nor_an_error_that_repeats_a_secret_shows_it() {
        let place = SecretUse { origin: String::new(), header: String::new(), prefix: String::new() };
        let powers = Powers { secrets: [("KEY".to_owned(), place)].into(), ..Powers::default() };
        let secrets = [("KEY".to_owned(), Secret::new("hunter22").unwrap())].into();
        let hidden = Hidden::of(&powers, &secrets);
        let shown = hidden.answer(Incoming {
            status: 200,
            headers: vec![("echo".to_owned(), "Key hunter22!".to_owned())],
            body: b"\xffhunter22 hunter2 hunter22".to_vec(),
        });
        assert_eq!(shown.headers[0].1, "Key [secret]!");
        assert_eq!(shown.body, b"\xff[secret] hunter2 [secret]");
        let why = || "not hunter22".to_owned();
        for error in [
            HttpError::Denied(why()),
            HttpError::Refused(why()),
            HttpError::Invalid(why()),
            HttpError::TooLarge(why()),
            HttpError::Unavailable(why()),
        ] {
            let shown = format!("{:?}", hidden.error(error));
            assert!(shown.contains("not [secret]"), "{shown}");
        }
        assert!(hidden.is_in(b"https://HUNTER22.example") && !hidden.is_in(b"https://hunter2"));
    }
}
