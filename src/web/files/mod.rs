//! Files and pages on the CPU: every call is done when it returns.

mod blocks;
mod frames;
mod pages;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::memory::reserve;
use crate::{Result, lz4};

/// How to look for matches.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Greedy; the same bytes on every engine.
    Fast,
    /// Slower and smaller; the same bytes on every engine.
    High,
    /// Two to four times as quick as `Fast` on a CPU; GPUs do not take part.
    Sequential,
}

impl From<Level> for lz4::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Fast => Self::Fast,
            Level::High => Self::High,
            Level::Sequential => Self::Sequential,
        }
    }
}

/// Appends a copy of an array, which may be longer than there is memory for.
fn append(bytes: &mut Vec<u8>, array: &Uint8Array) -> Result<()> {
    let n_bytes = array.length() as usize;
    reserve(bytes, n_bytes)?;
    let start = bytes.len();
    let room = &mut bytes.spare_capacity_mut()[..n_bytes];
    let added = array.copy_to_uninit(room).len();
    // SAFETY: `copy_to_uninit` has initialised the `added` bytes behind `start`, within the capacity.
    unsafe { bytes.set_len(start + added) };
    Ok(())
}

/// A copy of an array.
fn copied(array: &Uint8Array) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    append(&mut bytes, array)?;
    Ok(bytes)
}
