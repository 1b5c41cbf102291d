//! LZ4 on arrays in the memory of an NVIDIA GPU, which DLPack and the CUDA array interface pass between libraries without a copy.
//!
//! The classes are the same in every build. `engine` does the work in builds with the CUDA engine; in others none opens.

mod array;
mod blocks;
mod chunks;
mod dlpack;
#[cfg(feature = "cuda")]
#[path = "driver/mod.rs"]
mod engine;
#[cfg(not(feature = "cuda"))]
#[path = "none.rs"]
mod engine;
mod foreign;
mod frame;
mod interface;
mod layout;

pub(crate) use array::DeviceArray;
pub(crate) use blocks::Blocks;
pub(crate) use chunks::Chunks;

use pyo3::prelude::*;

use crate::errors::{coded, raise};

/// Device memory: the address of its first byte, and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    address: u64,
    n_bytes: u64,
}

impl Span {
    /// Returns true if both have a byte in common.
    const fn overlaps(self, other: Self) -> bool {
        let (end, other_end) = (
            self.address.saturating_add(self.n_bytes),
            other.address.saturating_add(other.n_bytes),
        );
        self.n_bytes > 0 && other.n_bytes > 0 && self.address < other_end && other.address < end
    }
}

/// Returns the exception of an error, where pages are the blocks of a frame.
fn raise_block(py: Python<'_>, error: &pagepress::Error) -> PyErr {
    match error {
        pagepress::Error::CorruptPage { page, source } => {
            coded(py, error.code(), &format!("block {page}: {source}"))
        }
        error => raise(py, error),
    }
}
