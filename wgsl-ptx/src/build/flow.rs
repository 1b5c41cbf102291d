//! Structured control flow on top of labels and branches.

use super::arithmetic::Comparison;
use super::kernel::PtxKernel;
use super::types::{Operand, Register};

impl PtxKernel {
    /// Emits `then` under a condition.
    pub fn if_then(&mut self, condition: impl Into<Operand>, then: impl FnOnce(&mut Self)) {
        let end = self.label();
        self.branch_if(condition, false, end);
        then(self);
        self.land(end);
    }

    /// Emits `then` under a condition, and `otherwise` under its negation.
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

    /// Emits a loop that runs `body` while the predicate that `condition` computes is true.
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

    /// Emits a loop with a counter from `start` to below `end` in steps of `step`.
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
