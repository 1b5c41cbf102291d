//! The levels of compression: how much work the encoder does to find matches.

/// Sets how much work the encoder does to find matches.
///
/// Every engine reads what any engine writes. A named level writes the same bytes on every engine that can write it; GPUs
/// can write those with [`runs_on_gpu`](Self::runs_on_gpu). `auto`, the default of the npm package and of the command, is
/// the quickest level of the engine in use, so its bytes differ between engines; [`auto`](Self::auto) with
/// `deterministic`, and the command's `--deterministic`, make it the same level on all engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Level {
    /// Greedy data-parallel parse with a small hash table. The quickest level of GPUs.
    #[default]
    Fast,
    /// The cheapest sequences of the longest matches, by dynamic programming: the ratio of C `lz4 -9`, or up to 0.7 % more. Ten to
    /// twenty times as slow as Fast, on a CPU and on a GPU.
    High,
    /// Classic greedy LZ4 parse, at the ratio of C lz4. CPU only: each step depends on the previous match. The quickest
    /// level of the CPU.
    Sequential,
}

impl Level {
    /// Returns true if GPUs can write this level. Any engine reads it.
    #[must_use]
    pub const fn runs_on_gpu(self) -> bool {
        match self {
            Self::Fast | Self::High => true,
            Self::Sequential => false,
        }
    }

    /// Returns the level that `auto` stands for: the quickest level of a GPU or of the CPU. With `deterministic` it is the
    /// quickest level that all engines can write, so that the bytes do not depend on the engine.
    #[must_use]
    pub const fn auto(on_gpu: bool, deterministic: bool) -> Self {
        if on_gpu || deterministic {
            Self::Fast
        } else {
            Self::Sequential
        }
    }
}

#[cfg(gpu_engine)]
impl Level {
    /// Returns the reason why only the CPU writes this level; `None` if GPUs do, too.
    pub(crate) const fn cpu_only(self) -> Option<&'static str> {
        match self {
            Self::Sequential => Some("only the CPU writes the level sequential"),
            Self::High | Self::Fast => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn auto_is_a_level_that_its_engine_can_write() {
        assert_eq!(Level::auto(false, false), Level::Sequential);
        for (on_gpu, deterministic) in [(true, false), (true, true), (false, true)] {
            assert!(Level::auto(on_gpu, deterministic).runs_on_gpu());
        }
        assert_eq!(Level::auto(false, true), Level::auto(true, false));
    }
}
