//! The outcome of a choice among engines.

use super::CPU;

/// A candidate that was not chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Name and kind of the candidate.
    pub candidate: String,
    /// The reason why it was not chosen.
    pub reason: String,
}

/// The chosen engine, the reason, and the rejected candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendChoice {
    /// `"cpu"`, `"cuda"` or `"wgpu"`.
    pub engine: &'static str,
    /// Name and kind of the adapter; empty on the CPU.
    pub adapter: String,
    /// True for a software adapter: a CPU that emulates a GPU.
    pub software: bool,
    /// The reason for this choice.
    pub reason: String,
    /// Every other candidate.
    pub rejected: Vec<Rejected>,
}

impl BackendChoice {
    /// Returns the choice of the CPU.
    pub(crate) fn cpu(reason: String, rejected: Vec<Rejected>) -> Self {
        Self {
            engine: CPU,
            adapter: String::new(),
            software: false,
            reason,
            rejected,
        }
    }
}
