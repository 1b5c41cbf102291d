//! Hadoop's framing, which `Lz4Codec` of Hadoop and `LZ4_HADOOP` of Parquet and Arrow use.
//!
//! A record is the length of its content, and chunks; a chunk is the length of a block, and the block. Lengths have
//! four bytes, big-endian. Records follow each other to the end of the file.
//!
//! Arrow reads records of one chunk only, Hadoop chunks of at most [`MOST_CONTENT`], so that is what is written. Empty
//! content is a record of length 0: without a chunk as Hadoop writes it, or with a chunk of no content as Arrow does.

use super::Content;
use crate::lz4::frame::put;
use crate::lz4::{Encoder, Level, Parse};
use crate::{Error, Result};

const LENGTH_BYTES: usize = 4;
/// Bytes of Hadoop's buffer for one block.
const BUFFER_BYTES: usize = 256 << 10;
/// Most content of a chunk in bytes: even an incompressible block fits in Hadoop's buffer.
const MOST_CONTENT: usize = BUFFER_BYTES - (BUFFER_BYTES / 255 + 16);
/// The chunk of a record without content, as Arrow writes it: a block of one byte.
const EMPTY_CHUNK: [u8; 5] = [0, 0, 0, 1, 0];

/// Appends the records of `content` to `out`.
pub(super) fn compress(content: &[u8], level: Level, out: &mut Vec<u8>) -> Result<()> {
    let mut encoder = Encoder::new(&Parse::new(MOST_CONTENT as u32, level)?);
    if content.is_empty() {
        put(out, &[0; LENGTH_BYTES]);
    }
    for content in content.chunks(MOST_CONTENT) {
        put(out, &(content.len() as u32).to_be_bytes());
        let start = out.len();
        put(out, &[0; LENGTH_BYTES]);
        encoder.append_whole(content, out)?;
        let length = (out.len() - start - LENGTH_BYTES) as u32;
        out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Appends the content of all records to `content`.
pub(super) fn decompress(bytes: &[u8], content: &mut Content) -> Result<()> {
    let mut rest = bytes;
    loop {
        let stored = length(bytes, &mut rest)?;
        if stored == 0 {
            rest = rest.strip_prefix(&EMPTY_CHUNK).unwrap_or(rest);
        }
        let start = content.bytes.len();
        while content.bytes.len() - start < stored {
            let block_bytes = length(bytes, &mut rest)?;
            let (block, behind) = rest
                .split_at_checked(block_bytes)
                .ok_or_else(|| truncated(bytes, block_bytes - rest.len()))?;
            content.push(block)?;
            rest = behind;
        }
        content.check_size(start, stored as u64)?;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Takes a length from the start of `rest`, which is a suffix of `bytes`.
fn length(bytes: &[u8], rest: &mut &[u8]) -> Result<usize> {
    let (length, behind) = rest
        .split_first_chunk::<LENGTH_BYTES>()
        .ok_or_else(|| truncated(bytes, LENGTH_BYTES - rest.len()))?;
    *rest = behind;
    Ok(u32::from_be_bytes(*length) as usize)
}

fn truncated(bytes: &[u8], needed: usize) -> Error {
    Error::TruncatedFrame {
        at: bytes.len() as u64,
        needed: needed as u64,
    }
}
