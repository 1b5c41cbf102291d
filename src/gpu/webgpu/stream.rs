//! Launches and copies of one submission, as the numbers that JavaScript encodes them from: one call submits all.

use std::ops::Range;
use std::rc::Rc;

use super::calls::{self, COPY, LAUNCH, WRITE};
use super::device::{Shared, answered};
use super::kernel::WebKernel;
use super::memory::{WebBuffer, WebHostBuffer};
use crate::Result;
use crate::gpu::backend::{HostUse, KernelArg, Place, Recorder, Sized64, Waitable};
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::js;
use crate::kernels::Access;
use crate::signal::Receiver;

/// Offsets of uniform blocks are multiples of this on every adapter.
const UNIFORM_ALIGNMENT: usize = 256;

/// Recorder of one submission.
#[derive(Debug)]
pub struct WebStream {
    shared: Rc<Shared>,
    steps: Vec<f64>,
    /// Parameters of all launches, which go up in one buffer, and where in `steps` its number belongs.
    params: Vec<u32>,
    params_used: Vec<usize>,
    /// Kept until the device has the work.
    buffers: Vec<WebBuffer>,
    kernels: Vec<WebKernel>,
    /// Host memory, and what the host will want of it.
    hosts: Vec<(WebHostBuffer, Range<u64>)>,
}

/// Work handed to the device.
#[derive(Debug)]
pub struct WebSubmission {
    shared: Rc<Shared>,
    answer: Receiver<js::Answer>,
}

impl WebStream {
    pub(super) fn new(shared: &Rc<Shared>) -> Self {
        Self {
            shared: Rc::clone(shared),
            steps: Vec::new(),
            params: Vec::new(),
            params_used: Vec::new(),
            buffers: Vec::new(),
            kernels: Vec::new(),
            hosts: Vec::new(),
        }
    }

    /// Appends buffer, offset and bytes of an argument.
    fn bind(
        &mut self,
        kernel: &WebKernel,
        at: usize,
        arg: &KernelArg<'_, WebBuffer>,
    ) -> Result<()> {
        let access = kernel.bindings().get(at).copied();
        let is_uniform = access == Some(Access::Uniform);
        let (buffer, range) = match arg {
            KernelArg::Buffer(buffer) if !is_uniform => (*buffer, 0..buffer.n_bytes()),
            KernelArg::Slice(buffer, range) if !is_uniform => (*buffer, range.clone()),
            KernelArg::Params(words) if is_uniform && !words.is_empty() => {
                let start = self.params.len().next_multiple_of(UNIFORM_ALIGNMENT / 4);
                self.params.resize(start, 0);
                self.params.extend_from_slice(words);
                self.params.resize(self.params.len().next_multiple_of(4), 0);
                self.params_used.push(self.steps.len());
                let n_bytes = 4 * (self.params.len() - start);
                self.steps.extend([0.0, 4.0 * start as f64, n_bytes as f64]);
                return Ok(());
            }
            _ => return Err(check::wrong_kind(kernel.entry(), at, access)),
        };
        check::same_device("args", self.shared.id, buffer)?;
        let most = self.shared.capabilities.max_binding_bytes;
        check::slice(kernel.entry(), at, &range, buffer.n_bytes(), most)?;
        let n_bytes = range.end - range.start;
        let number = f64::from(buffer.number());
        self.steps
            .extend([number, range.start as f64, n_bytes as f64]);
        self.buffers.push(buffer.clone());
        Ok(())
    }

    /// The number and offset of one end of a copy.
    fn end(
        &mut self,
        place: Place<'_, WebBuffer, WebHostBuffer>,
        host_use: HostUse,
        n_bytes: u64,
    ) -> Result<[f64; 2]> {
        let (number, size, offset) = match place {
            Place::Device(buffer, offset) => {
                check::same_device("copy", self.shared.id, buffer)?;
                self.buffers.push(buffer.clone());
                (buffer.number(), buffer.n_bytes(), offset)
            }
            Place::Host(host, offset) => {
                check::same_device("copy", self.shared.id, host)?;
                check::copy_direction(host.host_use(), host_use)?;
                self.use_host(host, offset..offset.saturating_add(n_bytes));
                (host.number(), host.n_bytes(), offset)
            }
        };
        check::copy_end(offset, n_bytes, size)?;
        Ok([number.into(), offset as f64])
    }

    /// Notes what the host will want: all that was downloaded, or all to upload to.
    fn use_host(&mut self, host: &WebHostBuffer, used: Range<u64>) {
        // A mapping starts at a multiple of 8.
        let wanted = match host.host_use() {
            HostUse::Upload => 0..host.n_bytes(),
            HostUse::Download => used.start - used.start % 8..used.end,
        };
        match self.hosts.iter_mut().find(|(other, _)| other.is(host)) {
            Some((_, range)) => *range = range.start.min(wanted.start)..range.end.max(wanted.end),
            None => self.hosts.push((host.clone(), wanted)),
        }
    }

    /// The steps, with the upload of all parameters before them.
    fn with_params(&mut self) -> Result<()> {
        if self.params.is_empty() {
            return Ok(());
        }
        let n_bytes = 4 * self.params.len();
        let buffer = WebBuffer::uniform(&self.shared, n_bytes as u64)?;
        let number = f64::from(buffer.number());
        for &at in &self.params_used {
            self.steps[at] = number;
        }
        let address = self.params.as_ptr() as usize;
        self.steps
            .extend([WRITE, number, address as f64, n_bytes as f64]);
        self.buffers.push(buffer);
        Ok(())
    }
}

impl WebStream {
    /// Has all steps submitted by `submit`, and host memory asked for that they use.
    fn hand_over<T>(mut self, submit: impl FnOnce(&[f64]) -> T) -> Result<T> {
        self.with_params()?;
        self.shared.check()?;
        self.hosts.iter().for_each(|(host, _)| host.unmap());
        let submitted = submit(&self.steps);
        for (host, range) in self.hosts {
            if !range.is_empty() {
                host.used(range);
            }
        }
        Ok(submitted)
    }
}

impl Owned for WebStream {
    fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Owned for WebSubmission {
    fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Recorder for WebStream {
    type Kernel = WebKernel;
    type Buffer = WebBuffer;
    type HostBuffer = WebHostBuffer;
    type Submission = WebSubmission;

    fn launch(
        &mut self,
        kernel: &WebKernel,
        grid: [u32; 3],
        args: &[KernelArg<'_, WebBuffer>],
    ) -> Result<()> {
        check::same_device("kernel", self.shared.id, kernel)?;
        let (n_bindings, most) = (kernel.bindings().len(), self.shared.capabilities.max_grid);
        check::launch(kernel.entry(), n_bindings, args.len(), grid, most)?;
        let before = self.steps.len();
        let [x, y, z] = grid.map(f64::from);
        let number = f64::from(kernel.number());
        self.steps
            .extend([LAUNCH, number, x, y, z, args.len() as f64]);
        let mut bound = args.iter().enumerate();
        let bound = bound.try_for_each(|(at, arg)| self.bind(kernel, at, arg));
        // A launch that is wrong or empty leaves nothing in the recording.
        if bound.is_err() || grid.contains(&0) {
            self.steps.truncate(before);
            self.params_used.retain(|&at| at < before);
        } else {
            self.kernels.push(kernel.clone());
        }
        bound
    }

    fn copy(
        &mut self,
        dst: Place<'_, WebBuffer, WebHostBuffer>,
        src: Place<'_, WebBuffer, WebHostBuffer>,
        n_bytes: u64,
    ) -> Result<()> {
        if matches!((&dst, &src), (Place::Host(..), Place::Host(..))) {
            return Err(check::host_to_host());
        }
        let [src, from] = self.end(src, HostUse::Upload, n_bytes)?;
        let [dst, to] = self.end(dst, HostUse::Download, n_bytes)?;
        if n_bytes > 0 {
            self.steps
                .extend([COPY, src, from, dst, to, n_bytes as f64]);
        }
        Ok(())
    }

    fn submit(self) -> Result<WebSubmission> {
        let shared = Rc::clone(&self.shared);
        let device = shared.device.number();
        let answer = self.hand_over(|steps| {
            let (start, n_numbers) = (steps.as_ptr(), steps.len());
            // SAFETY: steps and parameters are read before the call returns; all numbers in them are those of living
            // objects.
            js::ask(|token| unsafe { calls::submit(device, start, n_numbers, token) })
        })?;
        Ok(WebSubmission { shared, answer })
    }

    fn submit_untimed(self) -> Result<()> {
        let device = self.shared.device.number();
        self.hand_over(|steps| {
            // SAFETY: steps and parameters are read before the call returns; all numbers in them are those of living objects.
            unsafe { calls::submit_untimed(device, steps.as_ptr(), steps.len()) };
        })
    }
}

impl Waitable for WebSubmission {
    async fn wait_async(self) -> Result<Option<u64>> {
        match answered(self.answer.receive().await) {
            Ok(ns) => self
                .shared
                .check()
                .map(|()| (ns >= 0.0).then_some(ns as u64)),
            Err(message) => Err(self.shared.failed(message).await),
        }
    }
}
