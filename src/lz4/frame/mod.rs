//! LZ4 frames: what an `.lz4` file is.
//!
//! Writing gives independent blocks of at most [`FrameOptions::block_size`] bytes of content, which every LZ4
//! program reads. Reading takes whatever `lz4` and liblz4 write: independent and linked blocks, legacy frames,
//! skippable frames, and any number of frames one after the other.
//!
//! [`SeekableFrame`] reads any part of the content of a file; an index, which [`FrameOptions::index`] asks for, lets it
//! find its blocks at once. It is a skippable frame after the frame:
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `0x184D2A55` |
//! | 4 | bytes that follow: 8 a block, and 28 |
//! | 4, 4 for each block | its size as in the block's own header, highest bit for a stored one; bytes of its content |
//! | 8 | bytes of the frame, from its magic number to the start of this index |
//! | 4 | blocks |
//! | 4 | version, 1 |
//! | 2 | bytes of the frame's header, so that the first block starts there |
//! | 2 | flags: 1 if blocks carry checksums, 2 if the content does; others are 0 |
//! | 4 | xxHash32, seed 0, of all that follows the first 8 bytes up to here |
//! | 4 | the letters `PPIX` |
//!
//! A reader believes an index only about what the file does not say itself, which is how much content a block has: header,
//! flags and end of the frame, and the sizes of blocks, are compared (the latter but for [`FrameMap::trusting`]), and so is
//! the content of the blocks that are decoded.
//!
//! The end has a fixed length, so a reader finds the index from the end of the file. Where frames with an index follow
//! each other, the frame before ends where this one starts.
//!
//! [`FrameWriter`], [`FrameReader`] and [`FrameDecoder`] do no input or output of their own and hold a bounded
//! amount of memory; [`compress`] and [`decompress`] are for content that is in memory; `compress_stream` and
//! `decompress_stream` connect a reader with a writer over all cores (natively).

mod checksum;
mod content;
mod decode;
mod find_index;
mod foreign;
#[cfg(not(target_arch = "wasm32"))]
mod groups;
mod header;
#[cfg(any(target_arch = "wasm32", test))]
mod in_turn;
mod index;
mod map;
#[cfg(any(web_pages, test))]
mod pages;
mod part;
mod read;
mod room;
mod seek;
#[cfg(not(target_arch = "wasm32"))]
mod stream;
mod write;

pub(crate) use checksum::checksum;

#[cfg(gpu_engine)]
pub(crate) use content::FrameContent;
pub use decode::{FrameDecoder, decompress};
pub use foreign::Seen;
pub use header::{FrameHeader, FrameOptions};
pub use index::{INDEX_MAGIC, INDEX_SIGNATURE};
pub use map::FrameMap;
#[cfg(web_pages)]
pub(crate) use pages::FramePages;
pub use part::ContentRead;
pub use read::{FrameBlock, FrameEvent, FrameReader, Step};
pub use seek::SeekableFrame;
#[cfg(not(target_arch = "wasm32"))]
pub use stream::{Progress, StreamError, compress_stream, decompress_stream};
pub use write::{FrameWriter, compress};

/// First four bytes of a frame, little-endian.
pub const MAGIC: u32 = 0x184d_2204;
/// First four bytes of a legacy frame.
pub const LEGACY_MAGIC: u32 = 0x184c_2102;
/// First four bytes of a skippable frame, whose lowest four bits are free.
pub const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// Content of a block of a legacy frame, in bytes; the last one may be shorter.
const LEGACY_BLOCK_SIZE: u32 = 8 << 20;
/// Bit of a block's size that says that its content is not compressed.
pub(crate) const STORED_BIT: u32 = 1 << 31;

/// The little-endian word at byte `at`, if `input` reaches that far.
fn word(input: &[u8], at: usize) -> Option<u32> {
    input
        .get(at..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// Appends bytes. Not inlined, since there are many calls that need no speed.
#[inline(never)]
pub(crate) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

/// Appends a little-endian word.
pub(crate) fn put_word(out: &mut Vec<u8>, word: u32) {
    put(out, &word.to_le_bytes());
}
