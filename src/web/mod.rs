//! The surface of the wasm modules of the npm package: takes what JavaScript gives, does what it says, gives back.
//!
//! One has what needs no GPU (`plain`), one the pages of a GPU (`gpu`), one tensors (`tensor`). There is no generated
//! JavaScript: functions take and give numbers, and TypeScript of the package is the other side.

mod allocator;
#[cfg(js_engine)]
mod call;
#[cfg(js_pages)]
mod gpu;
mod memory;
#[cfg(not(js_engine))]
mod plain;
#[cfg(any(js_pages, not(js_engine)))]
mod table;
#[cfg(js_tensor)]
mod tensor;

#[cfg(any(js_pages, not(js_engine)))]
use crate::lz4::Level;

/// The lowest two bits of flags.
#[cfg(any(js_pages, not(js_engine)))]
const LEVEL: u32 = 3;

#[cfg(any(js_pages, not(js_engine)))]
fn level(flags: u32) -> Level {
    match flags & LEVEL {
        0 => Level::Fast,
        1 => Level::High,
        _ => Level::Sequential,
    }
}
