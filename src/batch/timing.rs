//! Where the time of a call went, as far as it was measured.

/// Times of one call in nanoseconds. `None` where there is nothing to measure (the CPU transfers nothing) or nothing
/// to measure with: never an estimate, and never a wait of the host.
///
/// The three parts are measured by the device, on its own clock: the time in which it was busy with at least one step of
/// that kind, over all jobs of the call. So no part exceeds the total. Parts of a device that copies while its kernels
/// run (CUDA) may together exceed it; those of a device with one queue (wgpu) do not.
///
/// | engine | copies | kernels |
/// |---|---|---|
/// | CUDA | events around them on their streams | events |
/// | wgpu on Vulkan, DX12, and Metal where GPUs have them between passes | timestamp queries around them | timestamp queries |
/// | wgpu elsewhere, WebGPU | `None` | timestamp queries, else `None` |
/// | CPU | `None` | `None` |
///
/// What the host copies to and from the memory that it shares with the device, and how long it waits, is in the total
/// only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// The device's copies from the host: pages, or blocks and tables.
    pub upload_ns: Option<u64>,
    /// The kernels.
    pub kernel_ns: Option<u64>,
    /// The device's copies to the host: tables and blocks, or pages and statuses.
    pub readback_ns: Option<u64>,
    /// From call to result, by the host's clock.
    pub total_ns: u64,
}

impl Timings {
    /// A call that only the host worked on.
    pub(crate) fn host(total_ns: u64) -> Self {
        Self {
            total_ns,
            ..Self::default()
        }
    }

    /// The times of a call that was made of two.
    pub(crate) fn add(&mut self, other: &Self) {
        let both = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.upload_ns = both(self.upload_ns, other.upload_ns);
        self.kernel_ns = both(self.kernel_ns, other.kernel_ns);
        self.readback_ns = both(self.readback_ns, other.readback_ns);
        self.total_ns += other.total_ns;
    }
}
