//! The manifest of a version, in a skippable frame at the end of its file.
//!
//! All numbers are little-endian. The frame has the magic number [`MAGIC`], the length of what follows in four bytes, and then:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`SIGNATURE`] |
//! | 4 | bytes of a page |
//! | 16 | id of the version |
//! | 16 | id of the base; zeros if there is none |
//! | 4 | number of regions; for each its length (8), the length of its name (1), its name in UTF-8 |
//! | 4 | number of runs; for each four bytes: the number of pages, with their origin in the upper three bits (0 filled, 1 added, 2 equal to an earlier page of this version, 3 unchanged, 4 equal to another page of the base) |
//! | 8 | the word of each filled page |
//! | 4 | for each page of origin 2 or 4, the index of the page that it equals |
//! | 16 | the hash of each added page |
//! | 2 | for each added page, the length of its block less 1 |
//! | 16 | XXH3, 128 bits, of the frame up to here |
//! | 4 | bytes of the whole frame |
//! | 4 | [`FOOT_SIGNATURE`] |
//!
//! A block with the length of its page is not compressed. Positions of blocks follow from their lengths, see `src/snapshot/frames.rs`.

mod read;
mod write;

use crate::lz4::frame::SKIPPABLE_MAGIC;

pub(super) use write::write;

/// Magic number of the skippable frame.
const MAGIC: u32 = SKIPPABLE_MAGIC + 5;
/// First bytes in the frame: the name and the version of the format.
const SIGNATURE: [u8; 8] = *b"pgsnap\0\x01";
/// Last bytes of the frame.
const FOOT_SIGNATURE: [u8; 4] = *b"PGSN";
/// Bytes of the last fields, by which the frame is found from the end of a file.
const FOOT_BYTES: usize = 16 + 4 + 4;
/// Bytes before the fields: magic number and length.
const FRAME_HEADER: usize = 8;

const FILL: u32 = 0;
const ADDED: u32 = 1;
const SAME: u32 = 2;
const UNCHANGED: u32 = 3;
const MOVED: u32 = 4;
/// Bytes of the word of a filled page, of the index of an equal page, and of the hash and length of an added page.
const FILL_BYTES: u64 = 8;
const INDEX_BYTES: u64 = 4;
const ADDED_BYTES: u64 = 16 + 2;
/// Bits of the number of pages of a run.
const RUN_BITS: u32 = 29;
const MAX_RUN: u32 = (1 << RUN_BITS) - 1;
