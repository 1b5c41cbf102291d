//! An open wgpu device and its [`Backend`] implementation.

use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(target_arch = "wasm32"))]
use std::time::Duration;

use futures_channel::oneshot;

use super::ENGINE;
use super::adapter;
use super::choose;
use super::fault::Faults;
use super::groups::BindGroups;
use super::host::WgpuHostBuffer;
use super::kernel::{self, WgpuKernel};
use super::limits;
#[cfg(target_arch = "wasm32")]
use super::listener;
use super::memory::{Charged, MAX_POOLED_BYTES, WgpuBuffer};
use super::stream::{WgpuStream, WgpuSubmission};
use super::timer::Timers;
use super::turn::turn;
use crate::gpu::backend::{Backend, HostUse, KernelSource};
use crate::gpu::budget::Budget;
use crate::gpu::choice::{DeviceRequest, Rejected, RuntimeChecks};
use crate::gpu::id::DeviceId;
use crate::gpu::info::{Capabilities, GpuDeviceInfo};
use crate::gpu::pipeline_cache::PipelineCache;
use crate::gpu::pool::Pool;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::watch;
use crate::{Error, Result};

/// A wgpu device; clones share it.
#[derive(Debug, Clone)]
pub struct WgpuDevice(pub(super) Arc<Shared>);

/// The state that all handles of a device share.
#[derive(Debug)]
pub(super) struct Shared {
    pub id: DeviceId,
    /// True if the caller owns the device: it is not destroyed here.
    pub is_external: bool,
    /// Records errors that the browser reports in `faults`.
    #[cfg(target_arch = "wasm32")]
    _listener: listener::Listener,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: GpuDeviceInfo,
    pub capabilities: Capabilities,
    may_leave_out_checks: bool,
    pub timestamp_period_ns: f32,
    pub faults: Arc<Faults>,
    /// Free buffers by usage and size.
    pub pool: Pool<u32, Charged>,
    pub budget: Arc<Budget>,
    /// Maximum size of a buffer in wgpu, in bytes.
    pub max_allocation: u64,
    #[cfg(not(target_arch = "wasm32"))]
    pub wait_limit: Duration,
    /// Number of submissions that have completed.
    #[cfg(not(target_arch = "wasm32"))]
    pub n_done: Arc<AtomicU64>,
    pub timers: Timers,
    pub kernels: PipelineCache<WgpuKernel>,
    pub groups: Arc<BindGroups>,
}

/// Number of turns of a browser's event loop to wait for a device-lost event.
const TURNS_FOR_NEWS: u32 = 20;

/// A newly opened device, the reason for it, and the rejected candidates.
#[derive(Debug)]
pub(crate) struct Opened {
    pub device: WgpuDevice,
    pub reason: String,
    pub rejected: Vec<Rejected>,
}

/// Returns descriptions of all adapters, best first: the order that [`DeviceRequest::adapter_index`] counts.
pub(crate) async fn list() -> Vec<GpuDeviceInfo> {
    let adapters = adapter::list(&DeviceRequest::default()).await;
    adapters
        .iter()
        .map(|adapter| adapter::describe(&adapter.get_info()))
        .collect()
}

/// Opens the device that `request` describes: the first of the allowed adapters, best first, that can be opened.
pub(crate) async fn open(request: &DeviceRequest) -> Result<Opened> {
    let adapters = adapter::list(request).await;
    let infos: Vec<GpuDeviceInfo> = adapters
        .iter()
        .map(|a| adapter::describe(&a.get_info()))
        .collect();
    let mut failed = choose::Failed::new();
    for index in choose::candidates(&infos, request)? {
        match open_allowed(&adapters[index], infos[index].clone(), request).await {
            Ok(device) => {
                return Ok(Opened {
                    device,
                    reason: choose::reason(&infos, request, index, &failed),
                    rejected: choose::rejected(&infos, request, index, &failed),
                });
            }
            Err(Error::BackendUnavailable { reason, .. }) => failed.push((index, reason)),
            Err(other) => failed.push((index, other.to_string())),
        }
    }
    Err(choose::none_opened(&failed))
}

/// Opens an adapter. A browser reports only for the opened device that it is a software one.
async fn open_allowed(
    adapter: &wgpu::Adapter,
    info: GpuDeviceInfo,
    request: &DeviceRequest,
) -> Result<WgpuDevice> {
    let device = open_adapter(adapter, info, request).await?;
    if device.0.info.is_software() && !request.allow_software && request.adapter_index.is_none() {
        let reason = format!(
            "only a software adapter found ({}) and it was not allowed",
            device.0.info
        );
        device.destroy();
        return Err(Error::BackendUnavailable {
            backend: ENGINE,
            reason,
        });
    }
    Ok(device)
}

async fn open_adapter(
    adapter: &wgpu::Adapter,
    info: GpuDeviceInfo,
    request: &DeviceRequest,
) -> Result<WgpuDevice> {
    #[cfg(feature = "fault-injection")]
    crate::gpu::open::fault(ENGINE)?;
    let features = limits::features(adapter, request);
    let limits = limits::wanted(&adapter.limits(), request.limits);
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("pagepress"),
        required_features: features,
        required_limits: limits.clone(),
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) =
        adapter
            .request_device(&descriptor)
            .await
            .map_err(|error| Error::BackendUnavailable {
                backend: ENGINE,
                reason: format!("{info}: {error}"),
            })?;
    Ok(WgpuDevice::of(
        (device, queue),
        info,
        &limits,
        features,
        request,
        false,
    ))
}

/// Polls the device, so that wgpu frees resources that are no longer used.
pub(super) fn let_go(device: &wgpu::Device) {
    // A failed poll frees nothing; the caller's next allocation reports the error.
    drop(device.poll(wgpu::PollType::Poll));
}

impl Shared {
    /// Returns true if kernels that check themselves are compiled without the engine's checks.
    pub(super) fn may_leave_out_checks(&self) -> bool {
        self.may_leave_out_checks
    }

    /// Returns true if this kernel is compiled without the engine's checks.
    pub(super) fn leaves_out_checks(&self, source: &KernelSource<'_>) -> bool {
        self.may_leave_out_checks && !source.is_checked()
    }

    /// Waits until the submission (`None`: the latest) and all before it have run, and reports their faults.
    pub(super) async fn work_done(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let (sender, receiver) = oneshot::channel();
        self.queue.on_submitted_work_done(move || {
            // The waiting future may have been dropped.
            let _ = sender.send(());
        });
        self.wait_for(submission)?;
        match receiver.await {
            Ok(()) => self.faults.check(),
            Err(_) => Err(self.failed("submitted work was dropped".into()).await),
        }
    }

    /// Polls until the submission (`None`: the latest) has run and its callbacks were called. A
    /// device on which no submission ends for the wait limit counts as lost.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn wait_for(&self, submission_index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let mut watch = watch::Watch::new(self.wait_limit, self.n_done.load(Ordering::Relaxed));
        loop {
            let polled = self.device.poll(wgpu::PollType::Wait {
                submission_index: submission_index.clone(),
                timeout: Some(watch.until_next_look()),
            });
            self.faults.check()?;
            match polled {
                Ok(_) => return Ok(()),
                Err(wgpu::PollError::Timeout) => {
                    if watch.has_stalled(self.n_done.load(Ordering::Relaxed)) {
                        self.faults.note_lost(watch::reason(self.wait_limit));
                        return self.faults.check();
                    }
                }
                Err(error) => return Err(self.broken(error.to_string())),
            }
        }
    }

    /// Returns at once: the event loop of a browser runs the callbacks.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn wait_for(&self, submission_index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let polled = self.device.poll(wgpu::PollType::Wait {
            submission_index,
            timeout: None,
        });
        self.faults.check()?;
        polled
            .map(drop)
            .map_err(|error| self.broken(error.to_string()))
    }

    /// Returns [`broken`](Self::broken) after a device-lost event had time to arrive.
    pub(super) async fn failed(&self, message: String) -> Error {
        for _ in 0..TURNS_FOR_NEWS {
            turn().await;
            if self.faults.check().is_err() {
                break;
            }
        }
        self.broken(message)
    }

    /// Returns an engine error, or the device loss that caused it.
    pub(super) fn broken(&self, message: String) -> Error {
        let_go(&self.device);
        self.faults.look(&self.device);
        self.faults.explain(Error::Engine {
            engine: ENGINE,
            message,
        })
    }
}

impl WgpuDevice {
    /// Wraps an open device of wgpu. An external one, which the caller owns, is not destroyed here.
    pub(super) fn of(
        (device, queue): (wgpu::Device, wgpu::Queue),
        info: GpuDeviceInfo,
        limits: &wgpu::Limits,
        features: wgpu::Features,
        request: &DeviceRequest,
        is_external: bool,
    ) -> Self {
        let faults = Arc::new(Faults::default());
        #[cfg(not(target_arch = "wasm32"))]
        faults.listen(&device);
        #[cfg(target_arch = "wasm32")]
        let (info, listener) = (
            adapter::describe_web(&device, info),
            listener::listen(&device, &faults, is_external),
        );
        let budget = Budget::new(request.memory_limit);
        let capabilities = Capabilities {
            free_memory_bytes: budget.free_of(None),
            ..limits::capabilities(limits, features)
        };
        let may_leave_out_checks = cfg!(not(target_arch = "wasm32"))
            && request.runtime_checks == RuntimeChecks::WhereNeeded;
        Self(Arc::new(Shared {
            id: DeviceId::new(),
            is_external,
            #[cfg(target_arch = "wasm32")]
            _listener: listener,
            timestamp_period_ns: queue.get_timestamp_period(),
            device,
            queue,
            budget,
            max_allocation: limits.max_buffer_size / 4 * 4,
            #[cfg(not(target_arch = "wasm32"))]
            wait_limit: watch::limit(request, info.is_software()),
            #[cfg(not(target_arch = "wasm32"))]
            n_done: Arc::default(),
            info,
            capabilities,
            may_leave_out_checks,
            faults,
            pool: Pool::new(MAX_POOLED_BYTES),
            timers: Timers::default(),
            kernels: PipelineCache::default(),
            groups: Arc::default(),
        }))
    }

    /// Returns the identity of this open device.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.0.id
    }

    /// Returns wgpu's device, for use with wgpu itself.
    #[must_use]
    pub fn raw_device(&self) -> &wgpu::Device {
        &self.0.device
    }

    /// Returns wgpu's queue, for use with wgpu itself.
    #[must_use]
    pub fn raw_queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    /// Returns the number of kernels compiled so far.
    #[must_use]
    pub fn n_kernels(&self) -> usize {
        self.0.kernels.n_kernels()
    }

    /// Checks that the device was not lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] with the driver's words.
    pub fn check(&self) -> Result<()> {
        let_go(&self.0.device);
        self.0.faults.check()
    }

    /// Allocates memory with unspecified contents.
    pub(crate) fn allocate_uncleared(&self, n_bytes: u64) -> Result<WgpuBuffer> {
        WgpuBuffer::uncleared(&self.0, n_bytes)
    }

    /// Makes allocations fail: see [`GpuDevice::fail_allocations`](crate::gpu::GpuDevice::fail_allocations).
    #[cfg(feature = "fault-injection")]
    pub(crate) fn fail_allocations(&self, n_before: u64, n_failing: u64) -> u64 {
        self.0.pool.clear();
        self.0.budget.fail(n_before, n_failing)
    }

    /// Destroys the device: everything submitted later fails with [`Error::DeviceLost`].
    pub fn destroy(&self) {
        // Calls in flight fail from here on, before wgpu reports the reason.
        self.0.faults.note_lost("the device was given up".into());
        if self.0.is_external {
            return;
        }
        self.0.device.destroy();
        let_go(&self.0.device);
    }
}

impl Backend for WgpuDevice {
    type Kernel = WgpuKernel;
    type Buffer = WgpuBuffer;
    type HostBuffer = WgpuHostBuffer;
    type Stream = WgpuStream;
    type Submission = WgpuSubmission;

    fn name(&self) -> &'static str {
        ENGINE
    }

    fn info(&self) -> &GpuDeviceInfo {
        &self.0.info
    }

    fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    async fn compile_kernel(&self, source: &KernelSource<'_>) -> Result<WgpuKernel> {
        kernel::compile(&self.0, source).await
    }

    fn allocate_memory(&self, n_bytes: u64) -> Result<WgpuBuffer> {
        WgpuBuffer::cleared(&self.0, n_bytes)
    }

    fn allocate_host(&self, n_bytes: u64, host_use: HostUse) -> Result<WgpuHostBuffer> {
        WgpuHostBuffer::new(&self.0, n_bytes, host_use)
    }

    fn stream(&self) -> WgpuStream {
        WgpuStream::new(&self.0)
    }

    async fn synchronize_async(&self) -> Result<()> {
        self.0.work_done(None).await
    }
}
