//! Sizes beyond those of any buffer.

use pagepress::batch::{
    ResidentPages, ResidentPart, compress_resident_async, decompress_resident_async,
};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, GpuBatchCompressor, GpuBatchConfig, HostMemory, HostUse, LimitTier,
};
use pagepress::lz4::{self, BlockError, Level};
use pagepress::{PAGE_SIZE, Result};

use crate::{open, request};

const SIZES: [u64; 10] = [
    65_537,
    1 << 20,
    1 << 32,
    (1 << 32) + 4096,
    1 << 44,
    (1 << 44) + 4096,
    1 << 63,
    u64::MAX - 4095,
    u64::MAX - 2,
    u64::MAX,
];

fn refused<T>(what: &str, result: Result<T>) {
    let code = result.err().map(|error| error.code());
    assert_eq!(code, Some("INVALID_ARGUMENT"), "{what}");
}

#[test]
fn sizes_beyond_resident_buffers_are_typed_errors() {
    let device = open(&request());
    let pages = device.allocate_memory(65_536).unwrap();
    let (packed, table) = (
        device.allocate_memory(65_536).unwrap(),
        device.allocate_memory(128).unwrap(),
    );
    block_on(async {
        for n in SIZES {
            for page_size in [4096, 65_536] {
                let level = Level::Fast;
                let done = compress_resident_async(&device, &pages, n, page_size, level).await;
                refused(&format!("pages of {n} bytes"), done);
                for (packed_bytes, n_bytes) in [(n, 65_536), (65_536, n), (n, n)] {
                    let part =
                        ResidentPart::new(packed.clone(), packed_bytes, table.clone(), n_bytes);
                    for parts in [vec![part.clone()], vec![part.clone(), part]] {
                        let given = ResidentPages::new(parts, page_size);
                        assert!(given.ratio() >= 0.0);
                        let done = decompress_resident_async(&device, &given, &pages).await;
                        refused(&format!("{packed_bytes} of {n_bytes} bytes"), done);
                    }
                }
            }
        }
        let short = ResidentPart::new(
            packed.clone(),
            64,
            device.allocate_memory(4).unwrap(),
            65_536,
        );
        let given = ResidentPages::new(vec![short], 4096);
        refused(
            "a short table",
            decompress_resident_async(&device, &given, &pages).await,
        );
        let mut wrong = ResidentPages::new(Vec::new(), 0);
        assert_eq!(wrong.ratio(), 1.0);
        wrong.n_bytes = 4096;
        refused(
            "no parts",
            decompress_resident_async(&device, &wrong, &pages).await,
        );
    });
}

/// A part may have more pages than scratch memory for them fits a binding.
#[test]
fn resident_parts_are_decompressed_in_launches_that_fit() {
    let device = open(&DeviceRequest {
        limits: LimitTier::BindingsUpTo(1 << 20),
        ..request()
    });
    let content: Vec<u8> = (0..900 * PAGE_SIZE + 1001)
        .map(|i| (i / 7 % 251) as u8)
        .collect();
    let mut packed = lz4::compress_pages(&content, PAGE_SIZE as u32, Level::Fast).unwrap();
    assert!(packed.packed.len() < 1 << 20);
    packed.table[700].length = 0;
    let words = packed.table.iter().flat_map(|e| e.to_words().unwrap());
    let table: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let upload = |bytes: &[u8]| {
        let buffer = device.allocate_memory(bytes.len() as u64).unwrap();
        block_on(device.upload_async(&buffer, 0, bytes)).unwrap();
        buffer
    };
    let n_bytes = content.len() as u64;
    let n_packed = packed.packed.len() as u64;
    let part = ResidentPart::new(upload(&packed.packed), n_packed, upload(&table), n_bytes);
    let given = ResidentPages::new(vec![part], PAGE_SIZE as u32);
    let padded = n_bytes.next_multiple_of(4);
    let pages = device.allocate_memory(padded).unwrap();
    let outcome = block_on(decompress_resident_async(&device, &given, &pages)).unwrap();
    let mut expected = content;
    expected[700 * PAGE_SIZE..701 * PAGE_SIZE].fill(0);
    let found = block_on(device.download_async(&pages, 0..padded)).unwrap();
    assert!(found[..expected.len()] == expected);
    assert_eq!(outcome.errors.len(), 901);
    for (page, error) in outcome.errors.into_iter().enumerate() {
        let wanted = (page == 700).then_some(BlockError::BadTableEntry);
        assert_eq!(error, wanted, "page {page}");
    }
}

#[test]
fn sizes_beyond_pinned_buffers_are_typed_errors() {
    let device = open(&request());
    let mut compressor =
        GpuBatchCompressor::with_device(device.clone(), GpuBatchConfig::default()).unwrap();
    let (up, down) = (
        device.allocate_host(65_536, HostUse::Upload).unwrap(),
        device.allocate_host(65_536, HostUse::Download).unwrap(),
    );
    let memory = device.allocate_memory(4).unwrap();
    block_on(async {
        for n in [
            17,
            1 << 40,
            1 << 52,
            (1 << 52) + 1,
            usize::MAX / PAGE_SIZE + 2,
            usize::MAX,
        ] {
            refused("pages", compressor.compress_pinned_async(&up, n).await);
        }
        for n in SIZES {
            refused(
                "blocks",
                compressor.decompress_pinned_async(&up, n, &[], &down).await,
            );
            let end = u64::wrapping_add(n, 4096);
            refused("a range", up.fill_async(n..end, |_| ()).await);
            refused("a range", down.read_async(n..end, |_| ()).await);
            refused("memory", device.allocate_memory(n | 1));
            let from = n / 4 * 4;
            let outside = device.download_async(&memory, from..from.saturating_add(4));
            refused("a download", outside.await);
        }
    });
    for slots in [0, 1025, usize::MAX] {
        let config = GpuBatchConfig {
            ring_buffer_slots: slots,
            ..GpuBatchConfig::default()
        };
        refused(
            "slots",
            GpuBatchCompressor::with_device(device.clone(), config),
        );
    }
}
