//! The option `--level`.

use clap::ValueEnum;
use pagepress::batch::Codec;
use pagepress::lz4::Level;

/// The level that the user requests. [`pagepress::lz4::Level`] states which engines write the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LevelRequest {
    /// The quickest level of the engine: fast on a GPU, sequential on the CPU
    Auto,
    /// Quickest on GPUs
    Fast,
    /// The ratio of lz4 -9, or up to 0.7 % more; slower
    High,
    /// Quickest on the CPU, which alone can write it
    Sequential,
}

impl LevelRequest {
    /// Returns the level, which for [`Auto`](Self::Auto) depends on the engine of `codec` unless `deterministic`.
    pub fn resolve(self, codec: &Codec, deterministic: bool) -> Level {
        match self {
            Self::Auto => codec.auto_level(deterministic),
            Self::Fast => Level::Fast,
            Self::High => Level::High,
            Self::Sequential => Level::Sequential,
        }
    }
}
