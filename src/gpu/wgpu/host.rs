//! Staging buffers: mapped memory that host and device use alternately.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_channel::oneshot;

use super::fault::guarded;
use super::memory::{FOR_KERNELS, WgpuBuffer, create};
use super::shared::Shared;
use super::staging::{Mapped, Mapping, Staging};
use crate::Result;
#[cfg(not(target_arch = "wasm32"))]
use crate::copy::{PARTS_PER_SHARE, has_threads};
use crate::gpu::backend::{HostMemory, HostUse, Sized64};
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::memory;

/// Memory that host and device share.
#[derive(Debug, Clone)]
pub struct WgpuHostBuffer(Arc<HostInner>);

#[derive(Debug)]
struct HostInner {
    staging: Staging,
    shared: Arc<Shared>,
}

impl WgpuHostBuffer {
    pub(super) fn new(shared: &Arc<Shared>, n_bytes: u64, host_use: HostUse) -> Result<Self> {
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        let (mut usage, mapped) = match host_use {
            HostUse::Upload => (
                wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                true,
            ),
            HostUse::Download => (
                wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                false,
            ),
        };
        let mut size = n_bytes;
        if shared.capabilities.shares_memory {
            usage |= FOR_KERNELS;
            // Unchecked kernels may read behind the end; `max_buffer_bytes` leaves room for it.
            size += check::SLACK_BYTES;
        }
        let staging = Staging {
            charged: create(shared, size, usage, mapped)?,
            n_bytes,
            host_use,
            mapping: Mutex::new(match mapped {
                true => Mapping::Done { range: 0..n_bytes },
                false => Mapping::None,
            }),
        };
        Ok(Self::attach(shared, staging))
    }

    /// Detaches the buffer from its device. Returns `None` if there are other handles.
    pub(super) fn detach(self) -> Option<Staging> {
        Arc::into_inner(self.0).map(|inner| inner.staging)
    }

    /// Attaches a buffer to its device.
    pub(super) fn attach(shared: &Arc<Shared>, staging: Staging) -> Self {
        Self(Arc::new(HostInner {
            staging,
            shared: Arc::clone(shared),
        }))
    }

    pub(super) fn raw(&self) -> &wgpu::Buffer {
        self.0.staging.charged.buffer()
    }

    /// Returns memory of this use as a buffer for kernels, where the device shares memory with the host. A submission that uses it takes
    /// the memory from the host, as a copy does.
    pub(crate) fn on_device(&self, host_use: HostUse) -> Option<WgpuBuffer> {
        let is_for_kernels =
            self.raw().usage().contains(FOR_KERNELS) && self.host_use() == host_use;
        is_for_kernels.then(|| WgpuBuffer::of_host(&self.0.shared, self.clone()))
    }

    /// Returns true if both handles share one buffer.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    pub(super) fn host_use(&self) -> HostUse {
        self.0.staging.host_use
    }

    fn mapping(&self) -> MutexGuard<'_, Mapping> {
        self.0.staging.mapping()
    }

    /// Unmaps the memory before a submission that uses it.
    pub(super) fn unmap(&self) {
        if !matches!(std::mem::take(&mut *self.mapping()), Mapping::None) {
            self.raw().unmap();
        }
    }

    /// Records the submission that uses a range, and requests the mapping of that range as soon as it is done.
    pub(super) fn used_by(
        &self,
        submission: wgpu::SubmissionIndex,
        range: Range<u64>,
    ) -> Result<()> {
        let outcome = self.ask(range.clone())?;
        *self.mapping() = Mapping::Pending {
            range,
            submission,
            outcome,
        };
        Ok(())
    }

    fn ask(&self, range: Range<u64>) -> Result<oneshot::Receiver<Mapped>> {
        let shared = &self.0.shared;
        let mode = match self.0.staging.host_use {
            HostUse::Upload => wgpu::MapMode::Write,
            HostUse::Download => wgpu::MapMode::Read,
        };
        let (sender, receiver) = oneshot::channel();
        #[cfg(target_arch = "wasm32")]
        let in_flight = shared.prompt.transfer(range.end - range.start)?;
        guarded(&shared.device, &shared.faults, 0, || {
            self.raw().map_async(mode, range, move |outcome| {
                #[cfg(target_arch = "wasm32")]
                drop(in_flight);
                drop(sender.send(outcome));
            });
        })?;
        Ok(receiver)
    }

    /// Waits until the device has finished with the memory, and maps `wanted`.
    pub(super) async fn map(&self, wanted: Range<u64>) -> Result<()> {
        let covers = |range: &Range<u64>| range.start <= wanted.start && wanted.end <= range.end;
        let shared = &self.0.shared;
        let mapping = std::mem::take(&mut *self.mapping());
        let (range, submission, outcome) = match mapping {
            Mapping::Done { range } if covers(&range) => {
                *self.mapping() = Mapping::Done { range };
                return Ok(());
            }
            Mapping::Pending {
                range,
                submission,
                outcome,
            } if covers(&range) => (range, Some(submission), outcome),
            Mapping::None => (wanted.clone(), None, self.ask(wanted)?),
            other => {
                self.raw().unmap();
                let submission = match other {
                    Mapping::Pending { submission, .. } => Some(submission),
                    _ => None,
                };
                (wanted.clone(), submission, self.ask(wanted)?)
            }
        };
        shared.wait_for(submission)?;
        #[cfg(target_arch = "wasm32")]
        let outcome = shared.promptly(outcome);
        match outcome.await {
            Ok(Ok(())) => {
                *self.mapping() = Mapping::Done { range };
                Ok(())
            }
            Ok(Err(error)) => Err(shared.failed(error.to_string()).await),
            Err(_) => Err(shared.failed("a buffer was not mapped".into()).await),
        }
    }

    pub(super) fn check(&self, host_use: HostUse, offset: u64, n_bytes: u64) -> Result<()> {
        check::host_access(
            host_use,
            self.0.staging.host_use,
            offset,
            n_bytes,
            self.n_bytes(),
        )
    }

    /// Copies large ranges on several cores: memcpy on one core is slower than PCIe.
    #[cfg(not(target_arch = "wasm32"))]
    async fn fill(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        use rayon::prelude::*;
        const SHARE_BYTES: usize = 1 << 20;
        let write = |(i, share): (usize, &[u8])| {
            let start = offset + (i * SHARE_BYTES) as u64;
            let view = self
                .raw()
                .get_mapped_range_mut(start..start + share.len() as u64);
            view.map_err(|error| self.0.shared.broken(error.to_string()))?
                .copy_from_slice(share);
            Ok(())
        };
        if bytes.len() <= SHARE_BYTES || !has_threads() {
            return bytes.chunks(SHARE_BYTES).enumerate().try_for_each(write);
        }
        bytes
            .par_chunks(SHARE_BYTES)
            .enumerate()
            .try_for_each(write)
    }

    /// Implements [`HostBuffer::write_parts_async`](crate::gpu::HostBuffer).
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) async fn write_parts_async(
        &self,
        offset: u64,
        n_bytes: u64,
        from: &[u8],
        parts: &[(u64, Range<usize>)],
    ) -> Result<()> {
        use rayon::prelude::*;
        self.check(HostUse::Upload, offset, n_bytes)?;
        if parts.is_empty() {
            return Ok(());
        }
        self.map(0..self.n_bytes()).await?;
        let write = |parts: &[(u64, Range<usize>)]| {
            let (Some((start, _)), Some((last, part))) = (parts.first(), parts.last()) else {
                return Ok(());
            };
            // Lengths of mapped ranges are multiples of 4.
            let end = last + (part.len() as u64).next_multiple_of(4);
            let view = self
                .raw()
                .get_mapped_range_mut(offset + start..offset + end);
            let mut view = view.map_err(|error| self.0.shared.broken(error.to_string()))?;
            for (at, part) in parts {
                let at = (at - start) as usize;
                let mut room = view.slice(at..at + part.len());
                room.copy_from_slice(&from[part.clone()]);
            }
            Ok(())
        };
        match has_threads() {
            true => parts.par_chunks(PARTS_PER_SHARE).try_for_each(write),
            false => write(parts),
        }
    }

    /// Calls `read` with a mapped range.
    #[cfg(not(target_arch = "wasm32"))]
    async fn read<R>(&self, range: Range<u64>, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match self.raw().get_mapped_range(range) {
            Ok(view) => Ok(read(&view)),
            Err(error) => Err(self.0.shared.broken(error.to_string())),
        }
    }
}

impl Owned for WgpuHostBuffer {
    fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl Sized64 for WgpuHostBuffer {
    fn n_bytes(&self) -> u64 {
        self.0.staging.n_bytes
    }
}

impl HostMemory for WgpuHostBuffer {
    async fn write_async(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check(HostUse::Upload, offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.map(0..self.n_bytes()).await?;
        self.fill(offset, bytes).await
    }

    async fn fill_async<R>(
        &self,
        range: Range<u64>,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let n_bytes = range.end.saturating_sub(range.start);
        self.check(HostUse::Upload, range.start, n_bytes)?;
        if n_bytes == 0 {
            return Ok(fill(&mut []));
        }
        self.map(0..self.n_bytes()).await?;
        // A mapping may be slow to read (write-combined), or detached by the page of a browser; so the caller gets a copy.
        let mut bytes = memory::zeros(n_bytes as usize)?;
        let value = fill(&mut bytes);
        self.fill(range.start, &bytes).await?;
        Ok(value)
    }

    async fn read_async<R>(&self, range: Range<u64>, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.check(
            HostUse::Download,
            range.start,
            range.end.saturating_sub(range.start),
        )?;
        if range.is_empty() {
            return Ok(read(&[]));
        }
        self.map(range.clone()).await?;
        let value = self.read(range, read).await;
        self.unmap();
        value
    }
}
