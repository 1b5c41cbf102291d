//! Times of batches are measured by the device, whether jobs overlap or not; choices are based on measurements.
#![cfg(all(gpu_engine, not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use common::pages::{memory, random};
use pagepress::PAGE_SIZE;
use pagepress::batch::Timings;
use pagepress::gpu::{
    Backend, BackendUsed, BatchResult, DeviceRequest, EngineChoice, GpuBackend, GpuBatchCompressor,
    GpuBatchConfig, GpuDevice, SharedMemory,
};
use pagepress::tensor::Reduction;

/// Returns a device of each engine of this build, each with copies to time. wgpu must find one; CUDA may find none.
fn devices() -> Vec<GpuDevice> {
    devices_with(SharedMemory::Never)
}

fn devices_with(shared_memory: SharedMemory) -> Vec<GpuDevice> {
    let open = |engine| {
        GpuDevice::open(&DeviceRequest {
            engine,
            allow_software: true,
            shared_memory,
            ..DeviceRequest::default()
        })
    };
    let mut devices = Vec::new();
    if cfg!(feature = "wgpu") {
        devices.push(
            open(EngineChoice::Wgpu).expect("these tests need a GPU, a software one will do"),
        );
    }
    #[cfg(cuda_engine)]
    if pagepress::gpu::cuda::list().is_ok() {
        devices.push(open(EngineChoice::Cuda).unwrap());
    }
    devices
}

/// Compresses the same pages with and without overlap, each after a warm-up, and returns both results.
fn both_ways(device: &GpuDevice, pages: &[[u8; PAGE_SIZE]]) -> [BatchResult; 2] {
    [true, false].map(|async_dma| {
        let config = GpuBatchConfig {
            batch_size: 250,
            async_dma,
            ..GpuBatchConfig::default()
        };
        let mut compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
        compressor
            .compress_batch(&pages[..pages.len() / 4])
            .unwrap();
        compressor.compress_batch(pages).unwrap()
    })
}

/// Asserts that no measured part exceeds the total time, nor, on a device with one queue, does their sum.
fn assert_within(device: &GpuDevice, timings: &Timings) {
    let parts = [timings.upload_ns, timings.kernel_ns, timings.readback_ns];
    for part in parts.into_iter().flatten() {
        assert!(part <= timings.total_ns, "{timings:?}");
    }
    let sum: u64 = parts.into_iter().flatten().sum();
    if device.name() == "wgpu" {
        assert!(sum <= timings.total_ns, "{timings:?}");
    }
    let capabilities = device.capabilities();
    assert_eq!(timings.kernel_ns.is_some(), capabilities.timestamps);
    for copies in [timings.upload_ns, timings.readback_ns] {
        assert_eq!(
            copies.is_some(),
            capabilities.copy_timestamps,
            "{timings:?}"
        );
    }
}

/// Asserts what holds for the times of every batch.
fn assert_consistent(device: &GpuDevice, result: &BatchResult) {
    assert_within(device, &result.timings);
    let none_is_0 = |ns: Option<u64>| ns.unwrap_or(0);
    assert_eq!(result.h2d_time_ns, none_is_0(result.timings.upload_ns));
    assert_eq!(result.kernel_time_ns, none_is_0(result.timings.kernel_ns));
    assert_eq!(result.d2h_time_ns, none_is_0(result.timings.readback_ns));
    assert_eq!(result.total_time_ns, result.timings.total_ns);
    if !device.capabilities().copy_timestamps {
        assert!(!result.pcie_rule_satisfied());
    }
}

/// Returns true if the ratio of kernel time to copy time is on the same side of the rule's 5 with and without overlap, or close to 5 without.
fn verdicts_agree(device: &GpuDevice, results: &[BatchResult; 2]) -> bool {
    let [with, without] = results.each_ref().map(|result| {
        result.kernel_time_ns as f64 / (result.h2d_time_ns + result.d2h_time_ns) as f64
    });
    println!(
        "{}: {with:.2} with overlap, {without:.2} without",
        device.info()
    );
    let [with_overlap, without_overlap] = results.each_ref().map(BatchResult::pcie_rule_satisfied);
    (1.25..20.0).contains(&without) || with_overlap == without_overlap
}

#[test]
fn parts_are_within_the_whole_and_overlap_changes_no_verdict() {
    let bytes = memory(1000 * PAGE_SIZE, 3);
    let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
    for device in devices() {
        // A software adapter shares its cores with other programs, which can take most of the time of a copy: one attempt of a few suffices.
        let agrees = (0..5).any(|_| {
            let results = both_ways(&device, pages);
            for result in &results {
                assert_consistent(&device, result);
            }
            !device.capabilities().copy_timestamps || verdicts_agree(&device, &results)
        });
        assert!(agrees, "{}: overlap changes the verdict", device.info());
    }
}

#[test]
fn copies_take_longer_for_more_bytes() {
    let bytes = random(2000 * PAGE_SIZE, 4);
    let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
    for device in devices() {
        if !device.capabilities().copy_timestamps {
            continue;
        }
        let mut compressor =
            GpuBatchCompressor::with_device(device.clone(), GpuBatchConfig::default()).unwrap();
        compressor.compress_batch(pages).unwrap();
        // The minimum of a few runs: other programs can only add time.
        let mut least = |n_pages: usize| {
            let times = (0..3).map(|_| {
                let result = compressor.compress_batch(&pages[..n_pages]).unwrap();
                let back = compressor.decompress_batch(&result.pages).unwrap();
                assert_within(&device, &result.timings);
                assert_within(&device, &back.timings);
                [result.timings, back.timings]
                    .map(|t| [t.upload_ns.unwrap(), t.readback_ns.unwrap()])
            });
            let times: Vec<_> = times.collect();
            [[0, 0], [0, 1], [1, 0], [1, 1]]
                .map(|[call, way]| times.iter().map(|run| run[call][way]).min().unwrap())
        };
        let (few, many) = (least(50), least(2000));
        println!(
            "{}: {few:?} ns for 50 pages, {many:?} for 2000",
            device.info()
        );
        for (few, many) in few.into_iter().zip(many) {
            assert!(
                few > 0 && many >= 4 * few,
                "{few} ns for 50 pages, {many} for 2000"
            );
        }
    }
}

#[test]
fn pages_in_shared_memory_are_not_copied() {
    let bytes = random(2000 * PAGE_SIZE, 6);
    let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
    let staged = devices().into_iter();
    for (device, staged) in devices_with(SharedMemory::WhereOffered).iter().zip(staged) {
        assert!(!staged.capabilities().shares_memory);
        if !device.capabilities().shares_memory {
            assert!(!device.info().is_software());
            continue;
        }
        for async_dma in [true, false] {
            let config = GpuBatchConfig {
                async_dma,
                ..GpuBatchConfig::default()
            };
            let with = |device: &GpuDevice| {
                let config = config.clone();
                let mut compressor =
                    GpuBatchCompressor::with_device(device.clone(), config).unwrap();
                let packed = compressor.compress_batch(pages).unwrap();
                let back = compressor.decompress_batch(&packed.pages).unwrap();
                assert!(back.pages == pages && back.errors.iter().all(Option::is_none));
                (packed.pages, [packed.timings, back.timings])
            };
            let (packed, times) = with(device);
            let (expected, staged_times) = with(&staged);
            assert!(packed == expected);
            if device.capabilities().copy_timestamps {
                assert_eq!(times.map(|t| t.upload_ns), [Some(0); 2]);
                // The table, the sizes and the statuses.
                let read = |t: &[Timings; 2]| t.iter().map(|t| t.readback_ns.unwrap()).max();
                println!(
                    "readback: {:?} ns, staged {:?}",
                    read(&times),
                    read(&staged_times)
                );
                assert!(staged_times.iter().all(|t| t.upload_ns.unwrap() > 0));
            }
        }
    }
}

#[test]
fn expected_times_depend_on_the_number_of_pages() {
    let bytes = memory(400 * PAGE_SIZE, 5);
    let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
    for device in devices() {
        let config = GpuBatchConfig::default();
        let mut compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
        assert_eq!(compressor.expected_ns(100), None);
        assert!(!compressor.would_benefit(0) && !compressor.would_benefit(1));
        let is_software = device.info().is_software();
        assert_eq!(compressor.would_benefit(5000), !is_software);
        for n_pages in [400, 4, 400, 40, 4, 400, 40] {
            compressor.compress_batch(&pages[..n_pages]).unwrap();
        }
        assert!(compressor.stats().cpu_ns_per_page > 0);
        let expected = [4, 400, 40_000].map(|n| compressor.expected_ns(n).unwrap());
        println!(
            "{}: {expected:?} ns for 4, 400 and 40,000 pages",
            device.info()
        );
        for engine in [0, 1] {
            let [few, some, many] = expected.map(|both| both[engine]);
            assert!(few < some && some < many, "{few} {some} {many}");
            // At most proportional, because a part of the time is constant.
            assert!(many <= 100 * some + 1000, "{some} {many}");
        }
        for (n_pages, [gpu, cpu]) in [4, 400, 40_000].into_iter().zip(expected) {
            let benefits = compressor.would_benefit(n_pages);
            assert_eq!(benefits, !is_software && gpu < cpu);
        }
    }
}

#[test]
fn the_optimal_batch_size_is_measured_once_for_an_adapter() {
    for device in devices() {
        let measured = device.optimal_batch_size().unwrap();
        println!("{}: batches of {measured} pages", device.info());
        assert!((256..=65_536).contains(&measured));
        assert_eq!(device.optimal_batch_size().unwrap(), measured);
        let again = pagepress::gpu::runtime::block_on(device.reopen_async()).unwrap();
        assert_eq!(again.info().optimal_batch_size(), measured);
    }
}

/// The faster engine depends on the machine; result and reason do not.
#[test]
fn backends_choose_by_measurement() {
    let n = 96;
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
    let large = vec![1.0; 1 << 20];
    for device in devices() {
        let mut backend = GpuBackend::choosing(device.clone());
        assert_eq!(backend.relu(&[-1.0, 2.0]).unwrap(), [0.0, 2.0]);
        let reason = |backend: &GpuBackend| match backend.last_backend().unwrap() {
            BackendUsed::Cpu { reason } | BackendUsed::Gpu { reason, .. } => reason.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(&backend), "the CPU needs less time than a transfer");
        let product = backend.matmul(&a, &a, n, n, n).unwrap();
        assert!(!reason(&backend).is_empty());
        let exact: f32 = (0..n).map(|k| a[n + k] * a[k * n + 2]).sum();
        assert_eq!(product[n + 2], exact);
        for _ in 0..2 {
            assert_eq!(backend.gelu(&large).unwrap().len(), large.len());
            println!("{}", reason(&backend));
            assert!(
                reason(&backend).contains("microseconds are expected"),
                "{}",
                reason(&backend)
            );
            assert_eq!(backend.vec_add(&large, &large).unwrap(), vec![2.0; 1 << 20]);
            assert_eq!(
                backend.reduce(Reduction::Sum, &large).unwrap(),
                (1 << 20) as f32
            );
        }
        let mut forced = GpuBackend::with_device(device);
        assert_eq!(forced.relu(&[-1.0, 2.0]).unwrap(), [0.0, 2.0]);
        assert_eq!(reason(&forced), "it was asked for");
    }
}
