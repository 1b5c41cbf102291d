//! Device memory from a bounded pool, and buffers that the caller owns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::allocation::Charged;
use super::fault::guarded;
use super::host::WgpuHostBuffer;
use super::shared::Shared;
use crate::gpu::backend::Sized64;
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::{Error, Result};

/// Maximum number of bytes in the pool of free buffers. The limit is lower in a browser, where pages share device
/// memory.
pub(super) const MAX_POOLED_BYTES: u64 = if cfg!(target_arch = "wasm32") {
    1 << 30
} else {
    8 << 30
};

/// Usages of the memory of kernels: storage, source and target of copies.
pub(super) const FOR_KERNELS: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// Usages of the memory of parameters.
const FOR_PARAMS: wgpu::BufferUsages =
    wgpu::BufferUsages::UNIFORM.union(wgpu::BufferUsages::COPY_DST);

/// Device memory; returns to the pool when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct WgpuBuffer(Arc<PooledBuffer>);

#[derive(Debug)]
struct PooledBuffer {
    memory: Option<Memory>,
    n_bytes: u64,
    /// True if code outside the engine has had access to the raw buffer, and may still hold it.
    is_shown: AtomicBool,
    shared: Arc<Shared>,
}

/// The memory under a buffer.
#[derive(Debug)]
enum Memory {
    /// Memory from the pool, or the caller's.
    Device(Charged),
    /// A staging buffer that kernels access, too.
    Host(WgpuHostBuffer),
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let Some(Memory::Device(charged)) = self.memory.take() else {
            return;
        };
        // A buffer that the caller may still write to or destroy must not be reused.
        if *self.is_shown.get_mut() {
            return charged.leave();
        }
        give_back(&self.shared, charged);
    }
}

/// Returns memory to the pool.
pub(super) fn give_back(shared: &Shared, memory: Charged) {
    let (usage, size) = (memory.buffer().usage().bits(), memory.buffer().size());
    let evicted = shared.pool.put(usage, size, memory);
    // A browser's buffers are destroyed on drop; work that waits may use these.
    if cfg!(target_arch = "wasm32") && !evicted.is_empty() {
        shared.submit_joined();
    }
    drop(evicted);
}

/// Takes memory from the pool, or allocates it. Returns true if it was used before.
fn take(shared: &Arc<Shared>, n_bytes: u64, usage: wgpu::BufferUsages) -> Result<(Charged, bool)> {
    let size = check::size_class(n_bytes, shared.max_allocation);
    Ok(match shared.pool.take(usage.bits(), size) {
        Some(memory) => (memory, true),
        None => (create(shared, size, usage, false)?, false),
    })
}

/// Takes memory for the parameters of launches, which does not keep the device. It is to be given back.
pub(super) fn take_uniform(shared: &Arc<Shared>, n_bytes: u64) -> Result<Charged> {
    take(shared, n_bytes, FOR_PARAMS).map(|(memory, _)| memory)
}

impl WgpuBuffer {
    /// Allocates memory for kernels (storage, source and target of copies) with unspecified contents.
    pub(super) fn uncleared(shared: &Arc<Shared>, n_bytes: u64) -> Result<Self> {
        Self::storage(shared, n_bytes).map(|(buffer, _)| buffer)
    }

    /// Allocates memory for kernels, filled with zeros.
    pub(super) fn cleared(shared: &Arc<Shared>, n_bytes: u64) -> Result<Self> {
        let (buffer, is_used) = Self::storage(shared, n_bytes)?;
        // wgpu zeroes new memory itself.
        if let (true, Some(raw)) = (is_used, buffer.handle()) {
            guarded(&shared.device, &shared.faults, n_bytes, || {
                let mut work = shared.new_encoding();
                work.encoder().clear_buffer(raw, 0, None);
                shared.submit(work.finish())
            })?;
        }
        Ok(buffer)
    }

    /// Returns a storage buffer, and true if it is a reused one.
    fn storage(shared: &Arc<Shared>, n_bytes: u64) -> Result<(Self, bool)> {
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        Self::new(shared, n_bytes, FOR_KERNELS)
    }

    /// Allocates memory for the uniform parameters of launches.
    pub(super) fn uniform(shared: &Arc<Shared>, n_bytes: u64) -> Result<Self> {
        Self::new(shared, n_bytes, FOR_PARAMS).map(|(buffer, _)| buffer)
    }

    /// Returns a buffer, and true if it is a reused one.
    fn new(shared: &Arc<Shared>, n_bytes: u64, usage: wgpu::BufferUsages) -> Result<(Self, bool)> {
        let (charged, is_used) = take(shared, n_bytes, usage)?;
        let buffer = Self(Arc::new(PooledBuffer {
            memory: Some(Memory::Device(charged)),
            n_bytes,
            is_shown: AtomicBool::new(false),
            shared: Arc::clone(shared),
        }));
        Ok((buffer, is_used))
    }

    /// Wraps a buffer that the caller owns and frees, of which kernels use `n_bytes`. It is never pooled.
    pub(super) fn external(shared: &Arc<Shared>, buffer: wgpu::Buffer, n_bytes: u64) -> Self {
        Self(Arc::new(PooledBuffer {
            n_bytes,
            memory: Some(Memory::Device(Charged::external(buffer))),
            is_shown: AtomicBool::new(true),
            shared: Arc::clone(shared),
        }))
    }

    /// Returns `host`, a staging buffer of `shared` with the usages of storage buffers, as a buffer for kernels.
    pub(super) fn of_host(shared: &Arc<Shared>, host: WgpuHostBuffer) -> Self {
        Self(Arc::new(PooledBuffer {
            n_bytes: host.n_bytes(),
            memory: Some(Memory::Host(host)),
            is_shown: AtomicBool::new(false),
            shared: Arc::clone(shared),
        }))
    }

    /// Returns wgpu's buffer under this one, which may be longer, for use with wgpu itself on this device. From then on it is
    /// never pooled.
    #[must_use]
    pub fn raw(&self) -> Option<&wgpu::Buffer> {
        self.0.is_shown.store(true, Ordering::Relaxed);
        self.0.shared.submit_joined();
        self.handle()
    }

    /// Returns true if only the engine has the buffer, so that bind groups with it may be cached.
    pub(super) fn is_own(&self) -> bool {
        !self.0.is_shown.load(Ordering::Relaxed)
    }

    /// Returns wgpu's buffer for internal use. The engine keeps no clone of it except in bind groups.
    pub(super) fn handle(&self) -> Option<&wgpu::Buffer> {
        match self.0.memory.as_ref()? {
            Memory::Device(charged) => Some(charged.buffer()),
            Memory::Host(host) => Some(host.raw()),
        }
    }

    /// Returns the staging buffer under this one, which must not be mapped while the device uses it; `None` for device memory.
    pub(crate) fn host(&self) -> Option<&WgpuHostBuffer> {
        match &self.0.memory {
            Some(Memory::Host(host)) => Some(host),
            _ => None,
        }
    }
}

impl Owned for WgpuBuffer {
    fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl Sized64 for WgpuBuffer {
    fn n_bytes(&self) -> u64 {
        self.0.n_bytes
    }
}

/// Creates a buffer.
#[cfg(not(target_arch = "wasm32"))]
fn make(device: &wgpu::Device, descriptor: &wgpu::BufferDescriptor<'_>) -> Result<wgpu::Buffer> {
    Ok(device.create_buffer(descriptor))
}

/// Creates a buffer. wgpu would panic where a browser has no memory to map.
#[cfg(target_arch = "wasm32")]
fn make(device: &wgpu::Device, descriptor: &wgpu::BufferDescriptor<'_>) -> Result<wgpu::Buffer> {
    let mappable = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE;
    if !descriptor.usage.intersects(mappable) {
        return Ok(device.create_buffer(descriptor));
    }
    super::answer::create_buffer(device, descriptor).ok_or(Error::OutOfMemory {
        requested: descriptor.size,
    })
}

/// Creates a buffer. When memory runs out, the pool is emptied and the allocation retried once.
pub(super) fn create(
    shared: &Arc<Shared>,
    size: u64,
    usage: wgpu::BufferUsages,
    mapped: bool,
) -> Result<Charged> {
    let descriptor = wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: mapped,
    };
    let attempt = || {
        let charge = shared.budget.charge(size, size)?;
        let make = || make(&shared.device, &descriptor);
        let buffer = guarded(&shared.device, &shared.faults, size, make)??;
        Ok(Charged::new(buffer, charge, &shared.groups))
    };
    match attempt() {
        Err(Error::OutOfMemory { .. }) => {
            shared.clear_pool();
            shared.let_go();
            attempt()
        }
        other => other,
    }
}
