//! What a caller can ask for when a device is opened.

use std::time::Duration;

pub use crate::engine::{EngineChoice, PowerPreference, Rejected};

/// Whether the engine's own run-time checks are compiled into kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RuntimeChecks {
    /// Into all kernels but those that check themselves. Browsers put them into every kernel.
    #[default]
    WhereNeeded,
    /// Into every kernel.
    Always,
}

/// How self-checked kernels reach a Vulkan driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SpirvPassthrough {
    /// As our own SPIR-V where the adapter offers it: storage barriers keep the workgroup scope that WGSL gives them.
    #[default]
    WhereOffered,
    /// Always through wgpu.
    Never,
}

/// Which limits a device is opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LimitTier {
    /// The adapter's own.
    #[default]
    Adapter,
    /// WebGPU's default limits, which every adapter has.
    WebGpuDefault,
    /// The adapter's own, but for bindings: at most so many bytes, at least 64 KiB. Larger work is done in parts, as on
    /// adapters that have no larger ones.
    BindingsUpTo(u64),
}

impl LimitTier {
    /// The largest binding, of a device that has bindings of `own` bytes.
    pub(crate) fn binding_bytes(self, own: u64) -> u64 {
        match self {
            Self::BindingsUpTo(most) => own.min(most.max(64 << 10) / 256 * 256),
            _ => own,
        }
    }
}

/// What to open and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceRequest {
    /// The engine.
    pub engine: EngineChoice,
    /// Position in [`list_adapters_async`](super::GpuDevice::list_adapters_async), counted among the adapters of `engine`;
    /// any adapter that stands there is taken, a software one too. `None`: the best one.
    pub adapter_index: Option<usize>,
    /// Order of preference when no index is given.
    pub power_preference: PowerPreference,
    /// Whether a software adapter may be taken when there is nothing better.
    pub allow_software: bool,
    /// Limits to ask for.
    pub limits: LimitTier,
    /// Run-time checks in kernels.
    pub runtime_checks: RuntimeChecks,
    /// The way to a Vulkan driver.
    pub spirv_passthrough: SpirvPassthrough,
    /// Most bytes that all allocations of the device may hold at once: buffers, pools, and memory shared with the host.
    /// Work that can be cut is cut to fit; what cannot fails with [`OutOfMemory`](crate::Error::OutOfMemory). `None`: what
    /// the device has.
    pub memory_limit: Option<u64>,
    /// How long a wait goes on while none of the submitted work ends; then the device counts as lost
    /// ([`DeviceLost`](crate::Error::DeviceLost)). A single submission that takes longer is lost too. `None`: a minute, ten
    /// for a software adapter. Native only: browsers watch their GPUs themselves.
    pub wait_limit: Option<Duration>,
}
