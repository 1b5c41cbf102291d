//! The surface of the wasm modules: takes JavaScript values, does what they say, gives JavaScript values.
//!
//! Both modules have what needs no GPU and is done when it returns. Frames and pages in parts are classes without
//! futures in the module of the CPU (`cpu`), and calls of [`crate::batch::Codec`] in that of the GPU (`gpu`).

#[cfg(feature = "npm")]
mod allocator;
mod convert;
#[cfg(not(gpu_engine))]
mod cpu;
#[cfg(gpu_engine)]
mod gpu;
mod map;
mod parts;
mod sync;

#[cfg(not(gpu_engine))]
pub use cpu::{WebFrameCompression, WebFrameDecompression, WebPageDecompression, compress_pages};
#[cfg(gpu_engine)]
pub use gpu::{Call, WebCodec, WebCompression, WebDecompression};
pub use map::{WebContentRead, WebFrameMap};
pub use parts::{ContentSum, frame_header};
pub use sync::{compress_sync, decompress_sync, not_lz4};
