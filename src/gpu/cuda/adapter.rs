//! Enumerates the GPUs of the CUDA driver and describes them.

use std::ffi::{CStr, c_char, c_int};

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::fault::{Failed, ok};
use super::{ENGINE, driver};
use crate::gpu::choice::LimitTier;
use crate::gpu::info::{Capabilities, DeviceKind, GpuDeviceInfo};
use crate::kernels::{ComputeUnits, Limits, Registers, STORAGE_BUFFERS};
use crate::{Error, Result};

/// Minimum compute capability that kernels are compiled for, times ten.
const MIN_SM: u32 = 75;

/// Maximum size of the range of a kernel argument: kernels count bytes of a buffer in 32 bits.
const MAX_BINDING_BYTES: u64 = u32::MAX as u64 - 3;

/// Maximum number of storage buffers: 16 bytes each of the 4 KiB of kernel parameters, the remainder is for uniform
/// blocks.
const MAX_STORAGE_BUFFERS: u32 = 128;

/// NVIDIA's vendor id on PCI.
const VENDOR: &str = "0x10de";

/// A GPU of the driver's list.
#[derive(Debug, Clone)]
pub(super) struct Adapter {
    pub ordinal: c_int,
    pub info: GpuDeviceInfo,
    /// Compute capability times ten: 90 is 9.0.
    pub sm: u32,
    /// PCI address, for example `0000:3b:00.0`.
    pub pci: String,
    attributes: Attributes,
}

#[derive(Debug, Clone, Copy)]
struct Attributes {
    workgroup_bytes: u32,
    workgroup_invocations: u32,
    max_grid: u32,
    compute_units: ComputeUnits,
}

/// Lists the GPUs of the CUDA driver, in its order.
///
/// # Errors
/// [`Error::BackendUnavailable`] with the reason: no driver, a driver that is too old, no GPU.
pub fn list() -> Result<Vec<GpuDeviceInfo>> {
    Ok(adapters()?
        .into_iter()
        .map(|adapter| adapter.info)
        .collect())
}

/// Lists the GPUs with the attributes that opening one needs.
pub(super) fn adapters() -> Result<Vec<Adapter>> {
    let version = driver::version().map_err(unavailable)?;
    let mut count = 0;
    // SAFETY: `count` outlives the call; the driver is ready.
    ok("cuDeviceGetCount", unsafe {
        sys::cuDeviceGetCount(&raw mut count)
    })
    .map_err(failed)?;
    if count == 0 {
        return Err(unavailable("the CUDA driver finds no NVIDIA GPU".into()));
    }
    (0..count)
        .map(|ordinal| describe(ordinal, version).map_err(failed))
        .collect()
}

/// Returns the GPU at `index`, if kernels can be compiled for it.
pub(super) fn adapter(index: usize) -> Result<Adapter> {
    let mut adapters = adapters()?;
    let n_adapters = adapters.len();
    if index >= n_adapters {
        let found = if n_adapters == 1 {
            "1 GPU".to_owned()
        } else {
            format!("{n_adapters} GPUs")
        };
        return Err(unavailable(format!(
            "there is no GPU {index}: CUDA finds {found}"
        )));
    }
    let adapter = adapters.swap_remove(index);
    if adapter.sm < MIN_SM {
        return Err(unavailable(format!(
            "{} has compute capability {}.{}, {}.{} is needed",
            adapter.info,
            adapter.sm / 10,
            adapter.sm % 10,
            MIN_SM / 10,
            MIN_SM % 10
        )));
    }
    Ok(adapter)
}

pub(super) fn unavailable(reason: String) -> Error {
    Error::BackendUnavailable {
        backend: ENGINE,
        reason,
    }
}

fn failed(failed: Failed) -> Error {
    unavailable(super::fault::describe(&failed))
}

fn describe(ordinal: c_int, version: i32) -> Result<Adapter, Failed> {
    let mut device = 0;
    // SAFETY: `device` outlives the call.
    ok("cuDeviceGet", unsafe {
        sys::cuDeviceGet(&raw mut device, ordinal)
    })?;
    let positive = |attribute| attribute_of(device, attribute).map(|value| value.max(0) as u32);
    let integrated = attribute_of(device, Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0;
    let major = positive(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = positive(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let warp = positive(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?;
    let attributes = Attributes {
        workgroup_bytes: positive(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        workgroup_invocations: positive(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_grid: positive(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
        compute_units: ComputeUnits {
            n: positive(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            workgroup_bytes: positive(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
        },
    };
    let name = text("cuDeviceGetName", |buffer, n_bytes| {
        // SAFETY: the driver writes at most `n_bytes` to `buffer`, including the terminator.
        unsafe { sys::cuDeviceGetName(buffer, n_bytes, device) }
    })?;
    let pci = text("cuDeviceGetPCIBusId", |buffer, n_bytes| {
        // SAFETY: the driver writes at most `n_bytes` to `buffer`, including the terminator.
        unsafe { sys::cuDeviceGetPCIBusId(buffer, n_bytes, device) }
    })?;
    Ok(Adapter {
        ordinal,
        info: GpuDeviceInfo {
            name,
            vendor: VENDOR.into(),
            engine: ENGINE,
            api: ENGINE,
            kind: if integrated {
                DeviceKind::Integrated
            } else {
                DeviceKind::Discrete
            },
            driver: format!("CUDA {}", driver::readable(version)),
            subgroup_size: (warp, warp),
        },
        sm: 10 * major + minor,
        pci,
        attributes,
    })
}

fn attribute_of(device: sys::CUdevice, attribute: Attribute) -> Result<c_int, Failed> {
    let mut value = 0;
    // SAFETY: `value` outlives the call; `device` came from `cuDeviceGet`.
    ok("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&raw mut value, attribute, device)
    })?;
    Ok(value)
}

/// Returns the string that a driver call writes.
fn text(
    call: &'static str,
    write: impl FnOnce(*mut c_char, c_int) -> sys::CUresult,
) -> Result<String, Failed> {
    const MOST: usize = 256;
    let mut buffer = [0u8; MOST];
    ok(call, write(buffer.as_mut_ptr().cast(), MOST as c_int))?;
    let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

impl Adapter {
    /// Returns the capabilities of the GPU, with `free` of `total` bytes of memory.
    pub(super) fn capabilities(&self, free: u64, total: u64, tier: LimitTier) -> Capabilities {
        let own = Capabilities {
            max_binding_bytes: MAX_BINDING_BYTES.min(total / 4 * 4),
            max_buffer_bytes: total / 4 * 4,
            max_workgroup_bytes: self.attributes.workgroup_bytes,
            max_workgroup_invocations: self.attributes.workgroup_invocations,
            max_grid: self.attributes.max_grid,
            max_storage_buffers: MAX_STORAGE_BUFFERS,
            subgroups: true,
            int64: true,
            float16: true,
            cooperative_matrices: self.sm >= 75,
            bfloat16_matrices: self.sm >= 80,
            matrix_elements: self.sm >= 75,
            warpgroup_matrices: self.sm == 90,
            tf32_matrices: self.sm >= 80,
            timestamps: true,
            copy_timestamps: true,
            spirv_passthrough: false,
            shares_memory: false,
            longest_submission: None,
            free_memory_bytes: Some(free),
            compute_units: Some(self.attributes.compute_units),
            clears_workgroups: false,
            min_subgroup: 32,
            registers: Registers::Many,
        };
        match tier {
            LimitTier::Adapter => own,
            LimitTier::BindingsUpTo(_) => Capabilities {
                max_binding_bytes: tier.binding_bytes(own.max_binding_bytes),
                ..own
            },
            LimitTier::FewestRegisters => Capabilities {
                registers: Registers::Fewest,
                ..own
            },
            LimitTier::WebGpuDefault => Capabilities {
                max_binding_bytes: 128 << 20,
                max_buffer_bytes: 256 << 20,
                max_workgroup_bytes: 16 << 10,
                max_workgroup_invocations: 256,
                max_storage_buffers: 8,
                compute_units: None,
                ..own
            },
            LimitTier::Lowest => Capabilities {
                max_storage_buffers: STORAGE_BUFFERS,
                max_workgroup_bytes: Limits::LEAST.workgroup_bytes,
                max_workgroup_invocations: Limits::LEAST.invocations,
                registers: Limits::LEAST.registers,
                ..self.capabilities(free, total, LimitTier::WebGpuDefault)
            },
        }
    }
}
