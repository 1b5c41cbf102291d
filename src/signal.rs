//! A oneshot channel: one value from a callback or a thread to a future.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// The sending half, for the callback.
#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Mutex<State<T>>>);

/// The receiving half, for the future.
#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Mutex<State<T>>>);

/// Returns both halves of a new channel.
pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = Arc::new(Mutex::new(State {
        value: None,
        waker: None,
    }));
    (Sender(Arc::clone(&state)), Receiver(state))
}

impl<T> Sender<T> {
    /// Sends the value and wakes the receiver.
    pub(crate) fn send(self, value: T) {
        let waker = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.value = Some(value);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for the value. Returns `None` when the sender was dropped without sending.
    pub(crate) async fn receive(self) -> Option<T> {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(value) = state.value.take() {
                return Poll::Ready(Some(value));
            }
            if Arc::strong_count(&self.0) == 1 {
                return Poll::Ready(None);
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .waker
            .take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
