//! Loops that all invocations of a warp leave in the same iteration, so that subgroup operations in them include all.

use naga::{Block, Expression, Handle, LocalVariable, Statement};

use super::Lowering;
use super::call::n_returns;
use super::frame::Frame;
use super::unroll::{loaded, update_of};

impl Lowering<'_> {
    /// Returns true if invocations that enter a loop together leave it together: every jump out of an iteration depends on
    /// uniform conditions only. `before` is the statement that precedes the loop.
    pub(super) fn stays_together(
        &mut self,
        frame: &Frame<'_>,
        before: Option<&Statement>,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> bool {
        let counter = self.uniform_counter(frame, before, continuing);
        let is_checked = |condition| {
            is_uniform(frame, condition)
                || counter.is_some_and(|counter| compares(frame, condition, counter))
        };
        break_if.is_none_or(is_checked) && leaves_together(body, &is_checked)
    }

    /// Returns the counter of a loop that only uniform values are stored to: one before the loop, and steps between iterations.
    fn uniform_counter(
        &mut self,
        frame: &Frame<'_>,
        before: Option<&Statement>,
        continuing: &Block,
    ) -> Option<Handle<LocalVariable>> {
        let (counter, _, step) = update_of(frame.function, continuing)?;
        let (start, _) = self.counter_start(frame, before, counter)?;
        let starts_uniform = start.is_none_or(|start| is_uniform(frame, start));
        (starts_uniform && is_uniform(frame, step)).then_some(counter)
    }
}

fn is_uniform(frame: &Frame<'_>, expression: Handle<Expression>) -> bool {
    let uniformity = &frame.info[expression].uniformity;
    uniformity.non_uniform_result.is_none()
}

/// Returns true if a condition combines the counter and a uniform value.
fn compares(
    frame: &Frame<'_>,
    condition: Handle<Expression>,
    counter: Handle<LocalVariable>,
) -> bool {
    let Expression::Binary { left, right, .. } = frame.function.expressions[condition] else {
        return false;
    };
    [(left, right), (right, left)]
        .into_iter()
        .any(|(one, other)| {
            loaded(frame.function, one) == Some(counter) && is_uniform(frame, other)
        })
}

/// Returns true if all jumps of a block depend on conditions that `is_uniform` accepts.
fn leaves_together(block: &Block, is_uniform: &impl Fn(Handle<Expression>) -> bool) -> bool {
    block.iter().all(|statement| match statement {
        Statement::Block(block) => leaves_together(block, is_uniform),
        Statement::If {
            condition,
            accept,
            reject,
        } => {
            !leaves(accept) && !leaves(reject)
                || is_uniform(*condition)
                    && leaves_together(accept, is_uniform)
                    && leaves_together(reject, is_uniform)
        }
        Statement::Switch { cases, .. } => !cases.iter().any(|case| leaves(&case.body)),
        Statement::Loop {
            body, continuing, ..
        } => n_returns(body) + n_returns(continuing) == 0,
        _ => true,
    })
}

/// Returns true if a block may leave the iteration of its loop. A `break` counts, also that of a switch.
fn leaves(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Break | Statement::Continue | Statement::Return { .. } => true,
        Statement::Block(block) => leaves(block),
        Statement::If { accept, reject, .. } => leaves(accept) || leaves(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| leaves(&case.body)),
        Statement::Loop {
            body, continuing, ..
        } => n_returns(body) + n_returns(continuing) > 0,
        _ => false,
    })
}
