//! What an operation costs, and whether a GPU pays for it.

/// What an operation costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Bytes in and out.
    n_bytes: f64,
    n_operations: f64,
}

impl Work {
    fn new(n_elements: usize, n_operations: f64) -> Self {
        Self {
            n_bytes: 4.0 * n_elements as f64,
            n_operations,
        }
    }

    /// Steps that make `n` elements of `n_read`.
    pub(super) fn elementwise(n_steps: usize, n: usize, n_read: usize) -> Self {
        Self::new(n_read + n, (10 * n_steps * n) as f64)
    }

    /// The sum of `n` products.
    pub(super) fn dot(n: usize) -> Self {
        Self::new(2 * n, 2.0 * n as f64)
    }

    pub(super) fn softmax(n: usize) -> Self {
        Self::new(2 * n, 10.0 * n as f64)
    }

    /// `m` rows of `k` times `k` rows of `n`.
    pub(super) fn matmul(m: usize, k: usize, n: usize) -> Self {
        Self::new(m * k + k * n + m * n, 2.0 * m as f64 * k as f64 * n as f64)
    }

    /// Elements of picture, kernel and result.
    pub(super) fn convolve2d(n_input: usize, n_kernel: usize, n_out: usize) -> Self {
        Self::new(
            n_input + n_kernel + n_out,
            2.0 * n_out as f64 * n_kernel as f64,
        )
    }

    pub(super) fn reduce(n: usize, n_out: usize) -> Self {
        Self::new(n + n_out, n as f64)
    }

    /// Whether a GPU is expected to be faster, transfers included: rough figures of what machines have. Browsers take
    /// milliseconds to map a result and copy more often; WebAssembly has shorter vectors.
    pub(super) fn suits_gpu(self) -> bool {
        const IS_WEB: bool = cfg!(target_arch = "wasm32");
        const GPU_START_S: f64 = if IS_WEB { 4e-3 } else { 1e-4 };
        const BUS_BYTES_PER_S: f64 = if IS_WEB { 2e9 } else { 8e9 };
        const GPU_OPERATIONS_PER_S: f64 = 4e12;
        const CPU_BYTES_PER_S: f64 = if IS_WEB { 4e9 } else { 2e10 };
        const CORE_OPERATIONS_PER_S: f64 = if IS_WEB { 4e9 } else { 2e10 };
        let n_cores = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
        let gpu =
            GPU_START_S + self.n_bytes / BUS_BYTES_PER_S + self.n_operations / GPU_OPERATIONS_PER_S;
        let cpu = (self.n_bytes / CPU_BYTES_PER_S)
            .max(self.n_operations / (CORE_OPERATIONS_PER_S * n_cores));
        gpu < cpu
    }
}
