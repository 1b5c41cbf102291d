//! Device memory from a bounded pool, and external device memory.

use std::sync::Arc;

use cudarc::driver::sys;

use super::allocation::DeviceMemory;
use super::lanes::{Lane, Uses};
use super::shared::Shared;
use crate::gpu::backend::Sized64;
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::{Error, Result};

/// Required alignment of addresses passed to [`CudaBuffer::from_device_ptr`]: the widest access of a kernel.
const POINTER_ALIGNMENT: u64 = 16;

/// Device memory; returns to the pool when the last clone is dropped. External memory is left to its owner.
#[derive(Debug, Clone)]
pub struct CudaBuffer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    memory: Memory,
    n_bytes: u64,
    shared: Arc<Shared>,
}

#[derive(Debug)]
enum Memory {
    /// `None` only while it is dropped.
    Pooled(Option<DeviceMemory>),
    Foreign {
        address: u64,
        uses: Uses,
    },
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Memory::Pooled(memory) = &mut self.memory
            && let Some(memory) = memory.take()
        {
            self.shared.memory.put((), memory.n_bytes(), memory);
        }
    }
}

impl CudaBuffer {
    /// Allocates memory filled with zeros. The device writes them before the next work on the memory.
    pub(super) fn cleared(shared: &Arc<Shared>, n_bytes: u64) -> Result<Self> {
        let buffer = Self::uncleared(shared, n_bytes)?;
        let address = buffer.device_ptr();
        let entered = shared.context.enter()?;
        let mut held = shared.lanes.hold(&entered, buffer.uses())?;
        held.issue(Lane::Compute, buffer.uses(), "cuMemsetD8Async", |stream| {
            // SAFETY: the allocation has `n_bytes` at its address and is of the current context; the pool keeps it until
            // the lane has passed this step.
            unsafe { sys::cuMemsetD8Async(address, 0, n_bytes as usize, stream) }
        })?;
        drop(held);
        Ok(buffer)
    }

    /// Allocates memory with unspecified contents.
    pub(super) fn uncleared(shared: &Arc<Shared>, n_bytes: u64) -> Result<Self> {
        shared.check()?;
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        let size = check::size_class(n_bytes, u64::MAX);
        let memory = match shared.memory.take((), size) {
            Some(memory) => memory,
            None => allocate(shared, size, n_bytes)?,
        };
        Ok(Self(Arc::new(Inner {
            memory: Memory::Pooled(Some(memory)),
            n_bytes,
            shared: Arc::clone(shared),
        })))
    }

    pub(super) fn foreign(shared: &Arc<Shared>, address: u64, n_bytes: u64) -> Result<Self> {
        shared.check()?;
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        if address == 0 || !address.is_multiple_of(POINTER_ALIGNMENT) {
            return Err(check::invalid(
                "address",
                format!("{address:#x}"),
                "a device address that is a multiple of 16",
            ));
        }
        let memory = Memory::Foreign {
            address,
            uses: Uses::default(),
        };
        Ok(Self(Arc::new(Inner {
            memory,
            n_bytes,
            shared: Arc::clone(shared),
        })))
    }

    /// Returns the address of the first byte, for other CUDA code in the same context, the primary context of this GPU.
    /// Before using it, wait for the work submitted here, and keep the buffer until the other code is done.
    #[must_use]
    pub fn device_ptr(&self) -> u64 {
        match &self.0.memory {
            Memory::Pooled(memory) => memory.as_ref().map_or(0, DeviceMemory::address),
            Memory::Foreign { address, .. } => *address,
        }
    }

    pub(super) fn uses(&self) -> Option<&Uses> {
        match &self.0.memory {
            Memory::Pooled(memory) => memory.as_ref().map(DeviceMemory::uses),
            Memory::Foreign { uses, .. } => Some(uses),
        }
    }
}

impl Owned for CudaBuffer {
    fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl Sized64 for CudaBuffer {
    fn n_bytes(&self) -> u64 {
        self.0.n_bytes
    }
}

/// Allocates new memory. When it runs out, the pool is emptied and the allocation retried once.
fn allocate(shared: &Shared, size: u64, requested: u64) -> Result<DeviceMemory> {
    let attempt = || DeviceMemory::new(&shared.context, &shared.budget, size, requested);
    match attempt() {
        Err(Error::OutOfMemory { .. }) => {
            shared.memory.clear();
            attempt()
        }
        made => made,
    }
}
