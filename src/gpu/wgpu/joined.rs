//! [`Joined`]: small pieces of work, submitted together.
//!
//! A submission costs a browser or a driver as much as several launches do. The first work of a turn is submitted at once, so that
//! the device starts. Later work of the turn is encoded, and submitted when there are two parts, then four, and so on, when a wait or a
//! read needs it, or when the turn ends: in a browser that of its event loop, natively 100 us without more work. Code outside the engine
//! cannot tell: work on memory that it may access is never held back. `docs/decisions/059` and `060` have the measurements.

use std::cell::RefCell;
use std::sync::Arc;

#[cfg(not(target_arch = "wasm32"))]
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

use super::allocation::Charged;
use super::encoding::Encoding;
use super::launch::Params;
use super::memory::{give_back, take_uniform};
use super::shared::Shared;
use super::stream::UNIFORM_ALIGNMENT;
#[cfg(not(target_arch = "wasm32"))]
use super::turns::Turns;
#[cfg(target_arch = "wasm32")]
use super::turns_web::Turns;
use crate::Result;
use crate::kernels::pace::MOST_JOINED;

/// Bytes of parameters of the launches in one submission: those of 64 launches.
const PARAMS_BYTES: usize = 64 * UNIFORM_ALIGNMENT;

/// Work that was encoded and not submitted. The lock is held while work is encoded and submitted, so that both have the same order
/// for all threads. A submission runs callbacks that were given to wgpu, which may start work, too: their thread locks again.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Default)]
pub(super) struct Joined(ReentrantMutex<RefCell<State>>);

/// The same in a browser, where a device has one thread.
#[cfg(target_arch = "wasm32")]
#[derive(Debug, Default)]
pub(super) struct Joined(RefCell<State>);

#[derive(Debug, Default)]
pub(super) struct State {
    work: Option<Encoding>,
    n_parts: usize,
    /// Number of parts that are submitted together: 1 at the start of a turn, then twice as many each time.
    most_parts: usize,
    /// Parameters of the launches, and the memory that they are written to when the work is submitted. It does not keep the device: with the
    /// last handle of a device, work that waits is dropped.
    params: Vec<u8>,
    params_at: Option<Charged>,
    pub turns: Turns,
}

impl State {
    /// Returns true if there is work that waits.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn has_work(&self) -> bool {
        self.work.is_some()
    }

    /// Returns the offset of the next parameters.
    fn offset(&self) -> usize {
        self.params.len().next_multiple_of(UNIFORM_ALIGNMENT)
    }

    /// Encodes a part; `encode` gets the encoding, and memory and offset of `params`.
    fn add(
        &mut self,
        shared: &Shared,
        memory: Charged,
        params: &[u8],
        encode: impl FnOnce(&mut Encoding, Params<'_>),
    ) {
        let offset = self.offset();
        self.params.resize(offset, 0);
        self.params.extend_from_slice(params);
        let work = self.work.get_or_insert_with(|| shared.new_encoding());
        encode(work, (memory.buffer(), offset as u64));
        self.params_at = Some(memory);
        self.n_parts += 1;
    }

    /// Returns the work that waits, and the memory of its parameters, which must not be reused before it is submitted.
    fn take(&mut self, shared: &Shared) -> Option<(wgpu::CommandBuffer, Charged)> {
        let work = self.work.take()?;
        let memory = self.params_at.take()?;
        shared.queue.write_buffer(memory.buffer(), 0, &self.params);
        self.params.clear();
        self.n_parts = 0;
        Some((work.finish(), memory))
    }
}

impl Shared {
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn joined(&self) -> ReentrantMutexGuard<'_, RefCell<State>> {
        self.joined.0.lock()
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) fn joined(&self) -> &RefCell<State> {
        &self.joined.0
    }

    /// Encodes a part behind the work that waits; `encode` gets the encoding, and memory and offset of `params`. It is submitted at once
    /// if it is the first of this turn. Returns false, without a call of `encode`, if the parameters are too many.
    pub(super) fn join(
        self: &Arc<Self>,
        params: &[u8],
        encode: impl FnOnce(&mut Encoding, Params<'_>),
    ) -> Result<bool> {
        if params.len() > PARAMS_BYTES {
            return Ok(false);
        }
        let joined = self.joined();
        if joined.borrow().offset() + params.len() > PARAMS_BYTES {
            self.submit_waiting();
        }
        let held = joined.borrow_mut().params_at.take();
        let memory = match held {
            Some(memory) => memory,
            None => take_uniform(self, PARAMS_BYTES as u64)?,
        };
        let mut state = joined.borrow_mut();
        state.add(self, memory, params, encode);
        if self.begins_turn(&mut state.turns) {
            state.most_parts = 1;
        }
        if state.n_parts < state.most_parts && self.ends_turn(&mut state.turns) {
            return Ok(true);
        }
        state.most_parts = (2 * state.most_parts).min(MOST_JOINED);
        drop(state);
        self.submit_waiting();
        Ok(true)
    }

    /// Submits the work that waits, and ends the turn natively: something waits for it.
    pub(super) fn submit_joined(&self) {
        self.joined().borrow_mut().turns.end();
        self.submit_waiting();
    }

    /// Submits the work that waits.
    fn submit_waiting(&self) {
        let joined = self.joined();
        let waiting = joined.borrow_mut().take(self);
        if let Some((work, memory)) = waiting {
            self.queue.submit([work]);
            self.count_when_done();
            give_back(self, memory);
        }
    }

    /// Submits the work that waits, and `work` behind it.
    pub(super) fn submit(&self, work: wgpu::CommandBuffer) -> wgpu::SubmissionIndex {
        let joined = self.joined();
        let waiting = joined.borrow_mut().take(self);
        let (waiting, memory) = waiting.unzip();
        let index = self.queue.submit(waiting.into_iter().chain([work]));
        self.count_when_done();
        if let Some(memory) = memory {
            give_back(self, memory);
        }
        index
    }
}
