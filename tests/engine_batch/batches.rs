//! Batches: a lost device, configuration, choice of the engine.

use std::collections::HashSet;
use std::ops::ControlFlow;

use pagepress::batch::{BackendRequest, Codec, CodecOptions};
use pagepress::gpu::{
    GpuBackend, GpuBatchCompressor, GpuBatchConfig, GpuCommandBatch, GpuDevice, GpuDevicePool,
    GpuMatmulCache, GpuTensor, SelectedBackend, gpu_available, select_backend,
};
use pagepress::lz4::frame::FrameOptions;
use pagepress::lz4::{self, Level};
use pagepress::{Algorithm, PAGE_SIZE};

use crate::common::pages::text;
use crate::{codec, content, device};

#[test]
fn a_device_lost_in_the_middle_is_brought_back_and_the_batch_replayed() {
    let bytes = content(64 * PAGE_SIZE);
    let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
    let config = GpuBatchConfig {
        batch_size: 8,
        ..GpuBatchConfig::default()
    };
    let device = device();
    let mut compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
    let before = compressor.compress_batch(pages).unwrap();
    device.destroy();
    let after = compressor.compress_batch(pages).unwrap();
    assert_eq!(after.pages, before.pages);
    assert_eq!(compressor.stats().n_devices_lost, 1);
    compressor.device().destroy();
    assert_eq!(
        compressor
            .decompress_batch(&before.pages)
            .unwrap()
            .into_pages()
            .unwrap(),
        pages
    );
    assert_eq!(compressor.stats().n_devices_lost, 2);
    assert_eq!(
        before.pages,
        lz4::compress_pages(&bytes, PAGE_SIZE as u32, Level::Fast).unwrap()
    );
}

#[test]
fn configurations_are_checked_and_algorithms_differ() {
    let device = device();
    let bytes = text(64 * PAGE_SIZE, 1);
    let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
    for zero in [
        GpuBatchConfig {
            batch_size: 0,
            ..GpuBatchConfig::default()
        },
        GpuBatchConfig {
            ring_buffer_slots: 0,
            ..GpuBatchConfig::default()
        },
    ] {
        let error = GpuBatchCompressor::with_device(device.clone(), zero).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
    let config = GpuBatchConfig {
        algorithm: Algorithm::Lz4High,
        ..GpuBatchConfig::default()
    };
    let mut compressor = GpuBatchCompressor::with_device(device, config).unwrap();
    let high = compressor.compress_batch(pages).unwrap();
    assert_eq!(
        high.pages,
        lz4::compress_pages(&bytes, PAGE_SIZE as u32, Level::High).unwrap()
    );
    assert!(high.compression_ratio() > 1.0);
    assert!(high.throughput_bytes_per_sec(bytes.len()) > 0.0);
    let n_different = pages.iter().collect::<HashSet<_>>().len();
    assert_eq!(high.n_identical_pages(), Ok(pages.len() - n_different));
    let mut wrong = high.pages.clone();
    wrong.page_size = 8192;
    assert_eq!(
        compressor.decompress_batch(&wrong).unwrap_err().code(),
        "INVALID_ARGUMENT"
    );
    wrong.page_size = 4096;
    wrong.table.pop();
    assert_eq!(
        compressor.decompress_batch(&wrong).unwrap_err().code(),
        "INVALID_ARGUMENT"
    );
    assert_eq!(compressor.compress_batch(&[]).unwrap().pages.table, []);
}

#[test]
fn software_is_never_taken_unasked() {
    let only_software = GpuDevice::list_adapters()
        .iter()
        .all(pagepress::gpu::GpuDeviceInfo::is_software);
    assert_eq!(gpu_available(), !only_software);
    let auto = Codec::new(CodecOptions {
        allow_software: true,
        ..CodecOptions::default()
    })
    .unwrap();
    // With a hardware GPU, the engine is CUDA or wgpu.
    assert_eq!(auto.choice().engine == "cpu", only_software);
    if only_software {
        assert!(
            !auto.choice().rejected.is_empty()
                && auto.choice().rejected[0].reason.contains("software")
        );
        let forced = CodecOptions {
            backend: BackendRequest::Wgpu,
            ..CodecOptions::default()
        };
        let error = Codec::new(forced.clone()).unwrap_err();
        assert_eq!(error.code(), "BACKEND_UNAVAILABLE");
        assert!(error.to_string().contains("software"), "{error}");
        let error = GpuBatchCompressor::new(GpuBatchConfig::default()).unwrap_err();
        assert_eq!(error.code(), "BACKEND_UNAVAILABLE");
        let allowed = Codec::new(CodecOptions {
            allow_software: true,
            ..forced
        })
        .unwrap();
        assert!(allowed.choice().software && allowed.choice().engine == "wgpu");
    }
    let cpu = Codec::new(CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    })
    .unwrap();
    assert_eq!(
        (cpu.choice().engine, cpu.choice().adapter.as_str()),
        ("cpu", "")
    );
}

#[test]
fn the_documents_quick_choice() {
    assert_eq!(select_backend(5000, true), SelectedBackend::Gpu);
    assert_eq!(format!("{:?}", select_backend(5000, true)), "Gpu");
    assert_eq!(select_backend(5000, false), SelectedBackend::CpuNoGpu);
    assert_eq!(select_backend(10, true), SelectedBackend::CpuSmallBatch);
    assert!(!select_backend(10, true).reason().is_empty());
}

#[test]
fn software_pays_for_few_pages_only_by_measure() {
    let compressor = GpuBatchCompressor::with_device(device(), GpuBatchConfig::default()).unwrap();
    assert!(!compressor.would_benefit(1) || !compressor.info().is_software());
}

/// Futures can be spawned on a multi-threaded runtime.
#[test]
fn futures_are_send() {
    fn is_send(_: &impl Send) {}
    is_send(&Codec::new_async(CodecOptions::default()));
    is_send(&GpuDevice::new_async());
    let one = device();
    is_send(&one.matmul_async(&[], &[], &mut [], 0, 0, 0));
    is_send(&one.relu_async(&[], &mut []));
    let tensor = pagepress::gpu::runtime::block_on(GpuTensor::from_slice_async(
        &one,
        &[1.0],
        pagepress::tensor::Shape::vector(1),
    ))
    .unwrap();
    is_send(&tensor.apply_async(&[]));
    is_send(&tensor.matmul_async(&tensor));
    is_send(&tensor.to_vec_async());
    is_send(&GpuCommandBatch::new(one.clone()).execute());
    is_send(&GpuBackend::new().dot_async(&[], &[]));
    let pool = GpuDevicePool::with_devices(vec![device()]).unwrap();
    is_send(&GpuDevicePool::new_async());
    is_send(&pool.matmul_async(&[], &[], &mut [], 0, 0, 0));
    is_send(&pool.dot_async(&[], &[]));
    let mut pooled = pool.compressor(GpuBatchConfig::default()).unwrap();
    is_send(&pooled.compress_batch_async(&[]));
    let mut weights = GpuMatmulCache::new(device());
    is_send(&weights.matmul_async("", &[], &mut [], 0));
    let mut codec = codec();
    is_send(&codec.compress_pages_async(&[], 4096, Level::Fast));
    let options = FrameOptions::default();
    is_send(&codec.compress_frame_async(&[], &options, |_| ControlFlow::Continue(())));
    is_send(&codec.decompress_frame_async(&[], None, |_| ControlFlow::Continue(())));
    let go_on = |_| ControlFlow::Continue(());
    is_send(&codec.compress_frame_into_async(&[], &options, &mut Vec::new(), go_on));
    is_send(&codec.decompress_frame_into_async(&[], &mut [], go_on));
    is_send(&codec.decompress_pages_into_async(&lz4::PackedPages::default(), &mut []));
}
