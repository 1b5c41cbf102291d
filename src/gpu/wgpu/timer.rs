//! Timestamps around the launches and copies of a stream, taken by the device.

use std::sync::Arc;

use super::allocation::Charged;
use super::fault::guarded;
use super::host::WgpuHostBuffer;
use super::memory;
use super::queries::{FreeQueries, Queries};
use super::shared::Shared;
use crate::Result;
use crate::gpu::backend::{HostMemory, HostUse};
use crate::gpu::times::{Activity, DeviceTimes};

/// Maximum number of runs of launches or copies in a submission that is timed.
pub(super) const MAX_RUNS: usize = 32;

const QUERY_BYTES: u64 = 8;

/// Queries for the runs of one submission: two per run, in order.
#[derive(Debug)]
pub(super) struct Timer {
    queries: wgpu::QuerySet,
    resolved: Charged,
    host: WgpuHostBuffer,
    runs: Vec<Activity>,
    /// True if copies are measured too.
    copies: bool,
}

impl Timer {
    /// Returns a timer of a device that has timestamps. It also times copies if `copies` and the device supports it.
    pub(super) fn take(shared: &Arc<Shared>, copies: bool) -> Result<Self> {
        match shared.queries.take() {
            Some(Queries {
                set,
                resolved,
                host,
            }) => Ok(Self {
                queries: set,
                resolved,
                host: WgpuHostBuffer::attach(shared, host),
                runs: Vec::new(),
                copies,
            }),
            None => Self::create(shared, copies),
        }
    }

    fn create(shared: &Arc<Shared>, copies: bool) -> Result<Self> {
        let count = 2 * MAX_RUNS as u32;
        let size = u64::from(count) * QUERY_BYTES;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let queries = guarded(&shared.device, &shared.faults, size, || {
            let descriptor = wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count,
            };
            shared.device.create_query_set(&descriptor)
        })?;
        let resolved = memory::create(shared, size, usage, false)?;
        let host = WgpuHostBuffer::new(shared, size, HostUse::Download)?;
        Ok(Self {
            queries,
            resolved,
            host,
            runs: Vec::new(),
            copies,
        })
    }

    /// Returns the queries to those not in use.
    pub(super) fn give_back(self, free: &FreeQueries) {
        if let Some(host) = self.host.detach() {
            free.keep(Queries {
                set: self.queries,
                resolved: self.resolved,
                host,
            });
        }
    }

    /// Returns the queries of the next run.
    fn next_run(&mut self, activity: Activity) -> (u32, u32) {
        let first = 2 * self.runs.len() as u32;
        self.runs.push(activity);
        (first, first + 1)
    }

    /// Returns the timestamps of the next pass.
    pub(super) fn next_pass(&mut self) -> wgpu::ComputePassTimestampWrites<'_> {
        let (begin, end) = self.next_run(Activity::Kernels);
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(begin),
            end_of_pass_write_index: Some(end),
        }
    }

    /// Records `copies`, with timestamps around them if this timer measures copies.
    pub(super) fn around_copies(
        &mut self,
        activity: Activity,
        encoder: &mut wgpu::CommandEncoder,
        copies: impl FnOnce(&mut wgpu::CommandEncoder),
    ) {
        if !self.copies {
            return copies(encoder);
        }
        let (begin, end) = self.next_run(activity);
        encoder.write_timestamp(&self.queries, begin);
        copies(encoder);
        encoder.write_timestamp(&self.queries, end);
    }

    fn n_queries(&self) -> u32 {
        2 * self.runs.len() as u32
    }

    /// Records the copy of the timestamps to the host.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let n_queries = self.n_queries();
        if n_queries > 0 {
            let resolved = self.resolved.buffer();
            encoder.resolve_query_set(&self.queries, 0..n_queries, resolved, 0);
            let n_bytes = u64::from(n_queries) * QUERY_BYTES;
            encoder.copy_buffer_to_buffer(resolved, 0, self.host.raw(), 0, n_bytes);
        }
    }

    pub(super) fn host(&self) -> &WgpuHostBuffer {
        &self.host
    }

    /// Waits for the submission and returns its times, with `period_ns` nanoseconds for each tick of the device's clock.
    pub(super) async fn read(&self, period_ns: f32) -> Result<DeviceTimes> {
        let n_bytes = u64::from(self.n_queries()) * QUERY_BYTES;
        let times = |timestamps: &[u8]| times(&self.runs, self.copies, timestamps, period_ns);
        self.host.read_async(0..n_bytes, times).await
    }
}

/// Returns the times of `runs`, each of which has two timestamps.
fn times(runs: &[Activity], copies: bool, timestamps: &[u8], period_ns: f32) -> DeviceTimes {
    let stamps: Vec<u64> = timestamps
        .chunks_exact(8)
        .filter_map(|b| b.try_into().ok().map(u64::from_le_bytes))
        .collect();
    let ns = |ticks: u64| (ticks as f64 * f64::from(period_ns)) as u64;
    let mut times = DeviceTimes::measured(copies);
    for (&activity, run) in runs.iter().zip(stamps.chunks_exact(2)) {
        times.push(activity, ns(run[0])..ns(run[1]));
    }
    times
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of spans may have one"
)]
mod tests {
    use super::*;
    use crate::gpu::times::Busy;

    #[test]
    fn timestamps_become_spans_in_nanoseconds() {
        let stamps = [10_u64, 15, 20, 21, 30, 28];
        let bytes: Vec<u8> = stamps.iter().flat_map(|s| s.to_le_bytes()).collect();
        let runs = [Activity::Upload, Activity::Kernels, Activity::Download];
        let found = times(&runs, true, &bytes, 2.0);
        assert_eq!(found.upload, Busy::Spans(vec![20..30]));
        assert_eq!(found.kernels, Busy::Spans(vec![40..42]));
        assert_eq!(found.download, Busy::Unmeasured);
    }
}
