//! Features and limits: which ones a device is opened with, and what they mean for kernels.

use crate::gpu::check;
use crate::gpu::choice::{DeviceRequest, LimitTier, SpirvPassthrough};
use crate::gpu::info::Capabilities;

/// The features that a device is opened with, of those that the adapter has.
pub(super) fn features(adapter: &wgpu::Adapter, request: &DeviceRequest) -> wgpu::Features {
    let mut wanted = wgpu::Features::TIMESTAMP_QUERY;
    if cfg!(not(target_arch = "wasm32")) {
        wanted |= wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | wgpu::Features::SUBGROUP
            | wgpu::Features::SUBGROUP_BARRIER
            | wgpu::Features::SHADER_INT64;
        let vulkan = adapter.get_info().backend == wgpu::Backend::Vulkan;
        if vulkan && request.spirv_passthrough == SpirvPassthrough::WhereOffered {
            wanted |= wgpu::Features::PASSTHROUGH_SHADERS;
        }
    }
    wanted & adapter.features()
}

/// The default limits of WebGPU, raised to the adapter's own where size matters.
pub(super) fn wanted(adapter: &wgpu::Limits, tier: LimitTier) -> wgpu::Limits {
    let mut limits = wgpu::Limits::defaults();
    if tier != LimitTier::WebGpuDefault {
        limits.max_buffer_size = adapter.max_buffer_size.max(limits.max_buffer_size);
        limits.max_storage_buffer_binding_size = adapter
            .max_storage_buffer_binding_size
            .max(limits.max_storage_buffer_binding_size);
        limits.max_compute_workgroup_storage_size = adapter
            .max_compute_workgroup_storage_size
            .max(limits.max_compute_workgroup_storage_size);
        limits.max_compute_invocations_per_workgroup = adapter
            .max_compute_invocations_per_workgroup
            .max(limits.max_compute_invocations_per_workgroup);
        limits.max_compute_workgroup_size_x = adapter
            .max_compute_workgroup_size_x
            .max(limits.max_compute_workgroup_size_x);
    }
    limits.max_storage_buffer_binding_size =
        tier.binding_bytes(limits.max_storage_buffer_binding_size);
    limits
}

/// What kernels may use on a device with these limits and features.
pub(super) fn capabilities(limits: &wgpu::Limits, features: wgpu::Features) -> Capabilities {
    Capabilities {
        // Bindings are multiples of 4 bytes; some drivers report a limit that is not.
        max_binding_bytes: limits.max_storage_buffer_binding_size / 4 * 4,
        // Kernels without checks may read behind a buffer.
        max_buffer_bytes: match cfg!(target_arch = "wasm32") {
            true => limits.max_buffer_size / 4 * 4,
            false => limits.max_buffer_size.saturating_sub(check::SLACK_BYTES) / 4 * 4,
        },
        max_workgroup_bytes: limits.max_compute_workgroup_storage_size,
        max_workgroup_invocations: limits.max_compute_invocations_per_workgroup,
        max_grid: limits.max_compute_workgroups_per_dimension,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        subgroups: features.contains(wgpu::Features::SUBGROUP),
        int64: features.contains(wgpu::Features::SHADER_INT64),
        timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
        copy_timestamps: features.contains(
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS,
        ),
        spirv_passthrough: features.contains(wgpu::Features::PASSTHROUGH_SHADERS),
        free_memory_bytes: None,
        processors: None,
    }
}
