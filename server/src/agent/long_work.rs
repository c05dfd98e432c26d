//! What takes long in a session: its user is told what they wait for.

use super::session::Session;
use super::update::NoticeLevel;
use crate::patience::patiently;

impl Session {
    /// Does something that may take long; the user is told what, should it do so.
    pub(super) async fn patiently<T>(&self, what: impl Fn() -> String, work: impl Future<Output = T>) -> T {
        let tell = || {
            self.notice(NoticeLevel::Info, what());
            std::future::ready(())
        };
        patiently(work, tell).await
    }
}
