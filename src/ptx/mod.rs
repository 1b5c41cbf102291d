//! WGSL to PTX, in Rust: no LLVM, no nvcc, no NVRTC, no GPU. The driver turns PTX into machine code.
//!
//! [`compile_wgsl`] compiles one entry point of a WGSL source. [`PtxModule`] and [`PtxKernel`] build kernels by hand;
//! the compiler is written on them.
//!
//! # Calling a compiled kernel
//! The parameters are the bindings of the source in the order of (group, binding), whether the entry point uses them
//! or not: a storage buffer is two `.u64`, the device address (a multiple of 16) and the length in bytes; a uniform is
//! its bytes by value. The grid counts workgroups, the block is [`CompiledPtx::workgroup_size`]. A buffer bound as
//! `var<storage, read>` must not be written while the kernel runs, not through another binding either.
//!
//! # What differs from other engines
//! Nothing that WGSL defines. Subgroups have 32 invocations. Sums of products may be fused.

mod build;
mod intrinsics;
mod wgsl;

use crate::{Error, Result};

pub use build::{
    Address, AtomicOperation, Comparison, Label, Operand, Ordering, PtxKernel, PtxModule, PtxType,
    Register, Rounding, Shuffle, Space, Special, Symbol, WarpReduction,
};

/// What to compile, and for what.
#[derive(Debug, Clone, Copy)]
pub struct PtxOptions<'a> {
    /// Name of a `@compute` function.
    pub entry: &'a str,
    /// Values of `override` constants by name.
    pub overrides: &'a [(&'a str, f64)],
    /// Compute capability times ten, from 70 to 121: 75, 80, 90, 100. The newest known one that is not above it is
    /// taken.
    pub sm: u32,
    /// What happens to an index out of bounds.
    pub bounds: Bounds,
    /// Workgroup memory starts at zero, as WGSL says. A kernel that writes it before it reads it does not need that.
    pub clear_workgroup: bool,
}

impl<'a> PtxOptions<'a> {
    /// No override constants, compute capability 7.5, indices clamped, workgroup memory cleared.
    #[must_use]
    pub const fn new(entry: &'a str) -> Self {
        Self {
            entry,
            overrides: &[],
            sm: 75,
            bounds: Bounds::Clamp,
            clear_workgroup: true,
        }
    }
}

/// What happens to an index out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// It becomes the last index. Elements of an empty buffer read as zero and are not written.
    Clamp,
    /// Anything: the source sees to it that there is none. Buffers then have fewer than 2^31 elements, and no loop
    /// waits for another invocation through workgroup memory.
    Unchecked,
}

/// A module of one kernel, and how to launch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledPtx {
    /// A whole PTX module.
    pub text: String,
    /// Name of the kernel in it: that of the entry point, letters beyond ASCII spelt out.
    pub entry: String,
    /// Invocations in a workgroup along x, y, z.
    pub workgroup_size: [u32; 3],
    /// Static workgroup memory.
    pub shared_bytes: u32,
    /// Bindings in the order of (group, binding).
    pub params: Vec<PtxParam>,
}

/// What a binding is to a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PtxParamKind {
    /// A storage buffer: address and length.
    Storage {
        /// `read_write`, not `read`.
        writable: bool,
    },
    /// A uniform, by value.
    Uniform {
        /// Its size.
        n_bytes: u32,
    },
}

/// A binding of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PtxParam {
    /// `@group`
    pub group: u32,
    /// `@binding`
    pub binding: u32,
    /// What it is.
    pub kind: PtxParamKind,
    /// Bytes that must be there at least: the size of its type, with one element of an array without size.
    pub min_bytes: u32,
}

/// Compiles one entry point of a WGSL source to a PTX module.
///
/// Any text is answered soon: a source that would take a compiler without bounds, or its stack, is refused. The limits
/// are far beyond what kernels need; a message names the one that is exceeded and what to do: 1 MiB of text, 131,072
/// tokens (32,768 a function), 160 brackets inside each other, 1,024 operators in an expression, 512 functions that call
/// each other in a row, 64 types inside each other, and, all calls inlined, 1,048,576 tokens and 262,144 lines of PTX.
///
/// # Errors
/// [`KernelCompile`](crate::Error::KernelCompile) with `line:column: …` when the source is not valid, has no such entry
/// point or override constant, uses something that compute kernels cannot have here (textures, for instance), exceeds a
/// limit, or needs more than 4 KiB of parameters or 48 KiB of workgroup memory.
/// [`InvalidArgument`](crate::Error::InvalidArgument) for an unknown compute capability.
pub fn compile_wgsl(wgsl: &str, options: &PtxOptions<'_>) -> Result<CompiledPtx> {
    if !build::SM_RANGE.contains(&options.sm) {
        return Err(Error::invalid(
            "sm",
            options.sm.into(),
            "give a compute capability times ten, from 70 to 121",
        ));
    }
    wgsl::compile(wgsl, options)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_range_of_architectures_is_the_one_that_errors_name() {
        assert_eq!(super::build::SM_RANGE, 70..=121);
    }
}
