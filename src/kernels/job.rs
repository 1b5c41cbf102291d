//! [`Job`]: a piece of work as plain data.

use super::{Launch, Slot};

/// Buffers and launches of one piece of work. Launches run in order; each sees the writes of those before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Sizes in bytes of all buffers that the launches name, multiples of 4.
    pub buffers: Vec<(Slot, u64)>,
    /// The dispatches, in order.
    pub launches: Vec<Launch>,
}
