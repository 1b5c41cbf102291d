//! Uniformity: how a value differs between the threads of a block.

/// The uniformity of a value in a block, with the source position that makes it non-uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) kind: Kind,
    /// The byte of the source that makes the value differ.
    pub(super) why: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Equal in all threads, as WGSL's own analysis finds too.
    Uniform,
    /// Read from memory at an address equal in all threads.
    Memory,
    /// May differ.
    Divergent,
}

impl Default for Level {
    fn default() -> Self {
        Self::UNIFORM
    }
}

impl Level {
    pub(super) const UNIFORM: Self = Self {
        kind: Kind::Uniform,
        why: 0,
    };

    pub(super) const fn memory(why: u32) -> Self {
        Self {
            kind: Kind::Memory,
            why,
        }
    }

    pub(super) const fn divergent(why: u32) -> Self {
        Self {
            kind: Kind::Divergent,
            why,
        }
    }

    pub(super) fn join(self, other: Self) -> Self {
        if other.kind > self.kind { other } else { self }
    }

    pub(super) fn is_uniform(self) -> bool {
        self.kind == Kind::Uniform
    }
}
