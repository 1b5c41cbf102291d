//! The code of the documents that the public names come from, as it stands there: only the path of the crate is changed, and
//! variables that a piece of code does not make are given to it.
//!
//! The code opens the best hardware GPU. Where there is none it must say so; what it computes is then computed on a software
//! GPU.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod backend;
mod compression;
#[cfg(cuda_engine)]
mod ptx;
mod tensors;

use std::error::Error as StdError;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{DeviceRequest, GpuDevice};

fn software() -> DeviceRequest {
    DeviceRequest {
        allow_software: true,
        ..DeviceRequest::default()
    }
}

fn any_device() -> GpuDevice {
    GpuDevice::open(&software()).expect(
        "these tests need a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set VK_ICD_FILENAMES",
    )
}

/// Where there is a GPU, the code ran; where there is none, it says so.
fn ran<T>(result: Result<T, Box<dyn StdError>>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!GpuDevice::is_available(), "{error}");
            let error = error.downcast::<pagepress::Error>().unwrap();
            assert_eq!(error.code(), "BACKEND_UNAVAILABLE");
            None
        }
    }
}

/// What stands in for `GpuDevice` where there is no hardware: the same calls open a software GPU.
struct Software;

#[expect(clippy::new_ret_no_self, reason = "it takes the place of another type")]
impl Software {
    fn new() -> pagepress::Result<GpuDevice> {
        GpuDevice::open(&software())
    }

    async fn new_async() -> pagepress::Result<GpuDevice> {
        GpuDevice::open_async(&software()).await
    }

    fn is_available() -> bool {
        true
    }

    async fn is_available_async() -> bool {
        true
    }
}

/// A product, what is left of an input, and a sum of products.
type Found = ([f32; 4], [f32; 4], f32);

fn assert_right((result, output, dot): Found) {
    assert_eq!(result, [19.0, 22.0, 43.0, 50.0]);
    assert_eq!(output, [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(dot, 70.0);
}
