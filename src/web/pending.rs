//! The calls whose promises have not settled.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Waker;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::Result;

pub(super) type Work = Pin<Box<dyn Future<Output = Result<JsValue>>>>;

/// A pending call.
pub(super) struct Task {
    pub(super) id: u32,
    pub(super) work: RefCell<Work>,
    pub(super) waker: Waker,
    /// True while a poll is queued.
    pub(super) is_queued: Cell<bool>,
    pub(super) resolve: Function,
    pub(super) reject: Function,
}

thread_local! {
    /// All pending calls. There are only a few, so a linear search is fast enough.
    static TASKS: RefCell<Vec<Rc<Task>>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn add(task: Rc<Task>) {
    TASKS.with_borrow_mut(|tasks| tasks.push(task));
}

/// Returns the task with this id, if it is pending.
pub(super) fn find(id: u32) -> Option<Rc<Task>> {
    TASKS.with_borrow(|tasks| tasks.iter().find(|task| task.id == id).cloned())
}

pub(super) fn remove(id: u32) {
    TASKS.with_borrow_mut(|tasks| tasks.retain(|task| task.id != id));
}

/// Rejects all promises of pending calls. The calls are neither polled again nor dropped, since the instance has
/// stopped.
pub(super) fn reject_all(error: &JsValue) {
    TASKS.with(|tasks| {
        // The list is intact unless the instance stopped during a change of it; the borrow fails then.
        if let Ok(tasks) = tasks.try_borrow() {
            for task in tasks.iter() {
                let _ = task.reject.call1(&JsValue::UNDEFINED, error);
            }
        }
    });
}
