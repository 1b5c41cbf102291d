//! [`Faults`]: converts the errors that wgpu reports asynchronously to values.
//!
//! Natively a call runs inside error scopes, which return its errors at once. In a browser errors arrive later: the
//! device's handler stores the first one, and the next wait returns it. On a lost device every call returns
//! [`Error::DeviceLost`].

#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(not(target_arch = "wasm32"))]
use super::ENGINE;
use crate::{Error, Result};

/// Errors of a device that no call has returned yet, and its loss.
#[derive(Debug, Default)]
pub(super) struct Faults {
    lost: Mutex<Option<String>>,
    first: Mutex<Option<Error>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Faults {
    /// Records the loss of the device.
    pub(super) fn note_lost(&self, reason: String) {
        lock(&self.lost).get_or_insert(reason);
    }

    /// Records an error for the next call to return.
    pub(super) fn note(&self, error: Error) {
        lock(&self.first).get_or_insert(error);
    }

    /// Installs the handlers for the loss of `device` and for its uncaptured errors.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn listen(self: &Arc<Self>, device: &wgpu::Device) {
        let (lost, noted) = (Arc::clone(self), Arc::clone(self));
        device.set_device_lost_callback(move |reason, message| {
            lost.note_lost(format!("{reason:?} {message}"))
        });
        device.on_uncaptured_error(Arc::new(move |error| noted.note(convert(error, 0))));
    }

    /// Returns the loss of the device, or the first error recorded since the last check.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(reason) = lock(&self.lost).clone() {
            return Err(Error::DeviceLost { reason });
        }
        match lock(&self.first).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Records the loss of a device that refuses all work. A destroyed one does so before its device-lost callback runs.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn look(&self, device: &wgpu::Device) {
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        drop(device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()));
        if let Some(error) = at_once(scope.pop()).flatten() {
            self.note_lost(format!("the device was destroyed: {error}"));
        }
    }

    /// Does nothing: the device-lost callback of a browser runs in time.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn look(&self, _device: &wgpu::Device) {}

    /// Returns the loss of the device in place of `error` if there is one, since it causes all later errors.
    pub(super) fn explain(&self, error: Error) -> Error {
        match lock(&self.lost).clone() {
            Some(reason) => Error::DeviceLost { reason },
            None => error,
        }
    }
}

/// Converts an error of wgpu; `requested` is the size in bytes of the allocation that failed, if it was one.
#[cfg(not(target_arch = "wasm32"))]
fn convert(error: wgpu::Error, requested: u64) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory { requested },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            Error::Engine {
                engine: ENGINE,
                message: description,
            }
        }
    }
}

/// Returns the value of a completed future: natively error scopes resolve at once.
#[cfg(not(target_arch = "wasm32"))]
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Runs `call` and returns its own error natively; in a browser the error reaches [`Faults::note`] later.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn guarded<T>(
    device: &wgpu::Device,
    faults: &Faults,
    requested: u64,
    call: impl FnOnce() -> T,
) -> Result<T> {
    faults.check()?;
    let filters = [
        wgpu::ErrorFilter::Internal,
        wgpu::ErrorFilter::OutOfMemory,
        wgpu::ErrorFilter::Validation,
    ];
    let [internal, memory, validation] = filters.map(|filter| device.push_error_scope(filter));
    let value = call();
    let mut first = None;
    for scope in [validation, memory, internal] {
        if let Some(error) = at_once(scope.pop()).flatten() {
            first.get_or_insert(error);
        }
    }
    match first {
        Some(error) => {
            let error = convert(error, requested);
            if !matches!(error, Error::OutOfMemory { .. }) {
                faults.look(device);
            }
            Err(faults.explain(error))
        }
        None => Ok(value),
    }
}

/// Runs `call`; its error reaches [`Faults::note`] later.
#[cfg(target_arch = "wasm32")]
pub(super) fn guarded<T>(
    _device: &wgpu::Device,
    faults: &Faults,
    _requested: u64,
    call: impl FnOnce() -> T,
) -> Result<T> {
    faults.check()?;
    Ok(call())
}
