//! Records the launches of a [`Job`] on a device.

use std::ops::Range;

use crate::gpu::{Backend, Buffer, GpuDevice, KernelArg, KernelSource, Recorder, Sized64, Stream};
use crate::kernels::{Arg, Job, Slot};
use crate::{Error, Result};

/// The buffers of one run of a job, by slot. Buffers that the caller does not provide come from the device's pool, and
/// return to it on drop once submitted work on them is complete.
#[derive(Debug)]
pub(crate) struct JobBuffers {
    buffers: Vec<(Slot, Buffer, Range<u64>)>,
}

impl JobBuffers {
    /// Collects the buffers of `job`: the `given` ranges, each at least as long as the job needs, and pool buffers for the
    /// rest.
    pub(crate) fn allocate(
        device: &GpuDevice,
        job: &Job,
        given: &[(Slot, &Buffer, Range<u64>)],
    ) -> Result<Self> {
        let mut buffers = Vec::with_capacity(job.buffers.len());
        for &(slot, n_bytes) in &job.buffers {
            match given.iter().find(|(role, ..)| *role == slot) {
                Some((_, buffer, range)) => {
                    buffers.push((slot, (*buffer).clone(), range.start..range.start + n_bytes))
                }
                None => buffers.push((slot, device.allocate_uncleared(n_bytes)?, 0..n_bytes)),
            }
        }
        Ok(Self { buffers })
    }

    /// Returns the buffer of a slot.
    pub(crate) fn get(&self, slot: Slot) -> Result<&Buffer> {
        self.find(slot).map(|(buffer, _)| buffer)
    }

    fn find(&self, slot: Slot) -> Result<(&Buffer, &Range<u64>)> {
        let found = self.buffers.iter().find(|(role, ..)| *role == slot);
        found
            .map(|(_, buffer, range)| (buffer, range))
            .ok_or_else(|| Error::Engine {
                engine: "batch",
                message: format!("the job has no buffer {}", slot as u32),
            })
    }

    /// Records all launches of `job`, compiling kernels on first use.
    pub(crate) async fn record(
        &self,
        device: &GpuDevice,
        job: &Job,
        stream: &mut Stream,
    ) -> Result<()> {
        for launch in &job.launches {
            let overrides: Vec<(&str, f64)> = launch
                .overrides
                .iter()
                .map(|&(name, v)| (name, f64::from(v)))
                .collect();
            // SAFETY: jobs are made by functions of `crate::kernels`, here and in all callers. `allocate` gave every slot a
            // range of exactly the job's bytes, which `launch` checks against its buffer; launches are recorded in order, in
            // one stream.
            let source = unsafe { KernelSource::of_launch(launch, &overrides) };
            let kernel = device.compile_kernel(&source).await?;
            let mut args = Vec::with_capacity(launch.args.len());
            for arg in &launch.args {
                args.push(match arg {
                    Arg::Params(words) => KernelArg::Params(words),
                    Arg::Slice(slot, part) => {
                        let (buffer, range) = self.find(*slot)?;
                        KernelArg::Slice(buffer, range.start + part.start..range.start + part.end)
                    }
                    Arg::Buffer(slot) => match self.find(*slot)? {
                        (buffer, range) if *range == (0..buffer.n_bytes()) => {
                            KernelArg::Buffer(buffer)
                        }
                        (buffer, range) => KernelArg::Slice(buffer, range.clone()),
                    },
                });
            }
            stream.launch(&kernel, launch.grid, &args)?;
        }
        Ok(())
    }
}
