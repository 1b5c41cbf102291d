//! Batches of pages with invalid tables.

use pagepress::lz4::{PackedPages, PageEntry, PageKind, decompress_pages, decompress_pages_status};

use super::random::Random;

/// Tables per execution.
pub const INPUTS: u64 = 16;

const SIZES: [u32; 8] = [4096, 8192, 16_384, 32_768, 65_536, 0, 4097, u32::MAX];
const MAX_PAGES: usize = 12;

/// Decompresses batches with arbitrary entries, sizes and lengths: errors and statuses agree, failed pages are zeros,
/// and the others equal the result of their entry alone.
pub fn pages(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    for _ in 0..INPUTS {
        one(data, &mut random);
    }
    INPUTS
}

fn one(packed: &[u8], random: &mut Random) {
    let n_pages = random.below(MAX_PAGES);
    let page_size = SIZES[if random.below(8) == 0 {
        random.below(8)
    } else {
        random.below(2)
    }];
    let table: Vec<PageEntry> = (0..n_pages)
        .map(|_| entry(packed, page_size, random))
        .collect();
    let whole = n_pages as u64 * u64::from(page_size);
    let n_bytes = match random.below(12) {
        0 => random.next(),
        1 => u64::MAX,
        2 => whole + 1,
        3..6 => whole.saturating_sub(random.below(page_size.clamp(1, 65_536) as usize) as u64),
        _ => whole,
    };
    // Skips sizes that agree with the table but exceed the memory of any machine.
    if n_bytes > 1 << 24 && n_bytes.div_ceil(u64::from(page_size.max(1))) == n_pages as u64 {
        return;
    }
    let packed = packed.to_vec();
    let batch = PackedPages {
        packed,
        table,
        page_size,
        n_bytes,
        dictionary_id: 0,
    };
    let all = decompress_pages(&batch);
    let each = decompress_pages_status(&batch);
    let Ok((content, faults)) = each else {
        assert!(all.is_err());
        return;
    };
    assert_eq!(content.len() as u64, n_bytes);
    assert_eq!(faults.len(), n_pages);
    match all {
        Ok(all) => assert!(faults.iter().all(Option::is_none) && all == content),
        Err(_) => assert!(faults.iter().any(Option::is_some)),
    }
    for ((page, fault), entry) in content
        .chunks(page_size as usize)
        .zip(faults)
        .zip(&batch.table)
    {
        let mut alone = vec![0xa5; page.len()];
        let status = entry.decompress(&batch.packed, &mut alone);
        assert!(status.err() == fault && alone == page);
    }
}

fn entry(packed: &[u8], page_size: u32, random: &mut Random) -> PageEntry {
    let offset = match random.below(10) {
        0 => random.next(),
        1 => u64::MAX - random.below(70_000) as u64,
        2 => packed.len() as u64,
        3 => random.below(packed.len() + 1) as u64,
        _ => (random.below(packed.len() / 4 + 1) * 4) as u64,
    };
    let rest = (packed.len() as u64).saturating_sub(offset) as u32;
    let kind = match random.below(4) {
        0 => PageKind::Stored,
        1 => PageKind::Fill(random.next()),
        _ => PageKind::Lz4,
    };
    let length = match (random.below(8), kind) {
        (0, _) => random.next() as u32,
        (1, _) => u32::MAX,
        (2, _) => random.below(1 << 17) as u32,
        (_, PageKind::Stored) => page_size,
        (_, PageKind::Fill(_)) => 8,
        _ => rest.min(random.below(1 << 14) as u32),
    };
    PageEntry {
        offset,
        length,
        kind,
    }
}
