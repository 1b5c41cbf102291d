//! Work on a stream that is waited for before memory of the host is given back.

use std::ffi::c_void;
use std::marker::PhantomData;

use cudarc::driver::sys::{self, CUDA_MEMCPY2D, CUmemorytype};
use pagepress::Result;

use super::gpu::{Entered, Gpu};

/// A stream. Memory of the host that its work uses is borrowed for `'a`, which ends after the work.
pub(super) struct Queue<'q, 'a> {
    gpu: &'q Gpu,
    _entered: &'q Entered<'q>,
    stream: sys::CUstream,
    _host: PhantomData<&'a mut [u8]>,
}

impl<'q, 'a> Queue<'q, 'a> {
    pub(super) fn new(gpu: &'q Gpu, entered: &'q Entered<'q>, stream: sys::CUstream) -> Self {
        Self {
            gpu,
            _entered: entered,
            stream,
            _host: PhantomData,
        }
    }

    /// Copies bytes to the GPU.
    ///
    /// # Safety
    /// The address has memory for the bytes, which nothing else uses until the stream has been waited for.
    pub(super) unsafe fn upload(&self, to: u64, bytes: &'a [u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: the slice lives until the stream has been waited for, and the caller guarantees the memory of the GPU.
        self.gpu.check("cuMemcpyHtoDAsync", unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, from, bytes.len(), self.stream)
        })
    }

    /// Copies bytes to the host.
    ///
    /// # Safety
    /// The address has as many bytes, which nothing writes to until the stream has been waited for.
    pub(super) unsafe fn download(&self, from: u64, bytes: &'a mut [u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let to = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: the slice lives until the stream has been waited for, and the caller guarantees the memory of the GPU.
        self.gpu.check("cuMemcpyDtoHAsync", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to, from, bytes.len(), self.stream)
        })
    }

    /// Copies bytes on the GPU.
    ///
    /// # Safety
    /// Both addresses have as many bytes, which do not overlap and which nothing else uses until the stream has been waited for.
    pub(super) unsafe fn copy(&self, to: u64, from: u64, n_bytes: u64) -> Result<()> {
        if n_bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller guarantees both memories.
        self.gpu.check("cuMemcpyDtoDAsync", unsafe {
            sys::cuMemcpyDtoDAsync_v2(to, from, n_bytes as usize, self.stream)
        })
    }

    /// Copies words to the GPU, each to the start of a row.
    ///
    /// # Safety
    /// From the address on there are rows of `pitch` bytes, at least 4, for all words, which nothing else uses until the stream has been
    /// waited for.
    pub(super) unsafe fn upload_words(&self, to: u64, pitch: u64, words: &'a [u8]) -> Result<()> {
        const WORD: usize = 4;
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: words.as_ptr().cast(),
            srcDevice: 0,
            srcArray: std::ptr::null_mut(),
            srcPitch: WORD,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: std::ptr::null_mut(),
            dstDevice: to,
            dstArray: std::ptr::null_mut(),
            dstPitch: pitch as usize,
            WidthInBytes: WORD,
            Height: words.len() / WORD,
        };
        // SAFETY: the structure outlives the call, the slice lives until the stream has been waited for, and the caller guarantees the rows.
        self.gpu.check("cuMemcpy2DAsync", unsafe {
            sys::cuMemcpy2DAsync_v2(&raw const copy, self.stream)
        })
    }

    /// Waits for all work on the stream.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: who made the queue guarantees the stream.
        let waited = unsafe { sys::cuStreamSynchronize(self.stream) };
        self.gpu.check("cuStreamSynchronize", waited)
    }
}

impl Drop for Queue<'_, '_> {
    fn drop(&mut self) {
        // After a panic, too, the work ends before its memory does. SAFETY: as for `wait`.
        let _ = unsafe { sys::cuStreamSynchronize(self.stream) };
    }
}
