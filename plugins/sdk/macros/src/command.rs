//! `#[command]`: as with a tool, a type of the function's name is the command.

use crate::attribute::Attribute;
use crate::tool::{gives_result, refuse_what_no_tool_is};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

pub(crate) fn expand(attribute: Attribute, function: ItemFn) -> Result<TokenStream> {
    if let Some((effects, _)) = &attribute.effects {
        return Err(Error::new(effects.span(), "only tools have effects"));
    }
    refuse_what_no_tool_is(&function)?;
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let name = attribute.name(ident)?;
    let description = attribute.description(&function, "people must be told what the command does")?;
    let hint = attribute.hint.map(|(_, hint)| hint.value()).unwrap_or_default();
    let call = match function.sig.inputs.len() {
        0 => quote! { #ident() },
        1 => quote! { #ident(arguments.into()) },
        _ => {
            let told = "a command takes what is typed after it as one String or &str, or nothing";
            return Err(Error::new_spanned(&function.sig.inputs, told));
        }
    };
    let outcome = if gives_result(&function.sig.output) {
        quote! { #call.map_err(::airlock_plugin::Error::from) }
    } else {
        quote! { ::core::result::Result::Ok(#call) }
    };
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis struct #ident {}

        impl ::airlock_plugin::Command for #ident {
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            const HINT: &'static str = #hint;

            #[allow(unused_variables)]
            fn expand(arguments: &str) -> ::airlock_plugin::Result<::std::string::String> {
                #outcome
            }
        }
    })
}
