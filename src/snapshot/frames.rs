//! The frames of the file of a version.
//!
//! A version without a base has a frame for each region, of independent blocks that hold a page each, so that `lz4 -d` restores the
//! image. Equal pages have equal blocks there, since LZ4 has no other way; a reader keeps one of them. An increment has one frame
//! with the pages that it added. The manifest follows in a skippable frame.
//!
//! A filled page of at least 32 bytes has the block of [`push_fill`], whose length a reader computes.

use std::ops::Range;

use super::pages::Layout;
use super::version::{Block, Origin};
use crate::Result;
use crate::lz4::frame::put;
use crate::lz4::{LAST_LITERALS, MIN_MATCH, TOKEN_MAX};
use crate::memory::{reserve, with_room};

/// Bytes of the word of a filled page.
const WORD_BYTES: usize = 8;
/// Shorter filled pages are not compressed.
const MIN_FILL: usize = 32;

/// The frames of a file: each has pages of the version, in order.
pub(super) struct Frames {
    /// The pages of all frames.
    pub pages: Vec<u32>,
    /// The part of `pages` and the bytes of content of each frame.
    pub frames: Vec<(Range<usize>, u64)>,
}

impl Frames {
    /// Returns the frames of a version with these pages: one for each region without a base, else one with the pages that were
    /// added.
    pub fn of(layout: &Layout, origins: &[Origin], has_base: bool) -> Result<Self> {
        let is_inside = |&page: &u32| !has_base || origins[page as usize] == Origin::Added;
        let n_pages = (0..origins.len() as u32).filter(is_inside).count();
        let mut pages = with_room(n_pages)?;
        pages.extend((0..origins.len() as u32).filter(is_inside));
        let mut frames = Vec::new();
        if has_base {
            let n_bytes = pages
                .iter()
                .map(|&page| layout.page_bytes(page as usize) as u64);
            frames.push((0..n_pages, n_bytes.sum()));
        } else {
            reserve(&mut frames, layout.regions.len())?;
            let regions = layout.regions.iter().enumerate();
            frames.extend(regions.map(|(i, region)| (layout.pages_of(i), region.n_bytes)));
        }
        Ok(Self { pages, frames })
    }
}

/// Returns the bytes of the block of a page in a file.
pub(super) fn block_bytes(block: Block, n_bytes: usize) -> u64 {
    match block {
        Block::At { length, .. } => length.into(),
        Block::Fill(_) if n_bytes < MIN_FILL => n_bytes as u64,
        Block::Fill(_) => {
            1 + WORD_BYTES as u64 + 2 + extra_bytes(n_bytes) + 1 + LAST_LITERALS as u64
        }
    }
}

/// Returns the number of bytes that continue the length of the match of a filled page.
const fn extra_bytes(n_bytes: usize) -> u64 {
    ((n_bytes - WORD_BYTES - LAST_LITERALS - MIN_MATCH - TOKEN_MAX) / 255 + 1) as u64
}

/// Appends the block of a page that is filled with `word`: the word as literals, a match with its offset, the last literals.
pub(super) fn push_fill(word: u64, n_bytes: usize, out: &mut Vec<u8>) {
    let page = word.to_le_bytes().into_iter().cycle();
    if n_bytes < MIN_FILL {
        return out.extend(page.take(n_bytes));
    }
    put(out, &[(WORD_BYTES << 4 | TOKEN_MAX) as u8]);
    put(out, &word.to_le_bytes());
    put(out, &(WORD_BYTES as u16).to_le_bytes());
    let rest = n_bytes - WORD_BYTES - LAST_LITERALS - MIN_MATCH - TOKEN_MAX;
    out.extend(std::iter::repeat_n(255, rest / 255));
    put(out, &[(rest % 255) as u8, (LAST_LITERALS << 4) as u8]);
    out.extend(
        page.skip((n_bytes - LAST_LITERALS) % WORD_BYTES)
            .take(LAST_LITERALS),
    );
}
