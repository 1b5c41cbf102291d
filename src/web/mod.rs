//! The surface of the wasm modules of the npm package: takes what JavaScript gives, does what it says, gives back.
//!
//! One has what needs no GPU (`plain`), the other the pages of a GPU (`gpu`). There is no generated JavaScript: functions
//! take and give numbers, and TypeScript of the package is the other side. The module of tensors has classes made by
//! wasm-bindgen (`tensor`).

mod allocator;
#[cfg(js_engine)]
mod gpu;
#[cfg(feature = "npm")]
mod memory;
#[cfg(all(feature = "npm", not(js_engine)))]
mod plain;
#[cfg(feature = "npm")]
mod table;
#[cfg(js_tensor)]
mod tensor;

#[cfg(js_tensor)]
pub use tensor::{
    Call, WebArguments, WebBackend, WebBatch, WebBufferId, WebDevice, WebKernel, WebTensor,
};

#[cfg(feature = "npm")]
use crate::lz4::Level;

/// The lowest two bits of flags.
#[cfg(feature = "npm")]
const LEVEL: u32 = 3;

#[cfg(feature = "npm")]
fn level(flags: u32) -> Level {
    match flags & LEVEL {
        0 => Level::Fast,
        1 => Level::High,
        _ => Level::Sequential,
    }
}
