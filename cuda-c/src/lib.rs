//! Compiles kernels in CUDA C to naga's IR, and from there to WGSL, SPIR-V, MSL and HLSL: in pure Rust, without LLVM or a CUDA
//! toolkit.
//!
//! ```
//! use cuda_c::{CudaOptions, CudaParamKind, compile_cuda};
//!
//! let source = "
//!     __global__ void saxpy(int n, float a, const float *x, float *y) {
//!         int i = blockIdx.x * blockDim.x + threadIdx.x;
//!         if (i < n) y[i] = a * x[i] + y[i];
//!     }";
//! let kernel = compile_cuda(source, &CudaOptions::new("saxpy"))?;
//! assert!(kernel.wgsl()?.contains("fn saxpy("));
//! assert_eq!(kernel.params[2].kind, CudaParamKind::Buffer { binding: 0, writable: false, element_bytes: 4 });
//!
//! let error = compile_cuda("__global__ void f(double *x) {}", &CudaOptions::new("f")).unwrap_err();
//! assert_eq!((error.line, error.column), (1, 19));
//! # Ok::<(), cuda_c::Error>(())
//! ```
//!
//! # Calling a compiled kernel
//! All bindings are in group 0. The pointer parameters are storage buffers, numbered in their order from 0; `__device__` and
//! `__constant__` variables without an initialiser follow. The other parameters are members of one uniform, the last binding,
//! which is absent if there are none. The grid counts workgroups, as CUDA's counts blocks.
//!
//! # From the source to the IR
//! | module | does |
//! |---|---|
//! | `source` | splits the text into tokens, follows directives, expands macros |
//! | `parse` | builds the syntax tree; skips host code |
//! | `types` | lays out types as CUDA does |
//! | `lower` | checks types, proves what is uniform, and lowers to IR |
//!
//! # Untrusted sources
//! No source panics, overflows the stack or compiles for hours: it is compiled, or refused with the limit that it exceeds.

mod ast;
mod error;
mod lower;
mod output;
mod parse;
mod source;
mod types;

pub use error::{Error, Result};
/// The version of naga whose types this crate returns.
pub use naga;

use error::{Fault, NO_PLACE, place};

/// Entry point and target of a compilation.
#[derive(Debug, Clone, Copy)]
pub struct CudaOptions<'a> {
    /// A `__global__` function, or an instantiation of a template: `scale<float, 4>`.
    pub entry: &'a str,
    /// `blockDim`, threads per block along x, y and z: the workgroup size, which WGSL fixes when a kernel is compiled.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory: `extern __shared__`.
    pub shared_bytes: u32,
    /// Macros by name and value, as `-D` defines them.
    pub defines: &'a [(&'a str, &'a str)],
    /// Treat `double` as `float`.
    pub narrow_f64: bool,
    /// The device has subgroups of 32 invocations: warp functions become subgroup operations. Else they go through memory of
    /// the workgroup.
    pub subgroups: bool,
    /// The device has 16-bit floats: `half` is allowed.
    pub float16: bool,
    /// The device has 64-bit integers: `long`, `long long` and their unsigned forms are allowed. WebGPU has none.
    pub int64: bool,
}

impl<'a> CudaOptions<'a> {
    /// Creates options with a block of 256 threads and without dynamic shared memory, macros, subgroups, 16-bit floats or 64-bit
    /// integers.
    #[must_use]
    pub const fn new(entry: &'a str) -> Self {
        Self {
            entry,
            block: [256, 1, 1],
            shared_bytes: 0,
            defines: &[],
            narrow_f64: false,
            subgroups: false,
            float16: false,
            int64: false,
        }
    }

    /// Sets the threads per block along x, y and z.
    #[must_use]
    pub const fn block(self, block: [u32; 3]) -> Self {
        Self { block, ..self }
    }

    /// Sets the bytes of dynamic shared memory.
    #[must_use]
    pub const fn shared_bytes(self, shared_bytes: u32) -> Self {
        Self {
            shared_bytes,
            ..self
        }
    }

    /// Sets macros by name and value.
    #[must_use]
    pub const fn defines(self, defines: &'a [(&'a str, &'a str)]) -> Self {
        Self { defines, ..self }
    }

    /// Sets whether `double` is treated as `float`.
    #[must_use]
    pub const fn narrow_f64(self, narrow_f64: bool) -> Self {
        Self { narrow_f64, ..self }
    }

    /// Sets whether warp functions become subgroup operations.
    #[must_use]
    pub const fn subgroups(self, subgroups: bool) -> Self {
        Self { subgroups, ..self }
    }

    /// Sets whether the device has 16-bit floats.
    #[must_use]
    pub const fn float16(self, float16: bool) -> Self {
        Self { float16, ..self }
    }

    /// Sets whether the device has 64-bit integers.
    #[must_use]
    pub const fn int64(self, int64: bool) -> Self {
        Self { int64, ..self }
    }
}

/// The type of a scalar parameter in the uniform; narrower integers and `bool` are widened to 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// A signed integer.
    I32,
    /// An unsigned integer or `bool`.
    U32,
    /// A `float`, or a `half` widened to it.
    F32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
}

/// The binding or uniform member that receives a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CudaParamKind {
    /// A storage buffer.
    Buffer {
        /// `@binding` in group 0.
        binding: u32,
        /// True for `read_write`, false for `read`.
        writable: bool,
        /// Size of an element in bytes.
        element_bytes: u32,
    },
    /// A scalar in the uniform.
    Scalar {
        /// Byte offset in the uniform.
        offset: u32,
        /// Its type there.
        kind: ScalarKind,
    },
    /// A structure or vector in the uniform, in the layout of CUDA.
    Struct {
        /// Byte offset in the uniform.
        offset: u32,
        /// Size in bytes.
        n_bytes: u32,
    },
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CudaParam {
    /// Its name in the source.
    pub name: String,
    /// Its binding, or its place in the uniform.
    pub kind: CudaParamKind,
}

/// A remark on a source: skipped host code, a launch by the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note {
    /// Line of the source, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The remark.
    pub message: String,
}

/// A compiled kernel.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompiledCuda {
    /// The module, with one entry point.
    pub module: naga::Module,
    /// The validator's findings on the module, which writers need.
    pub info: naga::valid::ModuleInfo,
    /// Name of the entry point: the kernel's, altered where WGSL does not allow it.
    pub entry: String,
    /// Threads per block along x, y and z.
    pub workgroup_size: [u32; 3],
    /// The kernel's parameters in their order, then `__device__` and `__constant__` variables that the caller binds.
    pub params: Vec<CudaParam>,
    /// Binding of the uniform, if there are scalar parameters.
    pub uniform_binding: Option<u32>,
    /// Size of the uniform in bytes.
    pub uniform_bytes: u32,
    /// Remarks on the source.
    pub notes: Vec<Note>,
}

/// A kernel of a source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KernelSignature {
    /// Its name.
    pub name: String,
    /// Line of its name.
    pub line: u32,
    /// Names of its template parameters.
    pub template: Vec<String>,
    /// Names of its parameters.
    pub params: Vec<String>,
}

/// Maximum threads of a block.
const MAX_THREADS: u64 = 1024;
/// Maximum bytes of dynamic shared memory.
const MAX_SHARED_BYTES: u32 = 1 << 20;

/// Compiles one kernel of a source.
///
/// # Errors
/// An [`Error`] with the place in the source if it is invalid, has no such kernel, uses a construct outside of the subset, has a
/// barrier in control flow that differs between threads, or exceeds a limit. Errors in `options` have no place.
pub fn compile_cuda(source: &str, options: &CudaOptions<'_>) -> Result<CompiledCuda> {
    compile(source, options).map_err(|fault| fault.in_source(source))
}

fn compile(source: &str, options: &CudaOptions<'_>) -> error::Outcome<CompiledCuda> {
    let n_threads: u64 = options
        .block
        .iter()
        .map(|n| u64::from(*n))
        .try_fold(1u64, u64::checked_mul)
        .unwrap_or(u64::MAX);
    if !(1..=MAX_THREADS).contains(&n_threads) {
        return error::fault(
            NO_PLACE,
            format!(
                "a block of {:?} threads; use 1 to {MAX_THREADS} in all",
                options.block
            ),
        );
    }
    if options.shared_bytes > MAX_SHARED_BYTES {
        return error::fault(
            NO_PLACE,
            format!(
                "{} bytes of dynamic shared memory; use at most {MAX_SHARED_BYTES}",
                options.shared_bytes
            ),
        );
    }
    let program = parse::parse(source::preprocess(source, options.defines)?)?;
    let of_entry = |fault: Fault| fault.in_option(&format!("the entry {}", options.entry));
    let tokens = source::preprocess(options.entry, options.defines).map_err(of_entry)?;
    let (name, arguments) = parse::parse_entry(tokens, &program).map_err(of_entry)?;
    let kernel = lower::lower(source, &program, options, &name, &arguments)?;
    let info = output::validate(&kernel.module, options)?;
    let notes = program.notes.iter().chain(&kernel.notes);
    let notes = notes.map(|(at, message)| {
        let (line, column) = place(source, *at);
        Note {
            line,
            column,
            message: message.clone(),
        }
    });
    Ok(CompiledCuda {
        info,
        entry: kernel.entry,
        workgroup_size: options.block,
        params: kernel.params,
        uniform_binding: kernel.uniform.map(|(binding, _)| binding),
        uniform_bytes: kernel.uniform.map_or(0, |(_, n_bytes)| n_bytes),
        notes: notes.collect(),
        module: kernel.module,
    })
}

/// Lists the kernels of a source, in their order.
///
/// # Errors
/// An [`Error`] with the place in the source if that is invalid outside of functions.
pub fn kernels(source: &str, defines: &[(&str, &str)]) -> Result<Vec<KernelSignature>> {
    let list = || {
        Ok(lower::signatures(&parse::parse(source::preprocess(
            source, defines,
        )?)?))
    };
    let found: error::Outcome<Vec<(u32, KernelSignature)>> = list();
    let found = found.map_err(|fault| fault.in_source(source))?;
    let located = |(at, signature): (u32, KernelSignature)| KernelSignature {
        line: place(source, at).0,
        ..signature
    };
    Ok(found.into_iter().map(located).collect())
}
