//! Launches and copies of one submission. They are kept as a list and enqueued on the lanes by
//! [`submit`](Recorder::submit), so that nothing runs if recording fails.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;

use super::event::Event;
use super::host::CudaHostBuffer;
use super::kernel::CudaKernel;
use super::lanes::{Held, Lane, Uses};
use super::launch::{Bound, Launch};
use super::memory::CudaBuffer;
use super::shared::Shared;
use crate::Result;
use crate::gpu::backend::{HostUse, KernelArg, Place, Recorder, Sized64, Waitable};
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::gpu::times::{Activity, DeviceTimes};
use crate::kernels::Access;

/// Recorder of one submission.
#[derive(Debug)]
pub struct CudaStream {
    shared: Arc<Shared>,
    steps: Vec<Step>,
    hosts: Vec<CudaHostBuffer>,
}

#[derive(Debug)]
enum Step {
    Launch(Launch),
    Copy { src: End, dst: End, n_bytes: u64 },
}

#[derive(Debug)]
enum End {
    Device(CudaBuffer, u64),
    Host(CudaHostBuffer, u64),
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

    /// Returns the lane on which it runs.
    fn lane(&self) -> Lane {
        match self.activity() {
            Some(Activity::Upload) => Lane::Upload,
            Some(Activity::Download) => Lane::Download,
            Some(Activity::Kernels) | None => Lane::Compute,
        }
    }

    /// Returns the memory that it accesses.
    fn uses(&self) -> impl Iterator<Item = &Uses> {
        let (launch, ends) = match self {
            Self::Launch(launch) => (Some(launch), [None, None]),
            Self::Copy { src, dst, .. } => (None, [src.uses(), dst.uses()]),
        };
        let launched = launch.into_iter().flat_map(Launch::uses);
        launched.chain(ends.into_iter().flatten())
    }

    /// Makes its lane wait for the last uses of all its memory.
    fn join(&self, held: &mut Held<'_>) -> Result<()> {
        self.uses()
            .try_for_each(|uses| held.join(self.lane(), uses))
    }

    fn issue(&self, held: &mut Held<'_>) -> Result<()> {
        match self {
            Self::Launch(launch) => launch.issue(held),
            Self::Copy { src, dst, n_bytes } => issue_copy(held, src, dst, *n_bytes),
        }
    }
}

impl End {
    fn uses(&self) -> Option<&Uses> {
        match self {
            Self::Device(buffer, _) => buffer.uses(),
            Self::Host(buffer, _) => buffer.uses(),
        }
    }
}

/// Work that was submitted to the device.
#[derive(Debug)]
pub struct CudaSubmission {
    shared: Arc<Shared>,
    marks: Vec<Arc<Event>>,
    /// Events before and after each run of launches, and of copies if they are timed.
    times: Vec<Timed>,
    copies_timed: bool,
}

/// The events around a run of steps of one kind.
#[derive(Debug)]
struct Timed {
    activity: Activity,
    begin: Arc<Event>,
    end: Arc<Event>,
}

impl CudaStream {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            steps: Vec::new(),
            hosts: Vec::new(),
        }
    }

    fn bind(
        &self,
        kernel: &CudaKernel,
        at: usize,
        arg: &KernelArg<'_, CudaBuffer>,
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
                let mut words = words.to_vec();
                words.resize(words.len().next_multiple_of(4), 0);
                Ok(Bound::Params(words))
            }
            _ => Err(check::wrong_kind(kernel.entry(), at, access)),
        }
    }

    fn bind_range(
        &self,
        kernel: &CudaKernel,
        at: usize,
        buffer: &CudaBuffer,
        range: Range<u64>,
    ) -> Result<Bound> {
        check::same_device("args", self.shared.id, buffer)?;
        let most = self.shared.capabilities.max_binding_bytes;
        check::slice(kernel.entry(), at, &range, buffer.n_bytes(), most)?;
        Ok(Bound::Memory {
            buffer: buffer.clone(),
            range,
        })
    }

    fn end(
        &mut self,
        place: Place<'_, CudaBuffer, CudaHostBuffer>,
        host_use: HostUse,
        n_bytes: u64,
    ) -> Result<End> {
        let (end, size, offset) = match place {
            Place::Device(buffer, offset) => {
                check::same_device("copy", self.shared.id, buffer)?;
                let end = End::Device(buffer.clone(), offset);
                (end, buffer.n_bytes(), offset)
            }
            Place::Host(buffer, offset) => {
                check::same_device("copy", self.shared.id, buffer)?;
                check::copy_direction(buffer.host_use(), host_use)?;
                let end = End::Host(buffer.clone(), offset);
                (end, buffer.n_bytes(), offset)
            }
        };
        check::copy_end(offset, n_bytes, size)?;
        if let End::Host(buffer, _) = &end {
            self.hosts.push(buffer.clone());
        }
        Ok(end)
    }
}

fn issue_copy(held: &mut Held<'_>, src: &End, dst: &End, n_bytes: u64) -> Result<()> {
    let n = n_bytes as usize;
    let uses = src.uses().into_iter().chain(dst.uses());
    // Both ranges are inside live memory of this context (checked when recorded), which stays until
    // the lane has passed this step; the host keeps away from its end until then.
    match (src, dst) {
        (End::Host(src, from), End::Device(dst, to)) => {
            let (src, dst) = (src.address(*from), dst.device_ptr() + to);
            held.issue(Lane::Upload, uses, "cuMemcpyHtoDAsync", |stream| {
                // SAFETY: both ranges stay valid and unshared until the lane has passed this step, as stated above.
                unsafe { sys::cuMemcpyHtoDAsync_v2(dst, src.cast(), n, stream) }
            })
        }
        (End::Device(src, from), End::Host(dst, to)) => {
            let (src, dst) = (src.device_ptr() + from, dst.address(*to));
            held.issue(Lane::Download, uses, "cuMemcpyDtoHAsync", |stream| {
                // SAFETY: both ranges stay valid and unshared until the lane has passed this step, as stated above.
                unsafe { sys::cuMemcpyDtoHAsync_v2(dst.cast(), src, n, stream) }
            })
        }
        (End::Device(src, from), End::Device(dst, to)) => {
            let (src, dst) = (src.device_ptr() + from, dst.device_ptr() + to);
            held.issue(Lane::Compute, uses, "cuMemcpyDtoDAsync", |stream| {
                // SAFETY: both ranges stay valid and unshared until the lane has passed this step, as stated above.
                unsafe { sys::cuMemcpyDtoDAsync_v2(dst, src, n, stream) }
            })
        }
        (End::Host(..), End::Host(..)) => Err(check::host_to_host()),
    }
}

impl CudaStream {
    /// Enqueues all steps on the lanes. A run of launches, or of copies if `copies_timed`, is timed from when its dependencies are
    /// met.
    fn issue(&self, held: &mut Held<'_>, copies_timed: bool) -> Result<Vec<Timed>> {
        let mut times = Vec::new();
        for run in self.steps.chunk_by(|a, b| a.activity() == b.activity()) {
            let lane = run[0].lane();
            let timed = run[0].activity();
            let timed = timed.filter(|&what| copies_timed || what == Activity::Kernels);
            let Some(activity) = timed else {
                run.iter().try_for_each(|step| step.issue(held))?;
                continue;
            };
            run.iter().try_for_each(|step| step.join(held))?;
            let begin = Arc::new(held.time(lane)?);
            run.iter().try_for_each(|step| step.issue(held))?;
            let end = Arc::new(held.time(lane)?);
            times.push(Timed {
                activity,
                begin,
                end,
            });
        }
        Ok(times)
    }

    fn hand_over(mut self, copies_timed: bool) -> Result<CudaSubmission> {
        self.shared.check()?;
        // All submissions use one order, so that two cannot deadlock.
        self.hosts.sort_by_key(CudaHostBuffer::id);
        self.hosts.dedup_by_key(|host| host.id());
        let host_is_away: Vec<_> = self.hosts.iter().map(CudaHostBuffer::lock).collect();
        let entered = self.shared.context.enter()?;
        let memory = self.steps.iter().flat_map(Step::uses);
        let mut held = self.shared.lanes.hold(&entered, memory)?;
        let times = self.issue(&mut held, copies_timed)?;
        let marks = held.finish()?;
        drop(entered);
        drop(host_is_away);
        Ok(CudaSubmission {
            shared: Arc::clone(&self.shared),
            marks,
            times,
            copies_timed,
        })
    }
}

impl Owned for CudaStream {
    fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Owned for CudaSubmission {
    fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Recorder for CudaStream {
    type Kernel = CudaKernel;
    type Buffer = CudaBuffer;
    type HostBuffer = CudaHostBuffer;
    type Submission = CudaSubmission;

    fn launch(
        &mut self,
        kernel: &CudaKernel,
        grid: [u32; 3],
        args: &[KernelArg<'_, CudaBuffer>],
    ) -> Result<()> {
        check::same_device("kernel", self.shared.id, kernel)?;
        let n_bindings = kernel.bindings().len();
        let most = self.shared.capabilities.max_grid;
        check::launch(kernel.entry(), n_bindings, args.len(), grid, most)?;
        let args = args
            .iter()
            .enumerate()
            .map(|(at, arg)| self.bind(kernel, at, arg))
            .collect::<Result<Vec<_>>>()?;
        let launch = Launch::new(kernel, grid, args)?;
        if !grid.contains(&0) {
            self.steps.push(Step::Launch(launch));
        }
        Ok(())
    }

    fn copy(
        &mut self,
        dst: Place<'_, CudaBuffer, CudaHostBuffer>,
        src: Place<'_, CudaBuffer, CudaHostBuffer>,
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

    fn submit(self) -> Result<CudaSubmission> {
        self.hand_over(false)
    }

    fn submit_timed(self) -> Result<CudaSubmission> {
        self.hand_over(true)
    }
}

impl CudaSubmission {
    /// Waits until all its steps have run.
    async fn passed(&self) -> Result<()> {
        let shared = &self.shared;
        // The last lane usually ends last; then the others need no wait.
        for event in self.marks.iter().rev() {
            let event = Arc::clone(event);
            shared.waiters.wait_async(shared, event).await?;
        }
        shared.check()
    }
}

impl Waitable for CudaSubmission {
    async fn wait_async(self) -> Result<Option<u64>> {
        self.passed().await?;
        let launches = self.times.iter();
        let launches = launches.filter(|run| run.activity == Activity::Kernels);
        let mut sum: Option<u64> = None;
        for run in launches {
            let ns = run.begin.nanoseconds_to(&run.end)?;
            sum = Some(sum.unwrap_or(0).saturating_add_signed(ns));
        }
        Ok(sum)
    }

    async fn wait_times_async(self) -> Result<DeviceTimes> {
        self.passed().await?;
        let mut times = DeviceTimes::measured(self.copies_timed);
        for run in &self.times {
            let begin = self.shared.time_line.place(&run.begin)?;
            let length = run.begin.nanoseconds_to(&run.end)?;
            times.push(run.activity, begin..begin.saturating_add_signed(length));
        }
        Ok(times)
    }
}
