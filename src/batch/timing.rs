//! Where the time of a call went, as far as it was measured.

/// Times of one call in nanoseconds. `None` where there is nothing to measure (the CPU transfers nothing) or nothing
/// to measure with (a device without timestamps): never an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Host to device: the host's time writing pages to memory it shares with the device; without overlap also the
    /// wait for the device's copy.
    pub upload_ns: Option<u64>,
    /// The kernels, by the device's own clock, added up over jobs. Where an engine runs the kernels of several jobs at
    /// once, the sum can exceed the total.
    pub kernel_ns: Option<u64>,
    /// Device to host: waiting for the device's copy and copying out.
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
