//! A launch, with its arguments in the driver's layout.

use std::ffi::c_void;
use std::ops::Range;

use cudarc::driver::sys;

use super::ENGINE;
use super::kernel::CudaKernel;
use super::lanes::{Held, Lane, Uses};
use super::memory::CudaBuffer;
use crate::gpu::check;
use crate::kernels::Access;
use crate::ptx::PtxParamKind;
use crate::{Error, Result};

/// A launch.
#[derive(Debug)]
pub(super) struct Launch {
    kernel: CudaKernel,
    grid: [u32; 3],
    args: Vec<Bound>,
}

/// An argument.
#[derive(Debug)]
pub(super) enum Bound {
    Memory {
        buffer: CudaBuffer,
        range: Range<u64>,
    },
    Params(Vec<u32>),
}

/// Rejects memory that a kernel writes through one binding and reads through another: reads may hit the non-coherent
/// cache.
fn check_overlap(kernel: &CudaKernel, args: &[Bound]) -> Result<()> {
    let memory = |at: usize| match &args[at] {
        Bound::Memory { buffer, range } => {
            let start = buffer.device_ptr() + range.start;
            Some(start..start + (range.end - range.start))
        }
        Bound::Params(_) => None,
    };
    for at in (0..args.len()).filter(|&at| kernel.bindings()[at] == Access::ReadWrite) {
        for other in (0..args.len()).filter(|&other| other != at) {
            let (Some(a), Some(b)) = (memory(at), memory(other)) else {
                continue;
            };
            if a.start < b.end && b.start < a.end {
                return Err(Error::Engine {
                    engine: ENGINE,
                    message: format!(
                        "bindings {at} and {other} of {} overlap, and {at} is written",
                        kernel.entry()
                    ),
                });
            }
        }
    }
    Ok(())
}

impl Launch {
    /// Creates a launch, after checking that the arguments match the kernel.
    pub(super) fn new(kernel: &CudaKernel, grid: [u32; 3], args: Vec<Bound>) -> Result<Self> {
        check_overlap(kernel, &args)?;
        let launch = Self {
            kernel: kernel.clone(),
            grid,
            args,
        };
        launch.params()?;
        Ok(launch)
    }

    /// Returns the memory that the launch accesses.
    pub(super) fn uses(&self) -> impl Iterator<Item = &Uses> {
        self.args.iter().filter_map(|arg| match arg {
            Bound::Memory { buffer, .. } => buffer.uses(),
            Bound::Params(_) => None,
        })
    }

    fn params(&self) -> Result<Packed> {
        Packed::new(&self.kernel, |binding| match &self.args[binding] {
            Bound::Memory { buffer, range } => Some(Given::Memory(
                buffer.device_ptr() + range.start..buffer.device_ptr() + range.end,
            )),
            Bound::Params(words) => Some(Given::Params(words)),
        })
    }

    /// Enqueues the launch on the lanes.
    pub(super) fn issue(&self, held: &mut Held<'_>) -> Result<()> {
        let mut packed = self.params()?;
        held.issue(Lane::Compute, self.uses(), "cuLaunchKernelEx", |stream| {
            // SAFETY: addresses are those of live buffers of this context, which stay until the lane has passed this step.
            unsafe { packed.launch(&self.kernel, self.grid, stream) }
        })
    }
}

/// Argument of a binding.
pub(super) enum Given<'a> {
    /// Addresses of device memory.
    Memory(Range<u64>),
    Params(&'a [u32]),
}

/// Parameters in the layout of the machine code: address and length of each storage buffer, and the bytes of each uniform
/// block.
pub(super) struct Packed {
    words: Vec<u64>,
    /// The word at which each parameter begins.
    starts: Vec<usize>,
}

impl Packed {
    /// Checks what is given for each binding against its type, and packs it.
    pub(super) fn new<'a>(
        kernel: &CudaKernel,
        given: impl Fn(usize) -> Option<Given<'a>>,
    ) -> Result<Self> {
        let (mut words, mut starts) = (Vec::new(), Vec::new());
        for param in kernel.params() {
            starts.push(words.len());
            match (given(param.binding as usize), param.kind) {
                (Some(Given::Memory(range)), PtxParamKind::Storage { .. })
                    if range.end - range.start >= u64::from(param.min_bytes) =>
                {
                    words.push(range.start);
                    starts.push(words.len());
                    words.push(range.end - range.start);
                }
                (Some(Given::Params(given)), PtxParamKind::Uniform { n_bytes })
                    if 4 * given.len() as u64 >= u64::from(n_bytes) =>
                {
                    let pairs = given.chunks_exact(2);
                    words.extend(pairs.map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32));
                }
                _ => {
                    let value = format!("binding {} of {}", param.binding, kernel.entry());
                    let expected = "as many bytes as its type has";
                    return Err(check::invalid("args", value, expected));
                }
            }
        }
        Ok(Self { words, starts })
    }

    /// Enqueues a launch of the kernel that this was packed for. If the kernel waits for the one ahead of it in the stream, the launch
    /// does not, and is prepared while that one ends.
    ///
    /// # Safety
    /// The context of the kernel is current, and `stream` is one of it. Until the launch is done, the memory of the parameters
    /// must stay, and be what the kernel expects.
    pub(super) unsafe fn launch(
        &mut self,
        kernel: &CudaKernel,
        [x, y, z]: [u32; 3],
        stream: sys::CUstream,
    ) -> sys::CUresult {
        let words = self.words.as_mut_ptr();
        let starts = self.starts.iter();
        let mut pointers: Vec<*mut c_void> = starts
            .map(|&start| words.wrapping_add(start).cast())
            .collect();
        let mut attributes = [overlapping_launch()];
        let [bx, by, bz] = kernel.workgroup_size();
        let config = sys::CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: kernel.shared_bytes(),
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: kernel.waits_by_itself().into(),
        };
        // SAFETY: there are as many attributes as the configuration says, and a pointer for every parameter of the function, each to as
        // many bytes as it has; the driver copies all of them before it returns. A kernel with the attribute waits for the one ahead of
        // it before it accesses memory. The caller guarantees context, stream and memory.
        unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                kernel.function(),
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
    }
}

/// Returns the attribute of launches that begin while the kernel ahead of them ends.
fn overlapping_launch() -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue {
            programmaticStreamSerializationAllowed: 1,
        },
    }
}
