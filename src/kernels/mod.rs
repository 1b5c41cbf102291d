//! All kernels (source, entry point, bindings), and the jobs that launch them.
//!
//! Nothing here calls a GPU. A job is plain data: the buffers that a piece of work needs, and its launches in order. An
//! engine only allocates and launches.

/// Evaluates to the WGSL source of a kernel, including the files that it imports, which `build.rs` appended.
macro_rules! shader {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod chunks;
pub(crate) mod codec;
pub(crate) mod decoder;
pub(crate) mod dictionary;
#[cfg(cuda_engine)]
mod emit;
pub(crate) mod job;
pub(crate) mod limits;
pub(crate) mod lz4;
pub(crate) mod pace;
mod parser;
pub(crate) mod tensor;

#[cfg(cuda_engine)]
pub use emit::{
    AttentionKernel, GemmKernel, Kernel, LayerNormKernel, QuantizedGemmKernel, SoftmaxKernel,
};

pub(crate) use job::Job;
pub(crate) use limits::{Limits, Registers, STORAGE_BUFFERS};

use std::ops::Range;

/// A kernel: an entry point of a WGSL file in `shaders/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelInfo {
    /// WGSL entry point, label and test name.
    pub name: &'static str,
    /// The WGSL source, including its imports.
    pub wgsl: &'static str,
    /// Access of each binding of group 0, in binding order.
    pub bindings: &'static [Access],
    /// True if the kernel writes workgroup memory before it reads it.
    fills_workgroup: bool,
    /// True if the kernel accesses memory at any address, by the functions of `shaders/lib/address.wgsl`.
    has_addresses: bool,
    /// True if matrix units take the kernel's halves as bfloat16.
    is_of_bfloat16: bool,
    /// True if matrix units take the kernel's factors of f32 as TF32.
    is_of_tf32: bool,
}

impl KernelInfo {
    /// Declares a kernel that engines may run without run-time checks of their own.
    ///
    /// # Safety
    /// When the kernel is launched as part of a job of this module, on buffers of the job's sizes, after the job's
    /// preceding launches, it must satisfy the following: it accesses nothing outside its buffers, except for reads of
    /// up to 32 bytes beyond the end of one; it does not divide by zero; its loops terminate; and with
    /// `fills_workgroup`, it reads no workgroup memory that its workgroup has not written.
    const unsafe fn trusted(
        name: &'static str,
        wgsl: &'static str,
        bindings: &'static [Access],
        fills_workgroup: bool,
    ) -> Self {
        Self {
            name,
            wgsl,
            bindings,
            fills_workgroup,
            has_addresses: false,
            is_of_bfloat16: false,
            is_of_tf32: false,
        }
    }

    /// Returns the kernel with halves taken as numbers of type bfloat16 by matrix units, where the engine can. It only copies and
    /// multiplies them.
    #[cfg(not(target_arch = "wasm32"))]
    const fn of_bfloat16(self) -> Self {
        Self {
            is_of_bfloat16: true,
            ..self
        }
    }

    /// Returns true if matrix units take the kernel's halves as bfloat16.
    #[must_use]
    pub const fn is_of_bfloat16(&self) -> bool {
        self.is_of_bfloat16
    }

    /// Returns the kernel with factors of f32 rounded to TF32 by matrix units, where the engine can.
    #[cfg(not(target_arch = "wasm32"))]
    const fn of_tf32(self) -> Self {
        Self {
            is_of_tf32: true,
            ..self
        }
    }

    /// Returns true if matrix units take the kernel's factors of f32 as TF32.
    #[must_use]
    pub const fn is_of_tf32(&self) -> bool {
        self.is_of_tf32
    }

    /// Declares that the kernel accesses memory at addresses that its arguments hold, where the engine can.
    ///
    /// # Safety
    /// Whoever launches the kernel must guarantee the addresses: the kernel accesses only bytes that its arguments say are there,
    /// and other bytes of words that have one of these for reading only.
    #[cfg(not(target_arch = "wasm32"))]
    const unsafe fn with_addresses(self) -> Self {
        Self {
            has_addresses: true,
            ..self
        }
    }

    /// Returns true if the kernel accesses memory at any address.
    pub(crate) const fn has_addresses(&self) -> bool {
        self.has_addresses
    }

    /// Returns true if the kernel writes all workgroup memory before it reads it, so that engines need not clear it.
    #[must_use]
    pub const fn fills_workgroup(&self) -> bool {
        self.fills_workgroup
    }
}

/// Streaming multiprocessors (CUDA) or compute units of a device, which run its workgroups. Their number and memory
/// determine the occupancy: the number of workgroups that are resident at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ComputeUnits {
    /// Number of compute units.
    pub n: u32,
    /// Workgroup (shared) memory of one compute unit in bytes, for all its resident workgroups together.
    pub workgroup_bytes: u32,
}

/// Access of a kernel to a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
    /// `var<uniform>`: a small block of `u32` parameters.
    Uniform,
}

impl Access {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "read_write",
            Self::Uniform => "uniform",
        }
    }
}

/// Role of a buffer in a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Slot {
    /// Uncompressed pages, back to back; a multiple of 4 bytes.
    Pages,
    /// Compressed blocks, each at a multiple of 4 bytes.
    Packed,
    /// Two words per page: see [`PageEntry::to_words`](crate::lz4::PageEntry::to_words).
    Table,
    /// One word per page: 0, or the code of a [`crate::lz4::BlockError`].
    Status,
    /// The dictionary before each page, and its index: words as `shaders/lib/dictionary.wgsl` describes them.
    Dictionary,
    /// Scratch of `lz4_parse`, per workgroup: a 16-bit offset for every position of a page.
    Candidates,
    /// Scratch at level High: a word for every position, in the order of their hashes; later their costs.
    Order,
    /// Scratch at level High: a word for every position, its match.
    Matches,
    /// Scratch: the sequences of each page, two words each; sized for one sequence every four bytes.
    Sequences,
    /// Scratch, one word per page: length and kind of its block.
    Sizes,
    /// Scratch: after the job, word 0 is the total packed size in words. Behind it are the sums of the tiles of the scan, and one word
    /// per page: position of its block within its tile.
    Places,
    /// Jobs of chunks: what stands for all memory on engines whose kernels do not access it by address.
    Memory,
    /// Jobs of chunks: addresses of the inputs, two words each, the low one first.
    Inputs,
    /// Jobs of chunks: bytes of each input, two words each.
    InputBytes,
    /// Jobs of chunks: addresses of the outputs, two words each.
    Outputs,
    /// Jobs of chunks: bytes written to each output, two words each.
    OutputBytes,
    /// Jobs of chunks: room at each output in bytes, two words each, to decompress.
    Capacities,
    /// Jobs of chunks: one word each: 0, or the code of a [`crate::lz4::BlockError`].
    Statuses,
    /// Scratch of jobs of chunks, one word each: bytes of the chunk.
    Lengths,
    /// The first tensor of an operation.
    A,
    /// The second tensor of an operation. Operations without one bind the buffer of [`A`](Self::A) again.
    B,
    /// The bias that is added to each column.
    Bias,
    /// The tensor that an epilogue adds to a product.
    Residual,
    /// The values of attention. Its queries are [`A`](Self::A), its keys [`B`](Self::B).
    Values,
    /// The result of an operation.
    Out,
    /// Scratch: copies of [`A`](Self::A) and [`B`](Self::B), rounded for matrix units.
    RoundedA,
    /// See [`RoundedA`](Self::RoundedA).
    RoundedB,
    /// Scratch: partial sums of a matrix product, one per slice of its inner axis (split-K).
    Slices,
    /// Scratch: partial results of a tree reduction.
    Partials,
    /// Scratch: the next level of the tree reduction. Levels alternate between this buffer and [`Partials`](Self::Partials).
    FewerPartials,
}

/// An argument of a launch, in binding order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// A whole buffer.
    Buffer(Slot),
    /// A range of a buffer in bytes. It starts at a multiple of 256.
    Slice(Slot, Range<u64>),
    /// Uniform parameters; a multiple of four words.
    Params(Vec<u32>),
}

/// Alignment in bytes of the start of an [`Arg::Slice`]: the largest that a device may require.
pub(crate) const SLICE_ALIGNMENT: u64 = 256;

/// Maximum number of workgroups in one dimension of a grid that every device supports.
const MAX_GRID: u32 = 65_535;

/// One dispatch of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The kernel to run.
    pub kernel: &'static KernelInfo,
    /// WGSL `override` constants.
    pub overrides: Vec<(&'static str, u32)>,
    /// Number of workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Arguments in binding order.
    pub args: Vec<Arg>,
}
