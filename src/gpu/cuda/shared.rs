//! [`Shared`]: the state of an open device.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::allocation::{DeviceMemory, PinnedMemory};
use super::context::Context;
use super::event::TimeLine;
use super::kernel::{CudaKernel, Loader};
use super::lanes::Lanes;
use super::wait::{Waiters, Watched};
use crate::gpu::budget::Budget;
use crate::gpu::id::DeviceId;
use crate::gpu::info::{Capabilities, GpuDeviceInfo};
use crate::gpu::pipeline_cache::PipelineCache;
use crate::gpu::pool::Pool;
use crate::{Error, Result};

/// The state that all handles of a device share. Fields drop in this order: waits end, work ends, then its memory is freed.
#[derive(Debug)]
pub(super) struct Shared {
    pub id: DeviceId,
    pub waiters: Waiters,
    pub lanes: Lanes,
    pub time_line: TimeLine,
    pub kernels: PipelineCache<CudaKernel>,
    /// Kernels loaded from PTX. They are kept, since work may still run them after their handles are dropped.
    pub loaded: Mutex<Vec<CudaKernel>>,
    pub memory: Pool<(), DeviceMemory>,
    pub pinned: Pool<(), PinnedMemory>,
    pub context: Arc<Context>,
    pub budget: Arc<Budget>,
    pub info: GpuDeviceInfo,
    pub capabilities: Capabilities,
    pub sm: u32,
    pub may_leave_out_checks: bool,
    pub pci: String,
    pub given_up: AtomicBool,
}

impl Shared {
    /// Checks that the device is not lost.
    pub(super) fn check(&self) -> Result<()> {
        if self.given_up.load(Ordering::Acquire) {
            return Err(Error::DeviceLost {
                reason: "the device was given up".into(),
            });
        }
        self.context.check()
    }

    /// Returns what loads kernels for the device.
    pub(super) fn loader(&self) -> Loader<'_> {
        Loader {
            device: self.id,
            context: &self.context,
            limits: &self.capabilities,
            driver: &self.info.driver,
        }
    }
}

impl Watched for Shared {
    fn n_passed(&self) -> Option<u64> {
        self.lanes.n_passed()
    }

    fn context(&self) -> &Context {
        &self.context
    }
}
