//! The surface of the wasm modules of the npm package: takes what JavaScript gives, does what it says, gives back.
//!
//! One has what needs no GPU (`plain`), one parts of files (`seek`), one the pages of a GPU (`gpu`): their functions take
//! and give numbers, and TypeScript of the package is the other side. The one of tensors (`tensor`) has classes, by
//! wasm-bindgen.

#[cfg(feature = "npm")]
mod allocator;
#[cfg(web_pages)]
mod gpu;
#[cfg(feature = "npm")]
mod memory;
#[cfg(web_module)]
mod panic;
#[cfg(feature = "npm-cpu")]
mod plain;
#[cfg(web_module)]
mod promise;
#[cfg(feature = "npm-seek")]
mod seek;
#[cfg(feature = "npm-cpu")]
mod table;
#[cfg(web_tensor)]
pub mod tensor;

#[cfg(feature = "npm-cpu")]
use crate::lz4::Level;

/// The lowest two bits of flags.
#[cfg(feature = "npm-cpu")]
const LEVEL: u32 = 3;

#[cfg(feature = "npm-cpu")]
fn level(flags: u32) -> Level {
    match flags & LEVEL {
        0 => Level::Fast,
        1 => Level::High,
        _ => Level::Sequential,
    }
}
