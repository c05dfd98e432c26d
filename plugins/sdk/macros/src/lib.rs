//! The attributes of `airlock-plugin`; that crate documents them.

mod attribute;
mod command;
mod data;
mod docs;
mod tool;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function a tool that the model can call.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = parse_macro_input!(attribute as attribute::Attribute);
    let function = parse_macro_input!(item as syn::ItemFn);
    tool::expand(attribute, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function a slash command that users can type.
#[proc_macro_attribute]
pub fn command(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = parse_macro_input!(attribute as attribute::Attribute);
    let function = parse_macro_input!(item as syn::ItemFn);
    command::expand(attribute, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum something that tools take and give.
#[proc_macro_attribute]
pub fn data(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let nothing = parse_macro_input!(attribute as proc_macro2::TokenStream);
    let item = parse_macro_input!(item as syn::DeriveInput);
    data::expand(nothing, item).unwrap_or_else(syn::Error::into_compile_error).into()
}
