//! Concurrent streams, and the dependencies between them.
//!
//! There is one lane for uploads. There are several for kernels, which independent submissions use in turn, since a small job
//! does not fill a GPU, and several for downloads, since one that waits for its kernels would block those queued behind it.
//! A submission that has to wait for kernels runs on their lane, since a wait between lanes costs several microseconds.
//! Every step on a lane gets a ticket, the next number of that lane, and every piece of memory records the tickets of
//! its last use on each lane. A step on one lane that touches memory last used on another first waits for that ticket
//! only. So work that shares no memory overlaps, also across submissions, and accesses to pooled memory stay in order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use cudarc::driver::sys::{self, CUstream_flags_enum as Flags};

use super::context::{Context, Entered};
use super::event::{Event, Purpose};
use crate::Result;
use crate::gpu::watch::{self, Watch};

/// The kind of work of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Host to device.
    Upload,
    /// Kernels, and copies within the device.
    Compute,
    /// Device to host.
    Download,
}

/// Number of lanes for kernels: submissions whose kernels may run concurrently.
const N_COMPUTE: usize = 4;

/// Number of lanes for downloads: submissions whose downloads do not block each other.
const N_DOWNLOAD: usize = 3;

/// Number of lanes: uploads first, downloads last, kernels between. At most the number of the driver's hardware queues,
/// by default eight.
const N_LANES: usize = 1 + N_COMPUTE + N_DOWNLOAD;

/// Maximum number of markers kept per lane, not counting those that the device has not reached.
const MAX_MARKS: usize = 64;

/// Tickets of the last use of a piece of memory on each lane; 0 for none. Changed only while the lanes are locked.
#[derive(Debug, Default)]
pub(super) struct Uses([AtomicU64; N_LANES]);

impl Uses {
    fn tickets(&self) -> [u64; N_LANES] {
        std::array::from_fn(|lane| self.0[lane].load(Ordering::Relaxed))
    }
}

/// The lanes of a device.
#[derive(Debug)]
pub(super) struct Lanes {
    context: Arc<Context>,
    board: Mutex<Board>,
    /// Limit without progress when waiting for the end of all work.
    wait_limit: Duration,
}

#[derive(Debug)]
struct Board {
    lanes: [State; N_LANES],
    /// Number of submissions so far.
    n_submissions: usize,
}

#[derive(Debug)]
struct State {
    stream: sys::CUstream,
    /// The ticket of the last step.
    issued: u64,
    /// The last ticket that the device is known to have reached.
    passed: u64,
    /// The last ticket of each other lane that this lane waits for.
    joined: [u64; N_LANES],
    marks: VecDeque<(u64, Arc<Event>)>,
}

// SAFETY: the driver's streams may be used by several threads concurrently; it locks internally.
unsafe impl Send for State {}

impl State {
    fn new(entered: &Entered<'_>) -> Result<Self> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: `stream` outlives the call; the context is current. It does not wait for the process's default stream.
        entered.ok("cuStreamCreate", unsafe {
            sys::cuStreamCreate(&raw mut stream, Flags::CU_STREAM_NON_BLOCKING as u32)
        })?;
        Ok(Self {
            stream,
            issued: 0,
            passed: 0,
            joined: [0; N_LANES],
            marks: VecDeque::new(),
        })
    }

    /// Returns the earliest marker at or after `ticket`; a new one if there is none.
    fn mark(
        &mut self,
        context: &Arc<Context>,
        entered: &Entered<'_>,
        ticket: u64,
    ) -> Result<(u64, Arc<Event>)> {
        let at = self.marks.partition_point(|(marked, _)| *marked < ticket);
        if let Some((marked, event)) = self.marks.get(at) {
            return Ok((*marked, Arc::clone(event)));
        }
        let event = Arc::new(Event::record(
            context,
            entered,
            self.stream,
            Purpose::Order,
        )?);
        self.marks.push_back((self.issued, Arc::clone(&event)));
        if self.marks.len() > MAX_MARKS {
            self.forget_passed()?;
        }
        Ok((self.issued, event))
    }

    fn forget_passed(&mut self) -> Result<()> {
        while let Some((ticket, event)) = self.marks.front() {
            if !event.has_passed()? {
                break;
            }
            self.passed = *ticket;
            self.marks.pop_front();
        }
        Ok(())
    }
}

impl Board {
    /// Returns the lane of kernels whose unfinished steps use most of the memory; `None` if no such step uses any.
    fn awaited_lane<'m>(
        &mut self,
        memory: impl IntoIterator<Item = &'m Uses>,
    ) -> Result<Option<usize>> {
        let mut n_awaited = [0; N_LANES];
        let mut is_known = [false; N_LANES];
        for uses in memory {
            let tickets = uses.tickets().into_iter().enumerate();
            for (at, ticket) in tickets.skip(1).take(N_COMPUTE) {
                let lane = &mut self.lanes[at];
                if ticket > lane.passed && !is_known[at] {
                    lane.forget_passed()?;
                    is_known[at] = true;
                }
                n_awaited[at] += usize::from(ticket > lane.passed);
            }
        }
        let most = n_awaited.into_iter().max().filter(|&n| n > 0);
        Ok(most.and_then(|most| n_awaited.iter().position(|&n| n == most)))
    }
}

impl Lanes {
    pub(super) fn new(
        context: &Arc<Context>,
        entered: &Entered<'_>,
        wait_limit: Duration,
    ) -> Result<Self> {
        let mut lanes = Vec::with_capacity(N_LANES);
        for _ in 0..N_LANES {
            lanes.push(State::new(entered)?);
        }
        let Ok(lanes) = <[State; N_LANES]>::try_from(lanes) else {
            return Err(context.broken("lanes are missing"));
        };
        Ok(Self {
            context: Arc::clone(context),
            board: Mutex::new(Board {
                lanes,
                n_submissions: 0,
            }),
            wait_limit,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks all lanes for a submission that uses `memory`.
    pub(super) fn hold<'a, 'm>(
        &'a self,
        entered: &'a Entered<'a>,
        memory: impl IntoIterator<Item = &'m Uses>,
    ) -> Result<Held<'a>> {
        let mut board = self.lock();
        board.n_submissions += 1;
        let in_turn = 1 + board.n_submissions % N_COMPUTE;
        Ok(Held {
            context: &self.context,
            entered,
            compute: board.awaited_lane(memory)?.unwrap_or(in_turn),
            download: 1 + N_COMPUTE + board.n_submissions % N_DOWNLOAD,
            board,
            used: [false; N_LANES],
        })
    }

    /// Returns markers after the last uses in `uses`; none for uses that the device is known to have completed.
    pub(super) fn after(&self, uses: &Uses) -> Result<Vec<Arc<Event>>> {
        let entered = self.context.enter()?;
        let mut board = self.lock();
        let mut events = Vec::new();
        for (lane, ticket) in board.lanes.iter_mut().zip(uses.tickets()) {
            if ticket > lane.passed {
                lane.forget_passed()?;
            }
            if ticket > lane.passed {
                events.push(lane.mark(&self.context, &entered, ticket)?.1);
            }
        }
        Ok(events)
    }

    /// Returns the number of completed steps of all lanes; `None` while the lanes are locked, or if the device is lost.
    pub(super) fn n_passed(&self) -> Option<u64> {
        let _entered = self.context.enter().ok()?;
        let mut board = match self.board.try_lock() {
            Ok(board) => board,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let passed = board.lanes.iter_mut().map(|lane| {
            lane.forget_passed()?;
            Ok(lane.passed)
        });
        passed.sum::<Result<u64>>().ok()
    }

    /// Waits until the device has reached `event`. A device without progress counts as lost.
    fn finish(&self, event: &Event) -> Result<()> {
        const NAP: Duration = Duration::from_millis(1);
        let mut watch = None;
        let mut n_passed = 0;
        while !event.has_passed()? {
            // Most often there is nothing to wait for, or little.
            thread::sleep(NAP);
            n_passed = self.n_passed().unwrap_or(n_passed);
            if watch
                .get_or_insert_with(|| Watch::new(self.wait_limit, n_passed))
                .has_stalled(n_passed)
            {
                self.context.note_lost(watch::reason(self.wait_limit));
            }
        }
        Ok(())
    }

    /// Returns markers after everything submitted.
    pub(super) fn after_all(&self) -> Result<Vec<Arc<Event>>> {
        let entered = self.context.enter()?;
        let mut board = self.lock();
        let marks = board.lanes.iter_mut().map(|lane| {
            let ticket = lane.issued;
            Ok(lane.mark(&self.context, &entered, ticket)?.1)
        });
        marks.collect()
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        // Kernels and memory of the device are freed next; nothing may run on them.
        for event in self.after_all().unwrap_or_default() {
            // In a lost context nothing runs, or work that cannot be stopped; kernels and memory are leaked in that
            // case.
            drop(self.finish(&event));
        }
        let Ok(_entered) = self.context.enter() else {
            return;
        };
        for lane in &self.lock().lanes {
            // SAFETY: this object owns the stream, and no other has its handle.
            let _ = unsafe { sys::cuStreamDestroy_v2(lane.stream) };
        }
    }
}

/// The locked lanes, during a submission.
pub(super) struct Held<'a> {
    context: &'a Arc<Context>,
    entered: &'a Entered<'a>,
    board: MutexGuard<'a, Board>,
    /// The lanes for this submission's kernels and downloads.
    compute: usize,
    download: usize,
    used: [bool; N_LANES],
}

impl Held<'_> {
    fn index(&self, lane: Lane) -> usize {
        match lane {
            Lane::Upload => 0,
            Lane::Compute => self.compute,
            Lane::Download => self.download,
        }
    }

    /// Makes `lane` wait for the last uses of `memory` on other lanes.
    pub(super) fn join(&mut self, lane: Lane, memory: &Uses) -> Result<()> {
        let this = self.index(lane);
        for (other, ticket) in memory.tickets().into_iter().enumerate() {
            let passed = self.board.lanes[other].passed;
            let joined = self.board.lanes[this].joined[other];
            if other != this && ticket > passed.max(joined) {
                let from = &mut self.board.lanes[other];
                let (marked, event) = from.mark(self.context, self.entered, ticket)?;
                event.hold_back(self.entered, self.board.lanes[this].stream)?;
                self.board.lanes[this].joined[other] = marked;
            }
        }
        Ok(())
    }

    /// Enqueues a step that uses `memory` on `lane`, after the last uses of that memory.
    pub(super) fn issue<'m>(
        &mut self,
        lane: Lane,
        memory: impl IntoIterator<Item = &'m Uses>,
        call: &'static str,
        step: impl FnOnce(sys::CUstream) -> sys::CUresult,
    ) -> Result<()> {
        let this = self.index(lane);
        let ticket = self.board.lanes[this].issued + 1;
        for uses in memory {
            self.join(lane, uses)?;
            uses.0[this].store(ticket, Ordering::Relaxed);
        }
        self.board.lanes[this].issued = ticket;
        self.used[this] = true;
        self.entered.ok(call, step(self.board.lanes[this].stream))
    }

    /// Records a timing event on `lane`.
    pub(super) fn time(&self, lane: Lane) -> Result<Event> {
        let stream = self.board.lanes[self.index(lane)].stream;
        Event::record(self.context, self.entered, stream, Purpose::Time)
    }

    /// Returns markers after the steps of this submission.
    pub(super) fn finish(mut self) -> Result<Vec<Arc<Event>>> {
        let mut events = Vec::new();
        for (lane, used) in self.board.lanes.iter_mut().zip(self.used) {
            if used {
                let ticket = lane.issued;
                events.push(lane.mark(self.context, self.entered, ticket)?.1);
            }
        }
        Ok(events)
    }
}
