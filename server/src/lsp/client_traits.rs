//! What the editor can do, as it said in `initialize`.

use super::documents::PositionEncoding;
use super::protocol::ClientExtension;
use serde::Deserialize;
use tower_lsp::ls_types::{ClientCapabilities, InitializeParams};

/// What the editor can do.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientTraits {
    /// It knows the `airlock/*` messages.
    pub(super) extension: Option<ClientExtension>,
    pub(super) encoding: PositionEncoding,
    /// It does not say that it cannot. Helix 25.01 says nothing, and can; who cannot answers that there is no such method.
    pub(super) may_show_documents: bool,
    pub(super) shows_progress: bool,
    /// It takes code actions, not only commands.
    pub(super) code_action_literals: bool,
}

impl ClientTraits {
    pub(super) fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let window = capabilities.window.as_ref();
        let code_action =
            capabilities.text_document.as_ref().and_then(|document| document.code_action.as_ref());
        Self {
            extension: extension(capabilities),
            encoding: PositionEncoding::negotiate(capabilities),
            may_show_documents: window
                .and_then(|window| window.show_document.as_ref())
                .is_none_or(|show| show.support),
            shows_progress: window.and_then(|window| window.work_done_progress).unwrap_or(false),
            code_action_literals: code_action
                .is_some_and(|action| action.code_action_literal_support.is_some()),
        }
    }

    /// Whether permission questions go through the extension.
    pub(super) fn answers_permission(&self) -> bool {
        self.extension.is_some_and(|extension| extension.permission)
    }
}

fn extension(capabilities: &ClientCapabilities) -> Option<ClientExtension> {
    let airlock = capabilities.experimental.as_ref()?.get("airlock")?;
    // `true`, or an object whose form we do not know yet, still means that it knows us.
    Some(ClientExtension::deserialize(airlock).unwrap_or_default())
}
