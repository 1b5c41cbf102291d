//! [`Staging`]: a staging buffer apart from its device.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use super::allocation::Charged;
use crate::gpu::backend::HostUse;

/// A staging buffer without a reference to its device, so that the device can own it.
#[derive(Debug)]
pub(super) struct Staging {
    pub charged: Charged,
    /// Length that was requested; the buffer may be longer.
    pub n_bytes: u64,
    pub host_use: HostUse,
    pub mapping: Mutex<Mapping>,
}

impl Staging {
    pub(super) fn mapping(&self) -> MutexGuard<'_, Mapping> {
        self.mapping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of mapping a buffer.
pub(super) type Mapped = std::result::Result<(), wgpu::BufferAsyncError>;

/// The owner of the memory: device or host.
#[derive(Debug, Default)]
pub(super) enum Mapping {
    /// The device owns the memory.
    #[default]
    None,
    /// The device owns the memory until a submission is done, then the host. The mapping is requested as soon as the
    /// work is submitted, since a browser takes milliseconds to complete it.
    Pending {
        range: Range<u64>,
        submission: wgpu::SubmissionIndex,
        outcome: oneshot::Receiver<Mapped>,
    },
    /// The host owns the memory.
    Done { range: Range<u64> },
}
