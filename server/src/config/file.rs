//! A TOML file as entries that know their line, so that a bad one can be named and the others used.

use super::check::{Fault, fault};
use crate::nearest::nearest;
use crate::problem::Problem;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A configuration file's name and text.
pub(super) struct Source<'t> {
    pub(super) path: &'t Path,
    pub(super) text: &'t str,
}

/// One `key = value`.
pub(super) struct Entry<'t> {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Value<'t>,
}

/// A value that has not been checked yet.
pub(super) struct Value<'t>(DeValue<'t>);

impl<'t> Source<'t> {
    /// The entries of the file, or what keeps it from being TOML.
    pub(super) fn entries(&self) -> Result<Vec<Entry<'t>>, Problem> {
        match DeTable::parse(self.text) {
            Ok(table) => Ok(self.entries_of(table.into_inner())),
            // Only the message: the error's `Display` quotes the line, which may hold the key.
            Err(error) => Err(Problem::at_line(
                self.path,
                self.line(error.span().unwrap_or_default()),
                format!("not TOML: {}", error.message()),
                "correct this line; until then nothing in this file is used",
            )),
        }
    }

    /// The entries of a table in the file, in the order of their lines.
    pub(super) fn entries_of(&self, table: DeTable<'t>) -> Vec<Entry<'t>> {
        let mut entries: Vec<_> = table
            .into_iter()
            .map(|(key, value)| Entry {
                line: self.line(key.span()),
                key: key.into_inner().into_owned(),
                value: Value(value.into_inner()),
            })
            .collect();
        entries.sort_by_key(|entry| entry.line);
        entries
    }

    /// What is wrong with a key.
    pub(super) fn problem(&self, line: usize, key: &str, fault: Fault) -> Problem {
        // Escaped: a quoted key may hold anything, and a workspace's is not the user's. Not at all where it is an API
        // key in the wrong place.
        let shown = if key.starts_with("sk-") { "sk-…".to_owned() } else { key.escape_debug().to_string() };
        let what = format!("{shown}: {}", fault.what);
        Problem::at_line(self.path, line, what, fault.advice)
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }
}

/// What to say about a key that does not exist.
pub(super) fn unknown_key<T>(key: &str, known: &[&str]) -> Result<T, Fault> {
    match nearest(key, known.iter().copied()) {
        Some(meant) => fault("there is no such key", format!("did you mean {meant}?")),
        None => fault("there is no such key", format!("remove it; there are {}", known.join(", "))),
    }
}

impl<'t> Value<'t> {
    pub(super) fn text(&self) -> Result<&str, Fault> {
        match self.0.as_str() {
            Some(text) => Ok(text),
            None => fault(self.found("text"), "put the value in double quotes"),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self) -> Result<Vec<String>, Fault> {
        let list = self.0.as_array().map(|values| values.iter().map(|value| value.get_ref().as_str()));
        match list.and_then(|texts| texts.map(|text| text.map(str::to_owned)).collect()) {
            Some(texts) => Ok(texts),
            None => fault(self.found("a list of texts"), "write [\"one\", \"another\"]"),
        }
    }

    pub(super) fn yes_or_no(&self) -> Result<bool, Fault> {
        match self.0.as_bool() {
            Some(answer) => Ok(answer),
            None => fault(self.found("true or false"), "give true or false, without quotes"),
        }
    }

    /// A whole number; `None` inside when it is one that nothing takes, such as a negative one.
    pub(super) fn whole(&self) -> Result<Option<u64>, Fault> {
        match &self.0 {
            DeValue::Integer(number) => Ok(u64::from_str_radix(number.as_str(), number.radix()).ok()),
            _ => fault(self.found("a whole number"), "give a whole number, without quotes"),
        }
    }

    /// A number; `None` inside when it cannot be held.
    pub(super) fn number(&self) -> Result<Option<f64>, Fault> {
        match &self.0 {
            DeValue::Float(number) => Ok(number.as_str().parse().ok()),
            #[expect(clippy::cast_precision_loss, reason = "amounts of money are small")]
            DeValue::Integer(_) => Ok(self.whole()?.map(|number| number as f64)),
            _ => fault(self.found("a number"), "give a number, without quotes"),
        }
    }

    /// The value as JSON; dates become text.
    pub(super) fn json(&self) -> serde_json::Value {
        json(&self.0)
    }

    pub(super) fn table(self, advice: &str) -> Result<DeTable<'t>, Fault> {
        match self.0 {
            DeValue::Table(table) => Ok(table),
            other => fault(Value(other).found("a table"), advice),
        }
    }

    fn found(&self, wanted: &str) -> String {
        let found = match self.0 {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        format!("expected {wanted}, found {found}")
    }
}

fn json(value: &DeValue<'_>) -> serde_json::Value {
    match value {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().into(),
        DeValue::Float(number) => number.as_str().parse::<f64>().ok().into(),
        DeValue::Boolean(answer) => (*answer).into(),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())));
            serde_json::Value::Object(entries.collect())
        }
    }
}
