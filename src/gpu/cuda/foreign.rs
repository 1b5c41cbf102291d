//! Launches on streams of other CUDA code, in its memory. Nothing is allocated, recorded or waited for: the stream orders the launches,
//! and the caller keeps the memory. Lanes and their order by memory have no part in it.

use std::ops::Range;

use cudarc::driver::sys;

use super::compile::compile;
use super::context::Entered;
use super::device::CudaDevice;
use super::kernel::CudaKernel;
use super::launch::{Given, Packed};
use crate::gpu::backend::KernelSource;
use crate::kernels::{Arg, Job, Launch, Slot};
use crate::{Error, Result};

impl CudaDevice {
    /// Compiles the kernels of a job, or finds them.
    pub(crate) fn kernels_of(&self, job: &Job) -> Result<Vec<CudaKernel>> {
        let kernel = |launch: &Launch| {
            let overrides = launch.overrides.iter();
            let overrides: Vec<(&str, f64)> = overrides
                .map(|&(name, value)| (name, f64::from(value)))
                .collect();
            // SAFETY: only `launch_on` launches these kernels, whose caller guarantees the buffers of the job.
            let source = unsafe { KernelSource::of_launch(launch, &overrides) };
            compile(&self.0, &source)
        };
        job.launches.iter().map(kernel).collect()
    }

    /// Enqueues the launches of a job on a stream of other code, and returns. `memory` has the addresses of each slot but
    /// [`Slot::Memory`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a stream of another context; [`Error::Engine`] if a slot is missing or the driver rejects a launch;
    /// [`Error::DeviceLost`].
    ///
    /// # Safety
    /// A function of [`crate::kernels`] made the job. `stream` is 0 or a stream that was not destroyed. Until the launches are
    /// done, the memory of each slot must stay, 64 readable bytes behind it where kernels read beyond a slot, other code must not
    /// access it but on this stream, and it must hold addresses and sizes of memory for which the same holds, where the job says so.
    pub(crate) unsafe fn launch_on(
        &self,
        stream: u64,
        job: &Job,
        memory: &[(Slot, Range<u64>)],
    ) -> Result<()> {
        let kernels = self.kernels_of(job)?;
        let entered = self.0.context.enter()?;
        let stream = std::ptr::with_exposed_provenance_mut(stream as usize);
        self.check_stream(&entered, stream)?;
        for (launch, kernel) in job.launches.iter().zip(&kernels) {
            let given = |binding: usize| match launch.args.get(binding)? {
                Arg::Params(words) => Some(Given::Params(words)),
                // No kernel accesses it: it accesses memory by address.
                Arg::Buffer(Slot::Memory) => Some(Given::Memory(0..4)),
                Arg::Buffer(slot) => {
                    let found = memory.iter().find(|(role, _)| role == slot);
                    found.map(|(_, range)| Given::Memory(range.clone()))
                }
                Arg::Slice(..) => None,
            };
            let mut packed = Packed::new(kernel, given)?;
            // SAFETY: the context is entered and the stream is of it; the caller guarantees the memory.
            entered.ok("cuLaunchKernelEx", unsafe {
                packed.launch(kernel, launch.grid, stream)
            })?;
        }
        Ok(())
    }

    /// Rejects a stream of another context: kernels belong to one.
    fn check_stream(&self, entered: &Entered<'_>, stream: sys::CUstream) -> Result<()> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call; the caller of `launch_on` guarantees the stream. The default stream is that of the context that
        // is current, which is the device's.
        entered.ok("cuStreamGetCtx", unsafe {
            sys::cuStreamGetCtx(stream, &raw mut raw)
        })?;
        if self.0.context.is(raw) {
            return Ok(());
        }
        Err(Error::InvalidArgument {
            name: "stream",
            value: format!("{stream:?}, of another context"),
            expected: "a stream of the primary context of the device, as the runtime API, CuPy and PyTorch create them",
        })
    }

    /// Waits until nothing runs in the context, streams of other code included, so that kernels can be unloaded.
    pub(crate) fn finish_foreign(&self) {
        if let Ok(entered) = self.0.context.enter() {
            entered.finish_all();
        }
    }
}
