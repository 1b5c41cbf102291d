//! The levels of compression by number.

use wasm_bindgen::prelude::*;

use crate::lz4;

/// Compression levels.
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
