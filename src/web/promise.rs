//! Converts futures to JavaScript promises.
//!
//! Promises of wasm-bindgen never settle if a poll traps. Here each poll runs as a reaction of a promise, so that a
//! trap becomes a rejection instead of an uncaught error, and all promises of the module can be rejected when it stops.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use super::panic;
use super::pending::{self, Task, Work};
use crate::Result;

thread_local! {
    static NEXT_ID: Cell<u32> = const { Cell::new(0) };
    static POLL: Function = Closure::<dyn FnMut(u32)>::new(poll).into_js_value().unchecked_into();
    static TRAPPED: Function =
        Closure::<dyn FnMut(JsValue)>::new(trapped).into_js_value().unchecked_into();
}

/// Returns a promise of the result of `work`, which is first polled after the caller has returned to the event loop.
pub(in crate::web) fn promise(work: impl Future<Output = Result<JsValue>> + 'static) -> Promise {
    boxed(Box::pin(work))
}

/// Implements [`promise`] without generics, so that it is compiled only once.
#[inline(never)]
fn boxed(work: Work) -> Promise {
    if let Some(error) = panic::stopped() {
        return Promise::reject(&error);
    }
    let mut work = Some(work);
    Promise::new(&mut |resolve, reject| {
        let Some(work) = work.take() else {
            return;
        };
        let id = NEXT_ID.replace(NEXT_ID.get().wrapping_add(1));
        let task = Rc::new(Task {
            id,
            work: RefCell::new(work),
            waker: Waker::from(Arc::new(WakeTask(id))),
            is_queued: Cell::new(false),
            resolve,
            reject,
        });
        pending::add(Rc::clone(&task));
        queue(&task);
    })
}

/// Queues a microtask that polls the task, unless one is queued.
fn queue(task: &Task) {
    if !task.is_queued.replace(true) {
        let polled = POLL.with(|poll| resolved(task.id).then(poll));
        // If even the first reaction traps, or the instance has been replaced, at least this call is rejected.
        TRAPPED
            .with(|trapped| polled.catch(trapped))
            .catch(&task.reject);
    }
}

struct WakeTask(u32);

impl Wake for WakeTask {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(task) = pending::find(self.0) {
            queue(&task);
        }
    }
}

fn poll(id: u32) {
    let Some(task) = pending::find(id) else {
        return;
    };
    task.is_queued.set(false);
    let mut context = Context::from_waker(&task.waker);
    let outcome = task.work.borrow_mut().as_mut().poll(&mut context);
    let Poll::Ready(outcome) = outcome else {
        return;
    };
    pending::remove(id);
    // `resolve` and `reject` of a promise do not throw.
    let _ = match outcome {
        Ok(value) => task.resolve.call1(&JsValue::UNDEFINED, &value),
        Err(error) => task.reject.call1(&JsValue::UNDEFINED, &error.into()),
    };
}

/// Stops the instance after a poll that trapped.
fn trapped(error: JsValue) {
    let message = error.dyn_ref::<js_sys::Error>().map(js_sys::Error::message);
    let message = message.map_or_else(String::new, String::from);
    panic::stop(&["the engine stopped: ", &message].concat());
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Promise, js_name = resolve)]
    fn resolved(value: u32) -> RawPromise;

    type RawPromise;
    #[wasm_bindgen(method)]
    fn then(this: &RawPromise, reaction: &Function) -> RawPromise;
    #[wasm_bindgen(method)]
    fn catch(this: &RawPromise, reaction: &Function) -> RawPromise;
}
