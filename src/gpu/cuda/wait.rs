//! Waits for the device without blocking an executor: a few threads block in the driver and wake futures. A watchdog
//! thread periodically checks that the device makes progress, since a wait in the driver cannot be interrupted when the
//! device hangs.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use futures_channel::oneshot;

use super::context::Context;
use super::event::Event;
use crate::Result;
use crate::gpu::watch::{self, Watch};

/// Maximum number of threads per device. Work of one device completes nearly in order, so few are ever busy.
const MAX_THREADS: usize = 4;

/// Interval between two checks of the progress.
const LOOK: Duration = Duration::from_secs(1);

/// Number of checks without a pending wait after which the watchdog thread ends.
const IDLE_LOOKS: u32 = 5;

/// A device whose progress the watchdog checks.
pub(super) trait Watched: Send + Sync + 'static {
    /// Returns the number of completed steps; `None` if it is not known now.
    fn n_passed(&self) -> Option<u64>;

    /// Returns its context, which is noted as lost when the device has stalled.
    fn context(&self) -> &Context;
}

/// The waiting threads of one device. They end with it.
pub(super) struct Waiters {
    queue: Arc<Queue>,
    limit: Duration,
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
    /// Signals that a wait was queued, or that the device was closed.
    changed: Condvar,
    /// True after the device was closed.
    closed: Condvar,
}

#[derive(Default)]
struct State {
    waits: VecDeque<Wait>,
    /// Results that futures wait for.
    owed: Vec<Answer>,
    n_answered: u64,
    n_threads: usize,
    n_idle: usize,
    is_watched: bool,
    is_closed: bool,
}

struct Wait {
    event: Arc<Event>,
    answer: Answer,
}

/// The outcome of a wait, which is sent once.
#[derive(Clone)]
struct Answer(Arc<Mutex<Option<oneshot::Sender<Result<()>>>>>);

impl Answer {
    fn new(sender: oneshot::Sender<Result<()>>) -> Self {
        Self(Arc::new(Mutex::new(Some(sender))))
    }

    fn give(&self, outcome: Result<()>) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // The waiting future may have been dropped.
            drop(sender.send(outcome));
        }
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a waiting thread.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(Wait { event, answer }) = state.waits.pop_front() {
                drop(state);
                answer.give(event.block());
                drop(event);
                state = self.lock();
                state.n_answered += 1;
                state.owed.retain(|owed| !owed.is(&answer));
            } else if state.is_closed {
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

    /// Runs the watchdog thread. It wakes periodically, so that waits need not wake it.
    fn watch(&self, device: &Weak<impl Watched>, limit: Duration) {
        let (mut n_idle, mut n_passed, mut watched) = (0, 0, None);
        let look = limit.clamp(Duration::from_millis(1), LOOK);
        let mut state = self.lock();
        loop {
            let slept = self.closed.wait_timeout(state, look);
            (state, _) = slept.unwrap_or_else(PoisonError::into_inner);
            if state.is_closed || (state.owed.is_empty() && n_idle == IDLE_LOOKS) {
                state.is_watched = false;
                return;
            }
            if state.owed.is_empty() {
                (n_idle, watched) = (n_idle + 1, None);
                continue;
            }
            n_idle = 0;
            let n_answered = state.n_answered;
            drop(state);
            // If this is the last reference to the device, it is dropped here, where the queue is not locked.
            if let Some(device) = device.upgrade() {
                n_passed = device.n_passed().unwrap_or(n_passed);
                let n_done = n_answered + n_passed;
                let watch = watched.get_or_insert_with(|| Watch::new(limit, n_done));
                if watch.has_stalled(n_done) {
                    device.context().note_lost(watch::reason(limit));
                    self.give_up(device.context());
                }
            }
            state = self.lock();
        }
    }

    /// Completes all futures with the loss of the device.
    fn give_up(&self, context: &Context) {
        let owed = std::mem::take(&mut self.lock().owed);
        for answer in owed {
            answer.give(context.check());
        }
    }
}

impl Waiters {
    /// Waits that fail after `limit` without progress.
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            queue: Arc::default(),
            limit,
        }
    }

    /// Waits until `device`, which owns these threads, has reached `event`.
    pub(super) async fn wait_async(
        &self,
        device: &Arc<impl Watched>,
        event: Arc<Event>,
    ) -> Result<()> {
        if event.has_passed()? {
            return Ok(());
        }
        let (sender, outcome) = oneshot::channel();
        let answer = Answer::new(sender);
        self.push(device, Wait { event, answer })?;
        match outcome.await {
            Ok(outcome) => outcome,
            Err(_) => Err(device.context().broken("a wait was given up")),
        }
    }

    fn push(&self, device: &Arc<impl Watched>, wait: Wait) -> Result<()> {
        let mut state = self.queue.lock();
        if state.n_idle <= state.waits.len() && state.n_threads < MAX_THREADS {
            let queue = Arc::clone(&self.queue);
            let started = thread::Builder::new()
                .name("pagepress-cuda".into())
                .spawn(move || queue.serve());
            match started {
                Ok(_) => state.n_threads += 1,
                Err(error) if state.n_threads == 0 => {
                    let message = format!("no thread to wait with: {error}");
                    return Err(device.context().broken(&message));
                }
                Err(_) => {}
            }
        }
        if !state.is_watched {
            let (queue, device, limit) =
                (Arc::clone(&self.queue), Arc::downgrade(device), self.limit);
            let started = thread::Builder::new()
                .name("pagepress-watch".into())
                .spawn(move || queue.watch(&device, limit));
            // Without the watchdog, waits have no limit. The next wait tries to start it again.
            state.is_watched = started.is_ok();
        }
        state.owed.push(wait.answer.clone());
        state.waits.push_back(wait);
        self.queue.changed.notify_one();
        Ok(())
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.changed.notify_all();
        self.queue.closed.notify_all();
    }
}
