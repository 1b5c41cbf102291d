//! [`Pool`]: a bounded pool of allocations by kind and size class, which evicts the least recently used class first.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Free allocations by kind and size in bytes.
#[derive(Debug)]
pub(super) struct Pool<K, T> {
    max_bytes: u64,
    state: Mutex<State<K, T>>,
}

#[derive(Debug)]
struct State<K, T> {
    /// Size classes; a few dozen at most.
    classes: Vec<Class<K, T>>,
    held_bytes: u64,
    /// Number of uses so far.
    clock: u64,
}

/// Free allocations of one kind and size.
#[derive(Debug)]
struct Class<K, T> {
    kind: K,
    n_bytes: u64,
    free: Vec<T>,
    last_use: u64,
}

impl<K, T> Default for State<K, T> {
    fn default() -> Self {
        Self {
            classes: Vec::new(),
            held_bytes: 0,
            clock: 0,
        }
    }
}

impl<K: PartialEq, T> State<K, T> {
    fn class(&mut self, kind: K, n_bytes: u64) -> &mut Class<K, T> {
        self.clock += 1;
        let mut classes = self.classes.iter();
        let found = classes.position(|class| class.n_bytes == n_bytes && class.kind == kind);
        let at = found.unwrap_or(self.classes.len());
        if found.is_none() {
            self.classes.push(Class {
                kind,
                n_bytes,
                free: Vec::new(),
                last_use: 0,
            });
        }
        let class = &mut self.classes[at];
        class.last_use = self.clock;
        class
    }

    /// Removes one allocation of the least recently used class.
    fn evict(&mut self) -> Option<T> {
        let held = self.classes.iter_mut();
        let held = held.filter(|class| !class.free.is_empty());
        let class = held.min_by_key(|class| class.last_use)?;
        self.held_bytes -= class.n_bytes;
        class.free.pop()
    }
}

impl<K: PartialEq, T> Pool<K, T> {
    /// Creates a pool that holds at most `max_bytes`.
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<K, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self, kind: K, n_bytes: u64) -> Option<T> {
        let mut state = self.lock();
        let thing = state.class(kind, n_bytes).free.pop()?;
        state.held_bytes -= n_bytes;
        Some(thing)
    }

    /// Adds `thing` to the pool. If the pool is full, the least recently used class is evicted first. Returns what the pool does not
    /// keep, for the caller to drop, which may be slow.
    pub(super) fn put(&self, kind: K, n_bytes: u64, thing: T) -> Vec<T> {
        let mut evicted = Vec::new();
        let mut state = self.lock();
        while state.held_bytes + n_bytes > self.max_bytes {
            let Some(other) = state.evict() else {
                evicted.push(thing);
                return evicted;
            };
            evicted.push(other);
        }
        state.held_bytes += n_bytes;
        state.class(kind, n_bytes).free.push(thing);
        evicted
    }

    /// Returns the number of bytes in the pool.
    #[cfg(web_pages)]
    pub(super) fn held_bytes(&self) -> u64 {
        self.lock().held_bytes
    }

    /// Removes and drops all allocations.
    pub(super) fn clear(&self) {
        let state = std::mem::take(&mut *self.lock());
        drop(state);
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn least_recently_used_classes_are_evicted() {
        let pool = Pool::new(100);
        pool.put(0, 60, "old");
        pool.put(1, 40, "new");
        assert_eq!(pool.take(1, 60), None);
        pool.put(0, 50, "newest");
        assert_eq!(pool.take(0, 60), None, "evicted");
        assert_eq!(pool.take(1, 40), Some("new"));
        assert_eq!(pool.take(0, 50), Some("newest"));
        pool.put(0, 101, "larger than the pool");
        assert_eq!(pool.take(0, 101), None);
        pool.put(0, 100, "all");
        pool.clear();
        assert_eq!(pool.take(0, 100), None);
        pool.put(0, 100, "again");
        assert_eq!(pool.take(0, 100), Some("again"));
    }
}
