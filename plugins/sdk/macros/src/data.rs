//! `#[data]`: serde and schemars, found through our crate, so that a plugin needs no other.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Result};

pub(crate) fn expand(nothing: TokenStream, item: DeriveInput) -> Result<TokenStream> {
    if !nothing.is_empty() {
        return Err(Error::new_spanned(nothing, "#[data] takes nothing; use #[serde(…)] beneath it"));
    }
    let derives = derives();
    Ok(quote! { #derives #item })
}

/// The derives and the crates that they find their traits in.
pub(crate) fn derives() -> TokenStream {
    quote! {
        #[derive(
            ::airlock_plugin::__private::serde::Serialize,
            ::airlock_plugin::__private::serde::Deserialize,
            ::airlock_plugin::__private::schemars::JsonSchema,
        )]
        #[serde(crate = "::airlock_plugin::__private::serde")]
        #[schemars(crate = "::airlock_plugin::__private::schemars")]
    }
}
