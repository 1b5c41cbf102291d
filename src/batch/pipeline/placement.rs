//! Places the blocks of jobs that several threads finish, in the order of the jobs.

use std::fmt::Debug;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::compress::entries;
use super::framing::Framing;
use crate::copy::fill;
use crate::lz4::PageEntry;
use crate::{Error, Result};

/// A job whose blocks are done.
pub(crate) struct Done<'a> {
    /// Its number among the jobs of the call.
    pub order: usize,
    /// Its bytes among those of the pages.
    pub pages: Range<u64>,
    /// Table words.
    pub words: &'a [u32],
    /// The blocks.
    pub blocks: &'a [u8],
}

/// Writes the blocks of each job behind those of the job before it.
pub(crate) trait Placing: Debug + Sync {
    /// Writes the blocks of a job, once all earlier jobs have taken their memory.
    fn place(&self, job: Done<'_>) -> Result<()>;
}

/// The free memory of an output, given out from its start.
#[derive(Debug)]
pub(super) struct Placement<'a> {
    state: Mutex<State<'a>>,
    /// Notified when a job has taken its memory, and after a failure.
    taken: Condvar,
    /// Makes blocks of a frame of the blocks.
    framing: Option<Framing<'a>>,
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
    /// Returns a placement of packed blocks, or of the blocks of a frame.
    pub(super) fn new(free: &'a mut [MaybeUninit<u8>], framing: Option<Framing<'a>>) -> Self {
        Self {
            framing,
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

    pub(super) fn into_framing(self) -> Option<Framing<'a>> {
        self.framing
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all waits with `error`, unless an earlier failure did.
    #[cfg(not(target_arch = "wasm32"))]
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

    /// Waits until all earlier jobs have taken their memory. Returns the offset of the blocks of job `order` in the output, and
    /// the memory for them.
    fn take(&self, order: usize, n_bytes: usize) -> Result<(u64, &'a mut [MaybeUninit<u8>])> {
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
}

impl Placing for Placement<'_> {
    fn place(&self, job: Done<'_>) -> Result<()> {
        let mut table = Vec::new();
        if let Some(framing) = &self.framing {
            entries(job.words, 0, job.blocks, &mut table)?;
            let take = |n_bytes| self.take(job.order, n_bytes).map(|(_, room)| room);
            return framing.write(job.pages, job.blocks, &table, take);
        }
        let (start, room) = self.take(job.order, job.blocks.len())?;
        fill(room, job.blocks);
        entries(job.words, start, job.blocks, &mut table)?;
        self.lock().tables.push((job.order, table));
        Ok(())
    }
}

/// Ends the waits of other threads if its own panics.
#[cfg(not(target_arch = "wasm32"))]
pub(super) struct FailOnPanic<'a, 'b>(pub &'a Placement<'b>);

#[cfg(not(target_arch = "wasm32"))]
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
        let placement = Placement::new(room(&mut memory), None);
        std::thread::scope(|scope| {
            for order in (0..5).rev() {
                let placement = &placement;
                scope.spawn(move || {
                    let (start, room) = placement.take(order, 4 * order).unwrap();
                    assert_eq!(start as usize, 2 * order * order.saturating_sub(1));
                    room.fill(MaybeUninit::new(order as u8));
                });
            }
        });
        assert_eq!(placement.finish().0, 40);
        assert!(placement.take(5, 21).is_err(), "more than is free");
        let ordered = memory[..40].is_sorted() && memory[..40].iter().sum::<u8>() == 120;
        assert!(ordered && memory[40..] == [0xff; 20], "{memory:?}");
    }

    #[test]
    fn a_failure_ends_all_waits() {
        let mut memory = [0; 8];
        let placement = Placement::new(room(&mut memory), None);
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
