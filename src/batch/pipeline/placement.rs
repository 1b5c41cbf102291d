//! Places the blocks of jobs that several threads finish, in the order of the jobs.

use std::fmt::Debug;
use std::mem::{self, MaybeUninit};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::lz4::PageEntry;
use crate::{Error, Result};

/// Gives each job the memory for its blocks.
pub(crate) trait Placing: Debug + Sync {
    /// Waits until all earlier jobs have taken their memory. Returns the offset of the blocks of job `order` in the output, and
    /// the memory for them.
    #[expect(clippy::mut_from_ref, reason = "no memory is given twice")]
    fn take(&self, order: usize, n_bytes: usize) -> Result<(u64, &mut [MaybeUninit<u8>])>;

    /// Keeps the table entries of a job.
    fn keep(&self, order: usize, table: Vec<PageEntry>);
}

/// The free memory of an output, given out from its start.
#[derive(Debug)]
pub(super) struct Placement<'a> {
    state: Mutex<State<'a>>,
    /// Notified when a job has taken its memory, and after a failure.
    taken: Condvar,
}

#[derive(Debug)]
struct State<'a> {
    /// The job that takes its memory next.
    next: usize,
    /// Bytes taken so far.
    n_bytes: usize,
    free: &'a mut [MaybeUninit<u8>],
    tables: Vec<(usize, Vec<PageEntry>)>,
    failed: Option<Error>,
}

impl<'a> Placement<'a> {
    pub(super) fn new(free: &'a mut [MaybeUninit<u8>]) -> Self {
        Self {
            state: Mutex::new(State {
                next: 0,
                n_bytes: 0,
                free,
                tables: Vec::new(),
                failed: None,
            }),
            taken: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all waits with `error`, unless an earlier failure did.
    pub(super) fn fail(&self, error: Error) {
        self.lock().failed.get_or_insert(error);
        self.taken.notify_all();
    }

    /// Returns the bytes of all blocks, and the tables of the jobs in their order.
    pub(super) fn finish(&self) -> (usize, Vec<Vec<PageEntry>>) {
        let mut state = self.lock();
        let mut tables = mem::take(&mut state.tables);
        tables.sort_unstable_by_key(|&(order, _)| order);
        let tables = tables.into_iter().map(|(_, table)| table);
        (state.n_bytes, tables.collect())
    }
}

impl Placing for Placement<'_> {
    fn take(&self, order: usize, n_bytes: usize) -> Result<(u64, &mut [MaybeUninit<u8>])> {
        let waits = |state: &mut State<'_>| state.next != order && state.failed.is_none();
        let mut state = self
            .taken
            .wait_while(self.lock(), waits)
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let free = mem::take(&mut state.free);
        let Some((taken, rest)) = free.split_at_mut_checked(n_bytes) else {
            return Err(super::ring::broken(format!(
                "{n_bytes} bytes of blocks are too many"
            )));
        };
        let start = state.n_bytes as u64;
        (state.free, state.next) = (rest, order + 1);
        state.n_bytes += n_bytes;
        drop(state);
        self.taken.notify_all();
        Ok((start, taken))
    }

    fn keep(&self, order: usize, table: Vec<PageEntry>) {
        self.lock().tables.push((order, table));
    }
}

/// Ends the waits of other threads if its own panics.
pub(super) struct FailOnPanic<'a, 'b>(pub &'a Placement<'b>);

impl Drop for FailOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(super::ring::broken("a worker panicked".into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(memory: &mut [u8]) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the tests write only initialised bytes.
        unsafe { crate::memory::as_uninit(memory) }
    }

    #[test]
    fn blocks_are_placed_in_the_order_of_their_jobs() {
        let mut memory = [0xff; 60];
        let placement = Placement::new(room(&mut memory));
        std::thread::scope(|scope| {
            for order in (0..5).rev() {
                let placement = &placement;
                scope.spawn(move || {
                    let (start, room) = placement.take(order, 4 * order).unwrap();
                    assert_eq!(start as usize, 2 * order * order.saturating_sub(1));
                    room.fill(MaybeUninit::new(order as u8));
                    placement.keep(order, Vec::new());
                });
            }
        });
        let (n_bytes, tables) = placement.finish();
        assert_eq!((n_bytes, tables.len()), (40, 5));
        assert!(placement.take(5, 21).is_err(), "more than is free");
        let ordered = memory[..40].is_sorted() && memory[..40].iter().sum::<u8>() == 120;
        assert!(ordered && memory[40..] == [0xff; 20], "{memory:?}");
    }

    #[test]
    fn a_failure_ends_all_waits() {
        let mut memory = [0; 8];
        let placement = Placement::new(room(&mut memory));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| placement.take(1, 4).map(drop));
            placement.fail(Error::Cancelled);
            placement.fail(Error::DeviceLost {
                reason: "later".into(),
            });
            assert_eq!(waits.join().unwrap(), Err(Error::Cancelled));
        });
        assert_eq!(placement.take(0, 4).map(drop), Err(Error::Cancelled));
    }
}
