//! Calls that JavaScript drives, so that whatever goes wrong in one, traps too, is thrown where it waits for the call.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Function;
use wasm_bindgen::prelude::*;

/// What a call gives: a value, or an `Error` with a `code`.
pub(super) type JsResult = std::result::Result<JsValue, JsValue>;

/// A call under way.
#[wasm_bindgen]
#[expect(
    missing_debug_implementations,
    reason = "there is nothing to show of a future"
)]
pub struct Call {
    work: Pin<Box<dyn Future<Output = JsResult>>>,
    state: Rc<CallState>,
}

/// What the driver of a call tells it.
#[derive(Debug, Default)]
pub(super) struct CallState {
    is_cancelled: Cell<bool>,
}

impl CallState {
    /// The value of `work`; `None` if the call was cancelled before, and `work` is dropped where it waited.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|context| match self.is_cancelled.get() {
            true => Poll::Ready(None),
            false => work.as_mut().poll(context).map(Some),
        })
        .await
    }
}

impl Call {
    pub(super) fn new<W>(work: impl FnOnce(Rc<CallState>) -> W) -> Self
    where
        W: Future<Output = JsResult> + 'static,
    {
        let state = Rc::new(CallState::default());
        Self {
            work: Box::pin(work(Rc::clone(&state))),
            state,
        }
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
        match self.work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => Ok(JsValue::UNDEFINED),
        }
    }

    /// Has the next poll give the work up: the call then fails with `CANCELLED`, and its codec is ready for another.
    pub fn cancel(&self) {
        self.state.is_cancelled.set(true);
    }

    /// Bytes of input done so far: calls of a GPU do not tell.
    #[must_use]
    #[wasm_bindgen(js_name = bytesIn)]
    pub fn bytes_in(&self) -> f64 {
        0.0
    }

    /// Bytes of output made so far, likewise.
    #[must_use]
    #[wasm_bindgen(js_name = bytesOut)]
    pub fn bytes_out(&self) -> f64 {
        0.0
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
