//! Which engine is asked for, which one answers, and why.

/// The engine to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BackendRequest {
    /// A hardware GPU for batches on which it is measured to be faster than the CPU, else the CPU. Never a software
    /// adapter.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU through wgpu, or an error.
    Wgpu,
    /// An NVIDIA GPU through CUDA, or an error.
    Cuda,
}

/// Speed or battery, when there is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PowerPreference {
    /// The discrete GPU first.
    #[default]
    HighPerformance,
    /// The integrated GPU first.
    LowPower,
}

/// A candidate that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Name and kind of the candidate.
    pub candidate: String,
    /// Why not.
    pub reason: String,
}

/// The engine that answers, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendChoice {
    /// `"cpu"`, `"cuda"` or `"wgpu"`.
    pub engine: &'static str,
    /// The adapter's name and kind; empty on the CPU.
    pub adapter: String,
    /// Whether the adapter is a CPU that imitates a GPU.
    pub software: bool,
    /// Why this one.
    pub reason: String,
    /// Every other candidate.
    pub rejected: Vec<Rejected>,
}

impl BackendRequest {
    /// Whether a GPU was asked for by name.
    pub(crate) const fn forces_gpu(self) -> bool {
        matches!(self, Self::Wgpu | Self::Cuda)
    }
}

impl BackendChoice {
    pub(crate) fn cpu(reason: String, rejected: Vec<Rejected>) -> Self {
        Self {
            engine: "cpu",
            adapter: String::new(),
            software: false,
            reason,
            rejected,
        }
    }
}
