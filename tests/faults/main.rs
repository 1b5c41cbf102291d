//! What becomes of calls when the device or the host cannot go on: memory runs out, the device is lost in the middle, hangs,
//! or cannot be opened. A call gives the right result or an error with a code; never a wrong result, a panic or a hang.
//!
//! `PAGEPRESS_LOST` is how often the device is lost, `PAGEPRESS_HOST_FAILURES` how many allocations of the host fail.
#![cfg(all(
    feature = "wgpu",
    feature = "fault-injection",
    not(target_arch = "wasm32")
))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod allocator;
mod calls;
mod child;
#[path = "../common/mod.rs"]
mod common;
mod device_memory;
mod host_calls;
mod host_memory;
mod lost;
mod opening;
mod sizes;
mod waits;

use pagepress::gpu::{DeviceRequest, EngineChoice, GpuDevice};

#[global_allocator]
static ALLOCATOR: allocator::Failing = allocator::Failing;

/// What to open: the engine named by `PAGEPRESS_ENGINE`, or wgpu.
fn request() -> DeviceRequest {
    DeviceRequest {
        engine: match std::env::var("PAGEPRESS_ENGINE").as_deref() {
            Ok("cuda") => EngineChoice::Cuda,
            _ => EngineChoice::Wgpu,
        },
        allow_software: true,
        ..DeviceRequest::default()
    }
}

fn open(request: &DeviceRequest) -> GpuDevice {
    GpuDevice::open(request).expect(
        "these tests need a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set VK_ICD_FILENAMES",
    )
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}
