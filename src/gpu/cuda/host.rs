//! Pinned host memory from a bounded pool.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use super::allocation::PinnedMemory;
use super::lanes::Uses;
use super::shared::Shared;
use crate::copy::{copy, copy_parts};
use crate::gpu::backend::{HostMemory, HostUse, Sized64};
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::{Error, Result};

/// Maximum number of pinned bytes in the pool: pinned memory is not available to the rest of the system.
pub(super) const MAX_POOLED_BYTES: u64 = 1 << 30;

/// Pinned staging memory; returns to the pool when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct CudaHostBuffer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// `None` only while it is dropped.
    memory: Option<PinnedMemory>,
    n_bytes: u64,
    host_use: HostUse,
    /// Locked while the host accesses the bytes, and while work on them is submitted.
    access: RwLock<()>,
    shared: Arc<Shared>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.shared.pinned.put((), memory.n_bytes(), memory);
        }
    }
}

impl CudaHostBuffer {
    /// Allocates new memory filled with zeros; pooled memory may still be in use.
    pub(super) fn cleared(shared: &Arc<Shared>, n_bytes: u64, host_use: HostUse) -> Result<Self> {
        let mut memory = Self::allocate(shared, n_bytes)?;
        // SAFETY: the memory is new, so no submission uses it.
        unsafe { memory.clear() };
        Ok(Self::of(shared, memory, n_bytes, host_use))
    }

    /// Allocates memory with unspecified contents.
    pub(super) fn uncleared(shared: &Arc<Shared>, n_bytes: u64, host_use: HostUse) -> Result<Self> {
        shared.check()?;
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        let size = check::size_class(n_bytes, u64::MAX);
        let memory = match shared.pinned.take((), size) {
            Some(memory) => memory,
            None => Self::allocate(shared, n_bytes)?,
        };
        Ok(Self::of(shared, memory, n_bytes, host_use))
    }

    /// Allocates new memory. When it runs out, the pool is emptied and the allocation retried once.
    fn allocate(shared: &Shared, n_bytes: u64) -> Result<PinnedMemory> {
        shared.check()?;
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        let size = check::size_class(n_bytes, u64::MAX);
        let attempt = || PinnedMemory::new(&shared.context, &shared.budget, size, n_bytes);
        match attempt() {
            Err(Error::OutOfMemory { .. }) => {
                shared.pinned.clear();
                attempt()
            }
            made => made,
        }
    }

    fn of(shared: &Arc<Shared>, memory: PinnedMemory, n_bytes: u64, host_use: HostUse) -> Self {
        Self(Arc::new(Inner {
            memory: Some(memory),
            n_bytes,
            host_use,
            access: RwLock::new(()),
            shared: Arc::clone(shared),
        }))
    }

    pub(super) fn host_use(&self) -> HostUse {
        self.0.host_use
    }

    pub(super) fn uses(&self) -> Option<&Uses> {
        self.0.memory.as_ref().map(PinnedMemory::uses)
    }

    /// Returns the device address of a byte.
    pub(super) fn address(&self, offset: u64) -> *mut u8 {
        match &self.0.memory {
            Some(memory) => memory.start().as_ptr().wrapping_add(offset as usize),
            None => std::ptr::null_mut(),
        }
    }

    /// Returns an id that is equal for all handles of the same memory.
    pub(super) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Prevents access by the host while work on the bytes is submitted.
    pub(super) fn lock(&self) -> RwLockWriteGuard<'_, ()> {
        self.0
            .access
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the device has finished with the bytes, then calls `touch` with them. Waits again if other work on
    /// them was submitted meanwhile.
    async fn when_free<Guard, R>(
        &self,
        lock: impl Fn() -> Guard,
        touch: impl FnOnce(&PinnedMemory) -> R,
    ) -> Result<R> {
        let shared = &self.0.shared;
        shared.check()?;
        let Some(memory) = &self.0.memory else {
            return Err(shared.context.broken("pinned memory is gone"));
        };
        loop {
            for event in shared.lanes.after(memory.uses())? {
                shared.waiters.wait_async(shared, event).await?;
            }
            shared.check()?;
            let _access = lock();
            if shared.lanes.after(memory.uses())?.is_empty() {
                return Ok(touch(memory));
            }
        }
    }
}

impl CudaHostBuffer {
    /// Implements [`HostBuffer::write_parts_async`](crate::gpu::HostBuffer).
    pub(crate) async fn write_parts_async(
        &self,
        offset: u64,
        n_bytes: u64,
        from: &[u8],
        parts: &[(u64, Range<usize>)],
    ) -> Result<()> {
        let range = offset..offset.saturating_add(n_bytes);
        self.fill_async(range, |room| copy_parts(room, from, parts))
            .await
    }
}

impl Owned for CudaHostBuffer {
    fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl Sized64 for CudaHostBuffer {
    fn n_bytes(&self) -> u64 {
        self.0.n_bytes
    }
}

impl HostMemory for CudaHostBuffer {
    async fn write_async(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        self.fill_async(offset..end, |room| copy(room, bytes)).await
    }

    async fn fill_async<R>(
        &self,
        range: Range<u64>,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let n_bytes = range.end.saturating_sub(range.start);
        check::host_access(
            HostUse::Upload,
            self.0.host_use,
            range.start,
            n_bytes,
            self.0.n_bytes,
        )?;
        let give = |memory: &PinnedMemory| {
            // SAFETY: the range is inside the allocation (checked above), the device does not use it, and nobody else
            // on the host does while the lock is held.
            let target = unsafe {
                let start = memory.start().as_ptr().add(range.start as usize);
                std::slice::from_raw_parts_mut(start, n_bytes as usize)
            };
            fill(target)
        };
        self.when_free(|| self.lock(), give).await
    }

    async fn read_async<R>(&self, range: Range<u64>, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let n_bytes = range.end.saturating_sub(range.start);
        check::host_access(
            HostUse::Download,
            self.0.host_use,
            range.start,
            n_bytes,
            self.0.n_bytes,
        )?;
        let show = |memory: &PinnedMemory| {
            // SAFETY: the range is inside the allocation (checked above), the device does not use it, and nobody
            // writes it while the lock is held.
            let bytes = unsafe {
                std::slice::from_raw_parts(
                    memory.start().as_ptr().add(range.start as usize),
                    n_bytes as usize,
                )
            };
            read(bytes)
        };
        let access = || self.0.access.read().unwrap_or_else(PoisonError::into_inner);
        self.when_free(access, show).await
    }
}
