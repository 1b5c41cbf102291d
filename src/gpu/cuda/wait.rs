//! Waiting for the device without keeping an executor busy: a few threads sleep in the driver and wake futures.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::context::Context;
use super::event::Event;
use crate::Result;
use crate::signal::{self, Sender};

/// Most threads of one device. Work of one device ends nearly in order, so that few are ever busy.
const MAX_THREADS: usize = 4;

/// The threads of one device; they end with it.
#[derive(Default)]
pub(super) struct Waiters {
    queue: Arc<Queue>,
}

impl fmt::Debug for Waiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_threads = self.queue.lock().n_threads;
        f.debug_struct("Waiters")
            .field("n_threads", &n_threads)
            .finish()
    }
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waits: VecDeque<Wait>,
    n_threads: usize,
    n_idle: usize,
    closed: bool,
}

struct Wait {
    event: Arc<Event>,
    done: Sender<Result<()>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a thread.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(Wait { event, done }) = state.waits.pop_front() {
                drop(state);
                done.send(event.block());
                drop(event);
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                state.n_idle += 1;
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.n_idle -= 1;
            }
        }
    }
}

impl Waiters {
    /// Waits until the device has passed `event`.
    pub(super) async fn wait_async(&self, context: &Context, event: Arc<Event>) -> Result<()> {
        if event.has_passed()? {
            return Ok(());
        }
        let (done, outcome) = signal::channel();
        self.push(context, Wait { event, done })?;
        match outcome.receive().await {
            Some(outcome) => outcome,
            None => Err(context.broken("a wait was given up")),
        }
    }

    fn push(&self, context: &Context, wait: Wait) -> Result<()> {
        let mut state = self.queue.lock();
        if state.n_idle <= state.waits.len() && state.n_threads < MAX_THREADS {
            let queue = Arc::clone(&self.queue);
            let started = thread::Builder::new()
                .name("pagepress-cuda".into())
                .spawn(move || queue.serve());
            match started {
                Ok(_) => state.n_threads += 1,
                Err(error) if state.n_threads == 0 => {
                    return Err(context.broken(&format!("no thread to wait with: {error}")));
                }
                Err(_) => {}
            }
        }
        state.waits.push_back(wait);
        self.queue.changed.notify_one();
        Ok(())
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
    }
}
