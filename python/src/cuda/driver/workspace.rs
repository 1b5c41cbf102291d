//! Memory that calls use in turn.

use std::sync::Arc;

use pagepress::{Error, Result};

use super::gpu::Gpu;
use super::memory::Memory;

/// Most bytes that stay allocated from one call to the next.
const KEPT_BYTES: u64 = 256 << 20;
/// Alignment of each part.
const ALIGNMENT: u64 = 256;

/// Memory of calls, one after the other.
#[derive(Default)]
pub(super) struct Workspace(Option<Memory>);

/// Parts of a workspace.
#[derive(Default)]
pub(super) struct Parts {
    n_bytes: u64,
    has_overflown: bool,
}

impl Parts {
    /// Adds a part of `n` elements, and returns its offset.
    pub(super) fn add(&mut self, n: u64, element: u64) -> u64 {
        let start = self.n_bytes;
        let end = n
            .checked_mul(element)
            .and_then(|n_bytes| start.checked_add(n_bytes))
            .and_then(|end| end.checked_next_multiple_of(ALIGNMENT));
        self.has_overflown |= end.is_none();
        self.n_bytes = end.unwrap_or(start);
        start
    }
}

impl Workspace {
    /// Returns the address of memory for all parts, whose contents are unspecified.
    pub(super) fn fit(&mut self, gpu: &Arc<Gpu>, parts: &Parts) -> Result<u64> {
        let requested = parts.n_bytes;
        if parts.has_overflown {
            let requested = u64::MAX;
            return Err(Error::OutOfMemory { requested });
        }
        let memory = match self.0.take() {
            Some(memory) if memory.span().n_bytes >= requested => memory,
            smaller => {
                drop(smaller);
                Memory::new(gpu, requested)?
            }
        };
        Ok(self.0.insert(memory).span().address)
    }

    /// Frees memory that is too large to be kept. The work on it is done.
    pub(super) fn trim(&mut self) {
        self.0 = self
            .0
            .take()
            .filter(|memory| memory.span().n_bytes <= KEPT_BYTES);
    }
}
