//! The primary context of a GPU, which all devices opened on that GPU share with each other and with other CUDA code of
//! the process.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::sys;

use super::fault::{self, Failed, ok};
use super::{ENGINE, adapter};
use crate::{Error, Result};

/// A retained primary context.
#[derive(Debug)]
pub(super) struct Context {
    raw: RawContext,
    ordinal: c_int,
    /// The reason why the context was lost: a kernel trapped, or the device made no progress.
    lost: Mutex<Option<String>>,
}

#[derive(Debug, Clone, Copy)]
struct RawContext(sys::CUcontext);

// SAFETY: the driver's contexts may be used by several threads concurrently; it locks internally.
unsafe impl Send for RawContext {}
// SAFETY: the driver locks internally, as for `Send`.
unsafe impl Sync for RawContext {}

/// Proof that the context is current on this thread. Must be dropped before a future awaits.
#[derive(Debug)]
pub(super) struct Entered<'a> {
    context: &'a Context,
    /// Makes the guard neither `Send` nor `Sync`: contexts are current per thread.
    _stays_here: PhantomData<*const ()>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: `enter` pushed the context on this thread, which the guard cannot leave. There is no way to handle a
        // failure.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}

impl Entered<'_> {
    /// Waits until nothing runs in the context, so that resources can be freed. A failure means that the context is
    /// lost, so nothing runs in it.
    pub(super) fn finish_all(&self) {
        // SAFETY: the context is current.
        let _ = unsafe { sys::cuCtxSynchronize() };
    }

    /// Runs a driver call in the context, and records the loss of the context.
    pub(super) fn ok(&self, call: &'static str, code: sys::CUresult) -> Result<()> {
        ok(call, code).map_err(|failed| self.context.explain(failed))
    }
}

fn broken_for_good(reason: &str) -> Error {
    adapter::unavailable(format!(
        "CUDA is broken for this process ({reason}); start the process anew"
    ))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Context {
    /// Retains the context of the GPU at `ordinal`. A context that a kernel has broken stays broken until the process
    /// ends: the driver then fails every call with the same code, for new contexts too.
    pub(super) fn open(ordinal: c_int) -> Result<Arc<Self>> {
        static OPEN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());
        let mut open = lock(&OPEN);
        open.retain(|context| context.strong_count() > 0);
        let found = open.iter().filter_map(Weak::upgrade);
        if let Some(context) = found.into_iter().find(|context| context.ordinal == ordinal) {
            return context
                .check()
                .map_err(|_| broken_for_good(&context.reason()))
                .map(|()| context);
        }
        let context = Self::retain(ordinal).map_err(|failed| {
            let reason = fault::describe(&failed);
            if failed.loses_context() {
                broken_for_good(&reason)
            } else {
                adapter::unavailable(reason)
            }
        })?;
        let context = Arc::new(context);
        open.push(Arc::downgrade(&context));
        Ok(context)
    }

    fn retain(ordinal: c_int) -> Result<Self, Failed> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call; a wrong ordinal is an error of the call.
        ok("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&raw mut raw, ordinal)
        })?;
        Ok(Self {
            raw: RawContext(raw),
            ordinal,
            lost: Mutex::new(None),
        })
    }

    /// Returns the free and total memory of the GPU in bytes.
    pub(super) fn memory(&self) -> Result<(u64, u64)> {
        let entered = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both outlive the call.
        entered.ok("cuMemGetInfo", unsafe {
            sys::cuMemGetInfo_v2(&raw mut free, &raw mut total)
        })?;
        Ok((free as u64, total as u64))
    }

    /// Makes the context current on this thread until the guard is dropped.
    pub(super) fn enter(&self) -> Result<Entered<'_>> {
        self.check()?;
        // SAFETY: the context is retained.
        ok("cuCtxPushCurrent", unsafe {
            sys::cuCtxPushCurrent_v2(self.raw.0)
        })
        .map_err(|failed| self.explain(failed))?;
        Ok(Entered {
            context: self,
            _stays_here: PhantomData,
        })
    }

    /// Returns true if this is the driver's context `raw`.
    pub(super) fn is(&self, raw: sys::CUcontext) -> bool {
        self.raw.0 == raw
    }

    /// Records that the device makes no progress: from now on nothing of it is used or freed.
    pub(super) fn note_lost(&self, reason: String) {
        lock(&self.lost).get_or_insert(reason);
    }

    fn reason(&self) -> String {
        lock(&self.lost).clone().unwrap_or_default()
    }

    /// Returns true if a kernel has broken the context.
    pub(super) fn check(&self) -> Result<()> {
        match lock(&self.lost).clone() {
            Some(reason) => Err(Error::DeviceLost { reason }),
            None => Ok(()),
        }
    }

    /// Returns the error for a failed call, and records the loss of the context.
    pub(super) fn explain(&self, failed: Failed) -> Error {
        if !failed.loses_context() {
            return failed.into_error();
        }
        let mut lost = lock(&self.lost);
        let reason = lost.get_or_insert_with(|| fault::describe(&failed)).clone();
        Error::DeviceLost { reason }
    }

    /// Creates an error of this crate, not of the driver.
    pub(super) fn broken(&self, message: &str) -> Error {
        self.check().err().unwrap_or_else(|| Error::Engine {
            engine: ENGINE,
            message: message.into(),
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: this object retained the context once.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.ordinal) };
    }
}
