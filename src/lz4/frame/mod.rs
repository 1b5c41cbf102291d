//! LZ4 frames: the format of `.lz4` files.
//!
//! The writer writes independent blocks of at most [`FrameOptions::block_size`] bytes of content. The reader supports
//! everything that `lz4` and liblz4 write: independent and linked blocks, dictionaries, legacy frames, skippable
//! frames, and any number of concatenated frames.
//!
//! [`SeekableFrame`] reads any part of the content of a file. With an index, which [`FrameOptions::index`] adds, it
//! finds the blocks of the part directly. The index is a skippable frame after the frame:
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
//! A reader trusts an index only about the content sizes of blocks, which the file itself does not state, and verifies
//! these for the blocks that it decodes. Header, flags and end of the frame, and the sizes of blocks (except with
//! [`FrameMap::trusting`]) are compared with the file.
//!
//! The footer has a fixed length, so a reader finds the index from the end of the file. In a file of several frames
//! with an index, each index ends where the next frame starts.
//!
//! [`FrameWriter`], [`FrameReader`] and [`FrameDecoder`] do no input or output and hold a bounded amount of memory;
//! [`compress`] and [`decompress`] process content in memory; `compress_stream` and `decompress_stream` connect a
//! reader with a writer, on all cores (native only).

mod block_size;
mod checksum;
mod content;
mod content_read;
mod decode;
mod detect;
#[cfg(not(target_arch = "wasm32"))]
mod expected;
mod find_index;
mod framed;
mod header;
mod index;
#[cfg(any(web_files, web_pages, test))]
mod layout;
mod map;
mod output;
#[cfg(any(web_pages, test))]
mod pages;
#[cfg(not(target_arch = "wasm32"))]
mod parallel;
mod read;
#[cfg(not(target_arch = "wasm32"))]
mod scratch;
mod seek;
#[cfg(any(target_arch = "wasm32", test))]
mod serial;
#[cfg(not(target_arch = "wasm32"))]
mod stream;
mod window;
mod write;

use block_size::WORD_BYTES;
pub(crate) use block_size::{BlockSize, SIZE_BYTES};
pub(crate) use checksum::{Checksum, Lanes, STRIPE_BYTES, checksum};

#[cfg(gpu_engine)]
pub(crate) use content::FrameContent;
pub use content_read::ContentRead;
pub use decode::{FrameDecoder, decompress, decompress_into};
pub use detect::DetectedFormat;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use expected::expected_content;
#[cfg(gpu_engine)]
pub(crate) use framed::FramedPages;
pub(crate) use header::HEADER_BYTES;
pub use header::{FrameHeader, FrameOptions};
pub use index::{INDEX_MAGIC, INDEX_SIGNATURE};
#[cfg(any(web_files, web_pages, test))]
pub(crate) use layout::FrameLayout;
pub use map::FrameMap;
pub(crate) use output::{Given, Output};
#[cfg(any(web_pages, all(test, feature = "wgpu")))]
pub(crate) use pages::FramePages;
pub use read::{FrameBlock, FrameEvent, FrameReader, Step};
pub use seek::SeekableFrame;
#[cfg(not(target_arch = "wasm32"))]
pub use stream::{Progress, StreamError, compress_stream, decompress_stream};
#[cfg(gpu_engine)]
pub(crate) use write::beside;
pub(crate) use write::give_back;
pub use write::{FrameWriter, compress, compress_into};

/// First four bytes of a frame, little-endian.
pub const MAGIC: u32 = 0x184d_2204;
/// First four bytes of a legacy frame.
pub const LEGACY_MAGIC: u32 = 0x184c_2102;
/// First four bytes of a skippable frame; the lowest four bits are arbitrary.
pub const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// Content of a block of a legacy frame in bytes; the last block may be shorter.
const LEGACY_BLOCK_SIZE: u32 = 8 << 20;
/// Longest reach of a match into earlier blocks, where blocks are linked.
const HISTORY_BYTES: usize = 64 << 10;

/// Returns the little-endian word at byte `at`, if `input` reaches that far.
fn word(input: &[u8], at: usize) -> Option<u32> {
    input
        .get(at..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// Appends bytes. Not inlined, since many callers need code size more than speed.
#[inline(never)]
pub(crate) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

/// Appends a little-endian word.
pub(crate) fn put_word(out: &mut Vec<u8>, word: u32) {
    put(out, &word.to_le_bytes());
}
