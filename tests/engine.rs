//! The wgpu engine alone: small kernels on any adapter of the machine, including software adapters.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use common::engine::{self, expected, squares};
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuDevice, LimitTier, RuntimeChecks, SpirvPassthrough,
};

fn request() -> DeviceRequest {
    DeviceRequest {
        engine: EngineChoice::Wgpu,
        allow_software: true,
        ..DeviceRequest::default()
    }
}

fn open(request: &DeviceRequest) -> GpuDevice {
    GpuDevice::open(request).expect(
        "these tests need a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set VK_ICD_FILENAMES",
    )
}

#[test]
fn a_kernel_runs_on_every_path_with_the_same_result() {
    for limits in [
        LimitTier::Adapter,
        LimitTier::WebGpuDefault,
        LimitTier::Lowest,
    ] {
        for runtime_checks in [RuntimeChecks::WhereNeeded, RuntimeChecks::Always] {
            for spirv_passthrough in [SpirvPassthrough::WhereOffered, SpirvPassthrough::Never] {
                let device = open(&DeviceRequest {
                    limits,
                    runtime_checks,
                    spirv_passthrough,
                    ..request()
                });
                if spirv_passthrough == SpirvPassthrough::Never {
                    assert!(!device.capabilities().spirv_passthrough);
                }
                for self_checked in [false, true] {
                    let found = squares(&device, 64 * 100, self_checked).unwrap();
                    assert_eq!(
                        found,
                        expected(6400, 3, 7),
                        "{limits:?} {runtime_checks:?} {spirv_passthrough:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_adapter_describes_itself() {
    let device = open(&request());
    let info = device.info();
    println!(
        "{info}, driver {}, subgroups {:?}",
        info.driver, info.subgroup_size
    );
    println!("{:?}", device.capabilities());
    assert_eq!(device.name(), "wgpu");
    assert_eq!(info.engine, "wgpu");
    assert!(!info.name.is_empty());
    assert!(info.optimal_batch_size() > 0);
    assert!(!device.reason().is_empty());
    let mut listed = GpuDevice::list_adapters();
    let n_before = listed.len();
    listed.retain(|adapter| adapter.engine == "wgpu");
    let first = n_before - listed.len();
    assert!(listed.contains(info), "{listed:?}");
    assert_eq!(device.rejected().len(), listed.len() - 1);
    assert!(listed.iter().all(|adapter| adapter.api != "gl"));
    let by_index = GpuDevice::new_with_adapter_index(n_before - 1).unwrap();
    assert_eq!(by_index.info(), listed.last().unwrap());
    let among_wgpu = open(&DeviceRequest {
        adapter_index: Some(n_before - 1 - first),
        ..request()
    });
    assert_eq!(among_wgpu.info(), by_index.info());
    let none = GpuDevice::new_with_adapter_index(n_before).unwrap_err();
    assert_eq!(none.code(), "BACKEND_UNAVAILABLE");
    assert_eq!(
        GpuDevice::is_available(),
        first > 0 || listed.iter().any(|adapter| !adapter.is_software())
    );
}

#[test]
fn launches_see_the_writes_before_them_in_one_submission() {
    engine::launches_see_the_writes_before_them_in_one_submission(&open(&request()));
}

#[test]
fn kernels_are_cached_by_content() {
    let device = open(&request());
    let engine = device.as_wgpu().unwrap();
    let before = engine.n_kernels();
    squares(&device, 64, false).unwrap();
    squares(&device, 128, false).unwrap();
    assert_eq!(engine.n_kernels(), before + 1);
    squares(&device, 64, true).unwrap();
    assert_eq!(engine.n_kernels(), before + 2);
}

#[test]
fn errors_of_kernels_say_where() {
    engine::errors_of_kernels_say_where(&open(&request()));
}

#[test]
fn wrong_kernels_are_typed_errors() {
    engine::wrong_kernels_are_typed_errors(&open(&request()));
}

#[test]
fn wrong_calls_are_typed_errors() {
    engine::wrong_calls_are_typed_errors(&open(&request()));
}

#[test]
fn a_lost_device_says_so_and_can_be_opened_anew() {
    engine::a_lost_device_says_so_and_can_be_opened_anew(&open(&request()));
}

#[test]
fn work_in_flight_when_the_device_is_lost_ends_in_an_error() {
    engine::work_in_flight_when_the_device_is_lost_ends_in_an_error(&open(&request()));
}
