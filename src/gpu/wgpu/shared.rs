//! [`Shared`]: the state of an open device, and waiting for its work.

use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(target_arch = "wasm32"))]
use std::time::Duration;

#[cfg(target_arch = "wasm32")]
use futures_channel::oneshot;

use super::ENGINE;
use super::allocation::Charged;
use super::encoding::Encoding;
use super::fault::Faults;
use super::groups::BindGroups;
use super::joined::Joined;
use super::kernel::WgpuKernel;
#[cfg(target_arch = "wasm32")]
use super::listener::Listener;
#[cfg(target_arch = "wasm32")]
use super::prompt::Prompt;
use super::queries::FreeQueries;
use super::turn::turn;
use crate::gpu::backend::KernelSource;
use crate::gpu::budget::Budget;
use crate::gpu::id::DeviceId;
use crate::gpu::info::{Capabilities, GpuDeviceInfo};
use crate::gpu::pipeline_cache::PipelineCache;
use crate::gpu::pool::Pool;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::watch;
use crate::{Error, Result};

/// The state that all handles of a device share.
#[derive(Debug)]
pub(super) struct Shared {
    pub id: DeviceId,
    /// True if the caller owns the device: it is not destroyed here.
    pub is_external: bool,
    /// Records errors that the browser reports in `faults`.
    #[cfg(target_arch = "wasm32")]
    pub _listener: Listener,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: GpuDeviceInfo,
    pub capabilities: Capabilities,
    /// True if kernels that check themselves are compiled without the engine's checks.
    pub may_leave_out_checks: bool,
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
    /// Queries for timers.
    pub queries: FreeQueries,
    pub kernels: PipelineCache<WgpuKernel>,
    pub groups: Arc<BindGroups>,
    #[cfg(target_arch = "wasm32")]
    pub prompt: Prompt,
    /// Work that was encoded and not submitted.
    pub joined: Joined,
}

/// Number of turns of a browser's event loop to wait for a device-lost event.
const TURNS_FOR_NEWS: u32 = 20;

impl Shared {
    /// Polls the device, so that wgpu frees resources that are no longer used.
    pub(super) fn let_go(&self) {
        // A failed poll frees nothing; the caller's next allocation reports the error.
        drop(self.device.poll(wgpu::PollType::Poll));
    }

    pub(super) fn new_encoding(&self) -> Encoding {
        Encoding::new(&self.device)
    }

    /// Counts the latest submission when it has completed, for the watchdog of waits.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn count_when_done(&self) {
        let n_done = Arc::clone(&self.n_done);
        self.queue.on_submitted_work_done(move || {
            n_done.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Does nothing: a browser monitors its GPU itself.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn count_when_done(&self) {}

    /// Frees the memory in the pool. In a browser that destroys buffers, which waiting work may use.
    pub(super) fn clear_pool(&self) {
        self.submit_joined();
        self.pool.clear();
    }

    /// Returns true if this kernel is compiled without the engine's checks.
    pub(super) fn leaves_out_checks(&self, source: &KernelSource<'_>) -> bool {
        self.may_leave_out_checks && !source.is_checked()
    }

    /// Returns true if this kernel is passed to the driver as SPIR-V.
    pub(super) fn passes_spirv(&self, source: &KernelSource<'_>) -> bool {
        self.leaves_out_checks(source) && self.capabilities.spirv_passthrough
    }

    /// Waits until the submission (`None`: the latest) and all before it have run, and reports their faults.
    ///
    /// wgpu calls `on_submitted_work_done` after the latest submission, which may be another thread's and a later one: a poll
    /// for this submission need not call it, and then nothing does.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) async fn work_done(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        self.wait_for(submission)
    }

    /// Waits until all submitted work is done, and reports its faults.
    #[cfg(target_arch = "wasm32")]
    pub(super) async fn work_done(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        self.wait_for(submission)?;
        let (sender, receiver) = oneshot::channel();
        self.queue.on_submitted_work_done(move || {
            // The waiting future may have been dropped.
            let _ = sender.send(());
        });
        match self.promptly(receiver).await {
            Ok(()) => self.faults.check(),
            Err(_) => Err(self.failed("submitted work was dropped".into()).await),
        }
    }

    /// Polls until the submission (`None`: the latest) has run and its callbacks were called. A
    /// device on which no submission ends for the wait limit counts as lost.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn wait_for(&self, submission_index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        self.submit_joined();
        let mut watch = watch::Watch::new(self.wait_limit, self.n_done.load(Ordering::Relaxed));
        loop {
            // No shorter time: wgpu 30 panics if another thread processes the submission that a poll waited for in vain (mended by its pull
            // request 9958).
            let polled = self.device.poll(wgpu::PollType::Wait {
                submission_index: submission_index.clone(),
                timeout: Some(watch.left()),
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

    /// Submits all work and returns at once: the event loop of a browser runs the callbacks.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn wait_for(&self, submission_index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        self.submit_joined();
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
        self.let_go();
        self.faults.look(&self.device);
        self.faults.explain(Error::Engine {
            engine: ENGINE,
            message,
        })
    }
}
