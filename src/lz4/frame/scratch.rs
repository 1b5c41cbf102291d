//! Memory that parallel decoding reuses, for native targets.

use std::sync::{Mutex, PoisonError};

use crate::Result;
use crate::memory::zeros;

/// Smallest scratch memory of a block.
const MIN_BYTES: usize = 4 << 10;

/// Scratch memory for decoding a block, one for each core in use.
#[derive(Debug, Default)]
pub(super) struct Scratch(Mutex<Vec<Vec<u8>>>);

impl Scratch {
    /// Runs `work` with `n_bytes` of memory of arbitrary content.
    pub(super) fn with<T>(&self, n_bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = lock().pop().unwrap_or_default();
        if memory.len() < n_bytes {
            drop(memory);
            memory = zeros(n_bytes.next_power_of_two().max(MIN_BYTES))?;
        }
        let done = work(&mut memory[..n_bytes]);
        lock().push(memory);
        Ok(done)
    }
}
