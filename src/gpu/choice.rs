//! [`DeviceRequest`]: the options for opening a device.

use std::time::Duration;

pub use crate::engine::{EngineChoice, PowerPreference, Rejected};

/// Kernels into which the engine's own run-time checks are compiled: bounds, divisors, loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RuntimeChecks {
    /// All kernels but those that check themselves. Browsers check every kernel.
    #[default]
    WhereNeeded,
    /// Every kernel.
    Always,
}

/// The form in which self-checked kernels reach a Vulkan driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SpirvPassthrough {
    /// SPIR-V of this crate where the adapter offers passthrough: storage barriers keep the workgroup scope that WGSL gives
    /// them, where wgpu widens it to device scope.
    #[default]
    WhereOffered,
    /// WGSL through wgpu, always.
    Never,
}

/// The limits that a device is opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LimitTier {
    /// The adapter's own.
    #[default]
    Adapter,
    /// WebGPU's default limits, which every adapter has.
    WebGpuDefault,
    /// The adapter's own limits, with bindings of at most so many bytes (64 KiB or more). Larger work is done in parts, as on
    /// adapters that have no larger bindings.
    BindingsUpTo(u64),
}

impl LimitTier {
    /// Returns the largest binding in bytes on a device whose own limit is `own`.
    pub(crate) fn binding_bytes(self, own: u64) -> u64 {
        match self {
            Self::BindingsUpTo(most) => own.min(most.max(64 << 10) / 256 * 256),
            _ => own,
        }
    }
}

/// Options for opening a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceRequest {
    /// The engine.
    pub engine: EngineChoice,
    /// Position in [`list_adapters_async`](super::GpuDevice::list_adapters_async), counted among the adapters of `engine`;
    /// the adapter there is opened even if it is a software one. `None`: the best adapter.
    pub adapter_index: Option<usize>,
    /// Order of preference when no index is given.
    pub power_preference: PowerPreference,
    /// Allow a software adapter where there is no hardware one.
    pub allow_software: bool,
    /// Limits to ask for.
    pub limits: LimitTier,
    /// Run-time checks in kernels.
    pub runtime_checks: RuntimeChecks,
    /// The form in which kernels reach a Vulkan driver.
    pub spirv_passthrough: SpirvPassthrough,
    /// Most bytes that all allocations of the device may hold at once: buffers, pools, and memory shared with the host.
    /// Work that can be split is split to fit; other work fails with [`OutOfMemory`](crate::Error::OutOfMemory). `None`: what
    /// the device has.
    pub memory_limit: Option<u64>,
    /// Time without progress after which a wait fails: while no submission ends for so long, the device counts as lost
    /// ([`DeviceLost`](crate::Error::DeviceLost)). A single submission that takes longer is lost too. `None`: a minute, ten
    /// for a software adapter. Native only: browsers watch their GPUs themselves.
    pub wait_limit: Option<Duration>,
}
