//! Builds without the CUDA engine: nothing opens, so no call gets here.

use std::sync::Arc;

use pagepress::{Error, Result};

use super::Span;
use super::frame::Block;

/// The kernels of a GPU, of which there are none.
pub(super) enum Engine {}

/// Memory of a GPU, of which there is none.
pub(super) enum Memory {}

impl Engine {
    pub(super) fn open(_device: usize, _chunk_size: u32) -> Result<Self> {
        Err(Error::BackendUnavailable {
            backend: "cuda",
            reason: "this package was built without the CUDA engine; install a wheel, or build it with --features cuda"
                .into(),
        })
    }

    pub(super) fn ordinal(&self) -> i32 {
        match *self {}
    }

    pub(super) fn is_forked(&self) -> bool {
        match *self {}
    }

    pub(super) fn stream(&self) -> u64 {
        match *self {}
    }

    pub(super) fn check_address(&self, _address: u64) -> Result<()> {
        match *self {}
    }

    /// # Safety
    /// None: there is no value to call it on.
    pub(super) unsafe fn order(&self, _first: u64, _then: u64) -> Result<()> {
        match *self {}
    }

    pub(super) fn allocate(&self, _n_bytes: u64) -> Result<Arc<Memory>> {
        match *self {}
    }

    pub(super) fn upload(&self, _bytes: &[u8]) -> Result<Arc<Memory>> {
        match *self {}
    }

    /// # Safety
    /// None: there is no value to call it on.
    pub(super) unsafe fn compress(
        &self,
        _content: Span,
        _stream: u64,
    ) -> Result<(Arc<Memory>, Vec<Block>)> {
        match *self {}
    }

    /// # Safety
    /// None: there is no value to call it on.
    pub(super) unsafe fn decompress(
        &self,
        _frame: Span,
        _blocks: &[Block],
        _out: Span,
        _stream: u64,
    ) -> Result<()> {
        match *self {}
    }
}

impl Memory {
    pub(super) fn span(&self) -> Span {
        match *self {}
    }

    pub(super) fn ordinal(&self) -> i32 {
        match *self {}
    }

    pub(super) fn is_forked(&self) -> bool {
        match *self {}
    }

    pub(super) fn copy(&self) -> Result<Self> {
        match *self {}
    }

    pub(super) fn download(&self, _bytes: &mut [u8]) -> Result<()> {
        match *self {}
    }
}
