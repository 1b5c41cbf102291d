//! Measured times of a call.

/// Times of one call in nanoseconds. A part is `None` if it does not occur (the CPU transfers nothing) or cannot be
/// measured; it is never an estimate and never the wait of the host.
///
/// The device measures the three parts with its own clock: the time during which at least one step of that kind was
/// running, over all jobs of the call. So no part exceeds the total. On a device that copies while kernels run (CUDA) their
/// sum may exceed the total; on a device with one queue (wgpu) it does not.
///
/// | engine | copies | kernels |
/// |---|---|---|
/// | CUDA | events around them on their streams | events |
/// | wgpu on Vulkan, DX12, and Metal GPUs with timestamps between passes | timestamp queries around them | timestamp queries |
/// | wgpu elsewhere, WebGPU | `None` | timestamp queries, else `None` |
/// | CPU | `None` | `None` |
///
/// Copies of the host to and from staging buffers, and its waits, are part of the total only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Host-to-device copies: pages, or blocks and tables.
    pub upload_ns: Option<u64>,
    /// Kernels.
    pub kernel_ns: Option<u64>,
    /// Device-to-host copies: tables and blocks, or pages and statuses.
    pub readback_ns: Option<u64>,
    /// Wall time of the call.
    pub total_ns: u64,
}

impl Timings {
    /// Creates the times of a call that ran on the CPU only.
    pub(crate) fn host(total_ns: u64) -> Self {
        Self {
            total_ns,
            ..Self::default()
        }
    }

    /// Adds the times of another part of the same call.
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
