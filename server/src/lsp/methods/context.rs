//! What a prompt is about: documents and ranges as the editor names them become text.

use crate::agent::ContextItem;
use crate::limits::PROMPT_CONTEXT_ITEM_MAX_BYTES;
use crate::lsp::documents::Text;
use crate::lsp::folders::host_path;
use crate::lsp::protocol::{AskArgument, Context};
use crate::lsp::server::Shared;
use crate::paths::WorkspaceRoot;
use crate::storage::beneath::{Folder, Node, read_bounded};
use std::path::Path;
use tower_lsp::ls_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Range, Uri};

pub(in crate::lsp) fn of_prompt(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    context: &[Context],
) -> Vec<ContextItem> {
    let item = |part: &Context| item(shared, workspace, &part.uri, part.range, &part.diagnostics);
    context.iter().map(item).collect()
}

pub(in crate::lsp) fn of_ask(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    argument: &AskArgument,
) -> ContextItem {
    item(shared, workspace, &argument.uri, argument.range, &argument.diagnostics)
}

fn item(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    uri: &Uri,
    range: Option<Range>,
    diagnostics: &[Diagnostic],
) -> ContextItem {
    let inside = host_path(uri).and_then(|path| workspace?.relative(&path));
    let name = inside.as_ref().map_or_else(|| uri.as_str().to_owned(), ToString::to_string);
    let text = match shared.documents.get(uri.as_str()) {
        Some(document) => Some(document.text),
        // Not open: as it is on the disk, beneath the workspace and nowhere else.
        None => workspace.zip(inside).and_then(|(root, path)| on_disk(root, path.as_str())),
    };
    let whole = text.unwrap_or_else(|| Text::new(""));
    // An empty range names a place; the line around it is what the user means.
    let range = range.map(|range| if range.start == range.end { whole_line(range) } else { range });
    let lines = range.map(|range| (range.start.line + 1, last_line(range) + 1));
    let text = match range {
        Some(range) => whole.selection(range, shared.documents.encoding()),
        None => whole.to_string(),
    };
    ContextItem { name, lines, text, diagnostics: diagnostics.iter().map(describe).collect() }
}

fn on_disk(root: &WorkspaceRoot, path: &str) -> Option<Text> {
    match Folder::open(root.as_host()).and_then(|folder| folder.node_at(Path::new(path))).ok()? {
        Node::File(file) => {
            let bytes = read_bounded(file, PROMPT_CONTEXT_ITEM_MAX_BYTES).ok()?;
            Some(Text::new(&String::from_utf8_lossy(&bytes)))
        }
        _ => None,
    }
}

fn whole_line(mut range: Range) -> Range {
    range.start.character = 0;
    range.end.character = u32::MAX;
    range
}

/// A selection that ends at the beginning of a line does not hold that line.
fn last_line(range: Range) -> u32 {
    let ends_before = range.end.character == 0 && range.end.line > range.start.line;
    if ends_before { range.end.line - 1 } else { range.end.line }
}

fn describe(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Some(DiagnosticSeverity::ERROR) => "error",
        Some(DiagnosticSeverity::WARNING) => "warning",
        Some(DiagnosticSeverity::INFORMATION) => "information",
        _ => "hint",
    };
    let code = diagnostic.code.as_ref().map(|code| match code {
        NumberOrString::Number(number) => format!(" [{number}]"),
        NumberOrString::String(text) => format!(" [{text}]"),
    });
    let source = diagnostic.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    let line = diagnostic.range.start.line + 1;
    format!("line {line}: {severity}{}: {}{source}", code.unwrap_or_default(), diagnostic.message)
}
