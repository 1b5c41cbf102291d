//! The one table of kernels: source, entry point, bindings, workgroup size, and the launches of a job.
//!
//! Nothing here touches a GPU. A job ([`Job`]) says which buffers it needs and which launches, in order,
//! do the work; an engine only allocates and launches.

/// Evaluates to the WGSL source of a kernel, which `build.rs` has joined with the files that it imports.
macro_rules! shader {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

#[cfg(cuda_engine)]
mod emit;
pub mod lz4;
mod parser;
pub mod tensor;

#[cfg(cuda_engine)]
pub use emit::{
    AttentionKernel, GemmKernel, Kernel, LayerNormKernel, QuantizedGemmKernel, SoftmaxKernel,
};

use std::ops::Range;

/// A kernel: an entry point of a WGSL file in `shaders/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelInfo {
    /// WGSL entry point, label and test name.
    pub name: &'static str,
    /// The WGSL source, with all that it imports.
    pub wgsl: &'static str,
    /// Access of each binding of group 0, in binding order.
    pub bindings: &'static [Access],
    /// The kernel writes workgroup memory before it reads it.
    fills_workgroup: bool,
}

impl KernelInfo {
    /// A kernel that engines may run without checks of their own.
    ///
    /// # Safety
    /// Launched as part of a job of this module, on buffers of the job's sizes, after the job's launches before it: the
    /// kernel accesses nothing outside of its buffers, but may read up to 32 bytes behind one; it divides by no zero; its
    /// loops end; and with `fills_workgroup`, it reads no workgroup memory that its workgroup has not written.
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
        }
    }

    /// Whether the kernel writes workgroup memory before it reads it, so that engines need not clear it.
    #[must_use]
    pub const fn fills_workgroup(&self) -> bool {
        self.fills_workgroup
    }
}

/// What runs the workgroups of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Processors {
    /// How many there are.
    pub n: u32,
    /// Memory of one for all workgroups that it runs at once.
    pub workgroup_bytes: u32,
}

/// How a kernel uses a binding.
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

/// A buffer of a job, by its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Slot {
    /// Uncompressed pages, back to back; a multiple of 4 bytes.
    Pages,
    /// Compressed blocks, each at a multiple of 4 bytes.
    Packed,
    /// Two words a page: see [`lz4::TableEntry`].
    Table,
    /// One word a page: 0, or the code of a [`crate::lz4::BlockError`].
    Status,
    /// Scratch of `lz4_parse`, for each of its workgroups: an offset of 16 bits for every position of a page.
    Candidates,
    /// Scratch of `lz4_parse`, for each of its workgroups: a word for every four positions of a page.
    Matches,
    /// Scratch: the sequences of each page, two words each, with room for one every four bytes.
    Sequences,
    /// Scratch, a word a page: length and kind of its block.
    Sizes,
    /// Scratch, a word a page: place of its block within its tile.
    Places,
    /// Scratch: sums of the table's tiles; word 0 is the total packed size in words after the job.
    TileSums,
    /// The first tensor of an operation.
    A,
    /// The second tensor of an operation; that of [`A`](Self::A) again where there is none.
    B,
    /// What is added to each column.
    Bias,
    /// The values of attention, whose queries are [`A`](Self::A) and keys [`B`](Self::B).
    Values,
    /// The tensor that an operation makes.
    Out,
    /// Scratch: sums over slices of the inner axis of a matrix product.
    Slices,
    /// Scratch: results of parts, to be reduced further.
    Partials,
    /// Scratch: what [`Partials`](Self::Partials) are reduced to, and the reverse.
    FewerPartials,
}

/// An argument of a launch, in binding order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// A whole buffer.
    Buffer(Slot),
    /// A range of a buffer in bytes, which starts at a multiple of 256.
    Slice(Slot, Range<u64>),
    /// Uniform parameters; a multiple of four words.
    Params(Vec<u32>),
}

/// One dispatch of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// What to run.
    pub kernel: &'static KernelInfo,
    /// WGSL `override` constants.
    pub overrides: Vec<(&'static str, u32)>,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Arguments in binding order.
    pub args: Vec<Arg>,
}

/// Everything an engine needs to run one piece of work: launches in order, each sees the writes of those before.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Sizes in bytes of all buffers the launches name, multiples of 4.
    pub buffers: Vec<(Slot, u64)>,
    /// The dispatches.
    pub launches: Vec<Launch>,
}
