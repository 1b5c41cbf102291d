//! Tasks of the thread pool whose results are used in the order of the tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::StreamError;
use crate::Error;

/// The result of a task.
pub(super) enum Pending<T> {
    /// A thread of the pool computes it.
    Spawned(Receiver<T>),
    /// The caller of [`wait`](Self::wait) computes it.
    Deferred(Box<dyn FnOnce() -> T + Send>),
}

impl<T: Send + 'static> Pending<T> {
    /// Starts `task` on the thread pool if `is_parallel`.
    pub(super) fn start(is_parallel: bool, task: impl FnOnce() -> T + Send + 'static) -> Self {
        if !is_parallel {
            return Self::Deferred(Box::new(task));
        }
        let (sender, result) = sync_channel(1);
        rayon::spawn_fifo(move || {
            // A task that panics drops the sender, which `wait` reports; rayon would end the process.
            let done = catch_unwind(AssertUnwindSafe(task));
            if let Ok(done) = done {
                // The send fails if the stream has ended with an error.
                let _ = sender.send(done);
            }
        });
        Self::Spawned(result)
    }

    /// Returns the result, when it is there.
    pub(super) fn wait(self) -> Result<T, StreamError> {
        match self {
            Self::Spawned(result) => result.recv().map_err(|_| stopped()),
            Self::Deferred(task) => Ok(task()),
        }
    }
}

/// Returns the error for a thread that panicked.
fn stopped() -> StreamError {
    let message = "a thread of the codec stopped".to_owned();
    Error::Engine {
        engine: "cpu",
        message,
    }
    .into()
}

/// The items of a stream, in order, and the way back for their buffers.
pub(super) struct Source<Item, Buffer> {
    items: Receiver<Result<Item, StreamError>>,
    used: Sender<Buffer>,
}

impl<Item, Buffer> Source<Item, Buffer> {
    /// Returns the next item. The caller knows the last one.
    pub(super) fn next(&self) -> Result<Item, StreamError> {
        self.items.recv().unwrap_or_else(|_| Err(stopped()))
    }

    /// Gives a buffer back.
    pub(super) fn reuse(&self, buffer: Buffer) {
        // The send fails if the source has ended.
        let _ = self.used.send(buffer);
    }
}

/// The other end of a [`Source`].
pub(super) struct Sink<Item, Buffer> {
    items: SyncSender<Result<Item, StreamError>>,
    used: Receiver<Buffer>,
    /// False if the thread pool cannot work beside the thread that waits for its results.
    pub is_parallel: bool,
}

/// The receiver of a stream has ended it.
pub(super) struct Ended;

impl<Item, Buffer> Sink<Item, Buffer> {
    /// Passes an item on. Waits while the queue is full.
    pub(super) fn send(&self, item: Item) -> Result<(), Ended> {
        self.items.send(Ok(item)).map_err(|_| Ended)
    }

    /// Returns a buffer that is no longer used.
    pub(super) fn reuse(&self) -> Option<Buffer> {
        self.used.try_recv().ok()
    }
}

/// Runs `produce` on a thread of its own. An error that it returns becomes the last item.
pub(super) fn spawn_source<Item: Send + 'static, Buffer: Send + 'static>(
    produce: impl FnOnce(&Sink<Item, Buffer>) -> Result<(), Stop> + Send + 'static,
) -> Result<Source<Item, Buffer>, StreamError> {
    let n_threads = rayon::current_num_threads();
    // One item is written and one is read while each thread of the pool works on another.
    let (item_sender, items) = sync_channel(n_threads);
    let (used, used_receiver) = channel();
    let sink = Sink {
        items: item_sender,
        used: used_receiver,
        // A pool that waits for this thread would wait for itself.
        is_parallel: n_threads > 1 && rayon::current_thread_index().is_none(),
    };
    let run = move || {
        if let Err(Stop::Failed(error)) = produce(&sink) {
            // The send fails if the stream has ended with an error.
            let _ = sink.items.send(Err(error));
        }
    };
    let thread = thread::Builder::new()
        .name("pagepress-read".into())
        .spawn(run);
    thread.map_err(StreamError::Thread)?;
    Ok(Source { items, used })
}

/// The reason why a source ends early.
pub(super) enum Stop {
    /// The receiver has ended the stream.
    Ended,
    Failed(StreamError),
}

impl From<Ended> for Stop {
    fn from(Ended: Ended) -> Self {
        Self::Ended
    }
}

impl From<StreamError> for Stop {
    fn from(error: StreamError) -> Self {
        Self::Failed(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}
