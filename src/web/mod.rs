//! The surface of the wasm modules: takes JavaScript values, calls [`crate::batch::Codec`], gives JavaScript values.
//!
//! One codec takes one call at a time; the JavaScript side of the package sees to that.

mod codec;
mod convert;

pub use codec::WebCodec;
