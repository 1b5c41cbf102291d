//! Calls under faults: memory runs out, the device is lost during the call, hangs, or cannot be opened. A call returns
//! the right result or an error with a code; it never returns a wrong result, panics or hangs.
//!
//! `PAGEPRESS_LOST` is the number of device losses, 100 by default; `PAGEPRESS_HOST_FAILURES` is the maximum number of
//! host allocations of each call that fail, 20 by default.
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

/// Returns a request for the engine that `PAGEPRESS_ENGINE` names, or for wgpu.
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

/// Returns the number in the environment variable `name`, or `default` if it is not set.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}
