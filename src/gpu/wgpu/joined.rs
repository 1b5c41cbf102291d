//! [`Joined`]: work of one turn of a browser's event loop, submitted together.
//!
//! A submission costs Chromium as much as several launches do. The first work of a turn is submitted at once, so that the device
//! starts. Later work of the turn is encoded, and submitted when there are four parts, when a wait or a read needs it, or when the
//! turn ends. Code outside the engine cannot tell: work on memory that it may access is never held back. `docs/decisions/059` has
//! the measurements.

use std::cell::{RefCell, RefMut};
use std::mem;
use std::sync::Arc;

use super::memory::WgpuBuffer;
use super::shared::Shared;
use super::stream::UNIFORM_ALIGNMENT;
use super::turn::turn;
use crate::Result;

/// Largest number of parts in one submission. With more, the device runs out of work while the page encodes.
const MOST_PARTS: usize = 4;

/// Bytes of parameters of the launches in one submission: those of 64 launches.
const PARAMS_BYTES: usize = 64 * UNIFORM_ALIGNMENT;

/// Work that was encoded and not submitted.
#[derive(Debug, Default)]
pub(super) struct Joined(RefCell<State>);

#[derive(Debug, Default)]
struct State {
    encoder: Option<wgpu::CommandEncoder>,
    n_parts: usize,
    /// Parameters of the launches, and the memory that they are written to when the work is submitted.
    params: Vec<u8>,
    params_at: Option<WgpuBuffer>,
    /// True from the first work of a turn until the turn ends.
    is_within_turn: bool,
}

impl Shared {
    fn joined(&self) -> RefMut<'_, State> {
        self.joined.0.borrow_mut()
    }

    /// Adds parameters of launches to those of the work that waits. Returns their memory and their offset there; `None` if they do
    /// not fit.
    pub(super) fn join_params(
        self: &Arc<Self>,
        params: &[u8],
    ) -> Result<Option<(WgpuBuffer, u64)>> {
        if params.len() > PARAMS_BYTES {
            return Ok(None);
        }
        let offset = |state: &State| state.params.len().next_multiple_of(UNIFORM_ALIGNMENT);
        if offset(&self.joined()) + params.len() > PARAMS_BYTES {
            self.submit_joined();
        }
        let held = self.joined().params_at.clone();
        let memory = match held {
            Some(memory) => memory,
            None => WgpuBuffer::uniform(self, PARAMS_BYTES as u64)?,
        };
        let mut state = self.joined();
        state.params_at = Some(memory.clone());
        let offset = offset(&state);
        state.params.resize(offset, 0);
        state.params.extend_from_slice(params);
        Ok(Some((memory, offset as u64)))
    }

    /// Encodes a part behind the work that waits. It is submitted if it is the first of this turn.
    pub(super) fn join(self: &Arc<Self>, encode: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let encoder = self.joined().encoder.take();
        let mut encoder = encoder.unwrap_or_else(|| self.new_encoder());
        encode(&mut encoder);
        let mut state = self.joined();
        state.encoder = Some(encoder);
        state.n_parts += 1;
        let is_first = !mem::replace(&mut state.is_within_turn, true);
        let is_full = state.n_parts >= MOST_PARTS;
        drop(state);
        if is_first {
            self.end_turn_later();
        }
        if is_first || is_full {
            self.submit_joined();
        }
    }

    /// Submits the work that waits when this turn of the event loop has ended.
    fn end_turn_later(self: &Arc<Self>) {
        let device = Arc::downgrade(self);
        wasm_bindgen_futures::spawn_local(async move {
            turn().await;
            if let Some(shared) = device.upgrade() {
                shared.joined().is_within_turn = false;
                shared.submit_joined();
            }
        });
    }

    /// Submits the work that waits.
    pub(super) fn submit_joined(&self) {
        if let Some((waiting, _params_at)) = self.take_joined() {
            self.queue.submit([waiting]);
        }
    }

    /// Submits the work that waits, and `work` behind it.
    pub(super) fn submit(&self, work: wgpu::CommandBuffer) -> wgpu::SubmissionIndex {
        let (waiting, _params_at) = self.take_joined().unzip();
        self.queue.submit(waiting.into_iter().chain([work]))
    }

    /// Returns the work that waits, and the memory of its parameters, which must not be reused before it is submitted.
    fn take_joined(&self) -> Option<(wgpu::CommandBuffer, Option<WgpuBuffer>)> {
        let mut state = self.joined();
        let encoder = state.encoder.take()?;
        let (params, memory) = (mem::take(&mut state.params), state.params_at.take());
        state.n_parts = 0;
        drop(state);
        if let Some(raw) = memory.as_ref().and_then(WgpuBuffer::handle) {
            self.queue.write_buffer(raw, 0, &params);
        }
        Some((encoder.finish(), memory))
    }
}
