//! Memory of a GPU that this package allocates.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};
use pagepress::{Error, Result};

use super::gpu::Gpu;
use super::without_lock;
use crate::cuda::Span;

/// Memory of a GPU.
pub(in crate::cuda) struct Memory {
    span: Span,
    gpu: Arc<Gpu>,
}

impl Memory {
    /// Allocates memory with unspecified contents. That of 0 bytes has the address 0.
    pub(super) fn new(gpu: &Arc<Gpu>, n_bytes: u64) -> Result<Self> {
        let requested = n_bytes;
        let mut address = 0;
        if n_bytes > 0 {
            let Ok(n_bytes) = usize::try_from(n_bytes) else {
                return Err(Error::OutOfMemory { requested });
            };
            let _entered = gpu.enter()?;
            // SAFETY: the variable outlives the call; the context is current.
            let code = unsafe { sys::cuMemAlloc_v2(&raw mut address, n_bytes) };
            if code == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                return Err(Error::OutOfMemory { requested });
            }
            gpu.check("cuMemAlloc", code)?;
        }
        Ok(Self {
            span: Span { address, n_bytes },
            gpu: Arc::clone(gpu),
        })
    }

    pub(in crate::cuda) fn span(&self) -> Span {
        self.span
    }

    pub(in crate::cuda) fn ordinal(&self) -> i32 {
        self.gpu.ordinal()
    }

    pub(in crate::cuda) fn is_forked(&self) -> bool {
        self.gpu.is_forked()
    }

    /// Copies the bytes to other memory of the GPU.
    pub(in crate::cuda) fn copy(&self) -> Result<Self> {
        let copy = Self::new(&self.gpu, self.span.n_bytes)?;
        let (to, from) = (copy.span.address, self.span.address);
        self.gpu.on_own_stream(|queue| {
            // SAFETY: both memories have these bytes and live until the stream has been waited for, and nobody else has the new one.
            unsafe { queue.copy(to, from, self.span.n_bytes) }
        })?;
        Ok(copy)
    }

    /// Copies the bytes to the host, to a slice of as many.
    pub(in crate::cuda) fn download(&self, bytes: &mut [u8]) -> Result<()> {
        let length = self.span.n_bytes;
        if bytes.len() as u64 != length {
            let actual = bytes.len() as u64;
            return Err(Error::OutputTooSmall {
                needed: length,
                actual,
            });
        }
        self.gpu.on_own_stream(|queue| {
            // SAFETY: the memory has as many bytes as the slice.
            unsafe { queue.download(self.span.address, bytes) }
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.span.n_bytes == 0 || self.gpu.is_forked() {
            return;
        }
        without_lock(|| {
            // The memory of a lost context is freed with the context.
            if let Ok(_entered) = self.gpu.enter() {
                // SAFETY: this object owns the allocation, no other has its address, and no work uses it any more: other libraries
                // give it back when they have enqueued theirs, which the first call waits for.
                unsafe {
                    let _ = sys::cuCtxSynchronize();
                    let _ = sys::cuMemFree_v2(self.span.address);
                }
            }
        });
    }
}
