//! The surface of the wasm modules: takes JavaScript values, calls [`crate::batch::Codec`], gives JavaScript values.
//!
//! One codec takes one call at a time, and calls are driven from outside; the JavaScript of the package does both.

mod call;
mod codec;
mod convert;
mod map;
mod pages;
mod parts;
#[cfg(feature = "wgpu")]
mod resident;
mod session;
mod sync;

pub use call::Call;
pub use codec::WebCodec;
pub use map::{WebContentRead, WebFrameMap};
pub use parts::{ContentSum, frame_header};
pub use session::{WebCompression, WebDecompression};
pub use sync::{compress_sync, decompress_sync, not_lz4};
