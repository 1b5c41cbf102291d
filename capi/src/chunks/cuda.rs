//! Chunks on the CUDA engine.

use pagepress::Result;
use pagepress::batch::CudaChunks;
use pagepress::gpu::cuda::CudaDevice;

pub(crate) use pagepress::batch::{
    CompressChunks as CompressCall, DecompressChunks as DecompressCall,
};

/// The kernels of a batch.
#[derive(Debug)]
pub(crate) struct Chunks(CudaChunks);

impl Chunks {
    pub(crate) fn open(device: usize, max_bytes: u32) -> Result<Self> {
        Ok(Self(CudaChunks::new(
            &CudaDevice::open(device)?,
            max_bytes,
        )?))
    }

    pub(crate) fn compress_scratch_bytes(&self, n: u64) -> u64 {
        self.0.compress_scratch_bytes(n)
    }

    pub(crate) fn decompress_scratch_bytes(&self, n: u64) -> u64 {
        self.0.decompress_scratch_bytes(n)
    }

    /// # Safety
    /// As [`CudaChunks::compress`].
    pub(crate) unsafe fn compress(&self, call: &CompressCall, stream: u64) -> Result<()> {
        // SAFETY: the guarantees of this function's caller.
        unsafe { self.0.compress(call, stream) }
    }

    /// # Safety
    /// As [`CudaChunks::decompress`].
    pub(crate) unsafe fn decompress(&self, call: &DecompressCall, stream: u64) -> Result<()> {
        // SAFETY: the guarantees of this function's caller.
        unsafe { self.0.decompress(call, stream) }
    }
}
