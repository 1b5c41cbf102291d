//! [`Level`]: compression levels for JavaScript.

use wasm_bindgen::prelude::*;

use crate::lz4;

/// Compression levels.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Greedy parse. The output is the same on every engine.
    Fast,
    /// The ratio of C `lz4 -9`, slower. The output is the same on every engine.
    High,
    /// Two to four times as fast as `Fast` on a CPU. Not available on GPUs.
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
