//! The LZ4 format on the CPU: encoder, block decoder, frames. Free of GPU code; the kernels are tested against it.
//!
//! # The canonical parses
//!
//! Every engine that can write a [`Level`] writes the same bytes for the same block, so the parses of [`Level::Fast`]
//! and [`Level::High`] are defined here, independent of how they are computed. Notation: `n` is the block length; `word(p)`
//! the little-endian `u32` at byte `p`; `product(p) = word(p) * 2_654_435_761 mod 2^32` or, if `hash_bytes` is 5,
//! `(word(p) * 2_654_435_761 + byte(p + 4) * 2_246_822_519) mod 2^32`; `bucket(p)` the top `bucket_bits` bits of
//! `product(p)`. `Parse::new` gives the parameters. A block of `n < 13` bytes has only literals. Positions `0..=n - 12` are
//! searchable.
//!
//! ## Fast
//!
//! **Candidates.** Positions are searched in windows
//! of `WINDOW` = 64 positions aligned at multiples of 64. There are `2^bucket_bits` buckets of two 16-bit
//! entries `(A, B)`, all 0 at the start.
//! - `tag(p)` = the `tag_bits` bits of `product(p)` from bit 16 on.
//! - `entry(p) = ((p ^ 63) << tag_bits) | tag(p)`: 16 bits, since `page_size = 2^(16 - tag_bits)`.
//!   An entry decodes to the position `(entry >> tag_bits) ^ 63`, so 0 stands for position 63 with tag 0.
//! - `run(p)`: `p >= 1` and `word(p - 1) == word(p)`.
//! - `candidate(p)`, an offset or 0 for none, sees the table as it was before p's window. If `run(p)`: 1.
//!   Otherwise let `(A, B)` be p's bucket. With `tag_bits > 0` one entry is tried: the first of A and B whose tag
//!   equals `tag(p)`, if one does. With `tag_bits == 0` A is tried, then, if A failed, B. Trying an entry decoded to
//!   `q` succeeds if `q < p` and the first `hash_bytes` bytes at `q` and at `p` are equal; the offset is `p - q`.
//! - After the lookups of a window, in each bucket: of the window's positions that fall in the bucket and
//!   are not runs, let `e` be the largest `entry`. If there is one, `(A, B)` becomes `(e, A)`. (The largest
//!   entry is that of the lowest position, since `p ^ 63` falls as p rises in the window.)
//!
//! **Length.** `length(p)` = length of the common prefix of the bytes at `p` and at `p - candidate(p)`, not
//! going past `n - 5`; at least 4 wherever there is a candidate.
//!
//! **Parse.** `p = 0`, `anchor = 0`. Repeat: `m` = the first searchable position `>= p` with a candidate; none:
//! stop. If `lazy`, `length(m) <` `LAZY_BELOW = 32`, and `m + 1` is searchable, has a candidate and
//! `length(m + 1) > length(m)`: `m = m + 1`.
//! `end = m + length(m)`. Emit literals `anchor..m`, then the match
//! `(candidate(m), end - m)`; `p = anchor = end`. After the last match, emit literals `anchor..n`.
//!
//! **Large blocks.** Frames may hold blocks above 64 KiB, which only the CPU compresses. They differ in four
//! points: entries are 32 bits wide; an empty entry is a value of its own, smaller than every other, and trying
//! it fails; `tag_bits` is 0; trying an entry also needs `p - q <= 65_535`.
//!
//! ## High
//!
//! A block is searched in parts of 65,536 bytes; a page is one part. A match has a length and an offset.
//!
//! **Own match** of a searchable position `p`: if `run(p)`, four bytes at offset 1. Otherwise, of the positions `q < p` with
//! `bucket(q) = bucket(p)` and `p - q <= 65_535` that are not runs, the 64 latest are its candidates. The length of a candidate is that of
//! the common prefix of the bytes at `p` and at `q`, at most 128 and not going past `n - 5`. The longest candidate of at least 4 bytes is
//! the own match, the latest of equals.
//!
//! **Match** of a position, from the last of a part to its first. If `p + 1` is in the same part and has a match `(L, o)` with
//! `L < 65_535`, `p >= o` and equal bytes at `p` and at `p - o`, that match goes on to `p`, as `(L + 1, o)`. It is the match of
//! `p` if `L + 1 > 8`, or if it is longer than the own match of `p` or `p` has none. Else the own match, if there is one, is the match of `p`.
//!
//! **Choice.** `cost(p)` is the least number of bytes from `p` to the end of its part, 0 there and beyond. The first of these
//! with the least cost is chosen at `p`, the others if they exist:
//! - a literal: `1 + cost(p + 1)`;
//! - the match: `3 + x + cost(p + length)`, with `x` the number of bytes that extend the length in the format;
//! - its first 18 bytes, which need no extension, if it is longer: `3 + cost(p + 18)`.
//!
//! **Sequences.** `p = anchor = 0`. While `p` is searchable: if a literal is chosen at `p`, `p = p + 1`. Else `end` is the end of
//! the chosen match; unless 18 bytes of it are chosen, it goes on while bytes agree, not past `n - 5`. Emit literals
//! `anchor..p`, then the match; `p = anchor = end`. At the end, emit literals `anchor..n`.
//!
//! So a position costs at most 64 comparisons of 128 bytes, whatever the content.
//!
//! ## Sequential
//!
//! [`Level::Sequential`] has a parse of its own, defined in `sequential.rs`.
//!
//! # Dictionaries
//!
//! A [`Dictionary`] is bytes that stand before each block, of which the last `D` count: at most 65,536. A match whose source is the
//! byte `q` of the dictionary has at position `p` of a block the offset `p + D - q`, which is above `p` and at most 65,535. Encoders write
//! no match that goes on from the end of the dictionary into the block; decoders accept it, as liblz4 does. With `D = 0` the
//! parses are those above. Positions `q` with `q + 8 <= D` are indexed. `hash(b)` is the word at byte `b` times 2_654_435_761, mod 2^32.
//!
//! **Fast.** `five(b) = (hash(b) + byte(b + 4) * 2_246_822_519) mod 2^32`. The dictionary's candidate of `p` is the last indexed
//! position `q` of which the upper 15 bits of `five(q)` are those of `five(p)`, if its offset is at most 65,535. `there(p)` is the number
//! of equal bytes at `q` and at `p`, counted up to the first that differs or to 8; `own(p)` is the same for `p - candidate(p)`, or 0
//! without a candidate. If `there(p) >= 5` and `there(p) > own(p)`, the dictionary's candidate is that of `p`. Its length is that of the common
//! prefix, not going past the end of the dictionary or `n - 5`. The rest is as above.
//!
//! **High.** Of the indexed positions with the upper 15 bits of `hash(p)` and an offset of at most 65,535, the 16 latest are more
//! candidates of `p`, unless `run(p)`. Their length is limited by the end of the dictionary, too. The longest is the own match if it has at least 4
//! bytes and is longer than that in the block, the latest of equals. A match of `p + 1` whose source there is in the dictionary
//! goes on to `p` if there is a byte before it in the dictionary, and it equals the byte at `p`. A chosen match goes on at most to the end of
//! the dictionary.
//!
//! # Pages
//!
//! **Page kinds.** A page is a fill if its length is a multiple of 8, at least 8, and it repeats its first 8 bytes;
//! else it is stored if its block is not shorter than the page; else it is LZ4.

mod batch;
mod candidates;
mod cheapest;
mod compare;
mod decode;
mod dictionary;
mod encode;
mod fast_path;
pub mod formats;
pub mod frame;
mod identical;
mod instructions;
mod lanes;
mod level;
mod look_up;
mod match_finder;
#[cfg(not(target_arch = "wasm32"))]
mod ordered;
mod page;
mod parse;
mod parser;
mod sequence_writer;
mod sequential;
mod slots;
mod sorted;
mod sorted_dictionary;
#[cfg(not(target_arch = "wasm32"))]
mod testing;
mod trail;
#[cfg(not(no_dictionary))]
mod train;
mod wild_copy;

pub(crate) use batch::check_page_size;
#[cfg(web_files)]
pub(crate) use batch::checked_bytes;
#[cfg(gpu_engine)]
pub(crate) use batch::decompress_each;
#[cfg(gpu_engine)]
pub(crate) use batch::decompress_with;
pub use batch::{
    PackedPages, compress_pages, compress_pages_into, decompress_pages, decompress_pages_into,
    decompress_pages_status, decompress_pages_status_into,
};
pub(crate) use batch::{all_sound, check_room, compress_with, decompress_all};
#[cfg(gpu_engine)]
pub(crate) use decode::decode_with;
pub use decode::decompress_block;
pub use dictionary::Dictionary;
#[cfg(gpu_engine)]
pub(crate) use dictionary::check_id;
// For the tests, benchmarks and fuzz targets of this repository; no part of the API.
#[doc(hidden)]
pub use encode::{Encoder, compress_block};
pub use level::Level;
pub(crate) use page::fill_word;
pub use page::{PageEntry, PageKind};
#[doc(hidden)]
pub use parse::Parse;
pub(crate) use parse::is_page_size;
pub(crate) use parse::{LAST_LITERALS, MIN_MATCH, TOKEN_MAX};
pub use parse::{MAX_BLOCK_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE};
#[cfg(not(no_dictionary))]
pub use train::train_dictionary;

/// True where code size matters more than a specialised copy of the code for each case.
const IS_SMALL: bool = cfg!(target_arch = "wasm32");

/// Positions in a window of the match finder.
pub(crate) const WINDOW: usize = 64;

/// Lazy matching tries the next position only after a match shorter than this.
#[doc(hidden)]
pub const LAZY_BELOW: usize = 32;

/// Describes why a block cannot be decoded; the discriminant is the status word of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[repr(u32)]
pub enum BlockError {
    /// The block ends inside a token, a length, a literal run or an offset, or after a match.
    #[error("the block ends inside a sequence")]
    Truncated = 1,
    /// Literals or a match go past the end of the output.
    #[error("the block decodes to more bytes than expected")]
    OutputOverrun = 2,
    /// A match has offset 0.
    #[error("a match has offset 0")]
    ZeroOffset = 3,
    /// A match starts before the output.
    #[error("a match offset is beyond the start of the output")]
    OffsetTooFar = 4,
    /// The block ends before the output is full.
    #[error("the block decodes to fewer bytes than expected")]
    OutputUnderrun = 5,
    /// The table entry points outside the packed buffer, or its length does not fit its kind.
    #[error("the table entry is out of bounds")]
    BadTableEntry = 6,
}
