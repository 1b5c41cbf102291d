//! Measured speeds of `bench`.

/// Throughput in GB/s (10^9 bytes of pages per second); `None` if not measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Speeds {
    pub compress: Option<f64>,
    pub decompress: Option<f64>,
}

/// Measurements of pages that stay in GPU memory.
#[derive(Debug, Default)]
pub struct Resident {
    /// Measured with the device's timestamps, kernels only.
    pub speeds: Speeds,
    /// Bytes of pages.
    pub n_bytes: u64,
}

/// Returns the bytes over the median of the times; `None` without bytes or times.
pub fn gigabytes_per_second(n_bytes: u64, mut times_ns: Vec<u64>) -> Option<f64> {
    times_ns.sort_unstable();
    let median = *times_ns.get(times_ns.len() / 2)?;
    (n_bytes > 0 && median > 0).then(|| n_bytes as f64 / median as f64)
}
