//! Compresses and decompresses chunks at addresses of device memory, on a CUDA stream of the caller.

use std::ops::Range;

use crate::gpu::Backend;
use crate::gpu::cuda::CudaDevice;
use crate::kernels::chunks::{
    compress_chunks_job, copy_pieces_job, decompress_chunks_job, max_block_bytes,
    max_chunks_per_job,
};
use crate::kernels::decoder::FORMS;
use crate::kernels::{Job, Slot};
use crate::{Error, Result};

/// Kernels for chunks of up to a number of bytes, which other CUDA code has in device memory.
///
/// Calls enqueue kernels on a stream of the caller and return: nothing waits, and nothing is allocated. Each chunk becomes one plain LZ4
/// block of level Fast, which every LZ4 decoder reads: the bytes of [`compress_block`](crate::lz4::compress_block) with the next page size
/// from 4096 on, or one run of literals if those are not fewer than the bytes of the chunk.
///
/// The arrays of a call are in device memory, as are chunks and blocks, which may lie at any addresses. Several streams may
/// run calls of one object at once, each with scratch memory of its own. Dropping the object waits for all work in the context.
#[derive(Debug)]
pub struct CudaChunks {
    device: CudaDevice,
    max_bytes: u32,
    max_per_job: u32,
}

/// Addresses of arrays in device memory, with an element for each of `n` chunks, and of scratch memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressChunks {
    /// Number of chunks.
    pub n: u64,
    /// Addresses of the chunks, 64 bits each.
    pub chunks: u64,
    /// Bytes of each chunk, 64 bits each.
    pub chunk_bytes: u64,
    /// Addresses of the blocks, 64 bits each. Each has room for [`CudaChunks::max_block_bytes`].
    pub blocks: u64,
    /// The bytes of each block go here, 64 bits each; 0 for a chunk that is longer than the object is for.
    pub block_bytes: u64,
    /// Scratch memory, which another call must not use before this one is done.
    pub scratch: u64,
    /// Bytes of scratch memory. With fewer than [`CudaChunks::compress_scratch_bytes`] of `n` chunks the call takes more
    /// launches; those of one chunk are the least.
    pub scratch_bytes: u64,
}

/// Addresses of arrays in device memory, with an element for each of `n` blocks, and of scratch memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecompressChunks {
    /// Number of blocks.
    pub n: u64,
    /// Addresses of the blocks, 64 bits each.
    pub blocks: u64,
    /// Bytes of each block, 64 bits each.
    pub block_bytes: u64,
    /// Addresses of the chunks, 64 bits each.
    pub chunks: u64,
    /// Room for each chunk in bytes, 64 bits each. A chunk may be shorter.
    pub capacities: u64,
    /// The bytes of each chunk go here, 64 bits each, 0 after an error; or 0, if they are not wanted.
    pub chunk_bytes: u64,
    /// A status of each block goes here, 32 bits each: 0, or the code of a [`BlockError`](crate::lz4::BlockError); or 0, if they are
    /// not wanted.
    pub statuses: u64,
    /// Scratch memory, which another call must not use before this one is done.
    pub scratch: u64,
    /// Bytes of scratch memory. With fewer than [`CudaChunks::decompress_scratch_bytes`] of `n` chunks the call takes more
    /// launches; those of one chunk are the least.
    pub scratch_bytes: u64,
}

/// Addresses of arrays in device memory, with an element for each of `n` pieces of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyPieces {
    /// Number of pieces.
    pub n: u64,
    /// Addresses to copy from, 64 bits each.
    pub sources: u64,
    /// Bytes of each piece, 64 bits each, less than 2^32.
    pub piece_bytes: u64,
    /// Addresses to copy to, 64 bits each.
    pub targets: u64,
}

/// Maximum number of pieces of a launch.
const MAX_PIECES: u32 = 1 << 24;

impl CudaChunks {
    /// Compiles the kernels for chunks of at most `max_bytes`, 1 to 65,536.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other sizes; [`Error::KernelCompile`], [`Error::DeviceLost`].
    pub fn new(device: &CudaDevice, max_bytes: u32) -> Result<Self> {
        let chunks = Self {
            device: device.clone(),
            max_bytes,
            max_per_job: max_chunks_per_job(max_bytes)?,
        };
        for n in FORMS.map(|n| chunks.max_per_job.min(n)) {
            device.kernels_of(&chunks.compress_job(n)?)?;
            device.kernels_of(&chunks.decompress_job(n)?)?;
        }
        device.kernels_of(&copy_pieces_job(1)?)?;
        Ok(chunks)
    }

    /// Returns the maximum bytes of a chunk.
    #[must_use]
    pub const fn max_chunk_bytes(&self) -> u32 {
        self.max_bytes
    }

    /// Returns the maximum bytes of a block, for which a call to compress needs room.
    #[must_use]
    pub const fn max_block_bytes(&self) -> u32 {
        max_block_bytes(self.max_bytes)
    }

    /// Returns the bytes of scratch memory with which `n` chunks are compressed in as few launches as possible: at most 2.4
    /// gigabytes.
    #[must_use]
    pub fn compress_scratch_bytes(&self, n: u64) -> u64 {
        self.scratch_of(n, |n| self.compress_job(n))
    }

    /// Returns the bytes of scratch memory with which `n` blocks are decompressed in as few launches as possible: at most 2.4
    /// gigabytes.
    #[must_use]
    pub fn decompress_scratch_bytes(&self, n: u64) -> u64 {
        self.scratch_of(n, |n| self.decompress_job(n))
    }

    /// Enqueues the compression of chunks on a stream, and returns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for arrays that are not aligned to their elements, too little scratch memory, and a stream of
    /// another context; [`Error::DeviceLost`].
    ///
    /// # Safety
    /// `stream` is 0, for the default stream, or a `CUstream` that was not destroyed. When the stream gets to this work, and until it
    /// is done, the arrays must have `n` elements, each chunk the bytes stated, each block room for [`max_block_bytes`](Self::max_block_bytes), and the
    /// scratch memory its bytes, all in the primary context of the device. Blocks, their sizes and scratch memory overlap
    /// nothing, and nothing else accesses them.
    pub unsafe fn compress(&self, call: &CompressChunks, stream: u64) -> Result<()> {
        let arrays = [
            Array::of_64_bits(Slot::Inputs, call.chunks),
            Array::of_64_bits(Slot::InputBytes, call.chunk_bytes),
            Array::of_64_bits(Slot::Outputs, call.blocks),
            Array::of_64_bits(Slot::OutputBytes, call.block_bytes),
        ];
        let scratch = (call.scratch, call.scratch_bytes);
        // SAFETY: the guarantees of this function's caller.
        unsafe { self.run(call.n, &arrays, scratch, stream, |n| self.compress_job(n)) }
    }

    /// Enqueues the decompression of blocks on a stream, and returns. Blocks may be corrupt: a block with an error leaves its chunk as it
    /// was, and does not affect others.
    ///
    /// # Errors
    /// As [`compress`](Self::compress).
    ///
    /// # Safety
    /// As [`compress`](Self::compress), where chunks have room for their capacities, and chunks, their sizes and statuses
    /// overlap nothing.
    pub unsafe fn decompress(&self, call: &DecompressChunks, stream: u64) -> Result<()> {
        let mut arrays = vec![
            Array::of_64_bits(Slot::Inputs, call.blocks),
            Array::of_64_bits(Slot::InputBytes, call.block_bytes),
            Array::of_64_bits(Slot::Outputs, call.chunks),
            Array::of_64_bits(Slot::Capacities, call.capacities),
        ];
        // Those that are not wanted are in scratch memory.
        if call.chunk_bytes != 0 {
            arrays.push(Array::of_64_bits(Slot::OutputBytes, call.chunk_bytes));
        }
        if call.statuses != 0 {
            arrays.push(Array {
                slot: Slot::Statuses,
                address: call.statuses,
                element: 4,
            });
        }
        let scratch = (call.scratch, call.scratch_bytes);
        // SAFETY: the guarantees of this function's caller.
        unsafe { self.run(call.n, &arrays, scratch, stream, |n| self.decompress_job(n)) }
    }

    /// Enqueues copies of pieces of memory on a stream, and returns: one launch for all, whatever their sizes and alignments, as blocks
    /// behind each other in a frame have them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for arrays that are not aligned to their elements and a stream of another context;
    /// [`Error::DeviceLost`].
    ///
    /// # Safety
    /// As [`compress`](Self::compress): the arrays must have `n` elements, each source and each target the bytes stated, and nothing
    /// else accesses targets, which overlap neither each other nor a source.
    pub unsafe fn copy(&self, call: &CopyPieces, stream: u64) -> Result<()> {
        let arrays = [
            Array::of_64_bits(Slot::Inputs, call.sources),
            Array::of_64_bits(Slot::InputBytes, call.piece_bytes),
            Array::of_64_bits(Slot::Outputs, call.targets),
        ];
        if call.n == 0 {
            return Ok(());
        }
        for array in &arrays {
            array.check(call.n)?;
        }
        for first in (0..call.n).step_by(MAX_PIECES as usize) {
            let n = u64::from(MAX_PIECES).min(call.n - first);
            let memory = arrays
                .each_ref()
                .map(|array| (array.slot, array.part(first..first + n)));
            // SAFETY: `kernels::chunks` made the job. Arrays have their elements, as `check` said of their addresses and the caller
            // guarantees, as it does the memory and the stream.
            unsafe {
                self.device
                    .launch_on(stream, &copy_pieces_job(n as u32)?, &memory)
            }?;
        }
        Ok(())
    }

    fn compress_job(&self, n: u32) -> Result<Job> {
        let limits = self.device.capabilities().limits();
        compress_chunks_job(n, self.max_bytes, limits)
    }

    fn decompress_job(&self, n: u32) -> Result<Job> {
        decompress_chunks_job(n, self.max_bytes)
    }

    /// Returns the scratch memory of the largest job of `n` chunks.
    fn scratch_of(&self, n: u64, job: impl Fn(u32) -> Result<Job>) -> u64 {
        let n = n.clamp(1, self.max_per_job.into()) as u32;
        // Jobs of 1 to `max_per_job` chunks exist, as `new` found.
        job(n).map_or(0, |job| scratch_bytes(&job))
    }

    /// Returns the number of chunks of a job for which the scratch memory suffices.
    fn per_job(&self, n: u64, given: u64, job: impl Fn(u32) -> Result<Job>) -> Result<u32> {
        let fits = |n: u32| Ok::<_, Error>(scratch_bytes(&job(n)?) <= given);
        // Jobs of `least` chunks fit, those of `most` or more do not.
        let (mut least, mut most) = (0, n.min(self.max_per_job.into()) as u32 + 1);
        if fits(most - 1)? {
            return Ok(most - 1);
        }
        while most - least > 1 {
            let middle = least.midpoint(most);
            if fits(middle)? {
                least = middle;
            } else {
                most = middle;
            }
        }
        if least > 0 {
            return Ok(least);
        }
        Err(Error::InvalidArgument {
            name: "scratch_bytes",
            value: format!("{given}, {} for one chunk", scratch_bytes(&job(1)?)),
            expected: "what the query for scratch memory returns",
        })
    }

    /// Enqueues jobs for `n` chunks.
    ///
    /// # Safety
    /// The guarantees of the caller of [`compress`](Self::compress).
    unsafe fn run(
        &self,
        n: u64,
        arrays: &[Array],
        scratch: (u64, u64),
        stream: u64,
        job: impl Fn(u32) -> Result<Job>,
    ) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        for array in arrays {
            array.check(n)?;
        }
        let per_job = u64::from(self.per_job(n, scratch.1, &job)?);
        if scratch.0 == 0 {
            return Err(Error::invalid("scratch", 0, "an address of device memory"));
        }
        check_end(scratch.0, scratch.1)?;
        for first in (0..n).step_by(per_job as usize) {
            let n_chunks = per_job.min(n - first);
            let job = job(n_chunks as u32)?;
            let mut memory: Vec<(Slot, Range<u64>)> = arrays
                .iter()
                .map(|array| (array.slot, array.part(first..first + n_chunks)))
                .collect();
            add_scratch(&job, scratch.0, &mut memory);
            // SAFETY: `kernels::chunks` made the job. Arrays have their elements, as `check` said of their addresses and the caller
            // guarantees; scratch memory is enough for the job, as `per_job` chose it, with 64 bytes behind each slot. The jobs run
            // one after the other on the stream, so they may use it in turn.
            unsafe { self.device.launch_on(stream, &job, &memory) }?;
        }
        Ok(())
    }
}

impl Drop for CudaChunks {
    fn drop(&mut self) {
        // The kernels may be unloaded with the device, and other streams may run them.
        self.device.finish_foreign();
    }
}

/// An array of the caller.
struct Array {
    slot: Slot,
    address: u64,
    /// Bytes of an element, which its address is a multiple of.
    element: u64,
}

impl Array {
    const fn of_64_bits(slot: Slot, address: u64) -> Self {
        Self {
            slot,
            address,
            element: 8,
        }
    }

    /// Checks the address of the array, and that of its end.
    fn check(&self, n: u64) -> Result<()> {
        if self.address == 0 || !self.address.is_multiple_of(self.element) {
            return Err(Error::InvalidArgument {
                name: "address of an array",
                value: format!("{:#x} of {:?}", self.address, self.slot),
                expected: "an address of device memory, a multiple of the size of an element",
            });
        }
        check_end(self.address, n.saturating_mul(self.element))
    }

    /// Returns the addresses of some elements, which `check` found to be below 2^64.
    const fn part(&self, elements: Range<u64>) -> Range<u64> {
        self.address + self.element * elements.start..self.address + self.element * elements.end
    }
}

/// Rejects memory that ends beyond all addresses.
fn check_end(address: u64, n_bytes: u64) -> Result<()> {
    if address.checked_add(n_bytes).is_some() {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        name: "device memory",
        value: format!("{n_bytes} bytes from {address:#x} on"),
        expected: "memory that ends below 2^64",
    })
}

/// Alignment of slots in scratch memory, and bytes behind each that kernels may read.
const ALIGNMENT: u64 = 256;
const SPARE: u64 = 64;

/// Returns the bytes from the start of a slot to that of the next.
const fn stride(n_bytes: u64) -> u64 {
    (n_bytes + SPARE).next_multiple_of(ALIGNMENT)
}

/// Returns true for slots that are always arrays of the caller.
const fn is_given(slot: Slot) -> bool {
    matches!(
        slot,
        Slot::Memory | Slot::Inputs | Slot::InputBytes | Slot::Outputs | Slot::Capacities
    )
}

/// Returns the scratch memory of a job at any address.
fn scratch_bytes(job: &Job) -> u64 {
    let slots = job.buffers.iter().filter(|(slot, _)| !is_given(*slot));
    ALIGNMENT + slots.map(|&(_, n_bytes)| stride(n_bytes)).sum::<u64>()
}

/// Adds the slots in scratch memory to those of the caller.
fn add_scratch(job: &Job, scratch: u64, memory: &mut Vec<(Slot, Range<u64>)>) {
    let mut start = scratch.next_multiple_of(ALIGNMENT);
    for &(slot, n_bytes) in &job.buffers {
        if !is_given(slot) && memory.iter().all(|(role, _)| *role != slot) {
            memory.push((slot, start..start + n_bytes));
            start += stride(n_bytes);
        }
    }
}
