//! Corrupt blocks and tables: the kernels must report the status of the CPU's decoder, fill the corrupt page with zeros
//! and leave all other pages intact.

use pagepress::batch::{ResidentPages, ResidentPart, decompress_resident_async};
use pagepress::gpu::Backend;
use pagepress::gpu::runtime::block_on;
use pagepress::lz4::{self, BlockError, Level, PackedPages, PageEntry, PageKind};

use crate::common::pages::Random;
use crate::guarded::table_bytes;
use crate::pages::generated;
use crate::subject::{PAGE_SIZES, Subject};

/// Guard bytes after the pages, which must not change.
const GUARD: usize = 4096;

/// Runs the kernel on the blocks and the table unchanged.
fn on_gpu(subject: &Subject, pages: &PackedPages) -> (Vec<u8>, Vec<Option<BlockError>>) {
    let device = &subject.device;
    let table = table_bytes(pages);
    let n_bytes = pages.n_bytes as usize;
    let padded = n_bytes.next_multiple_of(4);
    block_on(async {
        let packed = device.allocate_memory(pages.packed.len() as u64).unwrap();
        device
            .upload_async(&packed, 0, &pages.packed)
            .await
            .unwrap();
        let entries = device.allocate_memory(table.len() as u64).unwrap();
        device.upload_async(&entries, 0, &table).await.unwrap();
        let out = device.allocate_memory((padded + GUARD) as u64).unwrap();
        device
            .upload_async(&out, 0, &vec![0xff; padded + GUARD])
            .await
            .unwrap();
        let part = ResidentPart::new(packed, pages.packed.len() as u64, entries, pages.n_bytes);
        let compressed = ResidentPages::new(vec![part], pages.page_size);
        let outcome = decompress_resident_async(device, &compressed, &out)
            .await
            .unwrap();
        let mut bytes = device
            .download_async(&out, 0..(padded + GUARD) as u64)
            .await
            .unwrap();
        assert!(
            bytes[padded..].iter().all(|&byte| byte == 0xff),
            "{}: written beyond the pages",
            subject.name
        );
        bytes.truncate(n_bytes);
        (bytes, outcome.errors)
    })
}

/// Compares bytes and statuses with those of the CPU, and returns the number of pages that have a fault.
pub fn assert_like_the_twin(subject: &Subject, pages: &PackedPages, what: &str) -> usize {
    let (expected, expected_status) = lz4::decompress_pages_status(pages).unwrap();
    let (found, status) = on_gpu(subject, pages);
    for (page, (a, b)) in status.iter().zip(&expected_status).enumerate() {
        assert_eq!(
            a, b,
            "{} {what}: status of page {page}, {:?}",
            subject.name, pages.table[page]
        );
    }
    if let Some(byte) = found.iter().zip(&expected).position(|(a, b)| a != b) {
        panic!(
            "{} {what}: page {}, byte {byte}",
            subject.name,
            byte / pages.page_size as usize
        );
    }
    expected_status.iter().flatten().count()
}

pub fn corrupt_blocks_have_the_twins_status(subject: &Subject) {
    let mut random = Random::new(5);
    for page_size in PAGE_SIZES {
        let bytes = generated(page_size, subject.n_bytes, 77);
        let good = lz4::compress_pages(&bytes, page_size, Level::Fast).unwrap();
        let mut n_corrupt = 0;
        for round in 0..4 {
            let mut pages = good.clone();
            for entry in pages
                .table
                .iter_mut()
                .filter(|entry| entry.kind == PageKind::Lz4)
            {
                mutate(&mut pages.packed, entry, round, &mut random);
            }
            n_corrupt +=
                assert_like_the_twin(subject, &pages, &format!("{page_size} round {round}"));
        }
        assert!(n_corrupt > good.table.len() / 2, "the mutations do no harm");
    }
}

/// Changes one byte of a block at any position or near its start, or several bytes, or its length.
fn mutate(packed: &mut [u8], entry: &mut PageEntry, round: usize, random: &mut Random) {
    let length = entry.length as usize;
    let start = entry.offset as usize;
    let block = &mut packed[start..start + length];
    match round {
        0 => block[random.below(length)] = random.byte(),
        1 => block[random.below(length.min(12))] = [0, 0xff, 0xf0, 0x0f][random.below(4)],
        2 => (0..1 + random.below(8))
            .for_each(|_| block[random.below(length)] ^= 1 << random.below(8)),
        _ => entry.length = 1 + random.below(length) as u32,
    }
}

pub fn corrupt_tables_have_the_twins_status(subject: &mut Subject) {
    let mut random = Random::new(6);
    for page_size in [4096, 65_536] {
        let mut bytes = generated(page_size, 30 * page_size as usize, 78);
        bytes.truncate(bytes.len() - 5);
        let mut pages = lz4::compress_pages(&bytes, page_size, Level::Fast).unwrap();
        let end = pages.packed.len() as u64;
        let kinds = [PageKind::Lz4, PageKind::Stored, PageKind::Fill(0)];
        for (i, entry) in pages.table.iter_mut().enumerate() {
            match i % 8 {
                0 => entry.offset = end / 4 * 4,
                1 => entry.offset = 4 * random.below(end as usize / 4) as u64,
                2 => entry.length = random.below(2 * page_size as usize) as u32,
                3 => entry.kind = kinds[random.below(3)],
                4 => entry.offset = 4 * u64::from(u32::MAX),
                5 => entry.length = (1 << 30) - 1,
                6 => entry.length = 0,
                _ => {}
            }
        }
        let n_corrupt = assert_like_the_twin(subject, &pages, &format!("{page_size} raw table"));
        assert!(n_corrupt > 10);
        // The same through the codec, with entries that cannot be encoded as words.
        pages.table[9].offset += 1;
        pages.table[17].offset = u64::MAX - 2;
        let expected = lz4::decompress_pages_status(&pages).unwrap();
        let (found, _) = block_on(subject.codec.decompress_pages_status_async(&pages)).unwrap();
        assert!(
            found == expected,
            "{} {page_size}: table through the codec",
            subject.name
        );
    }
}
