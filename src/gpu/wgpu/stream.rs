//! Launches and copies of one submission. They are kept as a list and encoded on [`submit`](Recorder::submit), when
//! the parameters of all launches are known and are uploaded in one buffer.

use std::ops::Range;
use std::sync::Arc;

use super::encoding::Encoding;
use super::fault::guarded;
use super::host::WgpuHostBuffer;
use super::kernel::WgpuKernel;
use super::launch::{Bound, Launch, Params};
use super::memory::WgpuBuffer;
use super::shared::Shared;
use super::submission::WgpuSubmission;
use super::timer::{MAX_RUNS, Timer};
use crate::Result;
use crate::gpu::backend::{HostUse, KernelArg, Place, Recorder, Sized64};
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::gpu::times::Activity;
use crate::kernels::Access;

/// Alignment of the offsets of uniform blocks that every adapter supports.
pub(super) const UNIFORM_ALIGNMENT: usize = 256;

/// Recorder of one submission.
#[derive(Debug)]
pub struct WgpuStream {
    shared: Arc<Shared>,
    steps: Vec<Step>,
    params: Vec<u8>,
    /// Staging buffers in use, and the range of each use.
    hosts: Vec<(WgpuHostBuffer, Range<u64>)>,
}

#[derive(Debug)]
enum Step {
    Launch(Launch),
    Copy { src: End, dst: End, n_bytes: u64 },
}

impl Step {
    /// Returns the kind of work for timing; `None` for copies within the device, which are not timed.
    fn activity(&self) -> Option<Activity> {
        match self {
            Self::Launch(_) => Some(Activity::Kernels),
            Self::Copy { src, dst, .. } => match (src, dst) {
                (End::Host(..), _) => Some(Activity::Upload),
                (_, End::Host(..)) => Some(Activity::Download),
                _ => None,
            },
        }
    }
}

#[derive(Debug)]
enum End {
    Device(WgpuBuffer, u64),
    Host(WgpuHostBuffer, u64),
}

impl End {
    fn raw(&self) -> Option<(&wgpu::Buffer, u64)> {
        match self {
            Self::Device(buffer, offset) => buffer.handle().map(|raw| (raw, *offset)),
            Self::Host(buffer, offset) => Some((buffer.raw(), *offset)),
        }
    }
}

impl WgpuStream {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            steps: Vec::new(),
            params: Vec::new(),
            hosts: Vec::new(),
        }
    }

    fn bind(
        &mut self,
        kernel: &WgpuKernel,
        at: usize,
        arg: &KernelArg<'_, WgpuBuffer>,
    ) -> Result<Bound> {
        let access = kernel.bindings().get(at).copied();
        let is_storage = matches!(access, Some(Access::Read | Access::ReadWrite));
        match arg {
            KernelArg::Buffer(buffer) if is_storage => {
                self.bind_range(kernel, at, buffer, 0..buffer.n_bytes())
            }
            KernelArg::Slice(buffer, range) if is_storage => {
                self.bind_range(kernel, at, buffer, range.clone())
            }
            KernelArg::Params(words) if access == Some(Access::Uniform) && !words.is_empty() => {
                let offset = self.params.len().next_multiple_of(UNIFORM_ALIGNMENT);
                self.params.resize(offset, 0);
                self.params.extend_from_slice(bytemuck::cast_slice(words));
                self.params
                    .resize(self.params.len().next_multiple_of(16), 0);
                Ok(Bound::Params {
                    offset: offset as u64,
                    n_bytes: (self.params.len() - offset) as u64,
                })
            }
            _ => Err(check::wrong_kind(kernel.entry(), at, access)),
        }
    }

    fn bind_range(
        &mut self,
        kernel: &WgpuKernel,
        at: usize,
        buffer: &WgpuBuffer,
        range: Range<u64>,
    ) -> Result<Bound> {
        check::same_device("args", self.shared.id, buffer)?;
        let most = self.shared.capabilities.max_binding_bytes;
        check::slice(kernel.entry(), at, &range, buffer.n_bytes(), most)?;
        self.takes(buffer.host(), &range);
        Ok(Bound::Buffer {
            buffer: buffer.clone(),
            offset: range.start,
            n_bytes: range.end - range.start,
        })
    }

    /// Notes that the work uses a range of a staging buffer.
    fn takes(&mut self, host: Option<&WgpuHostBuffer>, range: &Range<u64>) {
        if let Some(host) = host {
            self.hosts.push((host.clone(), range.clone()));
        }
    }

    fn end(
        &mut self,
        place: Place<'_, WgpuBuffer, WgpuHostBuffer>,
        host_use: HostUse,
        n_bytes: u64,
    ) -> Result<End> {
        let range = |offset: u64| offset..offset.saturating_add(n_bytes);
        let (end, size, offset) = match place {
            Place::Device(buffer, offset) => {
                check::same_device("copy", self.shared.id, buffer)?;
                self.takes(buffer.host(), &range(offset));
                (
                    End::Device(buffer.clone(), offset),
                    buffer.n_bytes(),
                    offset,
                )
            }
            Place::Host(buffer, offset) => {
                check::same_device("copy", self.shared.id, buffer)?;
                check::copy_direction(buffer.host_use(), host_use)?;
                self.takes(Some(buffer), &range(offset));
                (End::Host(buffer.clone(), offset), buffer.n_bytes(), offset)
            }
        };
        check::copy_end(offset, n_bytes, size)?;
        Ok(end)
    }

    /// Returns each staging buffer in use once, with the range to map afterwards: the downloaded range, or all of an
    /// upload buffer.
    fn hosts_used(&self) -> Vec<(&WgpuHostBuffer, Range<u64>)> {
        let mut used: Vec<(&WgpuHostBuffer, Range<u64>)> = Vec::new();
        for (host, range) in &self.hosts {
            let range = match host.host_use() {
                HostUse::Upload => 0..host.n_bytes(),
                HostUse::Download => range.clone(),
            };
            match used.iter_mut().find(|(other, _)| other.is(host)) {
                Some((_, so_far)) => {
                    *so_far = so_far.start.min(range.start)..so_far.end.max(range.end)
                }
                None if range.is_empty() => {}
                None => used.push((host, range)),
            }
        }
        // A mapping starts at a multiple of 8.
        for (_, range) in &mut used {
            range.start -= range.start % 8;
        }
        used
    }

    /// Returns the runs of consecutive steps of one kind.
    fn runs(&self) -> impl Iterator<Item = &[Step]> {
        self.steps.chunk_by(|a, b| a.activity() == b.activity())
    }

    /// Returns a timer for the launches, and for the copies if `copies`, unless there is nothing to time.
    fn timer(&self, copies: bool) -> Result<Option<Timer>> {
        let capabilities = &self.shared.capabilities;
        let copies = copies && capabilities.copy_timestamps;
        let is_timed = |run: &&[Step]| match run[0].activity() {
            Some(Activity::Kernels) => true,
            Some(Activity::Upload | Activity::Download) => copies,
            None => false,
        };
        let n_runs = self.runs().filter(is_timed).count();
        if !capabilities.timestamps || !(1..=MAX_RUNS).contains(&n_runs) {
            return Ok(None);
        }
        Timer::take(&self.shared, copies).map(Some)
    }

    fn hand_over(self, mut timer: Option<Timer>) -> Result<WgpuSubmission> {
        let shared = &self.shared;
        let params = match self.params.is_empty() {
            true => None,
            false => Some(WgpuBuffer::uniform(shared, self.params.len() as u64)?),
        };
        let params = params.as_ref().and_then(WgpuBuffer::handle);
        self.hosts.iter().for_each(|(host, _)| host.unmap());
        let index = guarded(&shared.device, &shared.faults, 0, || {
            if let Some(buffer) = params {
                shared.queue.write_buffer(buffer, 0, &self.params);
            }
            let mut work = shared.new_encoding();
            self.encode(&mut work, params.map(|buffer| (buffer, 0)), &mut timer);
            shared.submit(work.finish())
        })?;
        for (host, range) in self.hosts_used() {
            host.used_by(index.clone(), range)?;
        }
        if let Some(timer) = &timer {
            let host = timer.host();
            host.used_by(index.clone(), 0..host.n_bytes())?;
        }
        Ok(WgpuSubmission {
            shared: Arc::clone(shared),
            index,
            timer,
        })
    }

    /// Returns true if only the engine can tell when this work runs, and if it is certain to be valid: an encoder with an invalid
    /// launch is lost as a whole.
    fn may_join(&self) -> bool {
        let is_own = |end: &End| matches!(end, End::Device(buffer, _) if buffer.is_own());
        !self.shared.is_external
            && self.hosts.is_empty()
            && self.steps.iter().all(|step| match step {
                Step::Launch(launch) => launch.may_join(),
                Step::Copy { src, dst, .. } => is_own(src) && is_own(dst),
            })
    }

    /// Records the work; the parameters of its launches are in memory from an offset on.
    fn encode(&self, work: &mut Encoding, params: Option<Params<'_>>, timer: &mut Option<Timer>) {
        for run in self.runs() {
            match (run[0].activity(), timer.as_mut()) {
                (Some(Activity::Kernels), Some(timer)) => {
                    let descriptor = wgpu::ComputePassDescriptor {
                        label: None,
                        timestamp_writes: Some(timer.next_pass()),
                    };
                    let mut pass = work.encoder().begin_compute_pass(&descriptor);
                    self.launch_all(run, &mut pass, params);
                }
                (Some(Activity::Kernels), None) => self.launch_all(run, work.pass(), params),
                (Some(activity), Some(timer)) => {
                    timer.around_copies(activity, work.encoder(), |encoder| copy_all(run, encoder));
                }
                (_, _) => copy_all(run, work.encoder()),
            }
        }
        if let Some(timer) = timer {
            timer.resolve(work.encoder());
        }
    }

    /// Records launches in a pass.
    fn launch_all(
        &self,
        launches: &[Step],
        pass: &mut wgpu::ComputePass<'_>,
        params: Option<Params<'_>>,
    ) {
        for step in launches {
            if let Step::Launch(launch) = step {
                launch.encode(&self.shared, pass, params);
            }
        }
    }
}

impl Owned for WgpuStream {
    fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Recorder for WgpuStream {
    type Kernel = WgpuKernel;
    type Buffer = WgpuBuffer;
    type HostBuffer = WgpuHostBuffer;
    type Submission = WgpuSubmission;

    fn launch(
        &mut self,
        kernel: &WgpuKernel,
        grid: [u32; 3],
        args: &[KernelArg<'_, WgpuBuffer>],
    ) -> Result<()> {
        check::same_device("kernel", self.shared.id, kernel)?;
        let most = self.shared.capabilities.max_grid;
        check::launch(
            kernel.entry(),
            kernel.bindings().len(),
            args.len(),
            grid,
            most,
        )?;
        let bound = args
            .iter()
            .enumerate()
            .map(|(at, arg)| self.bind(kernel, at, arg))
            .collect::<Result<Vec<_>>>()?;
        if !grid.contains(&0) {
            self.steps.push(Step::Launch(Launch {
                kernel: kernel.clone(),
                grid,
                args: bound,
            }));
        }
        Ok(())
    }

    fn copy(
        &mut self,
        dst: Place<'_, WgpuBuffer, WgpuHostBuffer>,
        src: Place<'_, WgpuBuffer, WgpuHostBuffer>,
        n_bytes: u64,
    ) -> Result<()> {
        if matches!((&dst, &src), (Place::Host(..), Place::Host(..))) {
            return Err(check::host_to_host());
        }
        let src = self.end(src, HostUse::Upload, n_bytes)?;
        let dst = self.end(dst, HostUse::Download, n_bytes)?;
        if n_bytes > 0 {
            self.steps.push(Step::Copy { src, dst, n_bytes });
        }
        Ok(())
    }

    fn submit(self) -> Result<WgpuSubmission> {
        let timer = self.timer(false)?;
        self.hand_over(timer)
    }

    fn submit_timed(self) -> Result<WgpuSubmission> {
        let timer = self.timer(true)?;
        self.hand_over(timer)
    }

    fn submit_untimed(self) -> Result<()> {
        let shared = &self.shared;
        let is_joined = self.may_join()
            && guarded(&shared.device, &shared.faults, 0, || {
                shared.join(&self.params, |work, params| {
                    self.encode(work, Some(params), &mut None);
                })
            })??;
        match is_joined {
            true => Ok(()),
            false => self.hand_over(None).map(drop),
        }
    }
}

/// Records copies.
fn copy_all(copies: &[Step], encoder: &mut wgpu::CommandEncoder) {
    for copy in copies {
        if let Step::Copy { src, dst, n_bytes } = copy
            && let (Some((src, from)), Some((dst, to))) = (src.raw(), dst.raw())
        {
            encoder.copy_buffer_to_buffer(src, from, dst, to, *n_bytes);
        }
    }
}
