//! The CUDA engine alone. If CUDA finds no GPU, all tests but the one about its absence are ignored, or fail if
//! `PAGEPRESS_REQUIRE_CUDA` is set.
#![cfg(cuda_engine)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use common::cuda::{cuda_is_there, in_own_process, need_cuda};
use common::engine::{self, expected, squares};
use common::pages::{mixed, text};
use common::slow::Slow;
use pagepress::batch::{
    BackendRequest, Codec, CodecOptions, compress_resident_async, decompress_resident_async,
};
use pagepress::gpu::cuda::CudaDevice;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, Buffer, DeviceRequest, EngineChoice, GpuBatchCompressor, GpuBatchConfig, GpuDevice,
    HostMemory, HostUse, KernelArg, KernelSource, LimitTier, Place, Recorder, RuntimeChecks,
    Sized64, Waitable,
};
use pagepress::kernels::Access;
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, Level};
use pagepress::{Error, PAGE_SIZE};
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
    for limits in [LimitTier::Adapter, LimitTier::WebGpuDefault] {
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

/// Polls `future` once and returns true if it is pending.
fn waits<T>(future: &mut std::pin::Pin<&mut impl Future<Output = T>>) -> bool {
    let polled = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    matches!(polled, Poll::Pending)
}

/// Runs in a separate process: the driver maps the streams of a process to a few hardware queues, and streams that
/// share a queue wait for each other.
#[test]
fn waiting_yields_and_copies_overlap_kernels() {
    in_own_process("waiting_yields_and_copies_overlap_kernels", || {
        let device = &GpuDevice::open(&request()).unwrap();
        let slow = Slow::new(device);
        let bytes = mixed(1 << 20, 3);
        let other = device.allocate_memory(1 << 20).unwrap();
        let up_and_down = || {
            block_on(async {
                device.upload_async(&other, 0, &bytes).await.unwrap();
                let back = device.download_async(&other, 0..1 << 20).await.unwrap();
                assert!(back == bytes);
            });
        };
        // An allocation may make the driver wait for kernels; after this call the pool has all required memory.
        up_and_down();
        let mut running = pin!(slow.launch(&slow.data).unwrap().wait_async());
        assert!(waits(&mut running), "the first poll waits for the device");
        up_and_down();
        assert!(
            waits(&mut running),
            "copies waited for a kernel that has nothing to do with them"
        );
        let kernel_ns = block_on(running).unwrap();
        assert!(kernel_ns.expect("CUDA tells time") > 1_000_000);
        assert_eq!(slow.result(&slow.data), slow.expected());
    });
}

/// Returns memory to the pool while the device still uses it, and reuses it for other work.
#[test]
fn work_on_the_same_memory_keeps_its_order() {
    with_cuda(|device| {
        let slow = Slow::new(device);
        let n_bytes = slow.data.n_bytes();
        block_on(async {
            let first = device.allocate_memory(n_bytes).unwrap();
            let address = first.device_ptr();
            let host = device.allocate_host(n_bytes, HostUse::Download).unwrap();
            let running = slow.launch(&first).unwrap();
            let mut stream = device.stream();
            stream
                .copy(Place::Host(&host, 0), Place::Device(&first, 0), n_bytes)
                .unwrap();
            stream.submit().unwrap();
            drop(first);
            let second = device.allocate_memory(n_bytes).unwrap();
            assert_eq!(second.device_ptr(), address, "the pool gives it again");
            let zeros = vec![0; n_bytes as usize];
            device.upload_async(&second, 0, &zeros).await.unwrap();
            let found = host.read_async(0..n_bytes, <[u8]>::to_vec).await.unwrap();
            assert!(found == slow.expected(), "overwritten before it was read");
            assert!(device.download_async(&second, 0..n_bytes).await.unwrap() == zeros);
            running.wait_async().await.unwrap();
        });
    });
}

/// Host memory may be overwritten only after the device has read it.
#[test]
fn host_memory_is_not_overwritten_under_the_device() {
    with_cuda(|device| {
        const N_BYTES: usize = 64 << 20;
        block_on(async {
            let host = device
                .allocate_host(N_BYTES as u64, HostUse::Upload)
                .unwrap();
            let buffers: Vec<Buffer> = (0..4)
                .map(|_| device.allocate_memory(N_BYTES as u64).unwrap())
                .collect();
            for (i, buffer) in (1u8..).zip(&buffers) {
                host.write_async(0, &vec![i; N_BYTES]).await.unwrap();
                let mut stream = device.stream();
                let (dst, src) = (Place::Device(buffer, 0), Place::Host(&host, 0));
                stream.copy(dst, src, N_BYTES as u64).unwrap();
                stream.submit().unwrap();
            }
            for (i, buffer) in (1u8..).zip(&buffers) {
                let back = device
                    .download_async(buffer, 0..N_BYTES as u64)
                    .await
                    .unwrap();
                assert!(back.iter().all(|&byte| byte == i), "buffer {i}");
            }
        });
    });
}

#[test]
fn resident_pages_come_and_go_by_device_pointers() {
    with_cuda(|device| {
        let cuda = device.as_cuda().unwrap();
        let bytes = text(300 * PAGE_SIZE, 5);
        let n_bytes = bytes.len() as u64;
        let expected = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
        block_on(async {
            let own = device.allocate_memory(n_bytes).unwrap();
            device.upload_async(&own, 0, &bytes).await.unwrap();
            let address = own.device_ptr().unwrap();
            // SAFETY: the address is that of `own`, which lives until the end of the block and is larger than needed.
            let foreign = unsafe { cuda.from_device_ptr(address, n_bytes) }.unwrap();
            let foreign = Buffer::from(foreign);
            assert_eq!(foreign.device_ptr(), Some(address));
            let found = compress_resident_async(device, &foreign, n_bytes, 4096, Level::Fast)
                .await
                .unwrap();
            assert!(found.kernel_ns.is_some());
            let part = &found.parts[0];
            let packed = device
                .download_async(&part.packed, 0..part.packed_bytes)
                .await
                .unwrap();
            assert!(packed == expected.packed);
            let back = device.allocate_memory(n_bytes).unwrap();
            // SAFETY: the address is that of `back`, which lives until the end of the block.
            let target = unsafe { cuda.from_device_ptr(back.device_ptr().unwrap(), n_bytes) };
            let outcome = decompress_resident_async(device, &found, &target.unwrap().into())
                .await
                .unwrap();
            assert!(outcome.errors.iter().all(Option::is_none));
            assert!(device.download_async(&back, 0..n_bytes).await.unwrap() == bytes);
        });
        for wrong in [0, 8] {
            // SAFETY: the addresses are rejected.
            let error = unsafe { cuda.from_device_ptr(wrong, 64) }.unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENT");
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

#[test]
fn frames_and_batches_equal_those_of_the_cpu() {
    with_cuda(|device| {
        let mut codec = Codec::with_device(device.clone()).unwrap();
        let content = mixed(3_000_000, 7);
        for block_size in [4096, 65_536] {
            let options = FrameOptions {
                block_size,
                ..FrameOptions::default()
            };
            let (found, report) = codec.compress_frame(&content, &options).unwrap();
            assert_eq!(report.engine, "cuda");
            assert!(found == frame::compress(&content, &options).unwrap());
            assert!(codec.decompress_frame(&found, None).unwrap().0 == content);
        }
        let (pages, _) = content.as_chunks::<PAGE_SIZE>();
        let config = GpuBatchConfig {
            batch_size: 50,
            ..GpuBatchConfig::default()
        };
        let mut compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
        let before = compressor.compress_batch(pages).unwrap();
        assert_eq!(before.backend, "cuda");
        device.destroy();
        let after = compressor.compress_batch(pages).unwrap();
        assert_eq!(after.pages, before.pages);
        assert_eq!(compressor.stats().n_devices_lost, 1);
        let expected = lz4::compress_pages(pages.as_flattened(), 4096, Level::Fast).unwrap();
        assert_eq!(after.pages, expected);
        assert!(matches!(device.check(), Err(Error::DeviceLost { .. })));
    });
}

/// On so many bytes every core feeds the GPU.
#[test]
fn calls_on_all_cores_equal_those_of_the_cpu() {
    const N_BYTES: usize = (129 << 20) + 4321;
    with_cuda(|device| {
        let part = mixed(3 << 20, 11);
        let bytes: Vec<u8> = part.iter().copied().cycle().take(N_BYTES).collect();
        let mut codec = Codec::with_device(device.clone()).unwrap();
        for page_size in [4096, 65_536] {
            let mut expected = lz4::compress_pages(&bytes, page_size, Level::Fast).unwrap();
            let (found, report) = codec
                .compress_pages(&bytes, page_size, Level::Fast)
                .unwrap();
            assert!(found == expected, "{page_size}");
            assert_eq!(report.engine, "cuda");
            assert!(report.timings.kernel_ns.unwrap() <= report.timings.total_ns);
            assert!(
                codec.decompress_pages(&found).unwrap().0 == bytes,
                "{page_size}"
            );
            let middle = expected.table.len() / 2;
            expected.table[middle].length ^= 1;
            let mut out = vec![0xa5; bytes.len()];
            let (status, _) = codec
                .decompress_pages_status_into(&expected, &mut out)
                .unwrap();
            let (twin, twin_status) = lz4::decompress_pages_status(&expected).unwrap();
            assert!(out == twin && status == twin_status, "{page_size}");
            // The asynchronous form uses one thread.
            let compressed = codec.compress_pages_async(&bytes, page_size, Level::Fast);
            assert!(block_on(compressed).unwrap().0 == found, "{page_size}");
        }
    });
}
