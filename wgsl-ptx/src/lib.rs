//! Compiles WGSL to PTX in pure Rust, without LLVM, nvcc, NVRTC or a GPU. The driver assembles PTX to machine code.
//!
//! [`compile_wgsl`] compiles one entry point of a WGSL source. [`PtxModule`] and [`PtxKernel`] build kernels by hand; they are
//! also the backend of the compiler.
//!
//! ```
//! use wgsl_ptx::{PtxOptions, PtxParamKind, compile_wgsl};
//!
//! let wgsl = "
//!     @group(0) @binding(0) var<storage, read_write> words: array<u32>;
//!     @compute @workgroup_size(64)
//!     fn double(@builtin(global_invocation_id) id: vec3<u32>) {
//!         if id.x < arrayLength(&words) { words[id.x] *= 2u; }
//!     }";
//! let ptx = compile_wgsl(wgsl, &PtxOptions::new("double"))?;
//! assert!(ptx.text.contains(".visible .entry double("));
//! assert_eq!(ptx.workgroup_size, [64, 1, 1]);
//! assert_eq!(ptx.params[0].kind, PtxParamKind::Storage { writable: true });
//!
//! let error = compile_wgsl("fn f() {\n    oops();\n}", &PtxOptions::new("f")).unwrap_err();
//! assert!(error.to_string().starts_with("kernel f does not compile: 2:5: "));
//! # Ok::<(), wgsl_ptx::Error>(())
//! ```
//!
//! # Calling a compiled kernel
//! The parameters are all bindings of the source in the order of (group, binding), used by the entry point or not: a storage
//! buffer is two `.u64`, the device address (a multiple of 16) and the length in bytes; a uniform is its bytes by value. The
//! grid counts workgroups, the block is [`CompiledPtx::workgroup_size`]. A buffer bound as `var<storage, read>` must not be
//! written while the kernel runs, neither by others nor through another binding.
//!
//! # Differences from other engines
//! None in behaviour that WGSL defines. Subgroups have 32 invocations; an operation of a subgroup includes all of them where the
//! compiler can tell that control flow is uniform, else the active ones. Multiplications and additions may be fused.
//!
//! Cooperative matrices (`enable wgpu_cooperative_matrix`) have 16x16 elements: factors of `f16`, sums of `f16` or `f32`; factors of
//! `f32`, rounded, only with [`PtxOptions::floats_as_tf32`]. They are loaded from and stored to elements of arrays, in workgroup memory from rows at multiples of 16 bytes; with bounds checks, other rows
//! begin at the multiple before.
//!
//! # Untrusted sources
//! No source panics, overflows the stack or compiles for hours: it is compiled, or refused with the limit that it exceeds. The
//! module [`front`] has the check, for programs that give WGSL to other compilers, too.
//!
//! # From the source to PTX
//! | module | does |
//! |---|---|
//! | `front` | bounds nesting and size of a source, then parses and validates it with naga |
//! | `lower` | lowers naga's IR: inlines calls, unrolls loops, keeps variables in registers |
//! | [`intrinsics`] | the functions that become one instruction, by name and text |
//! | `build` | the typed builder that writes instructions: [`PtxModule`], [`PtxKernel`] |
//!
//! ptxas, in the driver, then eliminates common subexpressions, allocates registers and schedules; this crate does not repeat
//! its work.

mod build;
mod error;
pub mod front;
pub mod intrinsics;
mod lower;

pub use error::{Error, Result};
/// The version of naga whose types [`front`] returns.
pub use naga;

pub use build::{
    Address, AtomicOperation, Comparison, GroupProduct, Label, MatrixProduct, Operand, Ordering,
    PairOperation, PtxKernel, PtxModule, PtxType, Register, Rounding, SharedMatrix, Shuffle, Space,
    Special, Symbol, WarpReduction,
};

/// Entry point and target of a compilation.
#[derive(Debug, Clone, Copy)]
pub struct PtxOptions<'a> {
    /// Name of a `@compute` function.
    pub entry: &'a str,
    /// Values of `override` constants by name.
    pub overrides: &'a [(&'a str, f64)],
    /// Compute capability times ten, from 70 to 121: 75, 80, 90, 100. The target is the newest known one that is not above
    /// it.
    pub sm: u32,
    /// The device has compute capability `sm` exactly: with 90, [`MULTIPLY_STAGED`](intrinsics::MULTIPLY_STAGED) becomes products of
    /// warpgroups, which later GPUs lack.
    pub is_exact: bool,
    /// Handling of indices out of bounds.
    pub bounds: Bounds,
    /// Zero-initialise workgroup memory, as WGSL requires. A kernel that writes it before it reads it can do without.
    pub clear_workgroup: bool,
    /// Lower [`LOAD_WORD`](intrinsics::LOAD_WORD) and the other functions of addresses to accesses of device memory at any address.
    /// Undefined behaviour unless the source guarantees that every address is valid; leave it false for sources of others.
    pub raw_addresses: bool,
    /// Cooperative matrices of `f16` are matrices of bfloat16 instead, for kernels that only copy, load and multiply them. From `sm_80`
    /// on, with sums in `f32`.
    pub halves_as_bfloat16: bool,
    /// Cooperative matrices of `f32` may be factors: loads round their elements to TF32, that is, to 10 bits after the binary point of the
    /// significand, to nearest with ties away from zero. Infinities and NaN stay what they are. Without the option such factors are
    /// errors, since matrix units multiply no `f32` without rounding. From `sm_80` on.
    pub floats_as_tf32: bool,
    /// The kernel waits for the one ahead of it in its stream by itself, so that its launch need not: see
    /// [`CompiledPtx::waits_by_itself`]. From `sm_90` on; older targets have no such instruction, and the option no effect.
    pub waits_by_itself: bool,
}

impl<'a> PtxOptions<'a> {
    /// Creates options without override constants, for compute capability 7.5, with indices clamped and workgroup memory
    /// cleared.
    #[must_use]
    pub const fn new(entry: &'a str) -> Self {
        Self {
            entry,
            overrides: &[],
            sm: 75,
            is_exact: false,
            bounds: Bounds::Clamp,
            clear_workgroup: true,
            raw_addresses: false,
            halves_as_bfloat16: false,
            floats_as_tf32: false,
            waits_by_itself: false,
        }
    }
}

/// Handling of indices out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// Indices are clamped to the last element. An empty buffer reads as zero and ignores writes.
    Clamp,
    /// Undefined behaviour: the source guarantees that every index is in bounds, that buffers have fewer than 2^31 elements,
    /// and that no loop spins on another invocation through workgroup memory.
    Unchecked,
}

/// A PTX module of one kernel, with the data needed to launch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledPtx {
    /// A whole PTX module.
    pub text: String,
    /// Name of the kernel: the entry point's, with non-ASCII letters escaped.
    pub entry: String,
    /// Invocations per workgroup along x, y, z.
    pub workgroup_size: [u32; 3],
    /// Workgroup memory in bytes. See [`launched_shared_bytes`](Self::launched_shared_bytes).
    pub shared_bytes: u32,
    /// Bindings in the order of (group, binding).
    pub params: Vec<PtxParam>,
    /// True if the kernel begins with `griddepcontrol.wait`. It may then be launched with programmatic stream serialization
    /// (`CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`), which prepares the launch while the kernel ahead of it ends.
    pub waits_by_itself: bool,
}

/// The most workgroup memory that a module declares with its size; kernels have more of it only by their launch.
pub(crate) const STATIC_SHARED_BYTES: u32 = 48 << 10;

impl CompiledPtx {
    /// Returns the bytes of dynamic shared memory that a launch must state: 0 up to 48 KiB of workgroup memory, else all of it. The
    /// function's attribute `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` must be set to the number before.
    #[must_use]
    pub const fn launched_shared_bytes(&self) -> u32 {
        if self.shared_bytes > STATIC_SHARED_BYTES {
            self.shared_bytes
        } else {
            0
        }
    }
}

/// The kind of a kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PtxParamKind {
    /// A storage buffer: address and length.
    Storage {
        /// True for `read_write`, false for `read`.
        writable: bool,
    },
    /// A uniform, by value.
    Uniform {
        /// Size in bytes.
        n_bytes: u32,
    },
}

/// A kernel parameter: a binding of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PtxParam {
    /// `@group`
    pub group: u32,
    /// `@binding`
    pub binding: u32,
    /// Storage buffer or uniform.
    pub kind: PtxParamKind,
    /// Minimum size in bytes: the size of its type, with one element of a runtime-sized array.
    pub min_bytes: u32,
}

/// Compiles one entry point of a WGSL source to a PTX module.
///
/// Compilation time and stack depth are bounded for any text. The limits are far beyond the needs of kernels, and an error
/// names the exceeded one and the remedy: 1 MiB of text, 131,072 tokens (32,768 per function), brackets nested 160 deep,
/// 1,024 operators in an expression, a call depth of 512, types nested 64 deep and, with all calls inlined, 1,048,576 tokens
/// and 262,144 lines of PTX.
///
/// # Errors
/// [`KernelCompile`](Error::KernelCompile) with `line:column: …` if the source is invalid, has no such entry point or
/// override constant, uses an unsupported feature (textures, for instance), exceeds a limit, or needs more than 4 KiB of
/// parameters or 227 KiB of workgroup memory, of which a device may have less.
/// [`InvalidArgument`](Error::InvalidArgument) for an unknown compute capability.
pub fn compile_wgsl(wgsl: &str, options: &PtxOptions<'_>) -> Result<CompiledPtx> {
    if !build::SM_RANGE.contains(&options.sm) {
        return Err(Error::InvalidArgument {
            name: "sm",
            value: options.sm.to_string(),
            expected: "give a compute capability times ten, from 70 to 121",
        });
    }
    lower::compile(wgsl, options)
}

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    #[test]
    fn the_range_of_architectures_is_the_one_that_errors_name() {
        assert_eq!(super::build::SM_RANGE, 70..=121);
    }
}
