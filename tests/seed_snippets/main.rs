//! Verbatim code of the documents from which the public names come. Only the path of the crate is changed, and
//! variables that a snippet does not define are defined for it.
//!
//! The code opens the best hardware GPU. If there is none, it must return an error, and its computations are tested on
//! a software adapter.
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

/// Returns the value of a snippet, or `None` if there is no hardware GPU and the snippet returned the error for that.
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

/// Replacement of `GpuDevice` on machines without a hardware GPU: the same calls open a software adapter.
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

/// Results of a snippet: a matrix product, the ReLU of an input, and a dot product.
type Found = ([f32; 4], [f32; 4], f32);

fn assert_right((result, output, dot): Found) {
    assert_eq!(result, [19.0, 22.0, 43.0, 50.0]);
    assert_eq!(output, [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(dot, 70.0);
}
