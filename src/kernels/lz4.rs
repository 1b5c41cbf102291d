//! LZ4 compression and decompression of pages as [`Job`]s.

use super::Job;
use crate::lz4::Level;

/// Most pages in one job: the placement scan has two levels of 1024.
pub const MAX_PAGES_PER_JOB: u32 = 1 << 20;

/// One page in the table of a batch, as the kernels write and read it: two `u32` words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct TableEntry {
    /// Where the block starts in the packed buffer, in words of 4 bytes.
    pub offset_words: u32,
    /// Bits 0..30: length of the block in bytes. Bits 30..32: 0 LZ4, 1 stored, 2 fill (8 bytes: the word).
    pub length_and_kind: u32,
}

/// Launches that compress `n_bytes` of pages in [`super::Slot::Pages`] into `Packed` and `Table`.
/// `TileSums[0]` holds the number of words used in `Packed` afterwards.
///
/// `page_size` is 4096, 8192, 16384, 32768 or 65536; the last page may be shorter. `n_bytes > 0`.
#[must_use]
pub fn compress_job(n_bytes: u64, page_size: u32, level: Level) -> Job {
    let _ = (n_bytes, page_size, level);
    Job {
        buffers: Vec::new(),
        launches: Vec::new(),
    }
}

/// Launches that decompress `Packed` and `Table` into `Pages` (`n_bytes`), writing one word a page to `Status`.
/// A page that fails is filled with zeros and leaves its neighbours intact.
///
/// `packed_bytes` is the size of the packed buffer; the kernel refuses table entries that leave it.
#[must_use]
pub fn decompress_job(n_bytes: u64, page_size: u32, packed_bytes: u64) -> Job {
    let _ = (n_bytes, page_size, packed_bytes);
    Job {
        buffers: Vec::new(),
        launches: Vec::new(),
    }
}
