//! LZ4 frames: what an `.lz4` file is.
//!
//! Writing gives independent blocks of at most [`FrameOptions::block_size`] bytes of content, which every LZ4
//! program reads. Reading takes whatever `lz4` and liblz4 write: independent and linked blocks, legacy frames,
//! skippable frames, and any number of frames one after the other.
//!
//! [`FrameWriter`], [`FrameReader`] and [`FrameDecoder`] do no input or output of their own and hold a bounded
//! amount of memory; [`compress`] and [`decompress`] are for content that is in memory; `compress_stream` and
//! `decompress_stream` connect a reader with a writer over all cores (natively).

mod content;
mod decode;
mod foreign;
mod header;
mod read;
#[cfg(not(target_arch = "wasm32"))]
mod stream;
mod write;

#[cfg(gpu_engine)]
pub(crate) use content::FrameContent;
pub use decode::{FrameDecoder, decompress};
pub use foreign::{Format, Seen, decompress_block_of, measure_block};
pub use header::{FrameHeader, FrameOptions};
pub use read::{FrameBlock, FrameEvent, FrameReader, Step};
#[cfg(not(target_arch = "wasm32"))]
pub use stream::{Progress, StreamError, compress_stream, decompress_stream};
pub use write::{FrameWriter, compress};

use twox_hash::XxHash32;

/// First four bytes of a frame, little-endian.
pub const MAGIC: u32 = 0x184d_2204;
/// First four bytes of a legacy frame.
pub const LEGACY_MAGIC: u32 = 0x184c_2102;
/// First four bytes of a skippable frame, whose lowest four bits are free.
pub const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// Content of a block of a legacy frame, in bytes; the last one may be shorter.
const LEGACY_BLOCK_SIZE: u32 = 8 << 20;
/// Bit of a block's size that says that its content is not compressed.
const STORED_BIT: u32 = 1 << 31;

/// The little-endian word at byte `at`, if `input` reaches that far.
fn word(input: &[u8], at: usize) -> Option<u32> {
    input
        .get(at..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// The checksum of the frame format: xxHash32 with seed 0.
fn checksum(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}
