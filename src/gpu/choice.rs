//! [`DeviceRequest`]: the options for opening a device.

use std::time::Duration;

pub use crate::engine::{EngineChoice, PowerPreference, Rejected};

/// Selects the kernels into which the engine's own run-time checks are compiled: bounds, divisors, loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RuntimeChecks {
    /// All kernels except self-checked ones. Browsers check every kernel.
    #[default]
    WhereNeeded,
    /// Every kernel.
    Always,
}

/// The form in which self-checked kernels are passed to a Vulkan driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SpirvPassthrough {
    /// SPIR-V of this crate, if the adapter offers passthrough: storage barriers keep the workgroup scope that WGSL
    /// specifies, which wgpu would widen to device scope.
    #[default]
    WhereOffered,
    /// Always WGSL through wgpu.
    Never,
}

/// The use of memory that both host and device access, on a device that has no memory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SharedMemory {
    /// Kernels of pages work on the memory that the host maps, where the adapter offers it: on integrated GPUs and software
    /// adapters of wgpu.
    #[default]
    WhereOffered,
    /// Kernels always work on device memory. Data is copied between it and staging buffers.
    Never,
}

/// The limits that a device is opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LimitTier {
    /// The adapter's own limits.
    #[default]
    Adapter,
    /// WebGPU's default limits.
    WebGpuDefault,
    /// The adapter's own limits, with the kernels that take the fewest registers. Mali, PowerVR and VideoCore have these anyway; for
    /// adapters that the crate does not know.
    FewestRegisters,
    /// The lowest limits that the crate's kernels run within: those of WebGPU, but for workgroups of 64 invocations with 8 KiB of
    /// workgroup memory, and kernels of 6 storage buffers. Kernels are those that take the fewest registers.
    Lowest,
    /// The adapter's own limits, with bindings of at most this many bytes (64 KiB or more). Larger work is done in
    /// parts, as on adapters without larger bindings.
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
    /// Allows a software adapter if there is no hardware adapter.
    pub allow_software: bool,
    /// Limits to request.
    pub limits: LimitTier,
    /// Run-time checks in kernels.
    pub runtime_checks: RuntimeChecks,
    /// The form in which kernels are passed to a Vulkan driver.
    pub spirv_passthrough: SpirvPassthrough,
    /// Use of memory that host and device share.
    pub shared_memory: SharedMemory,
    /// Maximum number of bytes of all allocations of the device at once: buffers, pools, and memory shared with the
    /// host. Work that can be split is split to fit; other work fails with [`OutOfMemory`](crate::Error::OutOfMemory).
    /// `None`: the memory of the device.
    pub memory_limit: Option<u64>,
    /// Time that one submission may take on a device with a hundredth of the speed of an H200: longer work is divided into several
    /// launches and submissions. `None`: 1 s, and no limit on discrete GPUs. Shorter ones leave gaps for the screen. The wgpu engine
    /// only.
    pub longest_submission: Option<Duration>,
    /// Time without progress after which a wait fails: if no submission completes for this long, the device counts as
    /// lost ([`DeviceLost`](crate::Error::DeviceLost)). This includes a single submission that takes longer. `None`:
    /// one minute, ten for a software adapter. Native only: browsers monitor their GPUs themselves.
    pub wait_limit: Option<Duration>,
}
