//! Batches of blocks in device memory, on a CUDA stream of the caller.

use std::ffi::c_void;

use crate::block::pp_compress_block_bound;
use crate::call::{Failure, call, value};
use crate::chunks::{Chunks, CompressCall, DecompressCall};
use crate::memory::{handle, variable};
use crate::status::pp_status;

/// Kernels for batches of blocks in device memory. Calls from several threads and on several streams run at once.
#[derive(Debug)]
pub struct pp_batch(Chunks);

/// Status of a block in device memory.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum pp_block_status {
    /// The block is right.
    PP_BLOCK_OK = 0,
    /// The block ends inside a sequence.
    PP_BLOCK_TRUNCATED = 1,
    /// The content does not fit in its capacity or in the maximum size of the batch.
    PP_BLOCK_TOO_LONG = 2,
    /// A match has offset 0.
    PP_BLOCK_ZERO_OFFSET = 3,
    /// A match begins before the content.
    PP_BLOCK_OFFSET_TOO_FAR = 4,
    /// The size of the block is 0, or more than the content of any block has.
    PP_BLOCK_BAD_SIZE = 6,
}

/// Compiles the kernels for chunks of at most `max_chunk_size` bytes, 1 to 65536, on CUDA's GPU `device`, counted from 0. `*batch` is null
/// after an error.
///
/// # Safety
/// `batch` points to a pointer. Close the batch with `pp_batch_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_batch_open(
    device: u32,
    max_chunk_size: usize,
    batch: *mut *mut pp_batch,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantee for `batch`.
        let out = unsafe { variable(batch, "batch") }?;
        *out = std::ptr::null_mut();
        // A larger size than that is refused as the largest number is.
        let max_bytes = u32::try_from(max_chunk_size).unwrap_or(u32::MAX);
        let chunks = Chunks::open(device as usize, max_bytes)?;
        *out = Box::into_raw(Box::new(pp_batch(chunks)));
        Ok(())
    })
}

/// Closes a batch, after all work on the device. Null is ignored.
///
/// # Safety
/// `batch` is null or a batch that was not closed, and that no other thread uses. No CUDA graph with its calls is launched afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_batch_close(batch: *mut pp_batch) {
    if !batch.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller guarantees that it was not closed.
        value((), || drop(unsafe { Box::from_raw(batch) }));
    }
}

/// Returns the most bytes of a block of a chunk of at most 65536 bytes, for which `pp_batch_compress_async` needs room; 0 if a chunk
/// is larger.
#[unsafe(no_mangle)]
pub extern "C" fn pp_batch_block_bound(max_chunk_size: usize) -> usize {
    match max_chunk_size {
        0..=65_536 => pp_compress_block_bound(max_chunk_size),
        _ => 0,
    }
}

/// Returns the scratch memory with which `n` chunks are compressed in as few launches as possible, at most 2.4 gigabytes.
/// Less takes more launches; that for one chunk is the least.
///
/// # Safety
/// `batch` is a batch that was not closed; `size` points to a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_batch_compress_scratch_size(
    batch: *const pp_batch,
    n: usize,
    size: *mut usize,
) -> pp_status {
    // SAFETY: the guarantees of this function's caller.
    call(|| unsafe {
        give_size(batch, size, |chunks| {
            chunks.compress_scratch_bytes(n as u64)
        })
    })
}

/// Returns the scratch memory with which `n` blocks are decompressed in as few launches as possible, at most 2.4 gigabytes.
/// Less takes more launches; that for one chunk is the least.
///
/// # Safety
/// As `pp_batch_compress_scratch_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_batch_decompress_scratch_size(
    batch: *const pp_batch,
    n: usize,
    size: *mut usize,
) -> pp_status {
    // SAFETY: the guarantees of this function's caller.
    call(|| unsafe {
        give_size(batch, size, |chunks| {
            chunks.decompress_scratch_bytes(n as u64)
        })
    })
}

/// Writes a size.
///
/// # Safety
/// As [`pp_batch_compress_scratch_size`].
unsafe fn give_size(
    batch: *const pp_batch,
    size: *mut usize,
    of: impl FnOnce(&Chunks) -> u64,
) -> Result<(), Failure> {
    // SAFETY: the caller's guarantees.
    let (batch, size) = unsafe { (handle(batch, "batch")?, variable(size, "size")?) };
    *size = 0;
    let bytes = of(&batch.0);
    *size = usize::try_from(bytes).map_err(|_| {
        Failure::argument(format!(
            "{bytes} bytes exceed all memory; compress less at once"
        ))
    })?;
    Ok(())
}

/// Enqueues the compression of `n` chunks on a stream, and returns: nothing waits, and nothing is allocated. Each becomes one LZ4 block, which
/// `LZ4_decompress_safe` reads. All arrays, `scratch`, chunks and blocks are in device memory; chunks and blocks have any alignment,
/// the arrays that of their elements. `block_sizes[i]` becomes the size of block `i`, 0 for a chunk of more than the maximum of the batch.
/// `stream` is a `CUstream` or `cudaStream_t`, null for the default stream, in the primary context of the device.
///
/// # Safety
/// `batch` is a batch that was not closed. When the stream gets to this work, and until it is done: arrays have `n` elements; `chunks[i]` has
/// `chunk_sizes[i]` bytes, `blocks[i]` has `pp_batch_block_bound` of the maximum, and `scratch` has `scratch_size`; what is
/// written overlaps nothing, and nothing else uses it. `stream` was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_batch_compress_async(
    batch: *const pp_batch,
    chunks: *const *const c_void,
    chunk_sizes: *const usize,
    n: usize,
    scratch: *mut c_void,
    scratch_size: usize,
    blocks: *const *mut c_void,
    block_sizes: *mut usize,
    stream: *mut c_void,
) -> pp_status {
    let arguments = CompressCall {
        n: n as u64,
        chunks: chunks as u64,
        chunk_bytes: chunk_sizes as u64,
        blocks: blocks as u64,
        block_bytes: block_sizes as u64,
        scratch: scratch as u64,
        scratch_bytes: scratch_size as u64,
    };
    call(|| {
        // SAFETY: the guarantees of this function's caller.
        unsafe {
            handle(batch, "batch")?
                .0
                .compress(&arguments, stream as u64)?
        };
        Ok(())
    })
}

/// Enqueues the decompression of `n` blocks on a stream, and returns, as `pp_batch_compress_async`. `chunk_sizes[i]` becomes the size of chunk
/// `i`, at most `capacities[i]`, and `statuses[i]` a `pp_block_status`. A block that is not right writes nothing to its chunk, has size
/// 0, and does not affect others. `chunk_sizes` and `statuses` may be null.
///
/// # Safety
/// As `pp_batch_compress_async`, where `blocks[i]` has `block_sizes[i]` bytes and `chunks[i]` has `capacities[i]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_batch_decompress_async(
    batch: *const pp_batch,
    blocks: *const *const c_void,
    block_sizes: *const usize,
    capacities: *const usize,
    chunk_sizes: *mut usize,
    n: usize,
    scratch: *mut c_void,
    scratch_size: usize,
    chunks: *const *mut c_void,
    statuses: *mut u32,
    stream: *mut c_void,
) -> pp_status {
    let arguments = DecompressCall {
        n: n as u64,
        blocks: blocks as u64,
        block_bytes: block_sizes as u64,
        chunks: chunks as u64,
        capacities: capacities as u64,
        chunk_bytes: chunk_sizes as u64,
        statuses: statuses as u64,
        scratch: scratch as u64,
        scratch_bytes: scratch_size as u64,
    };
    call(|| {
        // SAFETY: the guarantees of this function's caller.
        unsafe {
            handle(batch, "batch")?
                .0
                .decompress(&arguments, stream as u64)?
        };
        Ok(())
    })
}
