//! Loops, jumps, and branches with barriers.

use naga::{BinaryOperator, Block, Statement};

use super::Lowering;
use super::jumps::leave_if;
use super::level::{Kind, Level};
use super::state::{Guard, H, Target};
use crate::ast::{Expr, Stmt};
use crate::error::{Outcome, fault};
use crate::types::Prim;

impl Lowering<'_> {
    /// Lowers a branch with barriers or warp functions.
    pub(super) fn collective_if(
        &mut self,
        test: H,
        level: Level,
        at: u32,
        accept: &Stmt,
        reject: Option<&Stmt>,
    ) -> Outcome<()> {
        let has_barrier =
            self.stmt_has_barrier(accept) || reject.is_some_and(|stmt| self.stmt_has_barrier(stmt));
        let mut test = test;
        if has_barrier && level.kind == Kind::Divergent {
            return self.divergent(at, level, "the condition around a barrier");
        }
        if has_barrier && level.kind == Kind::Memory {
            test = self.any(test)?;
        }
        if has_barrier || level.is_uniform() {
            let (accept, reject) = self.branches(
                Level::UNIFORM,
                |this| this.body(accept),
                |this| match reject {
                    Some(reject) => this.body(reject),
                    None => Ok(()),
                },
            )?;
            self.push_if(test, accept, reject);
            return Ok(());
        }
        // Warp functions only: all threads walk through both branches, each under its guard.
        let index = self.add_guard("branch", Some(test), level);
        self.open_guard(index, level);
        let before = std::mem::replace(&mut self.f.guards_stores, true);
        let mut done = self.body(accept);
        if let (Ok(()), Some(reject)) = (&done, reject) {
            if let Some(guard) = self.f.guards.get_mut(index) {
                guard.negated = true;
                guard.is_open = true;
            }
            done = self.body(reject);
        }
        self.f.guards_stores = before;
        self.f.guards.truncate(index);
        done
    }

    /// Returns, in all threads, whether a condition holds in any thread for which all guards hold.
    pub(super) fn any(&mut self, test: H) -> Outcome<H> {
        let test = match self.guards_hold(0) {
            Some((hold, _)) => self.binary(BinaryOperator::LogicalAnd, hold, test),
            None => test,
        };
        let vote = self.vote_variable();
        let pointer = self.add(naga::Expression::GlobalVariable(vote));
        let zero = self.clear_together(pointer)?;
        let one = self.u32(1);
        let (block, ()) = self.block(|this| {
            this.store_pointer(pointer, one);
            Ok(())
        })?;
        self.push_if(test, block, Block::new());
        let ty = self.scalar_ty(Prim::UInt);
        let result = self.add(naga::Expression::WorkGroupUniformLoadResult { ty });
        self.push(Statement::WorkGroupUniformLoad { pointer, result });
        Ok(self.binary(BinaryOperator::NotEqual, result, zero))
    }

    /// Stores 0 to a word of shared memory, between two barriers. Returns the 0.
    pub(super) fn clear_together(&mut self, pointer: H) -> Outcome<H> {
        let linear = self.builtin(super::facts::LINEAR);
        let zero = self.u32(0);
        let is_first = self.binary(BinaryOperator::Equal, linear, zero);
        self.barrier();
        let (block, ()) = self.block(|this| {
            this.store_pointer(pointer, zero);
            Ok(())
        })?;
        self.push_if(is_first, block, Block::new());
        self.barrier();
        Ok(zero)
    }

    pub(super) fn barrier(&mut self) {
        self.f.has_effect = true;
        self.push(Statement::ControlBarrier(naga::Barrier::WORK_GROUP));
    }

    pub(super) fn loop_stmt(
        &mut self,
        stmt: &Stmt,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        condition_last: bool,
    ) -> Outcome<()> {
        self.f.has_effect = true;
        let is_collective = self.stmt_is_collective(body)
            || condition.is_some_and(|expr| self.has_collective(expr))
            || step.is_some_and(|expr| self.has_collective(expr));
        if is_collective {
            return self.collective_loop(stmt, condition, step, body, condition_last);
        }
        let key = (self.spec(), stmt.id);
        let outside = self.f.control;
        let level = self
            .facts
            .loops
            .get(&key)
            .copied()
            .unwrap_or(Level::UNIFORM);
        self.f.control = outside.join(level);
        self.f.targets.push(Target {
            is_switch: false,
            key,
            is_collective: false,
            flags: None,
        });
        let lowered = self.plain_loop(key, condition, step, body, condition_last);
        self.f.targets.pop();
        self.f.control = outside.join(self.f.exit);
        lowered?;
        self.leave_outer_target();
        Ok(())
    }

    fn plain_loop(
        &mut self,
        key: (super::facts::Spec, u32),
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        condition_last: bool,
    ) -> Outcome<()> {
        let (mut block, ()) = self.block(|this| {
            if let (false, Some(condition)) = (condition_last, condition) {
                this.leave_unless(condition, key)?;
            }
            this.body(body)
        })?;
        let (continuing, break_if) = self.block(|this| {
            if let Some(step) = step {
                this.expr(step)?;
            }
            match condition {
                Some(condition) if condition_last => this.exit_condition(condition, key).map(Some),
                _ => Ok(None),
            }
        })?;
        let is_endless = break_if.is_none() && (condition_last || condition.is_none());
        if is_endless {
            // WGSL refuses loops without a way out.
            let never = self.bool(false);
            let mut first = Block::new();
            first.push(leave_if(never), naga::Span::UNDEFINED);
            first.append(&mut block);
            block = first;
        }
        self.push(Statement::Loop {
            body: block,
            continuing,
            break_if,
        });
        Ok(())
    }

    /// Returns the condition for leaving a loop.
    fn exit_condition(&mut self, condition: &Expr, key: (super::facts::Spec, u32)) -> Outcome<H> {
        let value = self.expr(condition)?;
        let value = self.truth(value, condition.at)?;
        if value.level.kind != Kind::Uniform {
            self.facts.raise_loop(key, value.level);
        }
        match value.first() {
            Some(test) => Ok(self.not(test)),
            None => fault(condition.at, "the condition is not a number or pointer"),
        }
    }

    fn leave_unless(&mut self, condition: &Expr, key: (super::facts::Spec, u32)) -> Outcome<()> {
        let left = self.exit_condition(condition, key)?;
        self.push(leave_if(left));
        Ok(())
    }

    /// Lowers a loop with barriers or warp functions: all threads go through it together.
    fn collective_loop(
        &mut self,
        stmt: &Stmt,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        condition_last: bool,
    ) -> Outcome<()> {
        let key = (self.spec(), stmt.id);
        let n_guards = self.f.guards.len();
        let stores = std::mem::replace(&mut self.f.guards_stores, true);
        // Only a loop that some threads leave before others needs flags.
        let is_left = super::scan::has_jump(body) || self.facts.loops.contains_key(&key);
        let flags = is_left.then(|| {
            let break_flag = self.add_guard("in_loop", None, Level::UNIFORM);
            let ty = self.scalar_ty(Prim::Bool);
            let flag = self.local("in_iteration", ty, None);
            self.f.guards.push(Guard {
                flag,
                negated: false,
                is_open: false,
                level: Level::UNIFORM,
            });
            (break_flag, break_flag + 1)
        });
        self.f.targets.push(Target {
            is_switch: false,
            key,
            is_collective: true,
            flags,
        });
        let before: Vec<bool> = self.f.guards.iter().map(|guard| guard.is_open).collect();
        self.open_known(key);
        let lowered = self.collective_iteration(condition, step, body, condition_last);
        let outside = flags.map_or(n_guards, |(_, iteration)| iteration);
        for (index, was_open) in before.into_iter().enumerate().take(outside) {
            if self.f.guards[index].is_open && !was_open {
                self.facts.note_open((key.0, key.1, index));
            }
        }
        self.f.targets.pop();
        self.f.guards.truncate(n_guards);
        self.f.guards_stores = stores;
        lowered
    }

    /// Opens the guards that an earlier iteration may have closed.
    fn open_known(&mut self, key: (super::facts::Spec, u32)) {
        for index in 0..self.f.guards.len() {
            if self.facts.open.contains(&(key.0, key.1, index)) {
                self.open_guard(index, Level::divergent(0));
            }
        }
    }

    fn collective_iteration(
        &mut self,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        condition_last: bool,
    ) -> Outcome<()> {
        let has_barrier = self.stmt_has_barrier(body);
        let iteration = self
            .f
            .targets
            .last()
            .and_then(|target| target.flags)
            .map(|(_, iteration)| iteration);
        let (mut block, ()) = self.block(|this| {
            if let (false, Some(condition)) = (condition_last, condition) {
                this.leave_together(condition, has_barrier, step.is_some())?;
            } else if condition.is_none() && !condition_last {
                this.leave_if_all_left()?;
            }
            if let Some(index) = iteration {
                let truth = this.bool(true);
                let flag = this.f.guards[index].flag;
                this.store_pointer(flag, truth);
            }
            this.body(body)?;
            if let Some(guard) = iteration.and_then(|index| this.f.guards.get_mut(index)) {
                guard.is_open = false;
            }
            if let (true, Some(condition)) = (condition_last, condition) {
                this.leave_together(condition, has_barrier, false)?;
            }
            Ok(())
        })?;
        let (continuing, ()) = self.block(|this| match step {
            Some(step) => this.expr(step).map(drop),
            None => Ok(()),
        })?;
        if condition.is_none() {
            let never = self.bool(false);
            block.push(leave_if(never), naga::Span::UNDEFINED);
        }
        self.push(Statement::Loop {
            body: block,
            continuing,
            break_if: None,
        });
        Ok(())
    }

    /// Leaves a loop with barriers when its condition ends it for all threads.
    fn leave_together(
        &mut self,
        condition: &Expr,
        has_barrier: bool,
        is_counted: bool,
    ) -> Outcome<()> {
        let value = self.expr(condition)?;
        let value = self.truth(value, condition.at)?;
        let Some(mut test) = value.first() else {
            return fault(condition.at, "the condition is not a number or pointer");
        };
        match value.level.kind {
            Kind::Uniform if self.may_be_empty(is_counted) => test = self.any(test)?,
            Kind::Uniform => {}
            Kind::Memory => test = self.any(test)?,
            Kind::Divergent if has_barrier => {
                return self.divergent(
                    condition.at,
                    value.level,
                    "the condition of a loop with a barrier",
                );
            }
            Kind::Divergent => {
                // A thread whose condition fails idles until all have finished.
                let Some(target) = self.f.targets.last().copied() else {
                    return Ok(());
                };
                self.facts.raise_loop(target.key, value.level);
                let Some((index, _)) = target.flags else {
                    // The next pass has flags.
                    return Ok(());
                };
                let flag = self.f.guards[index].flag;
                let known = self.load_pointer(flag);
                let stays = self.binary(BinaryOperator::LogicalAnd, known, test);
                self.store_pointer(flag, stays);
                self.open_guard(index, value.level);
                let truth = self.load_pointer(flag);
                test = self.any(truth)?;
            }
        }
        let left = self.not(test);
        self.push(leave_if(left));
        Ok(())
    }

    /// Returns true if all threads may have left the innermost loop, and its condition may hold on for ever without them. A loop
    /// that counts ends by its condition; threads that left the function before it then cost no vote.
    fn may_be_empty(&self, is_counted: bool) -> bool {
        if !is_counted {
            return self.f.guards.iter().any(|guard| guard.is_open);
        }
        let Some(target) = self.f.targets.last() else {
            return false;
        };
        let (spec, id) = target.key;
        let is_left = target
            .flags
            .is_some_and(|(index, _)| self.f.guards[index].is_open);
        let returns = |index| self.facts.open.contains(&(spec, id, index));
        is_left || self.f.return_guard.is_some_and(returns)
    }

    /// Leaves an endless loop once no thread is in it.
    fn leave_if_all_left(&mut self) -> Outcome<()> {
        if self.guards_hold(0).is_none() {
            return Ok(());
        }
        let truth = self.bool(true);
        let test = self.any(truth)?;
        let left = self.not(test);
        self.push(leave_if(left));
        Ok(())
    }
}
