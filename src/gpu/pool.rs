//! A bounded pool of things that are expensive to make, by kind and size.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Free things by kind and size in bytes.
#[derive(Debug)]
pub(super) struct Pool<K, T> {
    max_bytes: u64,
    state: Mutex<State<K, T>>,
}

#[derive(Debug)]
struct State<K, T> {
    free: BTreeMap<(K, u64), Vec<T>>,
    held_bytes: u64,
}

impl<K: Ord + Copy, T> Pool<K, T> {
    /// A pool that holds at most `max_bytes`.
    pub(super) fn new(max_bytes: u64) -> Self {
        let state = Mutex::new(State {
            free: BTreeMap::new(),
            held_bytes: 0,
        });
        Self { max_bytes, state }
    }

    fn lock(&self) -> MutexGuard<'_, State<K, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self, kind: K, n_bytes: u64) -> Option<T> {
        let mut state = self.lock();
        let thing = state.free.get_mut(&(kind, n_bytes))?.pop()?;
        state.held_bytes -= n_bytes;
        Some(thing)
    }

    /// Keeps `thing` for later; drops it if the pool is full.
    pub(super) fn put(&self, kind: K, n_bytes: u64, thing: T) {
        let mut state = self.lock();
        if state.held_bytes + n_bytes <= self.max_bytes {
            state.held_bytes += n_bytes;
            state.free.entry((kind, n_bytes)).or_default().push(thing);
        }
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        let mut state = self.lock();
        let free = std::mem::take(&mut state.free);
        state.held_bytes = 0;
        drop(state);
        drop(free);
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn gives_back_what_fits_and_drops_the_rest() {
        let pool = Pool::new(100);
        pool.put(0, 60, "a");
        pool.put(0, 60, "too much");
        pool.put(1, 40, "b");
        assert_eq!(pool.take(1, 60), None);
        assert_eq!(pool.take(0, 60), Some("a"));
        assert_eq!(pool.take(0, 60), None);
        pool.clear();
        assert_eq!(pool.take(1, 40), None);
        pool.put(0, 100, "c");
        assert_eq!(pool.take(0, 100), Some("c"));
    }
}
