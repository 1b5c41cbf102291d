//! Valid pages.

use pagepress::Error;
use pagepress::batch::{compress_resident_async, decompress_resident_async};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuBatchCompressor, GpuBatchConfig, HostMemory, HostUse};
use pagepress::lz4::{self, Level, PackedPages, PageEntry};

use crate::common::pages::{GENERATORS, Random, edge_lengths, every_generator};
use crate::subject::{PAGE_SIZES, Subject};

/// Returns about `n_bytes` of pages of every kind.
pub fn generated(page_size: u32, n_bytes: usize, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(n_bytes + page_size as usize);
    for (i, (_, make)) in every_generator().cycle().enumerate() {
        if bytes.len() >= n_bytes {
            break;
        }
        bytes.extend(make(page_size as usize, seed + i as u64));
    }
    bytes
}

/// Fails with the position of the first difference.
pub fn assert_same(found: &PackedPages, expected: &PackedPages, what: &str) {
    let differs = found
        .table
        .iter()
        .zip(&expected.table)
        .position(|(a, b)| a != b);
    if let Some(page) = differs {
        panic!(
            "{what}: page {page}: {:?}, expected {:?}",
            found.table[page], expected.table[page]
        );
    }
    let byte = found
        .packed
        .iter()
        .zip(&expected.packed)
        .position(|(a, b)| a != b);
    if let Some(byte) = byte {
        let page = expected
            .table
            .partition_point(|entry| entry.offset <= byte as u64)
            - 1;
        panic!(
            "{what}: page {page}, byte {byte} of packed, block {:?}",
            expected.table[page]
        );
    }
    assert_eq!(
        found.packed.len(),
        expected.packed.len(),
        "{what}: packed bytes"
    );
    assert!(found == expected, "{what}");
}

pub fn compressed_pages_equal_the_twins(subject: &mut Subject) {
    for page_size in PAGE_SIZES {
        for level in [Level::Fast, Level::High] {
            let what = format!("{} {page_size} {level:?}", subject.name);
            let bytes = generated(page_size, subject.n_bytes, u64::from(page_size));
            let expected = lz4::compress_pages(&bytes, page_size, level).unwrap();
            let (found, report) = subject
                .codec
                .compress_pages(&bytes, page_size, level)
                .unwrap();
            assert_same(&found, &expected, &what);
            assert_eq!(report.engine, subject.device.name());
            let (back, report) = subject.codec.decompress_pages(&found).unwrap();
            assert!(back == bytes, "{what}: decompressed");
            assert_eq!(report.engine, subject.device.name());
            if (page_size, level) == (4096, Level::Fast) {
                in_given_memory(subject, &bytes, &expected, level, &what);
            }
        }
    }
}

/// Compresses into memory of another batch, and decompresses to the start of longer memory and to memory that is too short.
fn in_given_memory(
    subject: &mut Subject,
    bytes: &[u8],
    expected: &PackedPages,
    level: Level,
    what: &str,
) {
    const BEHIND: usize = 5000;
    let (codec, page_size) = (&mut subject.codec, expected.page_size);
    let mut found = lz4::compress_pages(&[1; 9000], 4096, Level::Fast).unwrap();
    let report = codec.compress_pages_into(bytes, page_size, level, &mut found);
    assert_eq!(report.unwrap().engine, subject.device.name());
    assert_same(&found, expected, what);
    let mut out = vec![0xa5; bytes.len() + BEHIND];
    let report = codec.decompress_pages_into(expected, &mut out).unwrap();
    assert_eq!(report.engine, subject.device.name());
    let (pages, behind) = out.split_at(bytes.len());
    assert!(pages == bytes, "{what}: decompressed to given memory");
    assert!(behind.iter().all(|&byte| byte == 0xa5), "{what}: behind");
    let short = codec.decompress_pages_into(expected, &mut out[..bytes.len() - 1]);
    let (needed, actual) = (bytes.len() as u64, bytes.len() as u64 - 1);
    assert_eq!(short, Err(Error::OutputTooSmall { needed, actual }));
    let last = found.table.len() - 1;
    found.table[last].length = 0;
    let status = codec.decompress_pages_status_into(&found, &mut out);
    let (twin, twin_status) = lz4::decompress_pages_status(&found).unwrap();
    assert_eq!(status.unwrap().0, twin_status, "{what}");
    assert!(out[..bytes.len()] == twin, "{what}: a corrupt page");
}

pub fn every_tail_length_equals_the_twins(subject: &mut Subject) {
    let lengths = edge_lengths(4096);
    // Every length on the main way to open an engine, a few of them on the others.
    let step = if subject.is_main() { 1 } else { 7 };
    for (i, &length) in lengths.iter().enumerate().step_by(step) {
        let (name, make) = GENERATORS[i % GENERATORS.len()];
        let mut bytes = generated(4096, 8192, i as u64);
        bytes.extend(make(length, i as u64));
        let what = format!("{} tail of {length} bytes of {name}", subject.name);
        let expected = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
        let (found, _) = subject
            .codec
            .compress_pages(&bytes, 4096, Level::Fast)
            .unwrap();
        assert_same(&found, &expected, &what);
        assert!(
            subject.codec.decompress_pages(&found).unwrap().0 == bytes,
            "{what}: decompressed"
        );
    }
    let (empty, _) = subject
        .codec
        .compress_pages(&[], 4096, Level::Fast)
        .unwrap();
    assert_same(
        &empty,
        &lz4::compress_pages(&[], 4096, Level::Fast).unwrap(),
        "no pages",
    );
    assert!(subject.codec.decompress_pages(&empty).unwrap().0.is_empty());
}

/// At level High, 128 positions are searched together, in the order of their words. Where there are few words, their candidates are
/// among the 64 positions before those.
pub fn short_pages_of_few_words_equal_the_twins(subject: &mut Subject) {
    let step = if subject.is_main() { 5 } else { 55 };
    for length in (100..=650).step_by(step) {
        let mut random = Random::new(length as u64);
        let bytes: Vec<u8> = (0..length).map(|_| b"abc"[random.below(3)]).collect();
        let expected = lz4::compress_pages(&bytes, 4096, Level::High).unwrap();
        let (found, _) = subject
            .codec
            .compress_pages(&bytes, 4096, Level::High)
            .unwrap();
        assert_same(
            &found,
            &expected,
            &format!("{} {length} bytes", subject.name),
        );
    }
}

pub fn batches_may_be_cut_anywhere(subject: &Subject) {
    let bytes = generated(4096, 100 * 4096, 9);
    let (pages, _) = bytes.as_chunks::<4096>();
    let expected = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
    for (batch_size, async_dma, ring_buffer_slots) in
        [(1000, true, 4), (7, true, 3), (33, true, 1), (40, false, 4)]
    {
        let config = GpuBatchConfig {
            batch_size,
            async_dma,
            ring_buffer_slots,
            ..GpuBatchConfig::default()
        };
        let what = format!("{} {config:?}", subject.name);
        let mut compressor =
            GpuBatchCompressor::with_device(subject.device.clone(), config).unwrap();
        let mut reused = PackedPages::default();
        let mut out = vec![[0xff; 4096]; pages.len()];
        for _ in 0..2 {
            let result = compressor.compress_batch_reusing(pages, reused).unwrap();
            assert_same(&result.pages, &expected, &what);
            assert!(
                result.total_time_ns >= result.h2d_time_ns + result.d2h_time_ns,
                "{what}: {:?}",
                result.timings
            );
            assert_eq!(
                result.timings.kernel_ns.is_some(),
                subject.device.capabilities().timestamps
            );
            let back = compressor.decompress_batch(&result.pages).unwrap();
            assert!(back.into_pages().unwrap() == pages, "{what}: decompressed");
            let (errors, _) = compressor
                .decompress_batch_into(&result.pages, &mut out)
                .unwrap();
            assert!(
                errors.iter().all(Option::is_none) && out == pages,
                "{what}: into"
            );
            reused = result.pages;
        }
        let short = compressor.decompress_batch_into(&reused, &mut out[1..]);
        assert_eq!(short.unwrap_err().code(), "INVALID_ARGUMENT");
        assert_eq!(compressor.stats().pages_compressed, 200);
    }
}

pub fn pinned_pages_equal_the_twins(subject: &Subject) {
    let device = &subject.device;
    let bytes = generated(4096, 90 * 4096, 11);
    let bytes = &bytes[..90 * 4096];
    let n_bytes = bytes.len() as u64;
    let expected = lz4::compress_pages(bytes, 4096, Level::Fast).unwrap();
    for (batch_size, async_dma) in [(1000, true), (13, true), (40, false)] {
        let config = GpuBatchConfig {
            batch_size,
            async_dma,
            ..GpuBatchConfig::default()
        };
        let mut compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
        block_on(async {
            let host = device.allocate_host(n_bytes, HostUse::Upload).unwrap();
            let filled = host.fill_async(0..n_bytes, |room| room.copy_from_slice(bytes));
            filled.await.unwrap();
            let found = compressor.compress_pinned_async(&host, 90).await.unwrap();
            assert_eq!(found.parts.len(), 90usize.div_ceil(batch_size));
            let (mut packed, mut table) = (Vec::new(), Vec::new());
            for part in &found.parts {
                let base = packed.len() as u64;
                let blocks = part.packed.read_async(0..part.packed_bytes, <[u8]>::to_vec);
                packed.extend(blocks.await.unwrap());
                table.extend(part.table.iter().map(|entry| PageEntry {
                    offset: entry.offset + base,
                    ..*entry
                }));
            }
            let joined = PackedPages {
                packed,
                table,
                page_size: 4096,
                n_bytes,
                dictionary_id: 0,
            };
            assert_same(&joined, &expected, subject.name);
            assert!((found.ratio() - expected.ratio()).abs() < 1e-9);
            let n_packed = joined.packed.len() as u64;
            let up = device.allocate_host(n_packed, HostUse::Upload).unwrap();
            up.write_async(0, &joined.packed).await.unwrap();
            let down = device.allocate_host(n_bytes, HostUse::Download).unwrap();
            let decompressed =
                compressor.decompress_pinned_async(&up, n_packed, &joined.table, &down);
            let (errors, _) = decompressed.await.unwrap();
            assert!(errors.iter().all(Option::is_none));
            let same = down.read_async(0..n_bytes, |found| found == bytes);
            assert!(same.await.unwrap(), "{}: pinned pages", subject.name);
            let long = compressor.compress_pinned_async(&host, 91).await;
            assert_eq!(long.unwrap_err().code(), "INVALID_ARGUMENT");
        });
    }
}

pub fn resident_pages_equal_the_twins(subject: &Subject) {
    let device = &subject.device;
    for (page_size, tail) in [(4096, 0), (4096, 1001), (65_536, 3)] {
        let mut bytes = generated(page_size, 4 * 65_536, 3);
        bytes.truncate(bytes.len() - tail);
        let expected = lz4::compress_pages(&bytes, page_size, Level::Fast).unwrap();
        let n_bytes = bytes.len() as u64;
        let padded: Vec<u8> = bytes
            .iter()
            .copied()
            .chain([0; 8])
            .take(bytes.len().next_multiple_of(4))
            .collect();
        block_on(async {
            let pages = device.allocate_memory(padded.len() as u64).unwrap();
            device.upload_async(&pages, 0, &padded).await.unwrap();
            let found = compress_resident_async(device, &pages, n_bytes, page_size, Level::Fast)
                .await
                .unwrap();
            assert_eq!(found.parts.len(), 1);
            let part = &found.parts[0];
            assert!((found.ratio() - expected.ratio()).abs() < 1e-9);
            let packed = device
                .download_async(&part.packed, 0..part.packed_bytes)
                .await
                .unwrap();
            assert!(
                packed == expected.packed,
                "{} {page_size} {tail}: resident blocks",
                subject.name
            );
            let back = device.allocate_memory(padded.len() as u64 + 4096).unwrap();
            device
                .upload_async(&back, 0, &vec![0xff; padded.len() + 4096])
                .await
                .unwrap();
            let outcome = decompress_resident_async(device, &found, &back)
                .await
                .unwrap();
            assert!(outcome.errors.iter().all(Option::is_none));
            let found = device
                .download_async(&back, 0..padded.len() as u64 + 4096)
                .await
                .unwrap();
            assert!(
                found[..bytes.len()] == bytes,
                "{} {page_size} {tail}: resident pages",
                subject.name
            );
            assert!(
                found[padded.len()..].iter().all(|&byte| byte == 0xff),
                "written beyond the pages"
            );
        });
    }
}
