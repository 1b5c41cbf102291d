//! Descriptions of devices: name, kind, limits, features.

use std::fmt;
use std::time::Duration;

use super::batch_sizes::known_batch_size;
use crate::kernels::{ComputeUnits, Limits, Registers};

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
    /// Name of the adapter, for example `"NVIDIA H200"`; in a browser the one in `GPUAdapterInfo`.
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
    /// Smallest and largest subgroup, in invocations; 0 if unknown.
    pub subgroup_size: (u32, u32),
}

impl GpuDeviceInfo {
    /// Returns the class of registers: the fewest for Mali, PowerVR and VideoCore; few for Adreno, Intel's, and Apple's, of which Mesa's driver
    /// names Mesa as the vendor; many for those on which kernels of up to 255 were measured to be faster, NVIDIA's. Software adapters run the
    /// kernels of these too, so that tests cover them.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn registers(&self) -> Registers {
        const FEWEST: [&str; 6] = ["0x13b5", "arm", "0x1010", "img-tec", "0x14e4", "broadcom"];
        const FEW: [&str; 6] = ["0x5143", "qualcomm", "0x106b", "apple", "0x8086", "intel"];
        let vendor = self.vendor.as_str();
        if self.is_software() || self.is_nvidia() {
            Registers::Many
        } else if FEWEST.contains(&vendor) {
            Registers::Fewest
        } else if FEW.contains(&vendor) || self.name.starts_with("Apple") {
            Registers::Few
        } else {
            Registers::Usual
        }
    }

    /// Returns true if the driver compiles a shift of 64 bits to one instruction. Other GPUs need more for it than for shifts of 32 bits.
    /// Software adapters count, so that tests cover both.
    #[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
    pub(crate) fn has_wide_shift(&self) -> bool {
        self.is_software() || self.is_nvidia()
    }

    /// Returns the invocations of a subgroup, if these are as many in all kernels and consecutive in a workgroup, on GPUs where operations of
    /// subgroups were measured. Software adapters count, so that tests cover both.
    #[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
    pub(crate) fn uniform_subgroup(&self) -> Option<u32> {
        let (least, most) = self.subgroup_size;
        let is_known = self.is_software() || self.is_nvidia();
        (is_known && least == most && least > 0).then_some(least)
    }

    #[cfg(any(feature = "wgpu", test))]
    fn is_nvidia(&self) -> bool {
        ["0x10de", "nvidia"].contains(&self.vendor.as_str())
    }

    /// Returns true if this is a software adapter.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.kind == DeviceKind::Software
    }

    /// Returns a text that differs between adapters, and between drivers of one adapter.
    pub(crate) fn key(&self) -> String {
        [self.engine, self.api, &self.name, &self.driver].join("\n")
    }

    /// Returns the number of 4 KiB pages in a batch that keeps this adapter busy: the size that
    /// [`GpuDevice::optimal_batch_size_async`](super::GpuDevice::optimal_batch_size_async) measured on it in this
    /// process. Before a measurement it is a hint: 0.8 of the L2 cache where the model is known (the table of
    /// the documents), else 8192.
    #[must_use]
    pub fn optimal_batch_size(&self) -> usize {
        if let Some(measured) = known_batch_size(&self.key()) {
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
    /// Maximum size of the range of a kernel argument, in bytes.
    pub max_binding_bytes: u64,
    /// Maximum size of a buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// Maximum workgroup memory of a workgroup, in bytes.
    pub max_workgroup_bytes: u32,
    /// Maximum number of invocations of a workgroup.
    pub max_workgroup_invocations: u32,
    /// Maximum number of workgroups in each dimension of a grid.
    pub max_grid: u32,
    /// Maximum number of storage buffers of a kernel.
    pub max_storage_buffers: u32,
    /// True if kernels may use subgroup operations.
    pub subgroups: bool,
    /// True if kernels may use 64-bit integers.
    pub int64: bool,
    /// True if kernels may use half precision (`enable f16`).
    pub float16: bool,
    /// True if kernels may use cooperative matrices of 16x16 elements (`enable wgpu_cooperative_matrix`): halves, summed in half
    /// or single precision. The wgpu engine cannot check their accesses, and compiles them only
    /// [without checks](crate::gpu::KernelSource::without_checks): with
    /// [`RuntimeChecks::Always`](crate::gpu::RuntimeChecks::Always) its devices have none.
    pub cooperative_matrices: bool,
    /// True if the device's matrix units also multiply bfloat16: CUDA from compute capability 8.0 on, and Vulkan with
    /// `VK_KHR_shader_bfloat16` on a device that this crate opened.
    pub bfloat16_matrices: bool,
    /// True if kernels have the elements of cooperative matrices as values in registers, by
    /// [`wgsl_ptx::intrinsics::ELEMENTS_OF`] and its like: CUDA, and Vulkan on a device that this crate opened, if its driver has them in that
    /// order. Elsewhere these functions go through workgroup memory.
    pub matrix_elements: bool,
    /// True if the warpgroups of a workgroup multiply matrices in workgroup memory (`wgmma`): CUDA with compute capability 9.0, unless
    /// all kernels are checked at run time.
    pub warpgroup_matrices: bool,
    /// True if the device's matrix units also multiply `f32` that is rounded to TF32: CUDA from compute capability 8.0 on. See
    /// [`KernelSource::with_floats_as_tf32`](crate::gpu::KernelSource::with_floats_as_tf32).
    pub tf32_matrices: bool,
    /// True if the device times launches.
    pub timestamps: bool,
    /// True if the device times copies between host and device.
    pub copy_timestamps: bool,
    /// True if self-checked kernels are passed to the driver as SPIR-V with the memory scopes that WGSL specifies.
    pub spirv_passthrough: bool,
    /// True if kernels of pages work on memory that the host maps, so that pages are not copied between staging buffers and device
    /// memory: see [`SharedMemory`](crate::gpu::SharedMemory).
    pub shares_memory: bool,
    /// Time that one submission may take on a slow device: see
    /// [`DeviceRequest::longest_submission`](crate::gpu::DeviceRequest::longest_submission). `None`: any time.
    pub longest_submission: Option<Duration>,
    /// Device memory that was free when the device was opened, in bytes; `None` if the API does not report it. Work is
    /// divided into jobs of which several fit.
    pub free_memory_bytes: Option<u64>,
    /// The compute units; `None` if the API does not report them.
    pub compute_units: Option<ComputeUnits>,
    /// True if the driver clears workgroup memory that SPIR-V initializes with zeros.
    pub(crate) clears_workgroups: bool,
    /// Number of invocations of the smallest subgroup; 0 if unknown.
    pub(crate) min_subgroup: u32,
    /// Registers of an invocation.
    pub(crate) registers: Registers,
}

impl Capabilities {
    /// Returns the limits that jobs depend on.
    pub(crate) const fn limits(&self) -> Limits {
        Limits {
            binding_bytes: self.max_binding_bytes,
            invocations: self.max_workgroup_invocations,
            workgroup_bytes: self.max_workgroup_bytes,
            subgroup: self.min_subgroup,
            registers: self.registers,
            compute_units: self.compute_units,
            longest_submission: self.longest_submission,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_vendors_are_known_by_number_and_name() {
        let of = |vendor: &str| {
            GpuDeviceInfo {
                name: String::new(),
                vendor: vendor.to_owned(),
                engine: "wgpu",
                api: "vulkan",
                kind: DeviceKind::Unknown,
                driver: String::new(),
                subgroup_size: (0, 0),
            }
            .registers()
        };
        let fewest = ["arm", "0x13b5", "0x1010", "0x14e4"];
        assert!(fewest.iter().all(|vendor| of(vendor) == Registers::Fewest));
        let few = ["0x5143", "qualcomm", "0x106b", "apple", "0x8086", "intel"];
        assert!(few.iter().all(|vendor| of(vendor) == Registers::Few));
        let usual = ["0x1002", "amd", ""];
        assert!(usual.iter().all(|vendor| of(vendor) == Registers::Usual));
        let many = ["0x10de", "nvidia"];
        assert!(many.iter().all(|vendor| of(vendor) == Registers::Many));
    }
}
