//! Statements.

use naga::{Block, Expression, Handle, Statement, SwitchCase, SwitchValue};

use super::Lowering;
use super::frame::Frame;
use crate::Result;
use crate::build::{Comparison, Label, Operand, PtxKernel};

/// Targets of `break` and `continue`.
#[derive(Clone, Copy, Default)]
pub(super) struct Targets {
    pub(super) on_break: Option<Label>,
    pub(super) on_continue: Option<Label>,
}

impl Lowering<'_> {
    pub(super) fn block(
        &mut self,
        frame: &mut Frame<'_>,
        block: &Block,
        targets: Targets,
    ) -> Result<()> {
        let mut before = None;
        for (statement, span) in block.span_iter() {
            self.span = *span;
            self.spend(1)?;
            match statement {
                Statement::Loop {
                    body,
                    continuing,
                    break_if,
                } => self.loop_statement(frame, before, body, continuing, *break_if)?,
                other => self.statement(frame, other, targets)?,
            }
            if !matches!(statement, Statement::Emit(_)) {
                before = Some(statement);
            }
        }
        Ok(())
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'_>,
        statement: &Statement,
        targets: Targets,
    ) -> Result<()> {
        match statement {
            Statement::Emit(range) => self.emit(frame, range.clone()),
            Statement::Block(block) => self.block(frame, block, targets),
            Statement::If {
                condition,
                accept,
                reject,
            } => self.if_statement(frame, *condition, accept, reject, targets),
            Statement::Switch { selector, cases } => self.switch(frame, *selector, cases, targets),
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => self.loop_statement(frame, None, body, continuing, *break_if),
            Statement::Break => self.jump(targets.on_break),
            Statement::Continue => self.jump(targets.on_continue),
            Statement::Return { value } => {
                let value = value.map(|value| self.value(frame, value)).transpose()?;
                self.return_value(frame, value)
            }
            Statement::ControlBarrier(barrier) => self.control_barrier(*barrier),
            Statement::MemoryBarrier(barrier) => self.memory_barrier(*barrier),
            Statement::Store { pointer, value } => self.store_statement(frame, *pointer, *value),
            Statement::Atomic {
                pointer,
                fun,
                value,
                result,
            } => self.atomic(frame, *pointer, fun, *value, *result),
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.workgroup_barrier();
                let value = self.load_expression(frame, *pointer)?;
                self.workgroup_barrier();
                self.set(frame, *result, value);
                Ok(())
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => {
                let values = arguments
                    .iter()
                    .map(|&argument| self.value(frame, argument));
                let values = values.collect::<Result<Vec<_>>>()?;
                if let (Some(value), Some(result)) = (self.call(*function, values)?, *result) {
                    self.set(frame, result, value);
                }
                Ok(())
            }
            Statement::SubgroupBallot { result, predicate } => {
                self.ballot(frame, *result, *predicate)
            }
            Statement::SubgroupGather {
                mode,
                argument,
                result,
            } => self.gather(frame, *mode, *argument, *result),
            Statement::SubgroupCollectiveOperation {
                op,
                collective_op,
                argument,
                result,
            } => self.collective(frame, *op, *collective_op, *argument, *result),
            Statement::Kill => Err(self.unsupported("discard")),
            Statement::ImageStore { .. } | Statement::ImageAtomic { .. } => {
                Err(self.unsupported("a texture"))
            }
            Statement::RayQuery { .. } | Statement::RayPipelineFunction(_) => {
                Err(self.unsupported("ray tracing"))
            }
            Statement::CooperativeStore { target, data } => self.store_matrix(frame, *target, data),
        }
    }

    fn jump(&mut self, target: Option<Label>) -> Result<()> {
        let target = target.ok_or_else(|| self.error("a jump out of nothing"))?;
        self.kernel.branch(target);
        Ok(())
    }

    fn if_statement(
        &mut self,
        frame: &mut Frame<'_>,
        condition: Handle<Expression>,
        accept: &Block,
        reject: &Block,
        targets: Targets,
    ) -> Result<()> {
        let predicate = self.scalar(frame, condition)?;
        match predicate.constant() {
            Some(0) => return self.block(frame, reject, targets),
            Some(_) => return self.block(frame, accept, targets),
            None => {}
        }
        let enclosing = self.enter_divergence(frame, condition);
        let branch_if = if self.divergence > enclosing {
            PtxKernel::branch_if
        } else {
            PtxKernel::branch_together_if
        };
        if let Some(target) = jump_of(reject, targets).filter(|_| accept.is_empty()) {
            branch_if(&mut self.kernel, predicate, false, target);
        } else if let Some(target) = jump_of(accept, targets).filter(|_| reject.is_empty()) {
            branch_if(&mut self.kernel, predicate, true, target);
        } else {
            let (alternative, end) = (self.kernel.label(), self.kernel.label());
            // Possible divergence of the threads that branch to the end.
            let mut diverged = self.kernel.may_have_diverged();
            branch_if(&mut self.kernel, predicate, false, alternative);
            let at_branch = self.kernel.may_have_diverged();
            self.block(frame, accept, targets)?;
            if !reject.is_empty() {
                diverged = self.kernel.may_have_diverged();
                self.kernel.branch(end);
                self.kernel.set_may_have_diverged(at_branch);
            }
            self.kernel.land(alternative);
            self.block(frame, reject, targets)?;
            self.kernel.land(end);
            if diverged {
                self.kernel.set_may_have_diverged(true);
            }
        }
        self.divergence = enclosing;
        Ok(())
    }

    /// Counts a statement that may make the subgroup diverge; returns the previous count, to be restored after it.
    fn enter_divergence(&mut self, frame: &Frame<'_>, condition: Handle<Expression>) -> u32 {
        let enclosing = self.divergence;
        if frame.info[condition]
            .uniformity
            .non_uniform_result
            .is_some()
        {
            self.divergence += 1;
        }
        enclosing
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'_>,
        selector: Handle<Expression>,
        cases: &[SwitchCase],
        targets: Targets,
    ) -> Result<()> {
        let value = self.scalar(frame, selector)?;
        let enclosing = self.enter_divergence(frame, selector);
        let labels: Vec<Label> = cases.iter().map(|_| self.kernel.label()).collect();
        let end = self.kernel.label();
        let mut default = end;
        for (case, &label) in cases.iter().zip(&labels) {
            let constant = match case.value {
                SwitchValue::I32(i) => Operand::from(i),
                SwitchValue::U32(u) => Operand::from(u),
                SwitchValue::Default => {
                    default = label;
                    continue;
                }
            };
            let here = self.compared(Comparison::Eq, value, constant);
            self.kernel.branch_if(here, true, label);
        }
        self.kernel.branch(default);
        let inner = Targets {
            on_break: Some(end),
            on_continue: targets.on_continue,
        };
        for (case, &label) in cases.iter().zip(&labels) {
            self.kernel.land(label);
            self.block(frame, &case.body, inner)?;
            if !case.fall_through {
                self.kernel.branch(end);
            }
        }
        self.kernel.land(end);
        self.divergence = enclosing;
        Ok(())
    }

    fn loop_statement(
        &mut self,
        frame: &mut Frame<'_>,
        before: Option<&Statement>,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<()> {
        if break_if.is_none() && self.unrolled(frame, before, body, continuing)? {
            return Ok(());
        }
        let [begin, next, end] = [(); 3].map(|()| self.kernel.label());
        let enclosing = self.divergence;
        if !self.stays_together(frame, before, body, continuing, break_if) {
            self.divergence += 1;
        }
        frame.n_loops += 1;
        let may_spin = self.may_spin;
        self.may_spin = !self.has_barrier(body) && !self.has_barrier(continuing);
        self.kernel.place(begin);
        let targets = Targets {
            on_break: Some(end),
            on_continue: Some(next),
        };
        self.block(frame, body, targets)?;
        self.kernel.land(next);
        self.block(frame, continuing, Targets::default())?;
        match break_if {
            Some(condition) => {
                let leaves = self.scalar(frame, condition)?;
                self.kernel.branch_if(leaves, false, begin);
            }
            None => self.kernel.branch(begin),
        }
        self.kernel.land(end);
        self.kernel.set_may_have_diverged(true);
        self.divergence = enclosing;
        self.may_spin = may_spin;
        frame.n_loops -= 1;
        Ok(())
    }
}

/// Returns the target of a block that contains only a jump.
fn jump_of(block: &Block, targets: Targets) -> Option<Label> {
    match (block.len(), block.first()?) {
        (1, Statement::Break) => targets.on_break,
        (1, Statement::Continue) => targets.on_continue,
        _ => None,
    }
}
