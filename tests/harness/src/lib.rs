//! Attributes for the tests of Pagepress. Each replaces a well-known attribute of the same name, so that a test is
//! written as usual and only an import differs.

use proc_macro::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, parse_macro_input};

/// Registers a test with `tests/common/harness.rs`, which can report it as ignored while it runs.
///
/// For targets with `harness = false`: there the built-in attribute removes its function, and the compiler does not warn.
#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut function = parse_macro_input!(item as ItemFn);
    if let Some(token) = &function.sig.asyncness {
        return Error::new_spanned(token, "`test` is not for async functions")
            .into_compile_error()
            .into();
    }
    let unsupported = |attribute: &&syn::Attribute| attribute.path().is_ident("should_panic");
    if let Some(attribute) = function.attrs.iter().find(unsupported) {
        return Error::new_spanned(attribute, "this harness does not know `should_panic`")
            .into_compile_error()
            .into();
    }
    let n_attributes = function.attrs.len();
    function
        .attrs
        .retain(|attribute| !attribute.path().is_ident("ignore"));
    let is_ignored = function.attrs.len() < n_attributes;
    let name = &function.sig.ident;
    quote! {
        #function

        crate::common::harness::inventory::submit! {
            crate::common::harness::Test {
                path: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                is_ignored: #is_ignored,
                run: || crate::common::harness::Outcome::of(#name()),
            }
        }
    }
    .into()
}

/// Registers a `wasm_bindgen_test` with a time limit of its own; a test that exceeds it fails by name.
///
/// The limit of wasm-bindgen's runner is for a whole suite: it says nothing about a single test.
#[proc_macro_attribute]
pub fn wasm_bindgen_test(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut function = parse_macro_input!(item as ItemFn);
    if function.sig.asyncness.is_none() {
        let message = "a test that never yields cannot be stopped: make it `async`";
        return Error::new_spanned(&function.sig, message)
            .into_compile_error()
            .into();
    }
    let name = function.sig.ident.clone();
    let body = function.block;
    function.block = syn::parse_quote! {{
        crate::common::limit::within(::core::stringify!(#name), async #body).await
    }};
    quote! {
        #[::wasm_bindgen_test::wasm_bindgen_test]
        #function
    }
    .into()
}
