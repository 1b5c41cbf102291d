//! Runs work without the global lock, and in processes that were forked.
//!
//! A forked process has one thread. The global pool of rayon believes that its threads still run, so work given to it would never
//! end. After a fork, work runs in a pool of the new process.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

static IS_FORKED: AtomicBool = AtomicBool::new(false);
/// The pool of a forked process, which lives as long as the process; null before the first work.
static POOL: AtomicPtr<ThreadPool> = AtomicPtr::new(std::ptr::null_mut());

/// Python calls this in a new process.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    IS_FORKED.store(true, Ordering::Release);
    POOL.store(std::ptr::null_mut(), Ordering::Release);
}

/// Runs `work` without the global lock.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// Returns the pool of a forked process; `None` in others, and if no thread can be started.
fn pool() -> Option<&'static ThreadPool> {
    if !IS_FORKED.load(Ordering::Acquire) {
        return None;
    }
    let known = POOL.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: only this function stores addresses that are not null, of pools that are never freed.
        return Some(unsafe { &*known });
    }
    let new = Box::into_raw(Box::new(ThreadPoolBuilder::new().build().ok()?));
    let stored = POOL.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire);
    // A pool that lost the race is kept too: it would wait for its threads here.
    let winner = stored.map_or_else(|other| other, |_| new);
    // SAFETY: as above; `winner` is not null, since nothing but a fork stores null, and a fork leaves no other thread here.
    Some(unsafe { &*winner })
}
