//! Structured control flow on top of labels and branches.

use super::arithmetic::Comparison;
use super::kernel::PtxKernel;
use super::types::{Operand, Register};

impl PtxKernel {
    /// Runs `then` where the condition holds.
    pub fn if_then(&mut self, condition: impl Into<Operand>, then: impl FnOnce(&mut Self)) {
        let end = self.label();
        self.branch_if(condition, false, end);
        then(self);
        self.land(end);
    }

    /// Runs `then` where the condition holds, `otherwise` elsewhere.
    pub fn if_else(
        &mut self,
        condition: impl Into<Operand>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (alternative, end) = (self.label(), self.label());
        self.branch_if(condition, false, alternative);
        then(self);
        self.branch(end);
        self.land(alternative);
        otherwise(self);
        self.land(end);
    }

    /// Runs `body` as long as the predicate that `condition` computes holds.
    pub fn while_loop(
        &mut self,
        condition: impl FnOnce(&mut Self) -> Register,
        body: impl FnOnce(&mut Self),
    ) {
        let (begin, end) = (self.label(), self.label());
        self.place(begin);
        let goes_on = condition(self);
        self.branch_if(goes_on, false, end);
        body(self);
        self.branch(begin);
        self.land(end);
    }

    /// Runs `body` with a counter from `start` on, below `end`, in steps of `step`.
    pub fn for_range(
        &mut self,
        start: impl Into<Operand>,
        end: impl Into<Operand>,
        step: impl Into<Operand>,
        body: impl FnOnce(&mut Self, Register),
    ) {
        let counter = self.copy(start);
        let (end, step) = (end.into(), step.into());
        self.while_loop(
            |kernel| kernel.compare(Comparison::Lt, counter, end),
            |kernel| {
                body(kernel, counter);
                let next = kernel.add(counter, step);
                kernel.assign(counter, next);
            },
        );
    }
}
