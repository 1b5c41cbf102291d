//! [`BackendUsed`]: the engine on which an operation ran.

use std::fmt;

/// The engine on which a tensor operation ran, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackendUsed {
    /// A GPU.
    Gpu {
        /// `"cuda"` or `"wgpu"`.
        engine: &'static str,
        /// The description of the device.
        device: String,
        /// The reason: the caller requested the GPU, or the expected times.
        reason: String,
    },
    /// The CPU.
    Cpu {
        /// The reason why no GPU was used.
        reason: String,
    },
}

impl fmt::Display for BackendUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpu { engine, device, .. } => write!(f, "{device} through {engine}"),
            Self::Cpu { reason } => write!(f, "CPU: {reason}"),
        }
    }
}
