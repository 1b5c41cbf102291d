//! Features and limits that a device is opened with, and the capabilities that follow for kernels.

use crate::gpu::check;
use crate::gpu::choice::{DeviceRequest, LimitTier, RuntimeChecks, SharedMemory, SpirvPassthrough};
use crate::gpu::info::Capabilities;
use crate::kernels::{Limits, Registers, STORAGE_BUFFERS};

/// Returns the features to open a device with, of those that the adapter has.
pub(super) fn features(adapter: &wgpu::Adapter, request: &DeviceRequest) -> wgpu::Features {
    let mut wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SHADER_F16;
    if cfg!(not(target_arch = "wasm32")) {
        wanted |= wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | wgpu::Features::SUBGROUP
            | wgpu::Features::SUBGROUP_BARRIER
            | wgpu::Features::SHADER_INT64;
        if has_cooperative_matrices(adapter) {
            wanted |= wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
        }
        wanted |= wgpu::Features::PASSTHROUGH_SHADERS | wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    }
    usable(wanted & adapter.features(), &adapter.get_info(), request)
}

/// Returns true if the adapter multiplies matrices of 16x16 halves, and sums in half and in single precision.
fn has_cooperative_matrices(adapter: &wgpu::Adapter) -> bool {
    use wgpu::CooperativeScalarType::{F16, F32};
    let offered = adapter.cooperative_matrix_properties();
    [F16, F32].into_iter().all(|sum| {
        offered.iter().any(|one| {
            (one.m_size, one.n_size, one.k_size) == (16, 16, 16)
                && (one.ab_type, one.cr_type) == (F16, sum)
        })
    })
}

/// Returns `features` without those that this crate must not use on this adapter: its SPIR-V is valid for Vulkan only, and
/// kernels would access mapped buffers across the bus of a GPU with memory of its own.
pub(super) fn usable(
    mut features: wgpu::Features,
    adapter: &wgpu::AdapterInfo,
    request: &DeviceRequest,
) -> wgpu::Features {
    let takes_spirv = adapter.backend == wgpu::Backend::Vulkan
        && request.spirv_passthrough == SpirvPassthrough::WhereOffered;
    if !takes_spirv {
        features.remove(wgpu::Features::PASSTHROUGH_SHADERS);
    }
    let has_one_memory = matches!(
        adapter.device_type,
        wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::Cpu
    );
    if !has_one_memory || request.shared_memory == SharedMemory::Never {
        features.remove(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS);
    }
    features
}

/// Returns the first limit that is lower than kernels need, by name and value.
pub(super) fn missing(limits: &wgpu::Limits) -> Option<String> {
    let needed = lowest(wgpu::Limits::defaults());
    let pairs = [
        (
            "max_storage_buffers_per_shader_stage",
            limits.max_storage_buffers_per_shader_stage,
            needed.max_storage_buffers_per_shader_stage,
        ),
        (
            "max_compute_workgroup_storage_size",
            limits.max_compute_workgroup_storage_size,
            needed.max_compute_workgroup_storage_size,
        ),
        (
            "max_compute_invocations_per_workgroup",
            limits.max_compute_invocations_per_workgroup,
            needed.max_compute_invocations_per_workgroup,
        ),
        (
            "max_compute_workgroup_size_x",
            limits.max_compute_workgroup_size_x,
            needed.max_compute_workgroup_size_x,
        ),
        (
            "max_compute_workgroups_per_dimension",
            limits.max_compute_workgroups_per_dimension,
            needed.max_compute_workgroups_per_dimension,
        ),
    ];
    let low = pairs.iter().find(|(_, actual, needed)| actual < needed)?;
    Some(format!("one with {} {}, below {}", low.0, low.1, low.2))
}

/// Returns limits with those for workgroups and storage buffers lowered to what all kernels run within.
fn lowest(limits: wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_compute_workgroup_storage_size: Limits::LEAST.workgroup_bytes,
        max_compute_invocations_per_workgroup: Limits::LEAST.invocations,
        max_compute_workgroup_size_x: Limits::LEAST.invocations,
        max_compute_workgroup_size_y: Limits::LEAST.invocations,
        max_storage_buffers_per_shader_stage: STORAGE_BUFFERS,
        ..limits
    }
}

/// Storage buffers of a kernel that are asked of a device.
const MAX_STORAGE_BUFFERS: u32 = 32;

/// Returns the default limits of WebGPU, raised to the adapter's own for buffers and workgroups, and lowered to them where
/// the adapter has less, as Mali GPUs for textures. [`missing`] names those that kernels need.
pub(super) fn wanted(adapter: &wgpu::Limits, tier: LimitTier) -> wgpu::Limits {
    let mut limits = wgpu::Limits::defaults().or_worse_values_from(adapter);
    if tier == LimitTier::Lowest {
        limits = lowest(limits);
    } else if tier != LimitTier::WebGpuDefault {
        limits.max_buffer_size = adapter.max_buffer_size;
        // Kernels of users may have more buffers than WebGPU's 8. Some drivers report millions.
        limits.max_storage_buffers_per_shader_stage = adapter
            .max_storage_buffers_per_shader_stage
            .min(MAX_STORAGE_BUFFERS);
        limits.max_storage_buffer_binding_size = adapter.max_storage_buffer_binding_size;
        limits.max_compute_workgroup_storage_size = adapter.max_compute_workgroup_storage_size;
        limits.max_compute_invocations_per_workgroup =
            adapter.max_compute_invocations_per_workgroup;
        limits.max_compute_workgroup_size_x = adapter.max_compute_workgroup_size_x;
    }
    limits.max_storage_buffer_binding_size =
        tier.binding_bytes(limits.max_storage_buffer_binding_size);
    limits
}

/// Returns true if kernels that check themselves are compiled without the engine's checks.
pub(super) fn leaves_out_checks(request: &DeviceRequest) -> bool {
    cfg!(not(target_arch = "wasm32")) && request.runtime_checks == RuntimeChecks::WhereNeeded
}

/// Returns true if devices of the adapter clear workgroup memory that SPIR-V initializes with zeros. Vulkan 1.3 requires the feature
/// (`shaderZeroInitializeWorkgroupMemory`), and wgpu enables it where the adapter has it.
#[cfg(vulkan_engine)]
pub(super) fn clears_workgroups(adapter: &wgpu::Adapter) -> bool {
    // SAFETY: the adapter behind the guard is only queried.
    let hal = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() };
    hal.is_some_and(|hal| {
        let properties = hal.physical_device_capabilities().properties();
        properties.api_version >= ash::vk::API_VERSION_1_3
    })
}

/// Returns false: only Vulkan takes SPIR-V.
#[cfg(not(vulkan_engine))]
pub(super) const fn clears_workgroups(_: &wgpu::Adapter) -> bool {
    false
}

/// Returns the capabilities of a device with these limits and features. Accesses of cooperative matrices cannot be checked.
pub(super) fn capabilities(
    limits: &wgpu::Limits,
    features: wgpu::Features,
    request: &DeviceRequest,
) -> Capabilities {
    Capabilities {
        // Bindings are multiples of 4 bytes; some drivers report a limit that is not.
        max_binding_bytes: limits.max_storage_buffer_binding_size / 4 * 4,
        // Unchecked kernels may read beyond the end of a buffer.
        max_buffer_bytes: match cfg!(target_arch = "wasm32") {
            true => limits.max_buffer_size / 4 * 4,
            false => limits.max_buffer_size.saturating_sub(check::SLACK_BYTES) / 4 * 4,
        },
        max_workgroup_bytes: limits.max_compute_workgroup_storage_size,
        // Workgroups of the crate's kernels have one dimension.
        max_workgroup_invocations: limits
            .max_compute_invocations_per_workgroup
            .min(limits.max_compute_workgroup_size_x),
        max_grid: limits.max_compute_workgroups_per_dimension,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        subgroups: features.contains(wgpu::Features::SUBGROUP),
        int64: features.contains(wgpu::Features::SHADER_INT64),
        float16: features.contains(wgpu::Features::SHADER_F16),
        cooperative_matrices: features.contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX)
            && leaves_out_checks(request),
        bfloat16_matrices: false,
        matrix_elements: false,
        warpgroup_matrices: false,
        tf32_matrices: false,
        timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
        copy_timestamps: features.contains(
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS,
        ),
        spirv_passthrough: features.contains(wgpu::Features::PASSTHROUGH_SHADERS),
        shares_memory: features.contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS),
        longest_submission: None,
        free_memory_bytes: None,
        compute_units: None,
        clears_workgroups: false,
        min_subgroup: 0,
        registers: Registers::Usual,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(target_arch = "wasm32"))]
    fn devices_that_check_every_kernel_have_no_cooperative_matrices() {
        let has_matrices = |runtime_checks| {
            let request = DeviceRequest {
                runtime_checks,
                ..DeviceRequest::default()
            };
            let features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
            capabilities(&wgpu::Limits::defaults(), features, &request).cooperative_matrices
        };
        assert!(has_matrices(RuntimeChecks::WhereNeeded));
        assert!(!has_matrices(RuntimeChecks::Always));
    }

    #[test]
    fn limits_are_those_that_the_adapter_has() {
        let adapter = wgpu::Limits {
            max_texture_dimension_3d: 512,
            max_storage_buffer_binding_size: 1 << 30,
            ..wgpu::Limits::defaults()
        };
        for tier in [
            LimitTier::Lowest,
            LimitTier::WebGpuDefault,
            LimitTier::default(),
        ] {
            let limits = wanted(&adapter, tier);
            assert!(limits.check_limits(&adapter), "{tier:?}: {limits:?}");
            assert_eq!(missing(&limits), None, "{tier:?}");
        }
        let small = wgpu::Limits {
            max_compute_invocations_per_workgroup: 32,
            ..adapter
        };
        let missing = missing(&wanted(&small, LimitTier::default())).unwrap();
        assert!(
            missing.contains("invocations_per_workgroup 32"),
            "{missing}"
        );
    }
}
