//! What a prompt is about: documents and ranges as the editor names them become text.

use crate::agent::ContextItem;
use crate::limits::{PROMPT_CONTEXT_ITEM_MAX_BYTES, PROMPT_CONTEXT_MAX_ITEMS};
use crate::lsp::documents::Text;
use crate::lsp::folders::host_path;
use crate::lsp::protocol::{AskArgument, Context};
use crate::lsp::server::Shared;
use crate::paths::WorkspaceRoot;
use crate::storage::beneath::{Folder, Node, read_bounded};
use crate::view::{Shown, ShownDiagnostic, ShownSelection};
use std::path::Path;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Range, Uri};

pub(in crate::lsp) fn of_prompt(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    context: &[Context],
) -> Result<Vec<ContextItem>> {
    if context.len() > PROMPT_CONTEXT_MAX_ITEMS {
        return Err(Error::invalid_params(format!(
            "a prompt may come with {PROMPT_CONTEXT_MAX_ITEMS} pieces of context, not {}",
            context.len()
        )));
    }
    let item = |part: &Context| item(shared, workspace, &part.uri, part.range, &part.diagnostics);
    Ok(context.iter().map(item).collect())
}

pub(in crate::lsp) fn of_ask(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    argument: &AskArgument,
) -> ContextItem {
    item(shared, workspace, &argument.uri, argument.range, &argument.diagnostics)
}

/// The same for programs: what is selected, and what other tools say.
pub(in crate::lsp) fn shown(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    context: &[Context],
) -> Shown {
    let mut shown = Shown::default();
    for Context { uri, range, diagnostics, .. } in context.iter().take(PROMPT_CONTEXT_MAX_ITEMS) {
        let inside =
            workspace.zip(host_path(uri)).and_then(|(root, path)| shared.folders.inside(root, &path));
        let path = inside.map_or_else(|| uri.as_str().to_owned(), |path| path.to_string());
        shown.diagnostics.extend(diagnostics.iter().map(|diagnostic| ShownDiagnostic {
            path: path.clone(),
            line: diagnostic.range.start.line.saturating_add(1),
            column: diagnostic.range.start.character.saturating_add(1),
            severity: severity(diagnostic).to_owned(),
            message: diagnostic.message.clone(),
            source: diagnostic.source.clone().unwrap_or_default(),
        }));
        let selected = range.filter(|range| range.start != range.end && shown.selection.is_none());
        if let Some((Range { start, end }, document)) = selected.zip(shared.buffers.document(uri)) {
            let (start, end) = (start.min(end), start.max(end));
            shown.selection = Some(ShownSelection {
                path,
                start_line: start.line.saturating_add(1),
                start_column: start.character.saturating_add(1),
                end_line: end.line.saturating_add(1),
                end_column: end.character.saturating_add(1),
                text: document.text.selection(Range { start, end }, shared.documents.encoding()),
            });
        }
    }
    shown
}

fn item(
    shared: &Shared,
    workspace: Option<&WorkspaceRoot>,
    uri: &Uri,
    range: Option<Range>,
    diagnostics: &[Diagnostic],
) -> ContextItem {
    let inside = workspace.zip(host_path(uri)).and_then(|(root, path)| shared.folders.inside(root, &path));
    let name = inside.as_ref().map_or_else(|| uri.as_str().to_owned(), ToString::to_string);
    let diagnostics = diagnostics.iter().map(describe).collect();
    let text = match shared.buffers.document(uri) {
        Some(document) => Ok(document.text),
        // Not open: as it is on the disk, beneath the workspace and nowhere else.
        None => match workspace.zip(inside) {
            Some((root, path)) => on_disk(root, path.as_str()),
            None => Err("it is neither open nor in the workspace".to_owned()),
        },
    };
    let whole = match text {
        Ok(whole) => whole,
        // Said to the model, which would take silence for an empty file.
        Err(why) => {
            return ContextItem { name, lines: None, text: format!("[no content: {why}]"), diagnostics };
        }
    };
    let range = range.map(meant);
    let lines = range.map(|range| lines_of(range, &whole));
    let text = match range {
        Some(range) => whole.selection(range, shared.documents.encoding()),
        None => whole.to_string(),
    };
    ContextItem { name, lines, text, diagnostics }
}

fn on_disk(root: &WorkspaceRoot, path: &str) -> std::result::Result<Text, String> {
    let node = Folder::open(root.as_host()).and_then(|folder| folder.node_at(Path::new(path)));
    match node.map_err(|error| error.to_string())? {
        Node::File(file) => {
            let bytes =
                read_bounded(file, PROMPT_CONTEXT_ITEM_MAX_BYTES).map_err(|error| error.to_string())?;
            let text = String::from_utf8(bytes).map_err(|_| "it is not text")?;
            Ok(Text::new(&text))
        }
        Node::Link(_) => Err("it is a link, and links are not followed".to_owned()),
        Node::Missing => Err("there is no such file".to_owned()),
        _ => Err("it is not a file".to_owned()),
    }
}

/// The range from its lesser to its greater end. An empty one names a place; the line around it is what the user means.
fn meant(Range { start, end }: Range) -> Range {
    let (mut start, mut end) = (start.min(end), start.max(end));
    if start == end {
        (start.character, end.character) = (0, u32::MAX);
    }
    Range { start, end }
}

/// The first and last line, from 1, of those that there are. A selection that ends at the beginning of a line does
/// not hold that line.
fn lines_of(range: Range, text: &Text) -> (u32, u32) {
    let last = u32::try_from(text.lines()).unwrap_or(u32::MAX);
    let first = range.start.line.saturating_add(1).min(last);
    let ends_before = range.end.character == 0 && range.end.line > range.start.line;
    let end = if ends_before { range.end.line } else { range.end.line.saturating_add(1) };
    (first, end.clamp(first, last))
}

fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Some(DiagnosticSeverity::ERROR) => "error",
        Some(DiagnosticSeverity::WARNING) => "warning",
        Some(DiagnosticSeverity::INFORMATION) => "information",
        Some(DiagnosticSeverity::HINT) => "hint",
        _ => "problem",
    }
}

fn describe(diagnostic: &Diagnostic) -> String {
    let severity = severity(diagnostic);
    let code = diagnostic.code.as_ref().map(|code| match code {
        NumberOrString::Number(number) => format!(" [{number}]"),
        NumberOrString::String(text) => format!(" [{text}]"),
    });
    let source = diagnostic.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    let line = u64::from(diagnostic.range.start.line) + 1;
    format!("line {line}: {severity}{}: {}{source}", code.unwrap_or_default(), diagnostic.message)
}
