//! The canonical parse: parameters, windows of positions, and the walk that turns candidates into sequences.

use super::table::{Buckets, FLIP, LANES, NO_BUCKET, slot};
use super::{LAZY_BELOW, Level, WINDOW};
use crate::{Error, Result};

/// Smallest page and block size in bytes.
pub const MIN_PAGE_SIZE: u32 = 4096;
/// Largest page size in bytes: the reach of an LZ4 offset, and what the kernels take.
pub const MAX_PAGE_SIZE: u32 = 65_536;
/// Largest block size in bytes that a frame can hold.
pub const MAX_BLOCK_SIZE: u32 = 4 << 20;

/// The last match starts at least this many bytes before the end of the block.
const MATCH_START_MARGIN: usize = 12;
/// The last bytes of a block are literals.
const LAST_LITERALS: usize = 5;
/// Shortest match that LZ4 can express.
pub(super) const MIN_MATCH: usize = 4;

const HASH_MULTIPLIER: u32 = 2_654_435_761;

/// By block size class (the next power of two): class in bytes, `bucket_bits` of Fast, whether Fast is lazy,
/// `bucket_bits` of High. Being lazy gains as much as four times the buckets where matches may lie far back.
const CLASSES: [(u32, u32, bool, u32); 6] = [
    (4 << 10, 9, false, 11),
    (8 << 10, 10, false, 11),
    (16 << 10, 10, false, 11),
    (32 << 10, 11, false, 11),
    (64 << 10, 11, true, 11),
    (MAX_BLOCK_SIZE, 13, false, 14),
];

/// Parameters of the canonical parse for one page size and level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parse {
    page_size: u32,
    bucket_bits: u32,
    tag_bits: u32,
    lazy: bool,
    backward: bool,
}

impl Parse {
    /// Parameters for blocks of at most `page_size` bytes, 4096 to 4 MiB.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `page_size` is out of range.
    pub fn new(page_size: u32, level: Level) -> Result<Self> {
        let class = page_size.checked_next_power_of_two().unwrap_or(u32::MAX);
        let row = CLASSES.iter().find(|&&(largest, ..)| class <= largest);
        let (Some(&(_, fast, fast_lazy, high)), true) = (row, page_size >= MIN_PAGE_SIZE) else {
            return Err(Error::InvalidArgument {
                name: "block size",
                value: page_size.to_string(),
                expected: "give 4096 to 4194304 bytes",
            });
        };
        let high_level = level == Level::High;
        Ok(Self {
            page_size,
            bucket_bits: if high_level { high } else { fast },
            tag_bits: 16_u32.saturating_sub(class.trailing_zeros()),
            lazy: high_level || fast_lazy,
            backward: high_level,
        })
    }

    /// Largest block in bytes.
    #[must_use]
    pub const fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Base-2 logarithm of the number of buckets, of two entries each.
    #[must_use]
    pub const fn bucket_bits(&self) -> u32 {
        self.bucket_bits
    }

    /// Bits of hash that an entry keeps beside its position.
    #[must_use]
    pub const fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// Whether a match gives way to a longer one at the next position.
    #[must_use]
    pub const fn lazy(&self) -> bool {
        self.lazy
    }

    /// Whether a match is extended backwards over the literals before it.
    #[must_use]
    pub const fn backward(&self) -> bool {
        self.backward
    }

    /// Whether blocks are of the large kind, with 32-bit entries.
    #[must_use]
    pub const fn is_large(&self) -> bool {
        self.page_size > MAX_PAGE_SIZE
    }
}

/// Literals `anchor..start`, then a match from `start` to `end` at distance `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence {
    pub anchor: usize,
    pub start: usize,
    pub offset: usize,
    pub end: usize,
}

/// Calls `emit` with each sequence of `input` in order; what follows the last match is literals.
/// `buckets` must be empty.
#[inline(always)]
pub(super) fn parse_block<B: Buckets>(
    input: &[u8],
    parse: &Parse,
    buckets: &mut B,
    emit: impl FnMut(Sequence),
) {
    let Some(last) = input.len().checked_sub(MATCH_START_MARGIN) else {
        return;
    };
    if last == 0 {
        return;
    }
    let mut walk = Walk {
        input,
        parse,
        position: 0,
        anchor: 0,
        held: None,
        emit,
    };
    let mut window = Window::new(parse);
    for start in (0..=last).step_by(WINDOW) {
        let done = walk.position >= start + WINDOW;
        window.load(input, start, last);
        if !done {
            walk.window(&window, buckets, last);
        }
        window.insert(buckets);
    }
}

/// Sixty-four aligned positions: which are searchable, which are runs, and what the table needs of them.
///
/// Buckets and entries are computed for all positions at once, which compilers turn into vector code; for that they
/// lie in the order of [`slot`]. They are not set where all positions are runs.
struct Window {
    start: usize,
    searchable: u64,
    runs: u64,
    /// Right shift that leaves the bucket of a product.
    bucket_shift: u32,
    tag_bits: u32,
    buckets: [u16; WINDOW],
    /// `entry(p)`; of large blocks only the tag, which is 0.
    entries: [u16; WINDOW],
}

impl Window {
    const fn new(parse: &Parse) -> Self {
        Self {
            start: 0,
            searchable: 0,
            runs: 0,
            bucket_shift: 32 - parse.bucket_bits,
            tag_bits: parse.tag_bits,
            buckets: [0; WINDOW],
            entries: [0; WINDOW],
        }
    }

    #[inline(always)]
    fn load(&mut self, input: &[u8], start: usize, last: usize) {
        self.start = start;
        let count = (last + 1 - start).min(WINDOW);
        self.searchable = u64::MAX >> (WINDOW - count);
        match input
            .get(start.wrapping_sub(1)..)
            .and_then(|tail| tail.first_chunk())
        {
            Some(bytes) => self.hash(bytes),
            None => self.load_edge(input, start),
        }
    }

    /// The first window, which has no byte before it, and windows near the end of the block.
    #[cold]
    fn load_edge(&mut self, input: &[u8], start: usize) {
        let mut bytes = [0; WINDOW + 4];
        let from = start.saturating_sub(1);
        let to = (start + WINDOW + 3).min(input.len());
        bytes[from + 1 - start..to + 1 - start].copy_from_slice(&input[from..to]);
        if start == 0 {
            // Position 0 is no run: the byte before it differs.
            bytes[0] = !bytes[1];
        }
        self.hash(&bytes);
    }

    /// `bytes` holds the byte before the window, the window and three bytes more.
    #[inline(always)]
    fn hash(&mut self, bytes: &[u8; WINDOW + 4]) {
        self.runs = run_mask(bytes) & self.searchable;
        if self.runs == u64::MAX {
            return;
        }
        let (start, bucket_shift, tag_bits) = (self.start as u32, self.bucket_shift, self.tag_bits);
        let tag_mask = (1 << tag_bits) - 1;
        for k in 0..LANES {
            let words = bytes[k + 1..k + 1 + WINDOW].as_chunks::<LANES>().0;
            for (j, word) in words.iter().enumerate() {
                let product = u32::from_le_bytes(*word).wrapping_mul(HASH_MULTIPLIER);
                let p = start + (LANES * j + k) as u32;
                let slot = k * (WINDOW / LANES) + j;
                self.buckets[slot] = (product >> bucket_shift) as u16;
                self.entries[slot] = ((p ^ FLIP) << tag_bits | product >> 16 & tag_mask) as u16;
            }
        }
    }

    /// Runs and positions that are not searchable stay out of the table.
    #[inline(always)]
    fn insert<B: Buckets>(&mut self, buckets: &mut B) {
        let mut left_out = self.runs | !self.searchable;
        if left_out == u64::MAX {
            return;
        }
        while left_out != 0 {
            self.buckets[slot(left_out.trailing_zeros() as usize)] = NO_BUCKET;
            left_out &= left_out - 1;
        }
        buckets.insert(&self.buckets, &self.entries, self.start);
    }
}

/// Bit i is set where bytes i..i + 5 are equal: `run` of the window's position i.
#[inline(always)]
fn run_mask(bytes: &[u8; WINDOW + 4]) -> u64 {
    let mut equal = [0_u8; WINDOW];
    for (i, equal) in equal.iter_mut().enumerate() {
        *equal = u8::from(bytes[i] == bytes[i + 1]);
    }
    let mut low = 0_u64;
    for (i, eight) in equal.as_chunks::<8>().0.iter().enumerate() {
        // The product gathers the lowest bits of eight bytes in its top byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        low |= bits << (8 * i);
    }
    if low == 0 {
        return 0;
    }
    let equal_at = |i: usize| u64::from(bytes[i] == bytes[i + 1]);
    let high = equal_at(64) | equal_at(65) << 1 | equal_at(66) << 2;
    low & (low >> 1 | high << 63) & (low >> 2 | high << 62) & (low >> 3 | high << 61)
}

#[derive(Clone, Copy)]
struct Match {
    start: usize,
    offset: usize,
    length: usize,
}

/// The parse proper: walks over candidates, window after window.
struct Walk<'a, F> {
    input: &'a [u8],
    parse: &'a Parse,
    position: usize,
    anchor: usize,
    /// With `lazy`, a match that waits for the one at the next position.
    held: Option<Match>,
    emit: F,
}

impl<F: FnMut(Sequence)> Walk<'_, F> {
    #[inline(always)]
    fn window<B: Buckets>(&mut self, window: &Window, buckets: &B, last: usize) {
        let end = (window.start + WINDOW).min(last + 1);
        while self.position < end {
            let p = self.position;
            let i = p - window.start;
            let offset = if window.runs >> i & 1 == 1 {
                1
            } else {
                let slot = slot(i);
                buckets.offset(self.input, window.buckets[slot], window.entries[slot], p)
            };
            if offset == 0 {
                match self.held.take() {
                    Some(held) => self.finish(held),
                    None => self.position += 1,
                }
                continue;
            }
            let length = self.length(p, offset);
            let found = Match {
                start: p,
                offset,
                length,
            };
            match self.held.take() {
                None if self.parse.lazy && p < last && length < LAZY_BELOW => {
                    self.held = Some(found);
                    self.position += 1;
                }
                Some(held) if held.length >= length => self.finish(held),
                _ => self.finish(found),
            }
        }
    }

    #[inline(always)]
    fn length(&self, p: usize, offset: usize) -> usize {
        let end = self.input.len() - LAST_LITERALS;
        let p = p + MIN_MATCH;
        MIN_MATCH + common_prefix(&self.input[p - offset..end - offset], &self.input[p..end])
    }

    #[inline(always)]
    fn finish(&mut self, found: Match) {
        let Match {
            mut start,
            offset,
            length,
        } = found;
        let end = start + length;
        if self.parse.backward {
            while start > self.anchor
                && start > offset
                && self.input[start - 1] == self.input[start - 1 - offset]
            {
                start -= 1;
            }
        }
        (self.emit)(Sequence {
            anchor: self.anchor,
            start,
            offset,
            end,
        });
        self.anchor = end;
        self.position = end;
    }
}

/// Length of the common prefix of two slices of the same length.
#[inline(always)]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (a_words, a_tail) = a.as_chunks::<8>();
    let (b_words, b_tail) = b.as_chunks::<8>();
    for (i, (x, y)) in a_words.iter().zip(b_words).enumerate() {
        let difference = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if difference != 0 {
            return i * 8 + difference.trailing_zeros() as usize / 8;
        }
    }
    a_words.len() * 8
        + a_tail
            .iter()
            .zip(b_tail)
            .take_while(|(x, y)| x == y)
            .count()
}

/// Little-endian word at `p`.
#[inline(always)]
pub(super) fn word(bytes: &[u8], p: usize) -> u32 {
    bytes
        .get(p..)
        .and_then(|tail| tail.first_chunk())
        .map_or(0, |four| u32::from_le_bytes(*four))
}
