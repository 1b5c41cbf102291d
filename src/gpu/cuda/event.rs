//! Events: markers in a stream that the host can wait for.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUevent_flags_enum as Flags, CUresult as Code};

use super::context::{Context, Entered};
use crate::Result;

/// A marker in a stream.
#[derive(Debug)]
pub(super) struct Event {
    raw: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: the driver's events may be used by several threads concurrently; it locks internally.
unsafe impl Send for Event {}
// SAFETY: the driver locks internally, as for `Send`.
unsafe impl Sync for Event {}

/// The purpose of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Synchronisation; a waiting host thread sleeps (blocking sync).
    Order,
    /// Timing.
    Time,
}

impl Event {
    /// Records a marker after all work enqueued on `stream` so far.
    pub(super) fn record(
        context: &Arc<Context>,
        entered: &Entered<'_>,
        stream: sys::CUstream,
        purpose: Purpose,
    ) -> Result<Self> {
        let flags = match purpose {
            Purpose::Order => {
                Flags::CU_EVENT_BLOCKING_SYNC as u32 | Flags::CU_EVENT_DISABLE_TIMING as u32
            }
            Purpose::Time => Flags::CU_EVENT_DEFAULT as u32,
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call; the context is current.
        entered.ok("cuEventCreate", unsafe {
            sys::cuEventCreate(&raw mut raw, flags)
        })?;
        let event = Self {
            raw,
            context: Arc::clone(context),
        };
        // SAFETY: event and stream are of the current context.
        entered.ok("cuEventRecord", unsafe {
            sys::cuEventRecord(event.raw, stream)
        })?;
        Ok(event)
    }

    /// Makes `stream` wait for the event.
    pub(super) fn hold_back(&self, entered: &Entered<'_>, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are of the current context.
        entered.ok("cuStreamWaitEvent", unsafe {
            sys::cuStreamWaitEvent(stream, self.raw, 0)
        })
    }

    /// Returns true if the device has reached the event.
    pub(super) fn has_passed(&self) -> Result<bool> {
        let entered = self.context.enter()?;
        // SAFETY: the event is of the current context.
        match unsafe { sys::cuEventQuery(self.raw) } {
            Code::CUDA_ERROR_NOT_READY => Ok(false),
            code => entered.ok("cuEventQuery", code).map(|()| true),
        }
    }

    /// Blocks until the device has reached the event.
    pub(super) fn block(&self) -> Result<()> {
        let entered = self.context.enter()?;
        // SAFETY: the event is of the current context.
        entered.ok("cuEventSynchronize", unsafe {
            sys::cuEventSynchronize(self.raw)
        })
    }

    /// Returns the nanoseconds from this event to `end`, negative if `end` came first. Both must be for timing and
    /// reached.
    pub(super) fn nanoseconds_to(&self, end: &Self) -> Result<i64> {
        /// Exported by every driver, unlike its successor `_v2`, which is the only one in the binding for our CUDA
        /// version.
        type ElapsedTime = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> Code;
        let entered = self.context.enter()?;
        // SAFETY: the driver is loaded, since there is a context; the type is that of the function's documentation.
        let elapsed = unsafe { sys::culib().get::<ElapsedTime>(b"cuEventElapsedTime\0") };
        let Ok(elapsed) = elapsed else {
            return Err(self.context.broken("the driver has no cuEventElapsedTime"));
        };
        let mut milliseconds = 0f32;
        // SAFETY: both events are of the current context, and `milliseconds` outlives the call.
        entered.ok("cuEventElapsedTime", unsafe {
            elapsed(&raw mut milliseconds, self.raw, end.raw)
        })?;
        Ok((f64::from(milliseconds) * 1e6) as i64)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: this is the last reference. The driver keeps the event until work that waits for it has run.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

/// A device's time line: converts events to positions in nanoseconds.
///
/// The driver reports the time between two events in single precision, so the event that serves as origin is replaced
/// periodically: within [`MAX_AGE_NS`] of it a position is exact to 60 ns.
#[derive(Debug, Default)]
pub(super) struct TimeLine {
    origin: Mutex<Option<(Arc<Event>, u64)>>,
}

/// Age at which the origin of a [`TimeLine`] is replaced.
const MAX_AGE_NS: i64 = 1_000_000_000;

/// Position of the first origin, late enough for events recorded before it.
const FIRST_PLACE_NS: u64 = 1 << 50;

impl TimeLine {
    /// Returns the position of a timing event that has been reached.
    pub(super) fn place(&self, event: &Arc<Event>) -> Result<u64> {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((first, at)) = &*origin else {
            *origin = Some((Arc::clone(event), FIRST_PLACE_NS));
            return Ok(FIRST_PLACE_NS);
        };
        let age = first.nanoseconds_to(event)?;
        let place = at.saturating_add_signed(age);
        if age > MAX_AGE_NS {
            *origin = Some((Arc::clone(event), place));
        }
        Ok(place)
    }
}
