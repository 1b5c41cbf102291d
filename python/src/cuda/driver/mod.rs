//! The work on the GPU, in builds with the CUDA engine.
//!
//! `CudaDevice::open` checks that the driver is one for CUDA 12 or newer, so that all calls here exist: they are older.

mod compress;
mod decompress;
mod gpu;
mod memory;
mod queue;
mod workspace;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pagepress::Result;
use pagepress::batch::CudaChunks;
use pyo3::Python;

use gpu::Gpu;
pub(super) use memory::Memory;
use workspace::Workspace;

/// The kernels of a GPU, with memory that calls use in turn.
pub(super) struct Engine {
    kernels: CudaChunks,
    workspace: Mutex<Workspace>,
    gpu: Arc<Gpu>,
}

impl Engine {
    pub(super) fn open(device: usize, chunk_size: u32) -> Result<Self> {
        let gpu = Arc::new(Gpu::open(device)?);
        Ok(Self {
            kernels: CudaChunks::new(gpu.device(), chunk_size)?,
            workspace: Mutex::default(),
            gpu,
        })
    }

    /// Returns the number of the device, which the driver, the runtime and DLPack share.
    pub(super) fn ordinal(&self) -> i32 {
        self.gpu.ordinal()
    }

    /// Returns true in a process that was forked after the GPU was opened.
    pub(super) fn is_forked(&self) -> bool {
        self.gpu.is_forked()
    }

    /// Returns the handle of a stream of its own.
    pub(super) fn stream(&self) -> u64 {
        self.gpu.stream()
    }

    /// Checks that an address is of this GPU.
    pub(super) fn check_address(&self, address: u64) -> Result<()> {
        self.gpu.check_address(address)
    }

    /// Makes later work on the stream `then` wait for what is on the stream `first` now.
    ///
    /// # Safety
    /// Both are 1, 2 or streams that were not destroyed.
    pub(super) unsafe fn order(&self, first: u64, then: u64) -> Result<()> {
        // SAFETY: the guarantees of this function's caller.
        unsafe { self.gpu.order(first, then) }
    }

    /// Allocates memory with unspecified contents.
    pub(super) fn allocate(&self, n_bytes: u64) -> Result<Arc<Memory>> {
        Ok(Arc::new(Memory::new(&self.gpu, n_bytes)?))
    }

    /// Allocates memory with these bytes.
    pub(super) fn upload(&self, bytes: &[u8]) -> Result<Arc<Memory>> {
        let memory = self.allocate(bytes.len() as u64)?;
        let address = memory.span().address;
        self.gpu.on_own_stream(|queue| {
            // SAFETY: the memory was allocated with these bytes, and nobody else has it yet.
            unsafe { queue.upload(address, bytes) }
        })?;
        Ok(memory)
    }

    /// Returns the scratch memory of a call for `n` chunks: what it takes for as few launches as possible, or a quarter of the free memory.
    fn scratch(&self, bytes: impl Fn(u64) -> u64, n: u64) -> Result<u64> {
        let (free, _) = self.gpu.device().memory_bytes()?;
        Ok(bytes(n).min((free / 4).max(bytes(1))))
    }

    /// Waits for the turn of a call.
    fn turn(&self) -> MutexGuard<'_, Workspace> {
        // The workspace holds nothing from one call to the next.
        self.workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Dropping the kernels waits for the context, and should find nothing to wait for while Python's lock is held.
        if !self.is_forked() {
            without_lock(|| self.gpu.finish());
        }
    }
}

/// Runs work that waits for the GPU on a thread that may or may not hold Python's global lock, without it: work on the GPU can wait for
/// functions of Python, as those of CuPy and JAX do.
fn without_lock(work: impl Fn() + Send + Sync) {
    // No thread can have the lock when Python ends.
    if Python::try_attach(|py| py.detach(&work)).is_none() {
        work();
    }
}
