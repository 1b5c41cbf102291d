//! Calls that JavaScript drives, so that whatever goes wrong in one, traps too, is thrown where it waits for the call.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Function;
use wasm_bindgen::prelude::*;

/// What a call gives: a value, or an `Error` with a `code`.
pub(super) type JsResult = std::result::Result<JsValue, JsValue>;

/// A call of a codec under way.
#[wasm_bindgen]
#[expect(
    missing_debug_implementations,
    reason = "there is nothing to show of a future"
)]
pub struct Call(Pin<Box<dyn Future<Output = JsResult>>>);

impl Call {
    pub(super) fn new(work: impl Future<Output = JsResult> + 'static) -> Self {
        Self(Box::pin(work))
    }
}

#[wasm_bindgen]
impl Call {
    /// Goes on as far as it can and gives the result; or undefined if the call waits, and calls `wake` when it is time
    /// to poll again. Not to be polled after it gave a result.
    ///
    /// # Errors
    /// Those of the call.
    pub fn poll(&mut self, wake: Function) -> JsResult {
        let waker = Waker::from(Arc::new(WakeFunction(wake)));
        match self.0.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => Ok(JsValue::UNDEFINED),
        }
    }
}

struct WakeFunction(Function);

impl Wake for WakeFunction {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // The function resolves a promise, which does not throw.
        let _ = self.0.call0(&JsValue::NULL);
    }
}
