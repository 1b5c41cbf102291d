//! Timestamps around the launches of a stream, taken by the device.

use std::sync::{Arc, Mutex, PoisonError};

use super::device::Shared;
use super::fault::guarded;
use super::memory::{DetachedHost, WgpuHostBuffer};
use crate::Result;
use crate::gpu::backend::{HostMemory, HostUse};

/// Passes that one timer measures; a stream of more passes measures each run of launches in the first ones only as
/// far as they fit, so the stream asks first.
pub(super) const MAX_PASSES: u32 = 32;

const QUERY_BYTES: u64 = 8;

/// Queries for the passes of one submission.
#[derive(Debug)]
pub(super) struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    host: WgpuHostBuffer,
    n_passes: u32,
}

/// Timers not in use: queries, their buffer and the host's. The device owns these, so they must not own the device: a
/// reference cycle would keep it, with its memory and threads, for ever.
#[derive(Debug, Default)]
pub(super) struct Timers {
    free: Mutex<Vec<(wgpu::QuerySet, wgpu::Buffer, DetachedHost)>>,
}

impl Timers {
    /// A timer, where the device has timestamps.
    pub(super) fn take(shared: &Arc<Shared>) -> Result<Option<Timer>> {
        if !shared.capabilities.timestamps {
            return Ok(None);
        }
        let free = shared.timers.free.lock();
        let free = free.unwrap_or_else(PoisonError::into_inner).pop();
        if let Some((queries, resolved, host)) = free {
            return Ok(Some(Timer {
                queries,
                resolved,
                host: WgpuHostBuffer::attach(shared, host),
                n_passes: 0,
            }));
        }
        let count = 2 * MAX_PASSES;
        let size = u64::from(count) * QUERY_BYTES;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let made = guarded(&shared.device, &shared.faults, size, || {
            let descriptor = wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count,
            };
            let buffer = wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            };
            (
                shared.device.create_query_set(&descriptor),
                shared.device.create_buffer(&buffer),
            )
        });
        let (queries, resolved) = made?;
        let host = WgpuHostBuffer::new(shared, size, HostUse::Download)?;
        Ok(Some(Timer {
            queries,
            resolved,
            host,
            n_passes: 0,
        }))
    }

    /// Keeps a timer for later.
    pub(super) fn keep(&self, timer: Timer) {
        if let Some(host) = timer.host.detach() {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.push((timer.queries, timer.resolved, host));
        }
    }
}

impl Timer {
    /// Timestamps of the next pass.
    pub(super) fn next_pass(&mut self) -> wgpu::ComputePassTimestampWrites<'_> {
        let first = 2 * self.n_passes;
        self.n_passes += 1;
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        }
    }

    /// Records the copy of the timestamps to the host.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.n_passes > 0 {
            encoder.resolve_query_set(&self.queries, 0..2 * self.n_passes, &self.resolved, 0);
            let n_bytes = u64::from(2 * self.n_passes) * QUERY_BYTES;
            encoder.copy_buffer_to_buffer(&self.resolved, 0, self.host.raw(), 0, n_bytes);
        }
    }

    pub(super) fn host(&self) -> &WgpuHostBuffer {
        &self.host
    }

    /// Nanoseconds in all passes; `None` when the device's clock ran backwards. Waits for the submission.
    pub(super) async fn read(&self, period_ns: f32) -> Result<Option<u64>> {
        if self.n_passes == 0 {
            return Ok(Some(0));
        }
        let n_bytes = u64::from(2 * self.n_passes) * QUERY_BYTES;
        let ticks = self.host.read_async(0..n_bytes, sum_of_passes).await?;
        Ok(ticks.map(|ticks| (ticks as f64 * f64::from(period_ns)) as u64))
    }
}

/// Ticks between the two timestamps of each pass, added up.
fn sum_of_passes(timestamps: &[u8]) -> Option<u64> {
    let stamps: Vec<u64> = timestamps
        .chunks_exact(8)
        .filter_map(|b| b.try_into().ok().map(u64::from_le_bytes))
        .collect();
    stamps
        .chunks_exact(2)
        .map(|pass| pass[1].checked_sub(pass[0]))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::sum_of_passes;

    #[test]
    fn passes_add_up_and_a_clock_that_runs_backwards_measures_nothing() {
        let bytes = |stamps: &[u64]| {
            stamps
                .iter()
                .flat_map(|s| s.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        assert_eq!(sum_of_passes(&bytes(&[10, 15, 20, 21])), Some(6));
        assert_eq!(sum_of_passes(&bytes(&[10, 15, 21, 20])), None);
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod ownership {
    use std::sync::Arc;

    use crate::gpu::runtime::block_on;
    use crate::gpu::wgpu::device;
    use crate::gpu::{Backend, DeviceRequest, EngineChoice, KernelArg, KernelSource, Waitable};
    use crate::kernels::Access;

    #[test]
    fn a_device_that_measured_launches_is_freed_with_its_last_handle() {
        const WGSL: &str = "
            @group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64)
            fn add(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }";
        let request = DeviceRequest {
            engine: EngineChoice::Wgpu,
            allow_software: true,
            ..DeviceRequest::default()
        };
        let found: crate::Result<_> = block_on(async {
            let device = device::open(&request).await?.device;
            let kernel = KernelSource::new(WGSL, "add", &[Access::ReadWrite]);
            let kernel = device.compile_kernel(&kernel).await?;
            let data = device.allocate_memory(256)?;
            for _ in 0..2 {
                let args = [KernelArg::Buffer(&data)];
                let launch = device.launch_kernel(&kernel, [1, 1, 1], &args)?;
                launch.wait_async().await?;
            }
            Ok(Arc::downgrade(&device.0))
        });
        let device = found.expect("a GPU, a software one will do");
        assert!(device.upgrade().is_none(), "something keeps the device");
    }
}
