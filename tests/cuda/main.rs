//! The CUDA engine alone. If CUDA finds no GPU, all tests but the one about its absence are ignored, or fail if
//! `PAGEPRESS_REQUIRE_CUDA` is set.
#![cfg(cuda_engine)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
mod order;
mod pages;

use std::process::ExitCode;

use common::cuda::{cuda_is_there, need_cuda};
use common::engine::{self, expected, squares};
use common::pages::mixed;
use pagepress::PAGE_SIZE;
use pagepress::batch::{BackendRequest, Codec, CodecOptions};
use pagepress::gpu::cuda::CudaDevice;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuDevice, KernelArg, KernelSource, LimitTier,
    RuntimeChecks, Waitable,
};
use pagepress::kernels::Access;
use pagepress::lz4::{self, Level};
use pagepress_test_harness::test;

fn main() -> ExitCode {
    common::harness::run()
}

fn request() -> DeviceRequest {
    DeviceRequest {
        engine: EngineChoice::Cuda,
        ..DeviceRequest::default()
    }
}

/// Runs `test`, or ends it as ignored if CUDA finds no GPU.
fn with_cuda(test: impl FnOnce(&GpuDevice)) {
    need_cuda();
    test(&GpuDevice::open(&request()).unwrap());
}

fn codec_options(backend: BackendRequest) -> CodecOptions {
    CodecOptions {
        backend,
        ..CodecOptions::default()
    }
}

#[test]
fn what_is_missing_is_said() {
    let there_is = cuda_is_there();
    let index = match pagepress::gpu::cuda::list() {
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    let missing = [
        GpuDevice::open(&DeviceRequest {
            adapter_index: Some(index),
            ..request()
        })
        .unwrap_err(),
        CudaDevice::open(index).unwrap_err(),
        Codec::new(CodecOptions {
            adapter_index: Some(index),
            ..codec_options(BackendRequest::Cuda)
        })
        .unwrap_err(),
    ];
    for error in missing {
        assert_eq!(error.code(), "BACKEND_UNAVAILABLE");
        let words = error.to_string();
        if there_is {
            let count = format!("CUDA finds {index} GPU");
            assert!(words.contains(&count), "{words}");
        } else {
            assert!(words.contains("driver"), "{words}");
            assert!(CudaDevice::driver_version().is_err());
        }
    }
    let auto = Codec::new(codec_options(BackendRequest::Auto)).unwrap();
    if there_is {
        assert_eq!(auto.choice().engine, "cuda");
        assert!(!auto.choice().rejected.is_empty());
    } else {
        let rejected = &auto.choice().rejected;
        let about_cuda = rejected.iter().find(|other| other.candidate == "cuda");
        let reason = &about_cuda.expect("a word about CUDA").reason;
        assert!(reason.contains("driver"), "{reason}");
    }
}

#[test]
fn a_kernel_runs_on_every_path_with_the_same_result() {
    need_cuda();
    for limits in [
        LimitTier::Adapter,
        LimitTier::WebGpuDefault,
        LimitTier::Lowest,
    ] {
        for runtime_checks in [RuntimeChecks::WhereNeeded, RuntimeChecks::Always] {
            let device = GpuDevice::open(&DeviceRequest {
                limits,
                runtime_checks,
                ..request()
            })
            .unwrap();
            for self_checked in [false, true] {
                let found = squares(&device, 6400, self_checked).unwrap();
                assert_eq!(found, expected(6400, 3, 7), "{limits:?} {runtime_checks:?}");
            }
        }
    }
}

#[test]
fn the_gpu_describes_itself() {
    with_cuda(|device| {
        let cuda = device.as_cuda().unwrap();
        let info = device.info();
        println!("{info}, {}, at {}", info.driver, cuda.pci_address());
        println!("{:?}", device.capabilities());
        assert_eq!(
            (device.name(), info.engine, info.api),
            ("cuda", "cuda", "cuda")
        );
        assert!(!info.name.is_empty() && !info.is_software());
        assert!(info.driver.contains(&CudaDevice::driver_version().unwrap()));
        let (free, total) = cuda.memory_bytes().unwrap();
        assert!(0 < free && free <= total);
        assert_eq!(device.capabilities().max_buffer_bytes, total / 4 * 4);
        let listed = GpuDevice::list_adapters();
        assert_eq!(&listed[0], info, "CUDA comes first");
        let first = GpuDevice::new_with_adapter_index(0).unwrap();
        assert_eq!((first.name(), first.info()), ("cuda", info));
        let auto = GpuDevice::new().unwrap();
        assert_eq!(auto.name(), "cuda");
        assert!(
            auto.rejected()
                .iter()
                .any(|other| other.candidate == "wgpu")
        );
    });
}

#[test]
fn errors_of_kernels_say_where() {
    with_cuda(engine::errors_of_kernels_say_where);
}

#[test]
fn every_engine_does_the_same() {
    with_cuda(engine::launches_see_the_writes_before_them_in_one_submission);
    with_cuda(engine::wrong_kernels_are_typed_errors);
    with_cuda(engine::wrong_calls_are_typed_errors);
    with_cuda(engine::a_lost_device_says_so_and_can_be_opened_anew);
    with_cuda(engine::work_in_flight_when_the_device_is_lost_ends_in_an_error);
}

#[test]
fn kernels_are_cached_by_content() {
    with_cuda(|device| {
        let engine = device.as_cuda().unwrap();
        squares(device, 64, false).unwrap();
        squares(device, 128, false).unwrap();
        assert_eq!(engine.n_kernels(), 1);
        squares(device, 64, true).unwrap();
        assert_eq!(engine.n_kernels(), 2);
    });
}

/// Report F082 claims that stores to addresses computed from values in shared memory crash. They do not: the crashes
/// were misaligned accesses (`cuda_faults.rs` reproduces them).
#[test]
fn f082_addresses_computed_from_shared_memory_values_work() {
    const SCATTER: &str = "
        @group(0) @binding(0) var<storage, read> order: array<u32>;
        @group(0) @binding(1) var<storage, read_write> output: array<u32>;
        var<workgroup> offsets: array<u32, 64>;
        @compute @workgroup_size(64)
        fn scatter(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
            offsets[i] = order[id.x];
            workgroupBarrier();
            let at = offsets[offsets[i] & 63u];
            output[at] = order[at] + offsets[i];
        }";
    with_cuda(|device| {
        let n = 64 * 1000u32;
        // A different order in each tile of 64.
        let order: Vec<u32> = (0..n)
            .map(|i| i / 64 * 64 + (i * 37 + i / 64) % 64)
            .collect();
        let tile = |i: u32| (i / 64 * 64) as usize;
        let mut wanted = vec![0; n as usize];
        for i in 0..n {
            let own = order[i as usize];
            let at = order[tile(i) + (own & 63) as usize];
            wanted[at as usize] = order[at as usize] + own;
        }
        for self_checked in [false, true] {
            let found = block_on(async {
                let source =
                    KernelSource::new(SCATTER, "scatter", &[Access::Read, Access::ReadWrite]);
                let source = common::engine::unchecked_if(self_checked, source);
                let kernel = device.compile_kernel(&source).await?;
                let input = device.allocate_memory(4 * u64::from(n))?;
                let output = device.allocate_memory(4 * u64::from(n))?;
                device
                    .upload_async(&input, 0, bytemuck::cast_slice(&order))
                    .await?;
                let args = [KernelArg::Buffer(&input), KernelArg::Buffer(&output)];
                device
                    .launch_kernel(&kernel, [n / 64, 1, 1], &args)?
                    .wait_async()
                    .await?;
                device.download_async(&output, 0..4 * u64::from(n)).await
            });
            assert!(found.unwrap() == bytemuck::cast_slice::<u32, u8>(&wanted));
        }
    });
}

/// Uses all GPUs at once, each from its own thread with two devices.
#[test]
fn all_gpus_work_at_once() {
    need_cuda();
    let n_gpus = pagepress::gpu::cuda::list().unwrap().len();
    println!("{n_gpus} GPUs");
    std::thread::scope(|scope| {
        for index in (0..n_gpus).chain(0..n_gpus) {
            scope.spawn(move || {
                let options = CodecOptions {
                    adapter_index: Some(index),
                    ..codec_options(BackendRequest::Cuda)
                };
                let mut codec = Codec::new(options).unwrap();
                let bytes = mixed(2000 * PAGE_SIZE, index as u64);
                let expected = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
                for _ in 0..3 {
                    let (found, _) = codec.compress_pages(&bytes, 4096, Level::Fast).unwrap();
                    assert!(found == expected, "GPU {index}");
                    assert!(
                        codec.decompress_pages(&found).unwrap().0 == bytes,
                        "GPU {index}"
                    );
                }
            });
        }
    });
}

#[test]
fn handles_of_another_device_are_refused() {
    with_cuda(|device| {
        let other = GpuDevice::open(&request()).unwrap();
        let buffer = other.allocate_memory(256).unwrap();
        let error = block_on(device.download_async(&buffer, 0..256)).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(error.to_string().contains("another device"), "{error}");
    });
}
