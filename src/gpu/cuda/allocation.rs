//! Allocations of the driver: device memory, and host memory that the device reads and writes by DMA.

use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys;

use super::context::Context;
use super::lanes::Uses;
use crate::gpu::budget::{Budget, Charge};
use crate::{Error, Result};

/// Device memory that this crate allocated.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    address: u64,
    n_bytes: u64,
    uses: Uses,
    context: Arc<Context>,
    _charge: Charge,
}

impl DeviceMemory {
    /// Allocates memory. `requested` is the size that an error reports.
    pub(super) fn new(
        context: &Arc<Context>,
        budget: &Arc<Budget>,
        n_bytes: u64,
        requested: u64,
    ) -> Result<Self> {
        let charge = budget.charge(n_bytes, requested)?;
        let entered = context.enter()?;
        let mut address = 0;
        // SAFETY: `address` outlives the call; the context is current.
        let code = unsafe { sys::cuMemAlloc_v2(&raw mut address, n_bytes as usize) };
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(Error::OutOfMemory { requested });
        }
        entered.ok("cuMemAlloc", code)?;
        Ok(Self {
            address,
            n_bytes,
            uses: Uses::default(),
            context: Arc::clone(context),
            _charge: charge,
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // The memory of a lost context is freed with the context.
        if let Ok(entered) = self.context.enter() {
            entered.finish_all();
            // SAFETY: this object owns the allocation, no other has its address, and no work uses it any more.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Pinned (page-locked) host memory.
#[derive(Debug)]
pub(super) struct PinnedMemory {
    start: NonNull<u8>,
    n_bytes: u64,
    uses: Uses,
    context: Arc<Context>,
    _charge: Charge,
}

// SAFETY: the value is an address and a length, which are not bound to a thread; the driver frees it from any.
unsafe impl Send for PinnedMemory {}
// SAFETY: `&self` returns the address only; `CudaHostBuffer` locks before it reads or writes there.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Allocates memory. `requested` is the size that an error reports.
    pub(super) fn new(
        context: &Arc<Context>,
        budget: &Arc<Budget>,
        n_bytes: u64,
        requested: u64,
    ) -> Result<Self> {
        let charge = budget.charge(n_bytes, requested)?;
        let entered = context.enter()?;
        let mut start = std::ptr::null_mut();
        // SAFETY: `start` outlives the call; the context is current.
        let code = unsafe {
            sys::cuMemHostAlloc(
                &raw mut start,
                n_bytes as usize,
                sys::CU_MEMHOSTALLOC_PORTABLE,
            )
        };
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(Error::OutOfMemory { requested });
        }
        entered.ok("cuMemHostAlloc", code)?;
        let Some(start) = NonNull::new(start.cast::<u8>()) else {
            return Err(Error::OutOfMemory { requested });
        };
        Ok(Self {
            start,
            n_bytes,
            uses: Uses::default(),
            context: Arc::clone(context),
            _charge: charge,
        })
    }

    /// Fills the memory with zeros.
    ///
    /// # Safety
    /// No submission uses the memory, as when it is new.
    pub(super) unsafe fn clear(&mut self) {
        // SAFETY: the allocation has `n_bytes`, no other code of the host has it during `&mut self`, and the caller
        // guarantees the same of the device.
        unsafe { self.start.as_ptr().write_bytes(0, self.n_bytes as usize) };
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        // The memory of a lost context is freed with the context.
        if let Ok(entered) = self.context.enter() {
            entered.finish_all();
            // SAFETY: this object owns the allocation, no other has its address, and no work uses it any more.
            let _ = unsafe { sys::cuMemFreeHost(self.start.as_ptr().cast()) };
        }
    }
}
