//! Builds without the CUDA engine: no batch opens, so no call on one gets here.

use pagepress::{Error, Result};

/// The kernels of a batch, of which there are none.
#[derive(Debug)]
pub(crate) enum Chunks {}

/// Arguments of a call, as those of `pagepress::batch::CompressChunks`.
#[expect(dead_code, reason = "no batch takes them in this build")]
pub(crate) struct CompressCall {
    pub(crate) n: u64,
    pub(crate) chunks: u64,
    pub(crate) chunk_bytes: u64,
    pub(crate) blocks: u64,
    pub(crate) block_bytes: u64,
    pub(crate) scratch: u64,
    pub(crate) scratch_bytes: u64,
}

/// Arguments of a call, as those of `pagepress::batch::DecompressChunks`.
#[expect(dead_code, reason = "no batch takes them in this build")]
pub(crate) struct DecompressCall {
    pub(crate) n: u64,
    pub(crate) blocks: u64,
    pub(crate) block_bytes: u64,
    pub(crate) chunks: u64,
    pub(crate) capacities: u64,
    pub(crate) chunk_bytes: u64,
    pub(crate) statuses: u64,
    pub(crate) scratch: u64,
    pub(crate) scratch_bytes: u64,
}

impl Chunks {
    pub(crate) fn open(_device: usize, _max_bytes: u32) -> Result<Self> {
        Err(Error::BackendUnavailable {
            backend: "cuda",
            reason: "this library was built without the CUDA engine; build it with --features cuda"
                .into(),
        })
    }

    pub(crate) fn compress_scratch_bytes(&self, _n: u64) -> u64 {
        match *self {}
    }

    pub(crate) fn decompress_scratch_bytes(&self, _n: u64) -> u64 {
        match *self {}
    }

    /// # Safety
    /// None: there is no value to call it on.
    pub(crate) unsafe fn compress(&self, _call: &CompressCall, _stream: u64) -> Result<()> {
        match *self {}
    }

    /// # Safety
    /// None: there is no value to call it on.
    pub(crate) unsafe fn decompress(&self, _call: &DecompressCall, _stream: u64) -> Result<()> {
        match *self {}
    }
}
