//! The surface of the wasm modules of the npm package: takes what JavaScript gives, does what it says, gives back.
//!
//! The modules of the codec have what needs no GPU (`plain`). That of the GPU has [`crate::batch::Codec`] as a class
//! (`gpu`). The module of tensors is one of its own (`tensor`).

mod allocator;
#[cfg(gpu_engine)]
mod call;
#[cfg(js_engine)]
mod gpu;
#[cfg(feature = "npm")]
mod plain;
#[cfg(js_tensor)]
mod tensor;
#[cfg(gpu_engine)]
mod values;

#[cfg(gpu_engine)]
pub use call::Call;
#[cfg(js_engine)]
pub use gpu::{WebCodec, WebCompression, WebDecompression};
#[cfg(js_tensor)]
pub use tensor::{
    WebArguments, WebBackend, WebBatch, WebBufferId, WebDevice, WebKernel, WebTensor,
};
