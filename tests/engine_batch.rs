//! The codec on a GPU through wgpu: frames, streams, loss of the device, choice of the engine.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::io::{Cursor, Read, Write};
use std::ops::ControlFlow;

use common::pages::{GENERATORS, text};
use pagepress::batch::{
    BackendRequest, Codec, CodecOptions, CompressWriter, DecompressReader, compress_resident_async,
};
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuBackend, GpuBatchCompressor, GpuBatchConfig,
    GpuCommandBatch, GpuDevice, GpuDevicePool, GpuMatmulCache, GpuTensor, SelectedBackend,
    gpu_available, select_backend,
};
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, Level};
use pagepress::{Algorithm, Error, PAGE_SIZE};

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

#[test]
fn frames_equal_those_of_the_cpu_and_decode_on_the_gpu() {
    let mut codec = codec();
    for block_size in [4096, 16_384, 65_536] {
        for n_bytes in [0, 1, 13, 4096, 200_000] {
            let content = content(n_bytes);
            let options = FrameOptions {
                block_size,
                block_checksums: n_bytes % 2 == 0,
                ..FrameOptions::default()
            };
            let expected = frame::compress(&content, &options).unwrap();
            let (found, report) = codec.compress_frame(&content, &options).unwrap();
            assert!(found == expected, "{block_size} {n_bytes}");
            assert_eq!(
                report.engine,
                if n_bytes == 0 { "cpu" } else { "wgpu" },
                "{}",
                report.reason
            );
            let (back, _) = codec
                .decompress_frame(&found, Some(n_bytes as u64))
                .unwrap();
            assert!(back == content, "{block_size} {n_bytes}");
        }
    }
}

#[test]
fn frames_in_given_memory_equal_those_in_fresh_memory() {
    const BEHIND: usize = 70_000;
    let mut codec = codec();
    let mut file = content(1000);
    for (block_size, n_bytes) in [
        (4096, 0),
        (4096, 1),
        (4096, 4096),
        (4096, 300_001),
        (65_536, 65_536),
        (65_536, 400_000),
        (300_000, 700_000),
    ] {
        let content = content(n_bytes);
        let options = FrameOptions {
            block_size,
            ..FrameOptions::default()
        };
        codec
            .compress_frame_into(&content, &options, &mut file)
            .unwrap();
        assert!(file == frame::compress(&content, &options).unwrap());
        // Content of several frames, to memory of its length and to more.
        let twice = file.repeat(2);
        for behind in [0, BEHIND] {
            let mut out = vec![0xa5; 2 * n_bytes + behind];
            let (length, _) = codec.decompress_frame_into(&twice, &mut out).unwrap();
            assert_eq!(length, 2 * n_bytes);
            let (found, behind) = out.split_at(length);
            assert!(found == content.repeat(2), "{block_size} {n_bytes}");
            assert!(behind.iter().all(|&byte| byte == 0xa5), "{block_size}");
        }
        for actual in [0, n_bytes / 2, n_bytes.saturating_sub(1)] {
            let found = codec.decompress_frame_into(&file, &mut vec![0; actual]);
            match found {
                Ok((length, _)) => assert_eq!(length, 0),
                Err(Error::OutputTooSmall { needed, actual: a }) => {
                    assert!(a == actual as u64 && needed > a && needed <= n_bytes as u64);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Blocks that are shorter and longer than the first, which the CPU decodes again.
#[test]
fn blocks_of_varying_sizes_are_joined() {
    let mut codec = codec();
    for lengths in [
        [4096, 4096, 100, 4096, 4096, 4096],
        [4096, 4096, 4096, 60_000, 4096, 1],
        [4096, 4096, 4096, 4096, 4096, 9000],
    ] {
        let (mut file, mut content) = (Vec::new(), Vec::new());
        let mut writer = frame::FrameWriter::new(&FrameOptions::default(), &mut file).unwrap();
        for (i, length) in lengths.into_iter().enumerate() {
            let part = text(length, i as u64);
            writer.push(&part, &mut file).unwrap();
            content.extend(part);
        }
        writer.finish(&mut file).unwrap();
        let (back, _) = codec.decompress_frame(&file, None).unwrap();
        assert!(back == content, "{lengths:?}");
        let mut out = vec![0; content.len()];
        let (length, _) = codec.decompress_frame_into(&file, &mut out).unwrap();
        assert!(length == content.len() && out == content, "{lengths:?}");
    }
}

#[test]
fn blocks_that_are_no_pages_go_to_the_cpu_and_the_report_says_so() {
    let mut codec = codec();
    let content = content(300_000);
    for block_size in [5000, 262_144] {
        let options = FrameOptions {
            block_size,
            ..FrameOptions::default()
        };
        let (found, report) = codec.compress_frame(&content, &options).unwrap();
        assert_eq!(report.engine, "cpu");
        assert!(report.reason.contains("CPU"), "{}", report.reason);
        assert!(found == frame::compress(&content, &options).unwrap());
        assert!(codec.decompress_frame(&found, None).unwrap().0 == content);
    }
    let (_, report) = codec
        .decompress_frame(
            &frame::compress(
                &content,
                &FrameOptions {
                    block_size: 1 << 20,
                    ..FrameOptions::default()
                },
            )
            .unwrap(),
            None,
        )
        .unwrap();
    assert_eq!(
        (report.engine, report.reason.as_str()),
        ("cpu", "blocks above 64 KiB are the CPU's")
    );
}

#[test]
fn the_sequential_level_goes_to_the_cpu_and_the_report_says_so() {
    let mut codec = codec();
    let bytes = content(100_000);
    let (pages, report) = codec
        .compress_pages(&bytes, 4096, Level::Sequential)
        .unwrap();
    let expected = lz4::compress_pages(&bytes, 4096, Level::Sequential).unwrap();
    assert_eq!(pages, expected);
    assert_eq!(
        (report.engine, report.reason.as_str()),
        ("cpu", "only the CPU writes the level sequential")
    );
    let (content, report) = codec.decompress_pages(&pages).unwrap();
    assert!(content == bytes);
    assert_eq!(report.engine, "wgpu");
    let device = codec.device().unwrap();
    let resident = device.allocate_memory(100_000).unwrap();
    let compressed = compress_resident_async(device, &resident, 100_000, 4096, Level::Sequential);
    let error = pagepress::gpu::runtime::block_on(compressed).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}

#[test]
fn concatenated_frames_of_both_kinds_decode_in_order() {
    let mut codec = codec();
    let content = content(150_000);
    let small = frame::compress(
        &content,
        &FrameOptions {
            block_size: 4096,
            ..FrameOptions::default()
        },
    )
    .unwrap();
    let large = frame::compress(
        &content,
        &FrameOptions {
            block_size: 1 << 20,
            ..FrameOptions::default()
        },
    )
    .unwrap();
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let all = [&small[..], &skippable, &small, &large, &small].concat();
    let (back, _) = codec.decompress_frame(&all, None).unwrap();
    assert!(back == content.repeat(4));
    let limited = codec.decompress_frame(&all, Some(400_000)).unwrap_err();
    assert_eq!(limited, Error::OutputLimit { limit: 400_000 });
}

#[test]
fn errors_in_frames_are_those_of_the_cpu() {
    let mut codec = codec();
    let content = content(100_000);
    let options = FrameOptions {
        block_size: 4096,
        ..FrameOptions::default()
    };
    let good = frame::compress(&content, &options).unwrap();
    assert_eq!(
        codec
            .decompress_frame(b"not lz4 at all", None)
            .unwrap_err()
            .code(),
        "NOT_LZ4"
    );
    for cut in [3, 10, 1000, good.len() - 1] {
        let found = codec.decompress_frame(&good[..cut], None).unwrap_err();
        assert_eq!(
            found.code(),
            frame::decompress(&good[..cut], None).unwrap_err().code(),
            "cut at {cut}"
        );
    }
    for at in (7..good.len()).step_by(997) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        let found = codec.decompress_frame(&bad, None).map(|(bytes, _)| bytes);
        let expected = frame::decompress(&bad, None);
        assert_eq!(
            found.as_ref().map_err(Error::code),
            expected.as_ref().map_err(Error::code),
            "byte {at}"
        );
    }
    let cancelled =
        pagepress::gpu::runtime::block_on(
            codec.compress_frame_async(&content, &options, |_| ControlFlow::Break(())),
        );
    assert_eq!(cancelled.unwrap_err(), Error::Cancelled);
}

#[test]
fn streams_do_the_same() {
    let mut codec = codec();
    let content = content(3_000_000);
    let options = FrameOptions::default();
    let mut written = Vec::new();
    let mut last = 0;
    let (done, report) = codec
        .compress_stream(
            Cursor::new(content.clone()),
            &mut written,
            &options,
            |progress| {
                assert!(progress.bytes_in >= last);
                last = progress.bytes_in;
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    assert_eq!(
        (done.bytes_in, done.bytes_out),
        (content.len() as u64, written.len() as u64)
    );
    assert_eq!(report.engine, "wgpu");
    assert!(written == frame::compress(&content, &options).unwrap());
    let mut back = Vec::new();
    let (done, _) = codec
        .decompress_stream(Cursor::new(written.clone()), &mut back, None, |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(
        (done.bytes_in, done.bytes_out),
        (written.len() as u64, content.len() as u64)
    );
    assert!(back == content);
}

#[test]
fn readers_and_writers_do_the_same() {
    let content = content(3_000_000);
    let options = FrameOptions {
        index: true,
        ..FrameOptions::default()
    };
    let mut writer = CompressWriter::new(Vec::new(), codec(), &options).unwrap();
    for piece in content.chunks(123_457) {
        writer.write_all(piece).unwrap();
    }
    let (written, report) = writer.finish().unwrap();
    assert_eq!(report.engine, "wgpu");
    assert!(written == frame::compress(&content, &options).unwrap());
    let mut reader = DecompressReader::new(written.as_slice(), codec(), None);
    let mut back = Vec::new();
    reader.read_to_end(&mut back).unwrap();
    assert!(back == content);
    assert_eq!(reader.report().engine, "wgpu");
}

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
        let error = Codec::new(forced).unwrap_err();
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
