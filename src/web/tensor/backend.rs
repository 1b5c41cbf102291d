//! Operations on arrays wherever they are faster.

use std::cell::RefCell;
use std::rc::Rc;

use crate::gpu::GpuDevice;
use crate::tensor::{BackendUsed, GpuBackend, JsOperation};
use crate::web::call::{Call, Done};
use crate::web::memory::{NOTHING, give};
use crate::{Error, Result};

/// A backend. A call takes it and gives it back at its end, so there is one call at a time; one that traps keeps it.
pub(super) struct WebBackend(Rc<RefCell<Option<GpuBackend>>>);

/// A backend that runs everything on `device`; without one, it opens a GPU when that first pays.
#[unsafe(no_mangle)]
extern "C" fn backend_new(device: Option<&GpuDevice>) -> Box<WebBackend> {
    let backend = device.cloned().map(GpuBackend::with_device);
    let backend = backend.unwrap_or_default();
    Box::new(WebBackend(Rc::new(RefCell::new(Some(backend)))))
}

/// Frees a backend that no call has, and gives up what it opened.
#[unsafe(no_mangle)]
extern "C" fn backend_free(backend: Box<WebBackend>) {
    if let Some(backend) = backend.0.take() {
        backend.close();
    }
}

/// Gives where the last operation ran, as a text: `G` and the device, or `C` and why not on a GPU. Nothing before the first.
#[unsafe(no_mangle)]
extern "C" fn backend_last(backend: &WebBackend) -> u32 {
    let place = backend.0.borrow();
    let (kind, text) = match place.as_ref().and_then(GpuBackend::last_backend) {
        Some(BackendUsed::Gpu { device, .. }) => ('G', device),
        Some(BackendUsed::Cpu { reason }) => ('C', reason),
        None => return NOTHING,
    };
    let mut told = String::from(kind);
    told.push_str(text);
    give(told.into_bytes())
}

impl WebBackend {
    /// A call that has the backend do an operation.
    pub(super) fn begin(&self, operation: Result<JsOperation>) -> *mut Call {
        let place = Rc::clone(&self.0);
        Call::begin(Box::pin(async move {
            let operation = operation?;
            let taken = place.borrow_mut().take();
            let mut backend = taken.ok_or_else(|| Error::Engine {
                engine: "wasm",
                message: "the backend was lost in a call that failed".into(),
            })?;
            let made = backend.run_js_async(&operation).await;
            place.replace(Some(backend));
            made.map(Done::array)
        }))
    }
}
