//! Enumerates the adapters of wgpu and describes them. GL is excluded: its drivers crash on some machines.

#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::choice::PowerPreference;
use crate::gpu::info::{DeviceKind, GpuDeviceInfo};

/// Lists all adapters, best kind first, else in the order of the drivers.
#[cfg(not(target_arch = "wasm32"))]
pub(super) async fn list() -> Vec<wgpu::Adapter> {
    use super::choose::rank;
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters = instance.enumerate_adapters(backends).await;
    adapters.sort_by_key(|adapter| {
        rank(
            describe(&adapter.get_info()).kind,
            PowerPreference::HighPerformance,
        )
    });
    adapters
}

/// Converts wgpu's description of an adapter.
pub(super) fn describe(info: &wgpu::AdapterInfo) -> GpuDeviceInfo {
    GpuDeviceInfo {
        name: info.name.clone(),
        vendor: if info.vendor == 0 {
            String::new()
        } else {
            format!("{:#06x}", info.vendor)
        },
        engine: super::ENGINE,
        api: match info.backend {
            wgpu::Backend::Vulkan => "vulkan",
            wgpu::Backend::Metal => "metal",
            wgpu::Backend::Dx12 => "dx12",
            wgpu::Backend::BrowserWebGpu => "webgpu",
            wgpu::Backend::Gl => "gl",
            wgpu::Backend::Noop => "noop",
        },
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
            wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
            wgpu::DeviceType::Other => DeviceKind::Unknown,
            wgpu::DeviceType::Cpu => DeviceKind::Software,
        },
        driver: [info.driver.as_str(), info.driver_info.as_str()]
            .join(" ")
            .trim()
            .to_owned(),
        subgroup_size: (info.subgroup_min_size, info.subgroup_max_size),
    }
}
