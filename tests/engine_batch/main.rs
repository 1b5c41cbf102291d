//! The codec on a GPU through wgpu: frames, streams, loss of the device, choice of the engine.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod batches;
#[path = "../common/mod.rs"]
mod common;
mod frames;
mod large_frames;

use common::pages::GENERATORS;
use pagepress::batch::Codec;
use pagepress::gpu::{DeviceRequest, EngineChoice, GpuDevice};

fn device() -> GpuDevice {
    let request = DeviceRequest {
        engine: EngineChoice::Wgpu,
        allow_software: true,
        ..DeviceRequest::default()
    };
    GpuDevice::open(&request).expect(
        "these tests need a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set VK_ICD_FILENAMES",
    )
}

fn codec() -> Codec {
    Codec::with_device(device()).unwrap()
}

fn content(n_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, (_, make)) in GENERATORS.iter().cycle().enumerate() {
        if bytes.len() >= n_bytes {
            break;
        }
        bytes.extend(make(5000 + 37 * i, i as u64));
    }
    bytes.truncate(n_bytes);
    bytes
}
