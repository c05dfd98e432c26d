//! The interface of `wit/v0.1` as Rust, made from the files themselves.

#![allow(missing_docs, unsafe_code, reason = "the macro's own")]

wasmtime::component::bindgen!({
    path: "../wit/v0.1",
    world: "plugin-with-commands",
    imports: { default: async | trappable },
    exports: { default: async },
    additional_derives: [PartialEq],
});
