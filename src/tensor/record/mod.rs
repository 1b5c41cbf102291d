//! [`Recording`]: records jobs into one stream.

mod attention;
#[cfg(not(target_arch = "wasm32"))]
mod attention_half;
mod elementwise;
mod epilogue;
mod halves;
#[cfg(not(target_arch = "wasm32"))]
mod matrix_units;
mod norm;
mod one_pass;
mod products;
mod quantized;
mod reduce;
mod rotary;
mod softmax;

use crate::tensor::{DType, TensorView};
use std::ops::Range;

use crate::gpu::{
    Backend, Buffer, GpuDevice, HostBuffer, HostMemory, HostUse, KernelArg, KernelSource, Place,
    Recorder, Sized64, Stream, Submission, Waitable,
};
use crate::kernels::tensor::{padded_bytes, padded_bytes_of};
use crate::kernels::{Arg, Job, Limits, Slot, pace};
use crate::{Error, Result};

pub(crate) use halves::AnyOperand;
pub(crate) use products::factors;

/// A tensor of f32 as an argument of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) view: &'a TensorView,
}

impl<'a> Operand<'a> {
    /// Returns the tensor as one of any type.
    fn of_f32(self) -> AnyOperand<'a> {
        AnyOperand {
            buffer: self.buffer,
            view: self.view,
            dtype: DType::F32,
        }
    }

    /// Returns the offset of the elements in bytes if they are contiguous and the offset is aligned for a binding.
    pub(crate) fn dense_start(self) -> Option<u64> {
        self.of_f32().dense_start()
    }
}

/// A buffer for a slot of a job, and the offset in bytes at which its data start.
pub(crate) type Given<'a> = (Slot, &'a Buffer, u64);

/// A job and the buffers that it is given.
struct Plan<'a> {
    job: Job,
    given: Vec<Given<'a>>,
}

/// A buffer bound to a slot of a job, the offset in bytes of its data, and the number of bytes that the job uses.
struct Bound {
    slot: Slot,
    buffer: Buffer,
    start: u64,
    n_bytes: u64,
}

impl Bound {
    /// Returns a binding of all bytes that the job uses. It extends to the end of the buffer unless that exceeds `most`
    /// bytes.
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

/// Launches and copies that are submitted together.
///
/// On devices with [short submissions](crate::gpu::Capabilities::longest_submission), long work is submitted in parts while it is
/// recorded.
pub(crate) struct Recording {
    device: GpuDevice,
    pub(in crate::tensor) stream: Stream,
    /// Time of the launches in `stream`, in multiply-adds of a product.
    terms: u64,
    /// The parts that were submitted.
    parts: Vec<Submission>,
}

/// Work that was submitted, in one or more parts.
pub(crate) struct Submitted(Vec<Submission>);

impl Submitted {
    /// Waits until the work has run, and returns the time of its launches: see [`Waitable::wait_async`].
    pub(crate) async fn wait_async(self) -> Result<Option<u64>> {
        let mut sum = Some(0);
        for part in self.0 {
            let ns = part.wait_async().await?;
            sum = sum.zip(ns).map(|(sum, ns)| sum + ns);
        }
        Ok(sum)
    }
}

impl Recording {
    pub(crate) fn new(device: &GpuDevice) -> Self {
        Self {
            device: device.clone(),
            stream: device.stream(),
            terms: 0,
            parts: Vec::new(),
        }
    }

    pub(crate) fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Returns the limits of the device that jobs depend on.
    pub(crate) fn limits(&self) -> Limits {
        self.device.capabilities().limits()
    }

    /// Allocates an uncleared buffer for `n` elements.
    pub(crate) fn allocate(&self, n: usize) -> Result<Buffer> {
        self.device.allocate_uncleared(padded_bytes(n as u64))
    }

    /// Allocates an uncleared buffer for `n` elements of a type.
    pub(crate) fn allocate_of(&self, dtype: DType, n: usize) -> Result<Buffer> {
        let n_bytes = padded_bytes_of(dtype, n as u64);
        self.device.allocate_uncleared(n_bytes)
    }

    /// Makes room for a launch that takes as long as `terms` multiply-adds of a product: submits the launches before it, if the
    /// submission would be too long for the device with it.
    fn count(&mut self, terms: u64) -> Result<()> {
        let most = pace::product_terms(self.device.capabilities().longest_submission);
        if self.terms > 0 && self.terms.saturating_add(terms) > most {
            let stream = std::mem::replace(&mut self.stream, self.device.stream());
            self.parts.push(stream.submit()?);
            self.terms = 0;
        }
        self.terms = self.terms.saturating_add(terms);
        Ok(())
    }

    /// Records all launches of a job whose time does not count. See [`run_long`](Self::run_long).
    pub(crate) async fn run(&mut self, job: &Job, given: &[Given<'_>]) -> Result<()> {
        self.run_long(job, given, 0).await
    }

    /// Records all launches of a job, which together take as long as `terms` multiply-adds of a product. Slots that are not given get scratch buffers, which return to the device's pool
    /// when the stream has finished with them.
    pub(crate) async fn run_long(
        &mut self,
        job: &Job,
        given: &[Given<'_>],
        terms: u64,
    ) -> Result<()> {
        let terms_each = terms / job.launches.len().max(1) as u64;
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
            // SAFETY: all callers pass jobs that functions of `crate::kernels` created. Each slot has a buffer with at
            // least the job's number of bytes from its start (`check_room`). Launches are recorded in order, in one
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
            self.count(terms_each)?;
            self.stream.launch(&kernel, launch.grid, &args)?;
        }
        Ok(())
    }

    /// Returns a buffer and an offset in bytes, aligned for a binding, at which the elements are contiguous. Copies
    /// them only if necessary.
    pub(crate) async fn dense(&mut self, a: Operand<'_>) -> Result<(Buffer, u64)> {
        if let Some(start) = a.dense_start() {
            return Ok((a.buffer.clone(), start));
        }
        let copy = self.allocate(a.view.shape().n_elements())?;
        self.elementwise(&[], a, None, a.view.shape(), &copy)
            .await?;
        Ok((copy, 0))
    }

    /// Records the copy of `n` elements between buffers. Positions are in elements.
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

    /// Records the copy of `values` to the start of a buffer, through a staging buffer that is large enough.
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

    /// Records the copy of the first `n` elements to a staging buffer that is large enough.
    pub(crate) fn download_through(
        &mut self,
        from: &Buffer,
        n: usize,
        host: &HostBuffer,
    ) -> Result<()> {
        let (to, from) = (Place::Host(host, 0), Place::Device(from, 0));
        self.stream.copy(to, from, 4 * n as u64)
    }

    /// Records the download of a tensor's elements, row-major.
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

    /// Records the download of a range of elements.
    pub(crate) fn download(&mut self, from: &Buffer, range: Range<usize>) -> Result<Download> {
        let (start, n_bytes) = (4 * range.start as u64, 4 * range.len() as u64);
        self.download_bytes(from, start, n_bytes)
    }

    /// Records the download of a range of bytes, whole words.
    pub(super) fn download_bytes(
        &mut self,
        from: &Buffer,
        start: u64,
        n_bytes: u64,
    ) -> Result<Download> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < n_bytes {
            let length = MOST_OF_PART.min(n_bytes - at);
            let host = self
                .device
                .allocate_host_uncleared(length, HostUse::Download)?;
            let (to, from) = (Place::Host(&host, 0), Place::Device(from, start + at));
            self.stream.copy(to, from, length)?;
            parts.push(host);
            at += length;
        }
        Ok(Download(parts))
    }

    pub(crate) fn submit(mut self) -> Result<Submitted> {
        self.parts.push(self.stream.submit()?);
        Ok(Submitted(self.parts))
    }

    /// Submits without timestamps, for callers that do not wait for the submission itself. The engine may submit short work together with
    /// what follows.
    pub(crate) fn submit_untimed(self) -> Result<()> {
        let most = pace::product_terms(self.device.capabilities().longest_submission);
        match self.terms <= most / pace::MOST_JOINED as u64 {
            true => self.stream.submit_untimed(),
            false => self.stream.submit().map(drop),
        }
    }
}

/// Checks that a buffer has at least `n_bytes` from `start` on.
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

/// Most bytes of a staging buffer of a download. A browser copies from one while the page copies from another.
const MOST_OF_PART: u64 = if cfg!(target_arch = "wasm32") {
    8 << 20
} else {
    1 << 62
};

/// A download in progress: staging buffers whose contents follow each other.
pub(crate) struct Download(pub(in crate::tensor) Vec<HostBuffer>);

impl Download {
    /// Waits for the elements, after the recording was submitted, and copies them to `out`.
    pub(crate) async fn read_into(self, out: &mut [f32]) -> Result<()> {
        self.read_bytes_into(bytemuck::cast_slice_mut(out)).await
    }

    /// Waits for the bits of elements of 16 bits, and copies them to `out`.
    pub(crate) async fn read_bits_into(self, out: &mut [u16]) -> Result<()> {
        self.read_bytes_into(bytemuck::cast_slice_mut(out)).await
    }

    async fn read_bytes_into(self, mut out: &mut [u8]) -> Result<()> {
        for host in self.0 {
            // Transfers are whole words, of which the last may have 16 bits more.
            let n_bytes = out.len().min(host.n_bytes() as usize);
            let (part, rest) = out.split_at_mut(n_bytes);
            out = rest;
            let copy = |bytes: &[u8]| crate::copy::copy(part, &bytes[..n_bytes]);
            host.read_async(0..host.n_bytes(), copy).await?;
        }
        Ok(())
    }
}

/// Converts a length, position or stride to the 32-bit word that kernels use.
pub(crate) fn word(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| {
        let expected = "fewer than 2^32 elements for this operation";
        Error::invalid("shape", n as u64, expected)
    })
}
