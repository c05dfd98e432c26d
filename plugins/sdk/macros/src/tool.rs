//! `#[tool]`: the function stays as it is. Beside it comes a type of the same name, which lives in another namespace,
//! and which is the tool.

use crate::attribute::Attribute;
use crate::data::derives;
use crate::docs;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, Ident, ItemFn, Pat, PatType, Result, ReturnType, Type};

pub(crate) fn expand(attribute: Attribute, mut function: ItemFn) -> Result<TokenStream> {
    if let Some((hint, _)) = &attribute.hint {
        return Err(Error::new(hint.span(), "only commands have a hint"));
    }
    refuse_what_no_tool_is(&function)?;
    let parameters = take_parameters(&mut function)?;
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let name = attribute.name(ident)?;
    let description = attribute.description(&function, "the model must be told what the tool does")?;
    let effects = attribute.effects.map(|(_, words)| words).unwrap_or_default();
    let arguments = Arguments::of(parameters);
    let (definition, taken, call) = (arguments.definition(), arguments.taken(), arguments.call(ident));
    let outcome = if gives_result(&function.sig.output) {
        quote! { #call.map_err(::airlock_plugin::Error::from) }
    } else {
        quote! { ::core::result::Result::Ok::<_, ::airlock_plugin::Error>(#call) }
    };
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis struct #ident {}

        const _: () = {
            #definition

            impl ::airlock_plugin::Tool for #ident {
                const NAME: &'static str = #name;
                const DESCRIPTION: &'static str = #description;
                const EFFECTS: &'static [&'static str] = &[#(#effects),*];
                type Arguments = #taken;

                fn run(arguments: #taken) -> ::airlock_plugin::Result<impl ::airlock_plugin::__private::serde::Serialize> {
                    #outcome
                }
            }
        };
    })
}

/// A parameter: its own doc comment, name and type.
struct Parameter {
    docs: Vec<syn::Attribute>,
    name: Ident,
    ty: Type,
}

enum Arguments {
    /// A single parameter called `args`: all of them, in a type of the author's.
    Whole(Box<Type>),
    /// Each parameter is a property.
    Each(Vec<Parameter>),
}

impl Arguments {
    fn of(mut parameters: Vec<Parameter>) -> Self {
        match parameters.pop() {
            Some(only) if parameters.is_empty() && only.name == "args" => Self::Whole(Box::new(only.ty)),
            last => {
                parameters.extend(last);
                Self::Each(parameters)
            }
        }
    }

    /// The type that the arguments are read into, where we make it.
    fn definition(&self) -> TokenStream {
        let Self::Each(parameters) = self else { return TokenStream::new() };
        let derives = derives();
        let fields = parameters.iter().map(|Parameter { docs, name, ty }| quote! { #(#docs)* #name: #ty });
        quote! {
            #derives
            #[serde(deny_unknown_fields)]
            pub struct Arguments { #(#fields),* }
        }
    }

    fn taken(&self) -> TokenStream {
        match self {
            Self::Whole(ty) => quote! { #ty },
            Self::Each(_) => quote! { Arguments },
        }
    }

    fn call(&self, function: &Ident) -> TokenStream {
        match self {
            Self::Whole(_) => quote! { #function(arguments) },
            Self::Each(parameters) => {
                let names: Vec<&Ident> = parameters.iter().map(|parameter| &parameter.name).collect();
                quote! { { let Arguments { #(#names),* } = arguments; #function(#(#names),*) } }
            }
        }
    }
}

/// The parameters, whose doc comments the compiler would not take where they stand.
fn take_parameters(function: &mut ItemFn) -> Result<Vec<Parameter>> {
    let take = |input: &mut FnArg| match input {
        FnArg::Typed(PatType { attrs, pat, ty, .. }) => {
            let (docs, others) = std::mem::take(attrs).into_iter().partition(docs::is_doc);
            *attrs = others;
            let Pat::Ident(name) = &**pat else {
                return Err(Error::new_spanned(pat, "a parameter of a tool is a plain name"));
            };
            if let Type::Reference(reference) = &**ty {
                let told = "a tool owns its arguments: String for &str, Vec<T> for &[T]";
                return Err(Error::new_spanned(reference, told));
            }
            Ok(Parameter { docs, name: name.ident.clone(), ty: (**ty).clone() })
        }
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "a tool is a free function")),
    };
    function.sig.inputs.iter_mut().map(take).collect()
}

/// What neither a tool nor a command can be.
pub(crate) fn refuse_what_no_tool_is(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(keyword) = &signature.asyncness {
        return Err(Error::new(
            keyword.span,
            "the host's functions wait by themselves: write it without async",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &signature.generics,
            "the host must know all types: no generics here",
        ));
    }
    Ok(())
}

/// Whether the return type is written as some `Result`.
pub(crate) fn gives_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Type::Path(path) = &**ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Result")
}
