//! The number of equal pages, against a comparison of the pages themselves.

use std::collections::HashSet;

use crate::common::pages::{Random, mixed, random, text};
use pagepress::Error;
use pagepress::lz4::{self, BlockError, Level, PackedPages, PageKind};

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];

fn n_identical(content: &[u8], page_size: u32, level: Level) -> usize {
    let pages = lz4::compress_pages(content, page_size, level).unwrap();
    pages.n_identical_pages().unwrap()
}

#[test]
fn it_is_the_number_of_pages_that_an_earlier_one_equals() {
    let mut random_pages = Random::new(7);
    for page_size in [4096, 16_384, 65_536] {
        let size = page_size as usize;
        let kinds = [
            text(size, 1),
            random(size, 2),
            mixed(size, 3),
            vec![9; size],
        ];
        let mut content = Vec::new();
        for _ in 0..40 {
            let page = match random_pages.below(3) {
                0 => random(size, random_pages.next()),
                _ => kinds[random_pages.below(4)].clone(),
            };
            content.extend(page);
        }
        let expected = 40 - content.chunks(size).collect::<HashSet<_>>().len();
        assert!(expected > 10);
        for level in LEVELS {
            assert_eq!(
                n_identical(&content, page_size, level),
                expected,
                "{level:?}"
            );
        }
    }
}

#[test]
fn pages_of_other_lengths_or_kinds_are_others() {
    assert_eq!(PackedPages::default().n_identical_pages(), Ok(0));
    for level in LEVELS {
        assert_eq!(n_identical(&[], 4096, level), 0);
        assert_eq!(n_identical(&[1; 3 * 4096], 4096, level), 2);
        // The last page has the fill of the others, and another length.
        assert_eq!(n_identical(&[1; 2 * 4096 + 800], 4096, level), 1);
    }
    // Pages of 8 bytes: a stored one and a fill, with equal blocks.
    let mut pages = lz4::compress_pages(&[5; 4096 + 8], 4096, Level::Fast).unwrap();
    assert_eq!(pages.table[1].kind, PageKind::Fill(0x0505_0505_0505_0505));
    assert_eq!(pages.n_identical_pages(), Ok(0));
    pages.table[1].kind = PageKind::Stored;
    assert_eq!(pages.n_identical_pages(), Ok(0));
}

#[test]
fn a_table_that_does_not_fit_is_an_error() {
    let mut pages = lz4::compress_pages(&text(9000, 1), 4096, Level::Fast).unwrap();
    pages.table[1].offset = 1 << 40;
    let source = BlockError::BadTableEntry;
    assert_eq!(
        pages.n_identical_pages(),
        Err(Error::CorruptPage { page: 1, source })
    );
    pages.table.pop();
    let error = pages.n_identical_pages().unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}
