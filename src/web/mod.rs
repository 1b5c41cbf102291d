//! The surface of the wasm modules of the npm package: takes what JavaScript gives, does what it says, gives back.
//!
//! One has what needs no GPU (`plain`), the other the pages of a GPU (`gpu`). There is no generated JavaScript: functions
//! take and give numbers, and TypeScript of the package is the other side.

mod allocator;
#[cfg(js_engine)]
mod gpu;
mod memory;
#[cfg(not(js_engine))]
mod plain;
mod table;

use crate::lz4::Level;

/// The lowest two bits of flags.
const LEVEL: u32 = 3;

fn level(flags: u32) -> Level {
    match flags & LEVEL {
        0 => Level::Fast,
        1 => Level::High,
        _ => Level::Sequential,
    }
}
