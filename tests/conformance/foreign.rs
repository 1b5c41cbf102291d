//! Blocks that are valid and that no encoder here writes: nothing but literals, longer than their pages, the shortest matches
//! with the shortest offsets, chains of tokens that never meet.

use pagepress::lz4::{PackedPages, PageEntry, PageKind};

use crate::common::pages::Random;
use crate::corrupt::assert_like_the_twin;
use crate::subject::{PAGE_SIZES, Subject};

/// A block in the making, and the bytes of content so far.
#[derive(Default)]
pub struct Block {
    pub bytes: Vec<u8>,
    pub n: usize,
}

impl Block {
    /// Appends a length beyond the four bits in the token.
    fn extend(&mut self, length: usize) {
        if length >= 15 {
            self.bytes
                .resize(self.bytes.len() + (length - 15) / 255, 255);
            self.bytes.push(((length - 15) % 255) as u8);
        }
    }

    fn literals(&mut self, n_literals: usize, n_match: usize, random: &mut Random) {
        let token = (n_literals.min(15) << 4) | n_match.min(15);
        self.bytes.push(token as u8);
        self.extend(n_literals);
        self.bytes.extend((0..n_literals).map(|_| random.byte()));
        self.n += n_literals;
    }

    /// Appends literals and a match, of four bytes at least.
    pub fn sequence(
        &mut self,
        n_literals: usize,
        offset: usize,
        length: usize,
        random: &mut Random,
    ) {
        self.literals(n_literals, length - 4, random);
        self.bytes.extend((offset as u16).to_le_bytes());
        self.extend(length - 4);
        self.n += length;
    }

    /// Ends the block of a page of `n` bytes with literals.
    pub fn end(mut self, n: usize, random: &mut Random) -> Vec<u8> {
        self.literals(n - self.n, 0, random);
        self.bytes
    }
}

fn all_literals(n: usize, random: &mut Random) -> Vec<u8> {
    Block::default().end(n, random)
}

/// Literals of 270 bytes take two bytes of extension: such a block is longer than its page.
fn longer_than_its_page(n: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    while block.n + 274 <= n {
        block.sequence(270, 1 + random.below(270), 4, random);
    }
    block.end(n, random)
}

/// Matches of a few bytes that begin in the row of words that they copy from, and rows that wait for themselves.
fn short_offsets(n: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    let most_literals = 1 + random.below(6);
    let most_offset = [1, 2, 3, 4, 5, 8, 12, 32, 70][random.below(9)];
    let most_length = [1, 2, 5, 20, 100][random.below(5)];
    while block.n + 150 <= n {
        let n_literals = random
            .below(most_literals + 1)
            .max(usize::from(block.n == 0));
        let offset = 1 + random.below(most_offset.min(block.n + n_literals));
        block.sequence(n_literals, offset, 4 + random.below(most_length), random);
    }
    block.end(n, random)
}

/// As many sequences as a page can have.
fn shortest_matches(n: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    // lavapipe ends the loops of an invocation after 65,535 iterations.
    while block.n + 5 <= n.min(16_384) {
        let n_literals = usize::from(block.n == 0);
        let offset = 1 + random.below((block.n + n_literals).min(9));
        block.sequence(n_literals, offset, 4, random);
    }
    block.end(n, random)
}

/// Sequences of four bytes. A chain of tokens that begins at another byte of one never meets the right one, so that an invocation that
/// guesses where one begins is wrong to the end.
fn chains_that_never_meet(n: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    while block.n + 10 <= n {
        // One literal, which is a token too, and four bytes that repeat it.
        block.bytes.extend([0x10, 0x10, 1, 0]);
        block.n += 5;
    }
    block.end(n, random)
}

/// Literals and matches that are longer than what one of many invocations reads of a block, between short ones.
fn long_and_short(n: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    loop {
        let is_long = random.below(4) == 0;
        let (most_literals, most_length) = if is_long { (9000, 5000) } else { (12, 12) };
        let n_literals = 1 + random.below(most_literals);
        let length = 4 + random.below(most_length);
        if block.n + n_literals + length + 5 > n {
            return block.end(n, random);
        }
        let offset = 1 + random.below(block.n + n_literals);
        block.sequence(n_literals, offset, length, random);
    }
}

pub fn foreign_blocks_are_decompressed(subject: &Subject) {
    let mut random = Random::new(11);
    for page_size in PAGE_SIZES {
        for (name, block) in [
            (
                "all literals",
                all_literals as fn(usize, &mut Random) -> Vec<u8>,
            ),
            ("longer than its page", longer_than_its_page),
            ("short offsets", short_offsets),
            ("shortest matches", shortest_matches),
            ("chains that never meet", chains_that_never_meet),
            ("long and short", long_and_short),
        ] {
            for tail in [0, 1, 2, 7, 300, 1023] {
                let n_pages = if name == "short offsets" { 30 } else { 3 };
                let n_bytes = n_pages * page_size as usize + tail;
                let mut pages = PackedPages {
                    packed: Vec::new(),
                    table: Vec::new(),
                    page_size,
                    n_bytes: n_bytes as u64,
                    dictionary_id: 0,
                };
                for start in (0..n_bytes).step_by(page_size as usize) {
                    let n = (n_bytes - start).min(page_size as usize);
                    let block = block(n, &mut random);
                    pages.table.push(PageEntry {
                        offset: pages.packed.len() as u64,
                        length: block.len() as u32,
                        kind: PageKind::Lz4,
                    });
                    pages.packed.extend(block);
                    pages
                        .packed
                        .resize(pages.packed.len().next_multiple_of(4), 0);
                }
                let what = format!("{page_size}, {name}, {tail} bytes in the last page");
                assert_eq!(assert_like_the_twin(subject, &pages, &what), 0, "{what}");
            }
        }
    }
}
