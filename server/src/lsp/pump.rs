//! Carries a session's updates to the editor, in order, one after the other.

use super::plain::PlainView;
use super::protocol::{SessionUpdate, SessionUpdateParams};
use super::server::Shared;
use super::translate;
use crate::agent::Session;
use std::sync::Arc;

/// Lets a session's updates flow until it is closed.
pub(super) fn start(shared: &Arc<Shared>, session: &Arc<Session>) {
    let pumps = shared.pumps.clone();
    let (shared, session) = (Arc::clone(shared), Arc::clone(session));
    pumps.spawn(async move {
        let mut plain = shared.traits().extension.is_none().then(|| PlainView::new(&shared, &session));
        while let Some((seq, update)) = session.outbox().next().await {
            shared.progresses.follow(&shared.client, session.id(), &update).await;
            if let Some(plain) = &mut plain {
                plain.show(update).await;
                continue;
            }
            match serde_json::to_value(translate::update(&update)) {
                Ok(update) => {
                    let params = SessionUpdateParams { session_id: session.id().to_owned(), seq, update };
                    shared.client.send_notification::<SessionUpdate>(params).await;
                }
                Err(error) => tracing::error!(%error, "an update cannot be written"),
            }
        }
        shared.progresses.forget(session.id());
    });
}
