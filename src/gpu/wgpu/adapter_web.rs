//! Requests adapters of the browser, one after the other until one can be opened, and describes them.

use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::answer::{answering, request_adapter, returning};
use crate::gpu::choice::PowerPreference;
use crate::gpu::info::{DeviceKind, GpuDeviceInfo};

/// A request for an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// WebGPU, with a power preference.
    Core(PowerPreference),
    /// WebGPU's compatibility mode, for GPUs without Vulkan, Metal or D3D12. Browsers that do not know it give the adapter of WebGPU.
    Compatibility,
}

impl Ask {
    /// Returns the requests to make, in order.
    pub(super) const fn all(preference: PowerPreference) -> [Self; 3] {
        let other = match preference {
            PowerPreference::HighPerformance => PowerPreference::LowPower,
            PowerPreference::LowPower => PowerPreference::HighPerformance,
        };
        [
            Self::Core(preference),
            Self::Core(other),
            Self::Compatibility,
        ]
    }

    /// Returns the name of the request for reports.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Core(PowerPreference::HighPerformance) => "high-performance adapter",
            Self::Core(PowerPreference::LowPower) => "low-power adapter",
            Self::Compatibility => "adapter in compatibility mode",
        }
    }

    /// Requests the adapter. The first requests after a page load may yield none, so it retries a few times.
    pub(super) async fn adapter(self, tries: u32) -> Option<wgpu::Adapter> {
        for _ in 0..tries {
            let found = match self {
                Self::Core(preference) => core(preference).await,
                Self::Compatibility => in_compatibility_mode().await,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

async fn core(preference: PowerPreference) -> Option<wgpu::Adapter> {
    let (_, instance) = instance()?;
    let options = wgpu::RequestAdapterOptions {
        power_preference: match preference {
            PowerPreference::HighPerformance => wgpu::PowerPreference::HighPerformance,
            PowerPreference::LowPower => wgpu::PowerPreference::LowPower,
        },
        ..wgpu::RequestAdapterOptions::default()
    };
    instance.request_adapter(&options).await.ok()
}

/// Requests an adapter in compatibility mode, for which wgpu has no option.
async fn in_compatibility_mode() -> Option<wgpu::Adapter> {
    let (gpu, _) = instance()?;
    let options = Object::new();
    let level = JsValue::from_str("compatibility");
    Reflect::set(&options, &JsValue::from_str("featureLevel"), &level).ok()?;
    let found = JsFuture::from(request_adapter(&gpu, &options)?)
        .await
        .ok()?;
    // Null, if there is none.
    answered(found.dyn_ref()?).await
}

/// Returns the `navigator.gpu` of this host, if it has one, and wgpu's instance on it.
fn instance() -> Option<(JsValue, wgpu::Instance)> {
    const WORKER: &str = "WorkerGlobalScope";
    let get = |of: &JsValue, name: &str| Reflect::get(of, &JsValue::from_str(name));
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
            let any = Object::new();
            answering(&global, WORKER, any.unchecked_ref(), new)?
        }
    };
    Some((gpu, instance))
}

/// Returns a wgpu adapter over `adapter`, an object with the properties of `GPUAdapter` that wgpu reads.
pub(super) async fn answered(adapter: &Object) -> Option<wgpu::Adapter> {
    let (gpu, instance) = instance()?;
    let answer = returning(&Promise::resolve(adapter));
    let asked = answering(&gpu, "requestAdapter", &answer, || {
        instance.request_adapter(&wgpu::RequestAdapterOptions::default())
    });
    asked?.await.ok()
}

/// Adds to `info` the fields that only the browser's device object has.
pub(super) fn describe_web(device: &wgpu::Device, mut info: GpuDeviceInfo) -> GpuDeviceInfo {
    let key = |name: &str| JsValue::from_str(name);
    let device = device.as_webgpu().map(AsRef::as_ref);
    let adapter = device.and_then(|device| Reflect::get(device, &key("adapterInfo")).ok());
    let Some(adapter) = adapter.filter(JsValue::is_object) else {
        return info;
    };
    let text = |name: &str| {
        let value = Reflect::get(&adapter, &key(name));
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
    let is_fallback = Reflect::get(&adapter, &key("isFallbackAdapter"));
    if text("architecture") == "swiftshader" || is_fallback.is_ok_and(|value| value.is_truthy()) {
        info.kind = DeviceKind::Software;
    }
    info
}
