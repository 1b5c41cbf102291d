//! Enumerates the adapters of wgpu and describes them. GL is excluded: its drivers crash on some machines.

use crate::gpu::choice::{DeviceRequest, PowerPreference};
use crate::gpu::info::{DeviceKind, GpuDeviceInfo};

/// Lists all adapters, best kind first, else in the order of the drivers.
#[cfg(not(target_arch = "wasm32"))]
pub(super) async fn list(_request: &DeviceRequest) -> Vec<wgpu::Adapter> {
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

/// Requests the adapter of the browser. The first requests after a page load may yield none, so it retries a few times.
#[cfg(target_arch = "wasm32")]
pub(super) async fn list(request: &DeviceRequest) -> Vec<wgpu::Adapter> {
    const TRIES: u32 = 4;
    let Some((_, instance)) = instance() else {
        return Vec::new();
    };
    let options = wgpu::RequestAdapterOptions {
        power_preference: match request.power_preference {
            PowerPreference::HighPerformance => wgpu::PowerPreference::HighPerformance,
            PowerPreference::LowPower => wgpu::PowerPreference::LowPower,
        },
        ..wgpu::RequestAdapterOptions::default()
    };
    for _ in 0..TRIES {
        if let Ok(adapter) = instance.request_adapter(&options).await {
            return vec![adapter];
        }
    }
    Vec::new()
}

/// Returns the `navigator.gpu` of this host, if it has one, and wgpu's instance on it.
#[cfg(target_arch = "wasm32")]
fn instance() -> Option<(wasm_bindgen::JsValue, wgpu::Instance)> {
    use wasm_bindgen::{JsCast, JsValue};
    const WORKER: &str = "WorkerGlobalScope";
    let get = |of: &JsValue, name: &str| js_sys::Reflect::get(of, &JsValue::from_str(name));
    let global: JsValue = js_sys::global().into();
    let navigator = get(&global, "navigator").ok()?;
    let gpu = get(&navigator, "gpu").ok().filter(JsValue::is_object)?;
    let new = || {
        wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::BROWSER_WEBGPU,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        })
    };
    let is_known = |name: &str| get(&global, name).is_ok_and(|class| !class.is_undefined());
    // wgpu panics in a host that is neither, such as Node and Deno.
    let instance = match is_known("Window") || is_known(WORKER) {
        true => new(),
        false => {
            let any = js_sys::Object::new();
            super::answer::answering(&global, WORKER, any.unchecked_ref(), new)?
        }
    };
    Some((gpu, instance))
}

/// Returns a wgpu adapter over `adapter`, an object with the properties of `GPUAdapter` that wgpu reads.
#[cfg(web_module)]
pub(super) async fn answered(adapter: &js_sys::Object) -> Option<wgpu::Adapter> {
    let (gpu, instance) = instance()?;
    let answer = super::answer::returning(&js_sys::Promise::resolve(adapter));
    let asked = super::answer::answering(&gpu, "requestAdapter", &answer, || {
        instance.request_adapter(&wgpu::RequestAdapterOptions::default())
    });
    asked?.await.ok()
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

/// Adds to `info` the fields that only the browser's device object has.
#[cfg(target_arch = "wasm32")]
pub(super) fn describe_web(device: &wgpu::Device, mut info: GpuDeviceInfo) -> GpuDeviceInfo {
    let key = |name: &str| wasm_bindgen::JsValue::from_str(name);
    let device = device.as_webgpu().map(AsRef::as_ref);
    let adapter = device.and_then(|device| js_sys::Reflect::get(device, &key("adapterInfo")).ok());
    let Some(adapter) = adapter.filter(wasm_bindgen::JsValue::is_object) else {
        return info;
    };
    let text = |name: &str| {
        let value = js_sys::Reflect::get(&adapter, &key(name));
        value
            .ok()
            .and_then(|value| value.as_string())
            .unwrap_or_default()
    };
    info.vendor = text("vendor");
    if info.name.is_empty() {
        info.name = [info.vendor.as_str(), &text("architecture")]
            .join(" ")
            .trim()
            .to_owned();
    }
    if text("architecture") == "swiftshader" {
        info.kind = DeviceKind::Software;
    }
    info
}
