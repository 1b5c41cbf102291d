//! The match finder of the canonical parse: looks up and inserts a window of positions at a time, with SIMD.
//!
//! Entries of this hash table keep more hash bits than canonical entries, so that an entry whose bits agree is almost
//! always a match. A window yields a bit mask of candidates; the parser goes from one set bit to the next and verifies
//! only those. The canonical rules for tags and empty entries hold here too: see [`MatchFinder::compare`] and
//! [`MatchFinder::start_block`].

use super::candidates::{Candidates, WINDOWS};
use super::dictionary::Dictionary;
use super::lanes::Lanes;
use super::look_up::{NOWHERE, look_up};
use super::parse::{FIFTH_MULTIPLIER, HASH_MULTIPLIER, MATCH_START_MARGIN, Parse};
use super::sorted::REACH;
use super::{IS_SMALL, WINDOW};

/// XOR mask that makes the lowest position of a window the largest entry.
const FLIP: u32 = WINDOW as u32 - 1;
/// Hash bits in an entry: of a page, whose positions have 16 bits, and of a large block, whose positions have 22.
const PAGE_HASH_BITS: u32 = 16;
const LARGE_HASH_BITS: u32 = 10;
/// Bytes after the start of a window that its vector loads may read: 16 at the fifth byte of the last four positions.
/// They also read the byte before the window.
const WINDOW_READS: usize = WINDOW + 16;

/// The kind of blocks: a constant in each specialised copy of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// The block is larger than a page can be.
    pub is_large: bool,
    pub hashes_five: bool,
    /// Matches may reach into a dictionary.
    pub has_dictionary: bool,
}

impl Kind {
    pub(super) const SMALL_PAGE: Self = Self {
        is_large: false,
        hashes_five: false,
        has_dictionary: false,
    };
    pub(super) const PAGE: Self = Self {
        hashes_five: true,
        ..Self::SMALL_PAGE
    };
    pub(super) const LARGE: Self = Self {
        is_large: true,
        ..Self::PAGE
    };

    /// Returns this kind with a dictionary.
    pub(super) const fn with_dictionary(self) -> Self {
        Self {
            has_dictionary: true,
            ..self
        }
    }
}

/// The hash table, and the candidates that the parser is working on.
pub(super) struct MatchFinder {
    table: Table,
    pub dictionary: Option<Dictionary>,
    /// The kind of the windows that are searched next.
    pub kind: Kind,
    pub candidates: Candidates,
}

/// The hash table of positions.
struct Table {
    /// Buckets of two entries, the newer one in the high half. After the 2^bucket_bits buckets comes one that absorbs
    /// positions that are not inserted.
    buckets: Box<[u64]>,
    bucket_bits: u32,
    hash_bits: u32,
    tag_bits: u32,
}

/// Buckets and values of a window before their insertion into the hash table.
#[repr(align(64))]
struct Window {
    buckets: [u32; WINDOW],
    /// The newer half of each pair.
    entries: [u32; WINDOW],
    pairs: [u64; WINDOW],
}

impl MatchFinder {
    pub(super) fn new(parse: &Parse, dictionary: Option<Dictionary>) -> Self {
        let hash_bits = if parse.is_large() {
            LARGE_HASH_BITS
        } else {
            PAGE_HASH_BITS
        };
        Self {
            table: Table {
                buckets: vec![0; (1 << parse.bucket_bits()) + 1].into(),
                bucket_bits: parse.bucket_bits(),
                hash_bits,
                tag_bits: parse.tag_bits(),
            },
            kind: Kind {
                is_large: parse.is_large(),
                hashes_five: parse.hash_bytes() == 5,
                has_dictionary: dictionary.is_some(),
            },
            dictionary,
            candidates: Candidates {
                first: 0,
                end: 0,
                bits: [0; _],
                sources: [0; _],
                // No second source, as long as nothing is stored.
                seconds: [u32::MAX; _],
                in_dictionary: [NOWHERE; _],
            },
        }
    }

    /// Empties the hash table before a block.
    ///
    /// In a page, the empty entry decodes to position 63 with tag 0, so it carries the hash bits of position 63 if
    /// their tag is 0, and agrees with nothing else. In a large block, it decodes to the last position of an entry,
    /// which is after all searchable positions and therefore out of reach.
    pub(super) fn start_block(&mut self, input: &[u8]) {
        let mut empty = 0;
        if self.kind.is_large {
            empty = (u32::MAX >> self.table.hash_bits ^ FLIP) << self.table.hash_bits;
        } else if let Some(bytes) = input.get(FLIP as usize..) {
            let hash = self.hash(bytes);
            if hash & self.table.tag_mask() == 0 {
                empty = hash;
            }
        }
        self.table
            .buckets
            .fill(u64::from(empty) << 32 | u64::from(empty));
        (self.candidates.first, self.candidates.end) = (0, 0);
        self.candidates.bits.fill(0);
        self.kind.has_dictionary = self.dictionary.is_some();
    }

    /// Leaves the dictionary, if the next windows are out of its reach.
    pub(super) const fn leave_dictionary(&mut self) {
        self.kind.has_dictionary = self.kind.has_dictionary && self.candidates.end <= REACH;
    }

    /// Returns the hash bits of an entry for the first of `bytes`; 0 if there are too few bytes.
    fn hash(&self, bytes: &[u8]) -> u32 {
        let Some(&[a, b, c, d, fifth]) = bytes.first_chunk() else {
            return 0;
        };
        let mut product = u32::from_le_bytes([a, b, c, d]).wrapping_mul(HASH_MULTIPLIER);
        if self.kind.hashes_five {
            product = product.wrapping_add(u32::from(fifth).wrapping_mul(FIFTH_MULTIPLIER));
        }
        product << self.table.bucket_bits >> (32 - self.table.hash_bits)
    }

    /// Finds the candidates of the next windows; positions up to `last` are searchable.
    ///
    /// # Safety
    /// The machine has the instructions of `L`. `input` is the block of the last [`start_block`](Self::start_block),
    /// and `last + MATCH_START_MARGIN <= input.len()`. `kind` equals the field `kind`.
    #[inline(always)]
    pub(super) unsafe fn windows<L: Lanes>(&mut self, input: &[u8], last: usize, kind: Kind) {
        debug_assert!(last + MATCH_START_MARGIN <= input.len() && kind == self.kind);
        if self.candidates.end > 0 {
            if self.dictionary.is_some() {
                self.candidates.keep_last_in_dictionary(kind.has_dictionary);
            }
            self.candidates.keep_last();
        }
        let mut window = Window {
            buckets: [0; _],
            entries: [0; _],
            pairs: [0; _],
        };
        let mut padded = [0; 1 + WINDOW_READS];
        while self.candidates.end <= last
            && self.candidates.end < self.candidates.first + (WINDOWS + 1) * WINDOW
        {
            let start = self.candidates.end;
            let from = if start > 0 && start + WINDOW_READS <= input.len() {
                // SAFETY: `start` is inside `input` by the comparison above.
                unsafe { input.as_ptr().add(start) }
            } else {
                edge(input, start, &mut padded)
            };
            // SAFETY: a byte before `from` and WINDOW_READS bytes from it on are readable. The windows from `first` to
            // this one are at most WINDOWS + 1, by the loop condition and because `keep_last` leaves one.
            let bits = unsafe { self.window::<L>(from, start, kind, &mut window) };
            let searchable = u64::MAX >> (WINDOW - (last + 1 - start).min(WINDOW));
            self.candidates.bits[(start - self.candidates.first) / WINDOW] =
                (bits & searchable).to_le();
            self.candidates.end += WINDOW;
        }
    }

    /// Looks up the window at `start`, whose first byte is at `from`, then inserts its positions. Returns a bit mask of
    /// the positions with a candidate.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; the byte before `from` and [`WINDOW_READS`] bytes from it on are
    /// readable; `start` is a multiple of [`WINDOW`], at most WINDOWS windows after `candidates.first`.
    #[inline(always)]
    unsafe fn window<L: Lanes>(
        &mut self,
        from: *const u8,
        start: usize,
        kind: Kind,
        window: &mut Window,
    ) -> u64 {
        let Self {
            table,
            candidates,
            dictionary,
            ..
        } = self;
        let at = start - candidates.first;
        let dictionary = dictionary.as_ref().filter(|_| kind.has_dictionary);
        // SAFETY: reads end at byte 80 = WINDOW_READS from `from` on at the latest: 60 + 4 + 16 with four lanes, 56 + 4
        // + 16 with eight, 48 + 4 + 24 with sixteen; `is_one_run` reads 71. `at + WINDOW` is at most the number of
        // sources and seconds, by this function's contract, and L::N divides WINDOW. Bucket numbers are at most
        // 2^bucket_bits, as `hash` guarantees, and the table has one bucket more than that.
        unsafe {
            let sources = candidates.sources.as_mut_ptr().add(at);
            // A run of eight bytes matches the block, and no match in a dictionary is preferred to that.
            let is_one_run = if dictionary.is_some() {
                is_one_run::<{ WINDOW + 7 }>(from)
            } else {
                is_one_run::<{ WINDOW + 3 }>(from)
            };
            if is_one_run {
                if dictionary.is_some() {
                    candidates.in_dictionary[at..at + WINDOW].fill(NOWHERE);
                }
                for i in 0..rolled(WINDOW) {
                    sources.add(i).write((start + i).wrapping_sub(1) as u32);
                }
                return u64::MAX;
            }
            let seconds = candidates.seconds.as_mut_ptr().add(at);
            for i in (0..WINDOW).step_by(L::N) {
                table.hash::<L>(from.add(i), start, i, kind, window);
            }
            let mut bits = 0;
            if let Some(dictionary) = dictionary {
                let found = candidates.in_dictionary.as_mut_ptr().add(at);
                bits = look_up::<L>(dictionary, from, start, found);
            }
            for i in (0..WINDOW).step_by(L::N) {
                let agreeing =
                    table.compare::<L>(start, i, kind, window, sources.add(i), seconds.add(i));
                bits |= u64::from(agreeing) << i;
            }
            let buckets = table.buckets.as_mut_ptr();
            // In reverse, so that of positions with the same bucket the lowest one is written last and remains.
            for group in (0..rolled(WINDOW / 8)).rev() {
                for i in (0..8).rev() {
                    let bucket = *window.buckets.get_unchecked(8 * group + i);
                    let pair = *window.pairs.get_unchecked(8 * group + L::PAIR[i]);
                    buckets.add(bucket as usize).write(pair);
                }
            }
            bits
        }
    }
}

impl Table {
    /// Returns the mask of the tag in the hash bits: these begin below the bucket's bits, the tag at bit 16 of the
    /// product.
    const fn tag_mask(&self) -> u32 {
        ((1 << self.tag_bits) - 1) << (16 + self.bucket_bits + self.hash_bits - 32)
    }

    /// Hashes one vector of positions, from `i` of the window on: writes their buckets, at most 2^bucket_bits, and their entries
    /// to `window`.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `i` is a multiple of L::N below [`WINDOW`]; the byte before `from` is
    /// readable, and the bytes from `from` up to those that [`Lanes::words`] reads four bytes after `from`.
    #[inline(always)]
    unsafe fn hash<L: Lanes>(
        &self,
        from: *const u8,
        start: usize,
        i: usize,
        kind: Kind,
        window: &mut Window,
    ) {
        // SAFETY: reads are from one byte before `from` to four bytes after it: this function's contract. The arrays of
        // `window` have WINDOW values, at least L::N from `i` on, as L::N divides WINDOW. `COUNT` is at least as long as
        // any L::N.
        unsafe {
            let p = L::add(L::splat((start + i) as u32), L::load(COUNT.as_ptr()));
            let words = L::words(from);
            let run = words.equal(L::words(from.sub(1)));
            let mut product = words.mul(L::splat(HASH_MULTIPLIER));
            if kind.hashes_five {
                let fifth = L::words(from.add(4)).and(L::splat(255));
                product = product.add(fifth.mul(L::splat(FIFTH_MULTIPLIER)));
            }
            let buckets = product.shift_right(32 - self.bucket_bits);
            L::splat(1 << self.bucket_bits)
                .select(buckets, run)
                .store(window.buckets.as_mut_ptr().add(i));
            let hash = product
                .shift_right(32 - self.bucket_bits - self.hash_bits)
                .and(L::splat((1 << self.hash_bits) - 1));
            p.xor(L::splat(FLIP))
                .mul(L::splat(1 << self.hash_bits))
                .or(hash)
                .store(window.entries.as_mut_ptr().add(i));
        }
    }

    /// Compares one vector of hashed positions, from `i` of the window on, with the table as it was before the window, and
    /// writes the pairs to insert to `window`. Returns a bit mask of agreeing positions.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `i` is a multiple of L::N below [`WINDOW`]; [`hash`](Self::hash) has hashed
    /// the window; L::N values are writable at `source` and at `second`.
    #[inline(always)]
    unsafe fn compare<L: Lanes>(
        &self,
        start: usize,
        i: usize,
        kind: Kind,
        window: &mut Window,
        source: *mut u32,
        second: *mut u32,
    ) -> u32 {
        // SAFETY: L::N values are written at `source` and `second`: this function's contract. The arrays of `window` have
        // WINDOW values, at least L::N from `i` on, as L::N divides WINDOW. `COUNT` is at least as long as any L::N.
        // Bucket numbers are at most 2^bucket_bits, as `hash` wrote them, and the table has one bucket more than that.
        unsafe {
            let p = L::add(L::splat((start + i) as u32), L::load(COUNT.as_ptr()));
            let buckets = L::load(window.buckets.as_ptr().add(i));
            let run = buckets.equal(L::splat(1 << self.bucket_bits));
            let entry = L::load(window.entries.as_ptr().add(i));
            let hash_mask = L::splat((1 << self.hash_bits) - 1);
            let flip = L::splat(FLIP);
            let (b, a) = L::gather(self.buckets.as_ptr(), window.buckets.as_ptr().add(i));
            L::store_pairs(a, entry, window.pairs.as_mut_ptr().add(i));
            // The first window cannot match in an empty table.
            let same = L::splat(if start == 0 { u32::MAX } else { 0 });
            let difference = a.xor(entry);
            let mut a_agrees = difference.and(hash_mask).equal(same);
            let mut b_agrees = b.xor(entry).and(hash_mask).equal(same);
            let (a, b) = (
                a.shift_right(self.hash_bits).xor(flip),
                b.shift_right(self.hash_bits).xor(flip),
            );
            if kind.is_large {
                let zero = L::splat(0);
                a_agrees = a_agrees.and(p.sub(a).shift_right(16).equal(zero));
                b_agrees = b_agrees.and(p.sub(b).shift_right(16).equal(zero));
            }
            if self.tag_bits == 0 {
                b.select(p, a_agrees.and(b_agrees)).store(second);
            } else {
                // If the tag of the newer entry agrees, only that entry is tried.
                let tag_agrees = difference.and(L::splat(self.tag_mask())).equal(L::splat(0));
                b_agrees = b_agrees.and_not(tag_agrees);
            }
            let before = p.sub(L::splat(1));
            let found = before.select(a.select(b, a_agrees), run);
            let agrees = a_agrees.or(b_agrees).or(run);
            if kind.has_dictionary {
                found.select(L::splat(NOWHERE), agrees).store(source);
            } else {
                found.store(source);
            }
            agrees.bits()
        }
    }
}

/// Returns `n`, hidden from the optimiser where code size matters, so that it does not unroll a loop of `n` iterations.
#[inline(always)]
pub(super) fn rolled(n: usize) -> usize {
    if IS_SMALL { std::hint::black_box(n) } else { n }
}

pub(super) const COUNT: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns true if the first `N` bytes of the window at `from` equal the byte before it: all of its positions are runs then, if `N` is
/// at least WINDOW + 3.
///
/// # Safety
/// `N` bytes at `from`, at least eight, and the byte before it are readable.
#[inline(always)]
unsafe fn is_one_run<const N: usize>(from: *const u8) -> bool {
    // SAFETY: `N` bytes from `from` on, and the byte before it, are readable by this function's contract.
    unsafe {
        let eight = |at: *const u8| at.cast::<u64>().read_unaligned();
        let before = from.sub(1);
        eight(before) == eight(from)
            && std::slice::from_raw_parts(before, N) == std::slice::from_raw_parts(from, N)
    }
}

/// Copies the bytes around a window into `padded`, where loads stay in bounds: for the first window, which has no byte
/// before it, and for windows near the end of the block. Returns the window's first byte in `padded`, with one byte
/// before it and [`WINDOW_READS`] from it on.
#[cold]
fn edge(input: &[u8], start: usize, padded: &mut [u8; 1 + WINDOW_READS]) -> *const u8 {
    let from = start.saturating_sub(1);
    let to = (start + WINDOW_READS).min(input.len());
    padded[from + 1 - start..to + 1 - start].copy_from_slice(&input[from..to]);
    if start == 0 {
        // Position 0 is never a run: make the byte before it differ.
        padded[0] = !padded[1];
    }
    // Not a pointer derived from `padded[1..]`, which must not access the byte before.
    padded.as_ptr().wrapping_add(1)
}
