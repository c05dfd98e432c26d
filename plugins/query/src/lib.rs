//! jq filters over JSON, TOML and YAML. It only computes.

use airlock_plugin::{Error, Result, data, tool};
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data::JustLut, unwrap_valr};
use jaq_json::{Val, read};
use serde_json::Value;

/// More than this is more than a model wants to read.
const RESULTS_MAX: usize = 1000;

/// What a text is written in.
#[data]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Toml,
    Yaml,
}

/// Runs a jq filter over a JSON, TOML or YAML text and gives the results as a list. Use it to look up, count, filter or
/// reshape structured data instead of reading all of it.
#[tool]
fn query(
    /// The text.
    text: String,
    /// The jq filter, such as `.dependencies | keys` or `.[] | select(.age > 3)`.
    filter: String,
    /// What the text is written in; found out when left out.
    format: Option<Format>,
) -> Result<Vec<Value>> {
    let input = match format {
        Some(format) => parse(&text, format)?,
        None => guess(&text)?,
    };
    run(&filter, &input)
}

fn parse(text: &str, format: Format) -> Result<Value> {
    match format {
        Format::Json => {
            serde_json::from_str(text).map_err(|error| Error::invalid(format!("it is no JSON: {error}")))
        }
        Format::Toml => {
            toml::from_str(text).map_err(|error| Error::invalid(format!("it is no TOML: {error}")))
        }
        Format::Yaml => {
            serde_saphyr::from_str(text).map_err(|error| Error::invalid(format!("it is no YAML: {error}")))
        }
    }
}

/// The strictest first: any JSON is YAML, and much TOML is a string in YAML.
fn guess(text: &str) -> Result<Value> {
    parse(text, Format::Json)
        .or_else(|_| parse(text, Format::Toml))
        .or_else(|_| parse(text, Format::Yaml))
        .map_err(|_| {
            Error::invalid("it is neither JSON nor TOML nor YAML: give its format to hear what is wrong")
        })
}

fn run(filter: &str, input: &Value) -> Result<Vec<Value>> {
    let input =
        read::parse_single(input.to_string().as_bytes()).map_err(|error| Error::failed(error.to_string()))?;
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(definitions)
        .load(&arena, File { code: filter, path: () })
        .map_err(|_| Error::invalid(format!("{filter:?} is no jq filter")))?;
    let compiled = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        let unknown = errors.iter().flat_map(|(_, errors)| errors).map(|(name, _)| format!("{name:?}"));
        Error::invalid(format!(
            "the filter uses what jq does not have: {}",
            unknown.collect::<Vec<_>>().join(", ")
        ))
    })?;
    let context = Ctx::<JustLut<Val>>::new(&compiled.lut, Vars::new([]));
    let mut results = Vec::new();
    for result in compiled.id.run((context, input)).map(unwrap_valr) {
        let value = result.map_err(|error| Error::failed(format!("the filter failed: {error}")))?;
        if results.len() == RESULTS_MAX {
            return Err(Error::invalid(format!(
                "there are more than {RESULTS_MAX} results: narrow the filter"
            )));
        }
        results.push(serde_json::from_str(&value.to_string())?);
    }
    Ok(results)
}

airlock_plugin::export!(tools: [query]);

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_plugin::Kind;
    use serde_json::json;

    fn ask(text: &str, filter: &str, format: Option<Format>) -> Result<Vec<Value>> {
        query(text.to_owned(), filter.to_owned(), format)
    }

    #[test]
    fn the_same_question_works_in_every_format() {
        for text in [r#"{"a": {"b": [1, 2]}}"#, "[a]\nb = [1, 2]", "a:\n  b:\n    - 1\n    - 2\n"] {
            assert_eq!(ask(text, ".a.b | add", None), Ok(vec![json!(3)]), "{text}");
        }
    }

    #[test]
    fn a_filter_may_give_many_results_or_none() {
        assert_eq!(ask("[1, 5, 9]", ".[] | select(. > 3)", None), Ok(vec![json!(5), json!(9)]));
        assert_eq!(ask("[]", ".[]", None), Ok(vec![]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, filter, format, words) in [
            ("{", ".", Some(Format::Json), "no JSON"),
            ("a = ", ".", Some(Format::Toml), "no TOML"),
            ("1", ".[", None, "is no jq filter"),
            ("1", "nonsense", None, "does not have: \"nonsense\""),
            ("1", ".a", None, "the filter failed"),
            ("1", "range(5000)", None, "narrow the filter"),
        ] {
            let error = ask(text, filter, format).unwrap_err();
            assert!(error.message().contains(words), "{filter}: {error}");
            assert!(matches!(error.kind(), Kind::Invalid | Kind::Failed));
        }
    }
}
