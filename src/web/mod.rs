//! The surface of the wasm modules of the npm package: takes what JavaScript gives, does what it says, gives back.
//!
//! Both modules have what needs no GPU (`plain`). That of the GPU has [`crate::batch::Codec`] as a class (`gpu`).

mod allocator;
#[cfg(gpu_engine)]
mod gpu;
mod plain;

#[cfg(gpu_engine)]
pub use gpu::{Call, WebCodec, WebCompression, WebDecompression};
