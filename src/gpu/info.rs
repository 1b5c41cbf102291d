//! Descriptions of devices: name, kind, limits, features.

use std::fmt;

use super::batch_sizes::known_batch_size;
use crate::kernels::ComputeUnits;

/// Kind of device behind an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares memory with the CPU.
    Integrated,
    /// A virtual GPU of a hypervisor.
    Virtual,
    /// A GPU of unknown kind; browsers never report it.
    Unknown,
    /// A software adapter: a CPU that emulates a GPU (lavapipe, SwiftShader, WARP).
    Software,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Unknown => "unknown kind",
            Self::Software => "software",
        })
    }
}

/// A device, or an adapter that a device can be opened on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuDeviceInfo {
    /// Name of the adapter, for example `"NVIDIA H200"`; in a browser what `GPUAdapterInfo` gives.
    pub name: String,
    /// Vendor: a PCI id in hexadecimal natively, a word in a browser; may be empty.
    pub vendor: String,
    /// The engine: `"cuda"` or `"wgpu"`.
    pub engine: &'static str,
    /// The API under the engine: `"cuda"`, `"vulkan"`, `"metal"`, `"dx12"` or `"webgpu"`.
    pub api: &'static str,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Driver and its version; empty in a browser.
    pub driver: String,
    /// Smallest and largest subgroup, in invocations; 0 where unknown.
    pub subgroup_size: (u32, u32),
}

impl GpuDeviceInfo {
    /// Returns whether this is a software adapter.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.kind == DeviceKind::Software
    }

    /// Returns the number of 4 KiB pages in a batch that keeps this adapter busy: the size that
    /// [`GpuDevice::optimal_batch_size_async`](super::GpuDevice::optimal_batch_size_async) measured on it in this
    /// process. Before a measurement it is a hint: 0.8 of the L2 cache where the model is known (the table of
    /// the documents), else 8192.
    #[must_use]
    pub fn optimal_batch_size(&self) -> usize {
        if let Some(measured) = known_batch_size(self) {
            return measured;
        }
        const KNOWN: [(&str, usize); 5] = [
            ("H100", 10_240),
            ("H200", 10_240),
            ("A100", 8_192),
            ("RTX 4090", 14_745),
            ("RTX 3090", 6_144),
        ];
        KNOWN
            .iter()
            .find(|(model, _)| self.name.contains(model))
            .map_or(8_192, |&(_, pages)| pages)
    }
}

/// Formats name, API and kind.
impl fmt::Display for GpuDeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.name.as_str() {
            "" => "unnamed adapter",
            name => name,
        };
        write!(f, "{name} ({}, {})", self.api, self.kind)
    }
}

/// Limits and features that kernels and job planning depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Largest range a kernel argument may cover, in bytes.
    pub max_binding_bytes: u64,
    /// Largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// Workgroup memory of one workgroup, in bytes.
    pub max_workgroup_bytes: u32,
    /// Invocations of one workgroup.
    pub max_workgroup_invocations: u32,
    /// Workgroups in each dimension of a grid.
    pub max_grid: u32,
    /// Storage buffers of one kernel.
    pub max_storage_buffers: u32,
    /// Kernels may use subgroup operations.
    pub subgroups: bool,
    /// Kernels may use 64-bit integers.
    pub int64: bool,
    /// Launches are timed by the device.
    pub timestamps: bool,
    /// Copies between host and device are timed by the device.
    pub copy_timestamps: bool,
    /// Self-checked kernels are handed to the driver as SPIR-V with the memory scopes that WGSL asks for.
    pub spirv_passthrough: bool,
    /// Device memory that was free when the device was opened, in bytes; `None` where the API does not report it. Work is
    /// cut into jobs of which several fit.
    pub free_memory_bytes: Option<u64>,
    /// The compute units; `None` where the API does not report them.
    pub compute_units: Option<ComputeUnits>,
}
