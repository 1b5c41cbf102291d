//! Devices and buffers that the caller opened with wgpu itself.

use super::adapter;
use super::device::WgpuDevice;
use super::limits;
use super::memory::{FOR_KERNELS, WgpuBuffer};
use crate::Result;
use crate::gpu::check;
use crate::gpu::choice::DeviceRequest;

impl WgpuDevice {
    /// Wraps a device that the caller opened: see [`GpuDevice::from_wgpu`](crate::gpu::GpuDevice::from_wgpu).
    pub(crate) fn from_wgpu(
        device: wgpu::Device,
        queue: wgpu::Queue,
        request: &DeviceRequest,
    ) -> Result<Self> {
        let mut limits = device.limits();
        if let Some(value) = limits::missing(&limits) {
            let expected = "open it with wgpu::Limits::default() or higher limits";
            return Err(check::invalid("device", value, expected));
        }
        let own = limits.max_storage_buffer_binding_size;
        limits.max_storage_buffer_binding_size = request.limits.binding_bytes(own);
        let adapter = device.adapter_info();
        let features = limits::usable(device.features(), &adapter, request);
        let info = adapter::describe(&adapter);
        let is_external = true;
        Ok(Self::of(
            (device, queue),
            info,
            &limits,
            limits::capabilities(&limits, features, request),
            request,
            is_external,
        ))
    }

    /// Returns true if the caller owns the device, so that it is neither destroyed nor reopened here.
    pub(crate) fn is_external(&self) -> bool {
        self.0.is_external
    }

    /// Wraps a buffer that the caller created: see [`Buffer::from_wgpu`](crate::gpu::Buffer::from_wgpu).
    pub(crate) fn buffer_from_wgpu(
        &self,
        buffer: wgpu::Buffer,
        n_bytes: u64,
    ) -> Result<WgpuBuffer> {
        if !buffer.usage().contains(FOR_KERNELS) {
            let value = format!("one with usage {:?}", buffer.usage());
            let expected = "give a buffer with the usages STORAGE, COPY_SRC and COPY_DST";
            return Err(check::invalid("buffer", value, expected));
        }
        check::size(n_bytes, self.0.capabilities.max_buffer_bytes)?;
        // Kernels without the engine's bounds checks read past the end of a buffer.
        let slack = match self.0.may_leave_out_checks {
            true => check::SLACK_BYTES,
            false => 0,
        };
        if buffer.size() < n_bytes + slack {
            let value = format!("one of {} bytes for {n_bytes} bytes", buffer.size());
            let expected = "make it 64 bytes larger than what kernels use of it, or open the device with RuntimeChecks::Always";
            return Err(check::invalid("buffer", value, expected));
        }
        Ok(WgpuBuffer::external(&self.0, buffer, n_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::choice::SharedMemory;

    #[test]
    fn limits_below_those_of_webgpu_are_named() {
        assert_eq!(limits::missing(&wgpu::Limits::defaults()), None);
        let low = wgpu::Limits::downlevel_defaults();
        let missing = limits::missing(&low).unwrap();
        assert!(
            missing.contains("max_storage_buffers_per_shader_stage 4"),
            "{missing}"
        );
    }

    #[test]
    fn spirv_is_used_on_vulkan_only() {
        let all = wgpu::Features::PASSTHROUGH_SHADERS | wgpu::Features::SUBGROUP;
        let request = DeviceRequest::default();
        let of = |backend| wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, backend);
        let on_vulkan = limits::usable(all, &of(wgpu::Backend::Vulkan), &request);
        assert_eq!(on_vulkan, all);
        let on_metal = limits::usable(all, &of(wgpu::Backend::Metal), &request);
        assert_eq!(on_metal, wgpu::Features::SUBGROUP);
    }

    #[test]
    fn buffers_are_mapped_where_there_is_one_memory() {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
        let mapped = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
        let of = |kind, shared_memory| {
            let adapter = wgpu::AdapterInfo::new(kind, wgpu::Backend::Vulkan);
            let request = DeviceRequest {
                shared_memory,
                ..DeviceRequest::default()
            };
            limits::usable(mapped, &adapter, &request) == mapped
        };
        for kind in [IntegratedGpu, Cpu] {
            assert!(of(kind, SharedMemory::WhereOffered) && !of(kind, SharedMemory::Never));
        }
        for kind in [DiscreteGpu, VirtualGpu, Other] {
            assert!(!of(kind, SharedMemory::WhereOffered));
        }
    }
}
