//! Recording jobs of the kernels into one stream.

mod attention;
mod elementwise;
mod norm;
mod products;
mod quantized;
mod reduce;
mod softmax;

use crate::tensor::TensorView;
use std::ops::Range;

use crate::gpu::{
    Backend, Buffer, GpuDevice, HostBuffer, HostMemory, HostUse, KernelArg, KernelSource, Place,
    Recorder, Sized64, Stream, Submission,
};
use crate::kernels::tensor::padded_bytes;
use crate::kernels::{Arg, Job, Slot};
use crate::{Error, Result};

pub(crate) use products::factors;

/// Slices of buffers start at multiples of this.
const SLICE_ALIGNMENT: u64 = 256;

/// A tensor as an argument of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) view: &'a TensorView,
}

impl Operand<'_> {
    /// Where its elements start, if they follow each other from where a binding may start.
    pub(crate) fn dense_start(&self) -> Option<u64> {
        let start = 4 * self.view.offset() as u64;
        let is_dense = self.view.is_contiguous() && start.is_multiple_of(SLICE_ALIGNMENT);
        is_dense.then_some(start)
    }
}

/// A buffer in a role, from a byte on.
pub(crate) type Given<'a> = (Slot, &'a Buffer, u64);

/// A buffer in a role of a job, from a byte on, and how many of its bytes the job takes.
struct Bound {
    slot: Slot,
    buffer: Buffer,
    start: u64,
    n_bytes: u64,
}

impl Bound {
    /// All that the job takes, or more, where a binding may have `most` bytes.
    fn whole(&self, most: u64) -> KernelArg<'_, Buffer> {
        let end = self.buffer.n_bytes();
        match end.saturating_sub(self.start) {
            n if n > most => {
                KernelArg::Slice(&self.buffer, self.start..end.min(self.start + self.n_bytes))
            }
            _ if self.start == 0 => KernelArg::Buffer(&self.buffer),
            _ => KernelArg::Slice(&self.buffer, self.start..end),
        }
    }
}

/// Launches and copies that are submitted as one.
pub(crate) struct Recording {
    device: GpuDevice,
    pub(crate) stream: Stream,
}

impl Recording {
    pub(crate) fn new(device: &GpuDevice) -> Self {
        Self {
            device: device.clone(),
            stream: device.stream(),
        }
    }

    pub(crate) fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// A buffer for `n` elements.
    pub(crate) fn allocate(&self, n: usize) -> Result<Buffer> {
        self.device.allocate_uncleared(padded_bytes(n as u64))
    }

    /// Records all launches of a job. Buffers that are not given are scratch: they go back to the device's pool when the
    /// stream is done with them.
    pub(crate) async fn run(&mut self, job: &Job, given: &[Given<'_>]) -> Result<()> {
        let mut buffers: Vec<Bound> = Vec::with_capacity(job.buffers.len());
        for &(slot, n_bytes) in &job.buffers {
            let found = given.iter().find(|(role, ..)| *role == slot);
            let (buffer, start) = match found {
                Some(&(_, buffer, start)) => {
                    check_room(buffer, start, n_bytes)?;
                    (buffer.clone(), start)
                }
                None => (self.device.allocate_uncleared(n_bytes)?, 0),
            };
            buffers.push(Bound {
                slot,
                buffer,
                start,
                n_bytes,
            });
        }
        let most = self.device.capabilities().max_binding_bytes;
        let find = |slot: Slot| {
            let found = buffers.iter().find(|bound| bound.slot == slot);
            found.ok_or_else(|| Error::Engine {
                engine: "tensor",
                message: format!("the job has no buffer {}", slot as u32),
            })
        };
        for launch in &job.launches {
            let overrides: Vec<(&str, f64)> = launch
                .overrides
                .iter()
                .map(|&(name, value)| (name, f64::from(value)))
                .collect();
            // SAFETY: jobs are made by functions of `crate::kernels`, in all callers. Every role has a buffer of the job's
            // bytes, or one with room for them from where it starts (`check_room`); launches are recorded in order, in one
            // stream.
            let source = unsafe { KernelSource::of_launch(launch, &overrides) };
            let kernel = self.device.compile_kernel(&source).await?;
            let mut args = Vec::with_capacity(launch.args.len());
            for arg in &launch.args {
                args.push(match arg {
                    Arg::Params(words) => KernelArg::Params(words),
                    Arg::Buffer(slot) => find(*slot)?.whole(most),
                    Arg::Slice(slot, range) => {
                        let Bound { buffer, start, .. } = find(*slot)?;
                        KernelArg::Slice(buffer, start + range.start..start + range.end)
                    }
                });
            }
            self.stream.launch(&kernel, launch.grid, &args)?;
        }
        Ok(())
    }

    /// The elements without gaps from where a binding may start: copied, unless they are so already.
    pub(crate) async fn dense(&mut self, a: Operand<'_>) -> Result<(Buffer, u64)> {
        if let Some(start) = a.dense_start() {
            return Ok((a.buffer.clone(), start));
        }
        let copy = self.allocate(a.view.shape().n_elements())?;
        self.elementwise(&[], a, None, a.view.shape(), &copy)
            .await?;
        Ok((copy, 0))
    }

    /// Records the copy of `n` elements, from a place in one buffer to a place in another.
    pub(crate) fn copy(
        &mut self,
        (from, from_at): (&Buffer, usize),
        (to, to_at): (&Buffer, usize),
        n: usize,
    ) -> Result<()> {
        let from = Place::Device(from, 4 * from_at as u64);
        let to = Place::Device(to, 4 * to_at as u64);
        self.stream.copy(to, from, 4 * n as u64)
    }

    /// Records the copy of `values` to a new buffer.
    pub(crate) async fn upload(&mut self, values: &[f32]) -> Result<Buffer> {
        let buffer = self.allocate(values.len())?;
        if !values.is_empty() {
            let n_bytes = 4 * values.len() as u64;
            let host = self
                .device
                .allocate_host_uncleared(n_bytes, HostUse::Upload)?;
            self.upload_through(&host, values, &buffer).await?;
        }
        Ok(buffer)
    }

    /// Records the copy of `values` to the start of a buffer, through memory of the host that has room for them.
    pub(crate) async fn upload_through(
        &mut self,
        host: &HostBuffer,
        values: &[f32],
        to: &Buffer,
    ) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        host.write_async(0, bytes).await?;
        let (to, from) = (Place::Device(to, 0), Place::Host(host, 0));
        self.stream.copy(to, from, bytes.len() as u64)
    }

    /// Records the copy of the first `n` elements to memory of the host that has room for them.
    pub(crate) fn download_through(
        &mut self,
        from: &Buffer,
        n: usize,
        host: &HostBuffer,
    ) -> Result<()> {
        let (to, from) = (Place::Host(host, 0), Place::Device(from, 0));
        self.stream.copy(to, from, 4 * n as u64)
    }

    /// Records the copy of a tensor's elements to memory of the host, the last axis innermost.
    pub(crate) async fn download_in_order(&mut self, a: Operand<'_>) -> Result<Download> {
        let (start, n) = (a.view.offset(), a.view.shape().n_elements());
        if a.view.is_contiguous() {
            return self.download(a.buffer, start..start + n);
        }
        let copy = self.allocate(n)?;
        self.elementwise(&[], a, None, a.view.shape(), &copy)
            .await?;
        self.download(&copy, 0..n)
    }

    /// Records the copy of elements to memory of the host.
    pub(crate) fn download(&mut self, from: &Buffer, range: Range<usize>) -> Result<Download> {
        let n_bytes = 4 * range.len() as u64;
        if n_bytes == 0 {
            return Ok(Download(None));
        }
        let host = self
            .device
            .allocate_host_uncleared(n_bytes, HostUse::Download)?;
        let (to, from) = (
            Place::Host(&host, 0),
            Place::Device(from, 4 * range.start as u64),
        );
        self.stream.copy(to, from, n_bytes)?;
        Ok(Download(Some(host)))
    }

    pub(crate) fn submit(self) -> Result<Submission> {
        self.stream.submit()
    }

    /// The same where what comes later on the device is all that waits for it.
    pub(crate) fn submit_untimed(self) -> Result<()> {
        self.stream.submit_untimed()
    }
}

/// Refuses a buffer that has not the bytes of its role from `start` on.
fn check_room(buffer: &Buffer, start: u64, n_bytes: u64) -> Result<()> {
    if buffer.n_bytes().saturating_sub(start) >= n_bytes {
        return Ok(());
    }
    Err(Error::LengthMismatch {
        name: "buffer",
        expected: n_bytes / 4,
        actual: buffer.n_bytes().saturating_sub(start) / 4,
    })
}

/// Elements on their way to the host.
pub(crate) struct Download(pub(in crate::tensor) Option<HostBuffer>);

impl Download {
    /// Waits for the elements, after the recording was submitted.
    pub(crate) async fn read_into(self, out: &mut [f32]) -> Result<()> {
        let Some(host) = self.0 else {
            return Ok(());
        };
        let n_bytes = host.n_bytes();
        let copy = |bytes: &[u8]| crate::copy::copy(bytemuck::cast_slice_mut(out), bytes);
        host.read_async(0..n_bytes, copy).await
    }
}

/// A length, place or distance as kernels take it.
pub(crate) fn word(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| {
        let expected = "fewer than 2^32 elements for this operation";
        Error::invalid("shape", n as u64, expected)
    })
}
