//! The codec that drives a GPU.
//!
//! It takes one call at a time, and calls are driven from outside; the JavaScript of the package does both.

mod codec;
mod convert;
mod pages;
mod resident;
mod session;

use super::call;
pub use codec::WebCodec;
pub use session::{WebCompression, WebDecompression};
