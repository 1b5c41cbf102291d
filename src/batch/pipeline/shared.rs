//! Staging buffers that serve as buffers of a job, on devices that share memory with the host: what they hold is not copied.

use std::ops::Range;

use crate::gpu::{Buffer, HostBuffer, HostUse, Sized64};
use crate::kernels::{Job, SLICE_ALIGNMENT, Slot};

/// Slots of a job whose buffers are ranges of staging buffers; none on a device with memory of its own.
#[derive(Debug, Default)]
pub(super) struct Shared(Vec<(Slot, Buffer, Range<u64>)>);

impl Shared {
    /// Lets `host` from byte `at` on serve as the buffer of `slot`, if the device shares memory, kernels may bind it there, and it is
    /// of this use.
    /// The rest of `host` must be at least as long as the job's buffer; launches check that.
    pub(super) fn add(&mut self, slot: Slot, host: &HostBuffer, at: u64, host_use: HostUse) {
        let may_bind = at.is_multiple_of(SLICE_ALIGNMENT);
        if let Some(buffer) = host.on_device(host_use).filter(|_| may_bind) {
            let range = at..buffer.n_bytes();
            self.0.push((slot, buffer, range));
        }
    }

    /// Returns the ranges as buffers that are given to a job.
    pub(super) fn given(&self) -> impl Iterator<Item = (Slot, &Buffer, Range<u64>)> {
        self.0
            .iter()
            .map(|(slot, buffer, range)| (*slot, buffer, range.clone()))
    }
}

/// Returns the offsets at which the buffers of `slots` lie in one staging buffer, each where kernels may bind it, and their
/// length in all.
pub(super) fn layout(job: &Job, slots: &[Slot]) -> (Vec<u64>, u64) {
    let length = |slot: &Slot| {
        let buffer = job.buffers.iter().find(|(role, _)| role == slot);
        buffer.map_or(0, |&(_, n_bytes)| n_bytes)
    };
    let mut end = 0;
    let offsets = slots.iter().map(|slot| {
        let at = end;
        end += length(slot).next_multiple_of(SLICE_ALIGNMENT);
        at
    });
    (offsets.collect(), end.max(SLICE_ALIGNMENT))
}
