//! Turns of a browser's event loop, in which work is submitted together.

use std::mem;
use std::sync::Arc;

use super::shared::Shared;
use super::turn::turn;

#[derive(Debug, Default)]
pub(super) struct Turns {
    /// True from the first work of a turn until the turn ends.
    is_within: bool,
}

impl Turns {
    /// Does nothing: the event loop ends its turns.
    pub(super) fn end(&mut self) {}
}

impl Shared {
    /// Notes work; returns true if it is the first of a turn.
    pub(super) fn begins_turn(self: &Arc<Self>, turns: &mut Turns) -> bool {
        if mem::replace(&mut turns.is_within, true) {
            return false;
        }
        let device = Arc::downgrade(self);
        wasm_bindgen_futures::spawn_local(async move {
            turn().await;
            if let Some(shared) = device.upgrade() {
                shared.joined().borrow_mut().turns.is_within = false;
                shared.submit_joined();
            }
        });
        true
    }

    /// Returns true: the event loop ends the turn.
    pub(super) fn ends_turn(self: &Arc<Self>, _turns: &mut Turns) -> bool {
        true
    }
}
