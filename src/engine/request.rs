//! Requests for an engine.

/// The engine that a caller of the codec requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BackendRequest {
    /// A hardware GPU for batches for which it is measured to be faster than the CPU, else the CPU. Never a software
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

impl BackendRequest {
    /// Returns true if the request names a GPU engine, so that the CPU must not replace it.
    pub(crate) const fn forces_gpu(self) -> bool {
        matches!(self, Self::Wgpu | Self::Cuda)
    }

    /// Returns the engine of the device to open for this request.
    #[cfg(gpu_engine)]
    pub(crate) const fn device_engine(self) -> EngineChoice {
        match self {
            Self::Cuda => EngineChoice::Cuda,
            Self::Wgpu => EngineChoice::Wgpu,
            Self::Auto | Self::Cpu => EngineChoice::Auto,
        }
    }
}

/// The engine that is requested for a device.
#[cfg(gpu_engine)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// CUDA if there is an NVIDIA GPU with its driver, else wgpu.
    #[default]
    Auto,
    /// CUDA, or an error.
    Cuda,
    /// wgpu, or an error.
    Wgpu,
}

/// The order of preference among several GPUs: speed or battery life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PowerPreference {
    /// The discrete GPU first.
    #[default]
    HighPerformance,
    /// The integrated GPU first.
    LowPower,
}
