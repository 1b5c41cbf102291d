//! Pages and frames through CUDA.

use crate::common::pages::{mixed, text};
use crate::with_cuda;
use pagepress::batch::{Codec, compress_resident_async, decompress_resident_async};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, Buffer, GpuBatchCompressor, GpuBatchConfig};
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, Level};
use pagepress::{Error, PAGE_SIZE};
use pagepress_test_harness::test;

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
