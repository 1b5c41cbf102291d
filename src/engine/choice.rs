//! The outcome of a choice among engines.

use super::CPU;

/// A candidate that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Name and kind of the candidate.
    pub candidate: String,
    /// The reason why it was not taken.
    pub reason: String,
}

/// The engine that was chosen, the reason, and the candidates that were not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendChoice {
    /// `"cpu"`, `"cuda"` or `"wgpu"`.
    pub engine: &'static str,
    /// Name and kind of the adapter; empty on the CPU.
    pub adapter: String,
    /// The adapter is a software adapter: a CPU that emulates a GPU.
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
