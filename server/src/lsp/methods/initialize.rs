//! `initialize`: what the server can do. It reaches for neither the network nor podman.

use crate::lsp::client_traits::ClientTraits;
use crate::lsp::methods::execute_command::COMMANDS;
use crate::lsp::protocol::VERSION;
use crate::lsp::server::Shared;
use serde_json::json;
use tower_lsp::ls_types::*;

pub(in crate::lsp) fn run(shared: &Shared, params: &InitializeParams) -> InitializeResult {
    let traits = ClientTraits::of(params);
    let encoding = traits.encoding.kind();
    shared.set_traits(traits);
    shared.folders.set(params, shared.agent.settings().safedir.clone());
    InitializeResult {
        capabilities: ServerCapabilities {
            position_encoding: Some(encoding),
            text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::Supported(true)),
                ..TextDocumentSyncOptions::default()
            })),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, super::code_action::ASK]),
                ..CodeActionOptions::default()
            })),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: COMMANDS.map(str::to_owned).to_vec(),
                ..ExecuteCommandOptions::default()
            }),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                    supported: Some(true),
                    change_notifications: Some(OneOf::Left(true)),
                }),
                ..WorkspaceServerCapabilities::default()
            }),
            experimental: Some(json!({"airlock": {"version": VERSION}})),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: "airlock".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        ..InitializeResult::default()
    }
}
