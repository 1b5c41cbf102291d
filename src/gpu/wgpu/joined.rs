//! [`Joined`]: small pieces of work, submitted together.
//!
//! A submission costs a browser or a driver as much as several launches do. The first work of a turn is submitted at once, so that
//! the device starts. Later work of the turn is encoded, and submitted when there are two parts, then four, and so on, when a wait or a
//! read needs it, or when the turn ends: in a browser that of its event loop, natively 100 us without more work. Code outside the engine
//! cannot tell: work on memory that it may access is never held back. `docs/decisions/059` and `060` have the measurements.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::encoding::Encoding;
use super::memory::WgpuBuffer;
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
/// for all threads.
#[derive(Debug, Default)]
pub(super) struct Joined(Mutex<State>);

#[derive(Debug, Default)]
pub(super) struct State {
    work: Option<Encoding>,
    n_parts: usize,
    /// Number of parts that are submitted together: 1 at the start of a turn, then twice as many each time.
    most_parts: usize,
    /// Parameters of the launches, and the memory that they are written to when the work is submitted.
    params: Vec<u8>,
    params_at: Option<WgpuBuffer>,
    pub turns: Turns,
}

impl State {
    /// Returns true if there is work that waits.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn has_work(&self) -> bool {
        self.n_parts > 0
    }

    /// Returns the offset of the next parameters.
    fn offset(&self) -> usize {
        self.params.len().next_multiple_of(UNIFORM_ALIGNMENT)
    }

    /// Returns the work that waits.
    fn take(&mut self, shared: &Shared) -> Option<Waiting> {
        let work = self.work.take()?;
        let params_at = self.params_at.take();
        if let Some(raw) = params_at.as_ref().and_then(WgpuBuffer::handle) {
            shared.queue.write_buffer(raw, 0, &self.params);
        }
        self.params.clear();
        self.n_parts = 0;
        Some(Waiting {
            commands: work.finish(),
            params_at,
        })
    }

    /// Submits the work that waits. Returns the memory of its parameters: dropped before the lock is released, it could make the pool
    /// submit.
    pub(super) fn submit(&mut self, shared: &Shared) -> Option<WgpuBuffer> {
        let waiting = self.take(shared)?;
        shared.queue.submit([waiting.commands]);
        shared.count_when_done();
        waiting.params_at
    }
}

/// Work that waits, and the memory of its parameters, which must not be reused before it is submitted.
struct Waiting {
    commands: wgpu::CommandBuffer,
    params_at: Option<WgpuBuffer>,
}

impl Shared {
    pub(super) fn joined(&self) -> MutexGuard<'_, State> {
        self.joined.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encodes a part behind the work that waits; `encode` gets the encoding, and memory and offset of `params`. It is submitted at once
    /// if it is the first of this turn. Returns false, without a call of `encode`, if the parameters are too many.
    pub(super) fn join(
        self: &Arc<Self>,
        params: &[u8],
        encode: impl FnOnce(&mut Encoding, &(WgpuBuffer, u64)),
    ) -> Result<bool> {
        if params.len() > PARAMS_BYTES {
            return Ok(false);
        }
        // Before the lock is taken, since an allocation may submit, too.
        let spare = WgpuBuffer::uniform(self, PARAMS_BYTES as u64)?;
        let mut state = self.joined();
        let full = match state.offset() + params.len() > PARAMS_BYTES {
            true => state.submit(self),
            false => None,
        };
        let (memory, spare) = match state.params_at.take() {
            Some(memory) => (memory, Some(spare)),
            None => (spare, None),
        };
        let offset = state.offset();
        state.params.resize(offset, 0);
        state.params.extend_from_slice(params);
        let params_at = (memory, offset as u64);
        let work = state.work.get_or_insert_with(|| self.new_encoding());
        encode(work, &params_at);
        state.params_at = Some(params_at.0);
        state.n_parts += 1;
        if self.begins_turn(&mut state.turns) {
            state.most_parts = 1;
        }
        let waits = state.n_parts < state.most_parts && self.ends_turn(&mut state.turns);
        let submitted = match waits {
            true => None,
            false => {
                state.most_parts = (2 * state.most_parts).min(MOST_JOINED);
                state.submit(self)
            }
        };
        drop(state);
        drop((spare, full, submitted));
        Ok(true)
    }

    /// Submits the work that waits.
    pub(super) fn submit_joined(&self) {
        let mut state = self.joined();
        state.turns.end();
        let submitted = state.submit(self);
        drop(state);
        drop(submitted);
    }

    /// Submits the work that waits, and `work` behind it.
    pub(super) fn submit(&self, work: wgpu::CommandBuffer) -> wgpu::SubmissionIndex {
        let mut state = self.joined();
        let (waiting, params_at) = match state.take(self) {
            Some(waiting) => (Some(waiting.commands), waiting.params_at),
            None => (None, None),
        };
        let index = self.queue.submit(waiting.into_iter().chain([work]));
        self.count_when_done();
        drop(state);
        drop(params_at);
        index
    }
}
