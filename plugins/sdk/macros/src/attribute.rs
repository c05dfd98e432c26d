//! What stands in the parentheses of `#[tool(…)]` and `#[command(…)]`.

use crate::docs;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, ItemFn, LitStr, Result, Token, bracketed};

/// The longest name that the interface allows.
const NAME_MAX: usize = 64;

/// Each may be left out.
#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) effects: Option<(Ident, Vec<LitStr>)>,
    pub(crate) hint: Option<(Ident, LitStr)>,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attribute = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "name" => attribute.name = Some(input.parse()?),
                "description" => attribute.description = Some(input.parse()?),
                "hint" => attribute.hint = Some((key, input.parse()?)),
                "effects" => {
                    let list;
                    bracketed!(list in input);
                    let words = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
                    attribute.effects = Some((key, words.into_iter().collect()));
                }
                other => {
                    let told = format!("unknown `{other}`: there are name, description, effects and hint");
                    return Err(Error::new(key.span(), told));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(attribute)
    }
}

impl Attribute {
    /// The name, given or the function's own, checked as the host checks it.
    pub(crate) fn name(&self, function: &Ident) -> Result<String> {
        let (name, span) = match &self.name {
            Some(given) => (given.value(), given.span()),
            None => (function.to_string().trim_start_matches("r#").to_owned(), function.span()),
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(allowed) {
            let told =
                format!("a name is 1 to {NAME_MAX} letters, digits, `_` and `-`; give one with name = \"…\"");
            return Err(Error::new(span, told));
        }
        Ok(name)
    }

    /// The description, given or the function's doc comment. Without one, this is why it is needed.
    pub(crate) fn description(&self, function: &ItemFn, needed: &str) -> Result<String> {
        let description = match &self.description {
            Some(given) => given.value(),
            None => docs::text(&function.attrs),
        };
        if description.is_empty() {
            let told = format!("{needed}: write a doc comment, or description = \"…\"");
            return Err(Error::new(function.sig.ident.span(), told));
        }
        Ok(description)
    }
}
