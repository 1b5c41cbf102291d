//! Kernels in CUDA C, on any engine: the crate [`cuda_c`](::cuda_c) translates them to WGSL.

use ::cuda_c::{CompiledCuda, CudaParam, CudaParamKind, ScalarKind};

use super::backend::{Backend, KernelArg, KernelSource};
use super::device::GpuDevice;
use crate::kernels::Access;
use crate::{Error, Result};

pub use ::cuda_c::{CudaOptions, KernelSignature, kernels as cuda_kernels};

/// An argument of a launch, for the parameter of the same position.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum CudaArg<'a, Buffer> {
    /// A buffer, for a pointer.
    Buffer(&'a Buffer),
    /// For `int` and narrower signed integers.
    I32(i32),
    /// For `unsigned int`, narrower unsigned integers and `bool`.
    U32(u32),
    /// For `float`.
    F32(f32),
    /// For `long`, on devices with 64-bit integers.
    I64(i64),
    /// For `unsigned long`, on devices with 64-bit integers.
    U64(u64),
    /// The bytes of a structure or vector, in the layout of CUDA.
    Bytes(&'a [u8]),
}

/// A kernel in CUDA C, compiled for a device.
#[derive(Debug, Clone)]
pub struct CudaKernel<B: Backend> {
    kernel: B::Kernel,
    entry: String,
    block: [u32; 3],
    params: Vec<CudaParam>,
    uniform_words: usize,
}

/// Compiles a kernel in CUDA C for a device. Warp functions become subgroup operations if all subgroups of the device have 32
/// invocations, `half` is allowed if it has [`Capabilities::float16`](super::Capabilities::float16), and `long` if it has
/// [`Capabilities::int64`](super::Capabilities::int64), whatever [`CudaOptions::subgroups`], [`CudaOptions::float16`] and
/// [`CudaOptions::int64`] say.
///
/// # Errors
/// [`KernelCompile`](Error::KernelCompile) with `line:column: message` of the CUDA source, or a message about an option.
/// [`InvalidArgument`](Error::InvalidArgument) if the block has more threads than the device supports.
pub async fn compile_cuda<B: Backend>(
    backend: &B,
    source: &str,
    options: &CudaOptions<'_>,
) -> Result<CudaKernel<B>> {
    let capabilities = backend.capabilities();
    let n_threads = options
        .block
        .iter()
        .fold(1, |n: u64, &size| n.saturating_mul(size.into()));
    if n_threads > u64::from(capabilities.max_workgroup_invocations) {
        return Err(Error::invalid(
            "block",
            n_threads,
            "compile for at most Capabilities::max_workgroup_invocations threads",
        ));
    }
    let subgroups = capabilities.subgroups && backend.info().subgroup_size == (32, 32);
    let options = options
        .subgroups(subgroups)
        .float16(capabilities.float16)
        .int64(capabilities.int64);
    let failed = |message: String| Error::KernelCompile {
        kernel: options.entry.to_owned(),
        message,
    };
    let compiled =
        ::cuda_c::compile_cuda(source, &options).map_err(|error| failed(error.to_string()))?;
    let wgsl = compiled.wgsl().map_err(|error| failed(error.to_string()))?;
    let bindings = accesses(&compiled);
    let source = KernelSource::new(&wgsl, &compiled.entry, &bindings);
    let kernel = backend.compile_kernel(&source).await?;
    Ok(CudaKernel {
        kernel,
        entry: compiled.entry,
        block: compiled.workgroup_size,
        params: compiled.params,
        uniform_words: compiled.uniform_bytes as usize / 4,
    })
}

impl GpuDevice {
    /// Compiles a kernel in CUDA C: see [`compile_cuda`].
    ///
    /// # Errors
    /// As [`compile_cuda`].
    pub async fn compile_cuda(
        &self,
        source: &str,
        options: &CudaOptions<'_>,
    ) -> Result<CudaKernel<Self>> {
        compile_cuda(self, source, options).await
    }
}

/// Returns the access of each binding, in their order.
fn accesses(compiled: &CompiledCuda) -> Vec<Access> {
    let buffers = compiled.params.iter().filter_map(|param| match param.kind {
        CudaParamKind::Buffer { writable: true, .. } => Some(Access::ReadWrite),
        CudaParamKind::Buffer { .. } => Some(Access::Read),
        _ => None,
    });
    let uniform = compiled.uniform_binding.map(|_| Access::Uniform);
    buffers.chain(uniform).collect()
}

impl<B: Backend> CudaKernel<B> {
    /// Returns the parameters that [`launch`](Self::launch) takes arguments for.
    #[must_use]
    pub fn params(&self) -> &[CudaParam] {
        &self.params
    }

    /// Returns the threads per block along x, y and z.
    #[must_use]
    pub const fn block(&self) -> [u32; 3] {
        self.block
    }

    /// Launches a grid of `grid` blocks along x, y and z.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument) if the arguments differ from the parameters in number or kind, or as
    /// [`Backend::launch_kernel`].
    pub fn launch(
        &self,
        backend: &B,
        grid: [u32; 3],
        args: &[CudaArg<'_, B::Buffer>],
    ) -> Result<B::Submission> {
        if args.len() != self.params.len() {
            let names: Vec<&str> = self
                .params
                .iter()
                .map(|param| param.name.as_str())
                .collect();
            return Err(Error::InvalidArgument {
                name: "args",
                value: format!(
                    "{} arguments for {}({})",
                    args.len(),
                    self.entry,
                    names.join(", ")
                ),
                expected: "give one argument for each parameter, in their order",
            });
        }
        let mut buffers = Vec::new();
        let mut words = vec![0u32; self.uniform_words];
        for (param, arg) in self.params.iter().zip(args) {
            match (param.kind, arg) {
                (CudaParamKind::Buffer { .. }, CudaArg::Buffer(buffer)) => {
                    buffers.push(KernelArg::Buffer(*buffer));
                }
                (CudaParamKind::Scalar { offset, kind }, arg) => {
                    let (parts, n) = parts(kind, arg).ok_or_else(|| mismatch(param, arg))?;
                    write(&mut words, offset, &parts[..n]);
                }
                (CudaParamKind::Struct { offset, n_bytes }, CudaArg::Bytes(bytes))
                    if bytes.len() == n_bytes as usize =>
                {
                    let (parts, _) = bytes.as_chunks::<4>();
                    let parts: Vec<u32> =
                        parts.iter().map(|part| u32::from_le_bytes(*part)).collect();
                    write(&mut words, offset, &parts);
                }
                _ => return Err(mismatch(param, arg)),
            }
        }
        if !words.is_empty() {
            buffers.push(KernelArg::Params(&words));
        }
        backend.launch_kernel(&self.kernel, grid, &buffers)
    }
}

fn write(words: &mut [u32], offset: u32, parts: &[u32]) {
    let start = offset as usize / 4;
    if let Some(target) = words.get_mut(start..start + parts.len()) {
        target.copy_from_slice(parts);
    }
}

/// Returns the words of a scalar and their number, if the argument has its kind.
fn parts<Buffer>(kind: ScalarKind, arg: &CudaArg<'_, Buffer>) -> Option<([u32; 2], usize)> {
    let (bits, n) = match (kind, arg) {
        (ScalarKind::I32, CudaArg::I32(value)) => (value.cast_unsigned().into(), 1),
        (ScalarKind::U32, CudaArg::U32(value)) => ((*value).into(), 1),
        (ScalarKind::F32, CudaArg::F32(value)) => (value.to_bits().into(), 1),
        (ScalarKind::I64, CudaArg::I64(value)) => (value.cast_unsigned(), 2),
        (ScalarKind::U64, CudaArg::U64(value)) => (*value, 2),
        _ => return None,
    };
    Some(([bits as u32, (bits >> 32) as u32], n))
}

fn mismatch<Buffer>(param: &CudaParam, arg: &CudaArg<'_, Buffer>) -> Error {
    let wanted = match param.kind {
        CudaParamKind::Buffer { .. } => "CudaArg::Buffer".to_owned(),
        CudaParamKind::Scalar { kind, .. } => format!("CudaArg::{kind:?}"),
        CudaParamKind::Struct { n_bytes, .. } => format!("CudaArg::Bytes of {n_bytes} bytes"),
        _ => "another kind".to_owned(),
    };
    let given = match arg {
        CudaArg::Buffer(_) => "CudaArg::Buffer".to_owned(),
        CudaArg::I32(value) => format!("CudaArg::I32({value})"),
        CudaArg::U32(value) => format!("CudaArg::U32({value})"),
        CudaArg::F32(value) => format!("CudaArg::F32({value})"),
        CudaArg::I64(value) => format!("CudaArg::I64({value})"),
        CudaArg::U64(value) => format!("CudaArg::U64({value})"),
        CudaArg::Bytes(bytes) => format!("CudaArg::Bytes of {} bytes", bytes.len()),
    };
    Error::InvalidArgument {
        name: "args",
        value: format!("{given} for {}, which takes {wanted}", param.name),
        expected: "give each parameter an argument of its kind",
    }
}
