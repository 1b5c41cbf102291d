//! Corrupt blocks and tables: the status of the naive decoder, no panic, intact neighbours.

use crate::common::naive;
use crate::common::pages::{self, GENERATORS, Random};
use pagepress::Error;
use pagepress::lz4::{
    BlockError, Encoder, Level, PackedPages, PageEntry, PageKind, Parse, compress_pages,
    decompress_block, decompress_pages, decompress_pages_status,
};
use proptest::prelude::*;

/// Guard bytes next to a page, which must not change.
const BESIDE: usize = 64;

/// Compares both decoders on one block: same status, same bytes, zeros after an error, no write outside the page.
fn compare(block: &[u8], page_length: usize) -> Option<BlockError> {
    let mut room = vec![0xff; BESIDE + page_length + BESIDE];
    let (before, rest) = room.split_at_mut(BESIDE);
    let (page, behind) = rest.split_at_mut(page_length);
    let status = decompress_block(block, page);
    assert!(before.iter().chain(&*behind).all(|&byte| byte == 0xff));
    match naive::decompress_block(block, page_length) {
        Ok(expected) => {
            assert_eq!(status, Ok(()));
            assert!(page == expected);
        }
        Err(error) => {
            assert_eq!(status, Err(error), "{block:?}");
            assert!(
                page.iter().all(|&byte| byte == 0),
                "a page that fails is zeros"
            );
        }
    }
    status.err()
}

/// 100,000 blocks, or `PAGEPRESS_MUTATED_BLOCKS`.
#[test]
fn many_mutated_blocks() {
    let n_blocks = std::env::var("PAGEPRESS_MUTATED_BLOCKS").map_or(100_000, |text| {
        text.parse().expect("PAGEPRESS_MUTATED_BLOCKS is a number")
    });
    let share = n_blocks / 1000;
    let parse = Parse::new(4096, Level::High).expect("in range");
    let mut encoder = Encoder::new(&parse);
    let mut random = Random::new(5);
    let mut seen = [0_usize; 7];
    let mut block = Vec::new();
    for i in 0..n_blocks {
        if i % 20 == 0 {
            let length = [4096, 4096, 1 + random.below(300)][random.below(3)];
            let page = GENERATORS[random.below(GENERATORS.len())].1(length, i as u64);
            block.clear();
            encoder.compress_block(&page, &mut block).expect("fits");
        }
        let mut wrong = block.clone();
        mutate(&mut wrong, &mut random);
        let page_length = [4096, 4096, random.below(4097)][random.below(3)];
        seen[compare(&wrong, page_length).map_or(0, |error| error as usize)] += 1;
    }
    // Success and every error but the one of the table occurred.
    assert!(seen[..6].iter().all(|&count| count > share), "{seen:?}");
}

fn mutate(block: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let at = random.below(block.len().max(1));
        match random.below(6) {
            0 => block.truncate(at),
            1 => block.insert(at.min(block.len()), random.byte()),
            2 if at < block.len() => drop(block.remove(at)),
            3 => block
                .extend((0..random.below(20)).map(|_| [0, 255, random.byte()][random.below(3)])),
            _ if at < block.len() => block[at] = [0, 0xff, 0xf0, random.byte()][random.below(4)],
            _ => {}
        }
    }
}

#[test]
fn blocks_at_every_edge_of_the_contract() {
    use BlockError::{OffsetTooFar, OutputOverrun, OutputUnderrun, Truncated, ZeroOffset};
    let cases: [(&[u8], usize, Option<BlockError>); 16] = [
        (&[], 0, Some(Truncated)),
        (&[0], 0, None),
        (&[0], 1, Some(OutputUnderrun)),
        (&[0x10], 1, Some(Truncated)),
        (&[0x10, 7], 1, None),
        (&[0x10, 7], 0, Some(OutputOverrun)),
        (&[0xf0], 20, Some(Truncated)),
        (&[0xf0, 255], 20, Some(Truncated)),
        (&[0x10, 7, 1], 9, Some(Truncated)),
        (&[0x10, 7, 0, 0], 9, Some(ZeroOffset)),
        (&[0x10, 7, 2, 0], 9, Some(OffsetTooFar)),
        (&[0x10, 7, 1, 0], 5, Some(Truncated)),
        (&[0x10, 7, 1, 0], 4, Some(OutputOverrun)),
        (&[0x1f, 7, 1, 0], 50, Some(Truncated)),
        (&[0x10, 7, 1, 0, 0], 5, None),
        (&[0x10, 7, 1, 0, 0], 6, Some(OutputUnderrun)),
    ];
    for (block, page_length, expected) in cases {
        assert_eq!(
            compare(block, page_length),
            expected,
            "{block:?} to {page_length}"
        );
    }
}

#[test]
fn a_length_that_overflows_is_an_overrun_or_truncated() {
    let mut block = vec![0x1f, 7, 1, 0];
    block.resize(1 << 16, 255);
    assert_eq!(compare(&block, 4096), Some(BlockError::Truncated));
    block.push(3);
    assert_eq!(compare(&block, 4096), Some(BlockError::OutputOverrun));
}

proptest! {
    #[test]
    fn any_bytes_as_a_block(block: Vec<u8>, page_length in 0_usize..600) {
        compare(&block, page_length);
    }

    #[test]
    fn any_bytes_round_trip(content in proptest::collection::vec(0_u8..4, 0..20_000), high: bool) {
        let level = if high { Level::High } else { Level::Fast };
        let pages = compress_pages(&content, 4096, level).expect("compresses");
        prop_assert_eq!(decompress_pages(&pages), Ok(content));
    }
}

fn batch() -> (Vec<u8>, PackedPages) {
    let content = [
        pages::text(4096, 1),
        pages::random(4096, 2),
        pages::zeros(4096, 0),
        pages::memory(4096, 3),
        pages::text(1001, 4),
    ]
    .concat();
    let pages = compress_pages(&content, 4096, Level::Fast).expect("compresses");
    (content, pages)
}

#[test]
fn kinds_alignment_and_ratio_of_a_batch() {
    let (content, pages) = batch();
    let kinds: Vec<_> = pages.table.iter().map(|entry| entry.kind).collect();
    let expected = [
        PageKind::Lz4,
        PageKind::Stored,
        PageKind::Fill(0),
        PageKind::Lz4,
        PageKind::Lz4,
    ];
    assert_eq!(kinds, expected);
    assert!(
        pages
            .table
            .iter()
            .all(|entry| entry.offset.is_multiple_of(4))
    );
    let ratio = content.len() as f64 / (pages.packed.len() + 5 * 8) as f64;
    assert_eq!(pages.ratio(), ratio);
    assert_eq!(decompress_pages(&pages), Ok(content));
    let empty = compress_pages(&[], 4096, Level::Fast).expect("compresses");
    assert!(empty.table.is_empty() && empty.packed.is_empty());
    assert_eq!(decompress_pages(&empty), Ok(Vec::new()));
}

#[test]
fn entries_round_trip_through_the_format_of_the_kernels() {
    let (_, pages) = batch();
    for entry in &pages.table {
        let words = entry.to_words().expect("fits");
        assert_eq!(PageEntry::from_words(words, &pages.packed), Ok(*entry));
    }
    let error = PageEntry::from_words([0, 3 << 30], &pages.packed);
    assert_eq!(error, Err(BlockError::BadTableEntry));
    let entry = |offset, length| PageEntry {
        offset,
        length,
        kind: PageKind::Lz4,
    };
    assert_eq!(entry(2, 8).to_words(), None);
    assert_eq!(entry(1 << 34, 8).to_words(), None);
    assert_eq!(entry(0, 1 << 30).to_words(), None);
}

#[test]
fn a_bad_entry_fails_alone() {
    let (content, pages) = batch();
    let end = pages.packed.len() as u64;
    let bad = |page: usize, change: fn(&mut PageEntry, u64)| {
        let mut pages = pages.clone();
        change(&mut pages.table[page], end);
        let (bytes, status) = decompress_pages_status(&pages).expect("the table is complete");
        for (i, (bytes, content)) in bytes.chunks(4096).zip(content.chunks(4096)).enumerate() {
            if i == page {
                assert_eq!(status[i], Some(BlockError::BadTableEntry), "page {page}");
                assert!(bytes.iter().all(|&byte| byte == 0));
            } else {
                assert_eq!(status[i], None);
                assert!(bytes == content, "page {i} beside {page}");
            }
        }
        let source = BlockError::BadTableEntry;
        assert_eq!(
            decompress_pages(&pages),
            Err(Error::CorruptPage { page, source })
        );
    };
    bad(0, |entry, _| entry.length = 0);
    bad(0, |entry, _| entry.length = 1 << 30);
    bad(0, |entry, _| entry.offset = 2);
    bad(0, |entry, end| entry.offset = end);
    bad(0, |entry, _| entry.offset = u64::MAX - 3);
    bad(1, |entry, _| entry.length -= 1);
    bad(1, |entry, _| entry.kind = PageKind::Fill(0));
    bad(2, |entry, _| entry.length = 4);
    bad(3, |entry, end| entry.length = end as u32);
    bad(4, |entry, _| entry.kind = PageKind::Stored);
    bad(4, |entry, _| {
        (entry.kind, entry.length) = (PageKind::Fill(0), 8)
    });
}

#[test]
fn a_table_of_another_length_is_rejected() {
    let (_, mut pages) = batch();
    pages.n_bytes += 4096;
    assert!(matches!(
        decompress_pages(&pages),
        Err(Error::InvalidArgument { .. })
    ));
    for page_size in [0, 1, 4097, 131_072] {
        pages.page_size = page_size;
        assert!(matches!(
            decompress_pages(&pages),
            Err(Error::InvalidArgument { .. })
        ));
        assert!(compress_pages(&[1], page_size, Level::Fast).is_err());
    }
}
