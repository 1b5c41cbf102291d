//! Guards. CUDA lets threads leave before a barrier that others wait at; WGSL wants every barrier in uniform control flow. So
//! where a function has barriers, a thread that leaves only clears a flag, and what follows runs under `if (flag)`, apart from
//! barriers and from what is computed alike by all threads.

use naga::{BinaryOperator, Block};

use super::Lowering;
use super::facts::VarKey;
use super::jumps::leave_if;
use super::level::{Kind, Level};
use super::state::{Guard, H};
use crate::ast::{Stmt, StmtKind};
use crate::error::Outcome;
use crate::types::Prim;

impl Lowering<'_> {
    /// Adds a guard whose flag is true.
    pub(super) fn add_guard(&mut self, name: &str, init: Option<H>, level: Level) -> usize {
        let ty = self.scalar_ty(Prim::Bool);
        let flag = self.local(name, ty, None);
        let init = match init {
            Some(init) => init,
            None => self.bool(true),
        };
        self.store_pointer(flag, init);
        self.f.guards.push(Guard {
            flag,
            negated: false,
            is_open: false,
            level,
        });
        self.f.guards.len() - 1
    }

    /// Notes that threads may have left.
    pub(super) fn open_guard(&mut self, index: usize, level: Level) {
        if let Some(guard) = self.f.guards.get_mut(index) {
            guard.is_open = true;
            guard.level = guard.level.join(level);
        }
    }

    fn has_open_guards(&self) -> bool {
        self.f.guards.iter().any(|guard| guard.is_open)
    }

    /// True within a loop or switch that threads leave by its own break.
    fn in_plain_target(&self) -> bool {
        self.f
            .targets
            .last()
            .is_some_and(|target| !target.is_collective)
    }

    /// Returns the condition that all open guards from `first` on hold.
    pub(super) fn guards_hold(&mut self, first: usize) -> Option<(H, Level)> {
        let open: Vec<Guard> = self
            .f
            .guards
            .iter()
            .skip(first)
            .filter(|guard| guard.is_open)
            .copied()
            .collect();
        let mut all: Option<(H, Level)> = None;
        for guard in open {
            let mut flag = self.load_pointer(guard.flag);
            if guard.negated {
                flag = self.not(flag);
            }
            all = Some(match all {
                None => (flag, guard.level),
                Some((others, level)) => (
                    self.binary(BinaryOperator::LogicalAnd, others, flag),
                    level.join(guard.level),
                ),
            });
        }
        all
    }

    /// Joins a condition with the guards, where stores are guarded one by one.
    pub(super) fn with_guards(&mut self, test: H) -> H {
        if !self.f.guards_stores {
            return test;
        }
        match self.guards_hold(0) {
            Some((hold, _)) => self.binary(BinaryOperator::LogicalAnd, hold, test),
            None => test,
        }
    }

    /// Runs `inside` under the guards from `first` on, where stores are guarded one by one.
    pub(super) fn guarded(
        &mut self,
        first: usize,
        inside: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        if !self.f.guards_stores {
            return inside(self);
        }
        match self.guards_hold(first) {
            None => inside(self),
            Some((hold, _)) => {
                let (block, ()) = self.block(inside)?;
                self.push_if(hold, block, Block::new());
                Ok(())
            }
        }
    }

    /// Notes that a variable is assigned, which may need guards.
    pub(super) fn note_guarded(&mut self, key: VarKey, n_guards: usize) {
        self.f.assigned.push((key, n_guards));
        if self.f.guards_stores {
            let level = self
                .f
                .guards
                .iter()
                .skip(n_guards)
                .filter(|guard| guard.is_open)
                .fold(Level::UNIFORM, |level, guard| level.join(guard.level));
            if level.kind != Kind::Uniform {
                self.facts.raise_variable(key, level);
            }
        }
    }

    /// Lowers a statement so that only threads run it for which all guards hold.
    pub(super) fn guarded_stmt(&mut self, stmt: &Stmt) -> Outcome<()> {
        if !self.has_open_guards() || self.in_plain_target() {
            return self.stmt(stmt);
        }
        if self.stmt_is_collective(stmt) {
            let before = std::mem::replace(&mut self.f.guards_stores, true);
            let done = self.stmt(stmt);
            self.f.guards_stores = before;
            return done;
        }
        self.wrapped(is_binding(stmt), |this| this.stmt(stmt))
    }

    /// Lowers a statement without barriers under all guards, or without if that makes no difference.
    fn wrapped(
        &mut self,
        never: bool,
        inside: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let open: Vec<bool> = self.f.guards.iter().map(|guard| guard.is_open).collect();
        let level = self
            .f
            .guards
            .iter()
            .filter(|guard| guard.is_open)
            .fold(Level::UNIFORM, |level, guard| level.join(guard.level));
        for guard in &mut self.f.guards {
            guard.is_open = false;
        }
        let assigned = std::mem::take(&mut self.f.assigned);
        let effect = std::mem::replace(&mut self.f.has_effect, false);
        let stores = std::mem::replace(&mut self.f.guards_stores, false);
        let was_wrapped = std::mem::replace(&mut self.f.is_wrapped, true);
        let lowered = self.block(inside);
        self.f.is_wrapped = was_wrapped;
        self.f.guards_stores = stores;
        let has_effect = std::mem::replace(&mut self.f.has_effect, effect);
        let inner = std::mem::replace(&mut self.f.assigned, assigned);
        let opened = self.f.guards.iter().any(|guard| guard.is_open);
        for (guard, was_open) in self.f.guards.iter_mut().zip(&open) {
            guard.is_open |= *was_open;
        }
        let (block, ()) = lowered?;
        let outlives =
            |(_, n_guards): &(VarKey, usize)| open.iter().skip(*n_guards).any(|open| *open);
        let needed = !never && (has_effect || opened || inner.iter().any(outlives));
        self.f.has_effect |= has_effect;
        if !needed {
            self.append(block);
            self.f.assigned.extend(inner);
            return Ok(());
        }
        for (key, _) in &inner {
            self.facts.raise_variable(*key, level);
        }
        self.f.assigned.extend(inner);
        if let Some((hold, _)) = self.guards_hold(0) {
            self.push_if(hold, block, Block::new());
        }
        Ok(())
    }

    /// After an inner loop or switch without barriers: leaves the outer one, if a thread has left the function.
    pub(super) fn leave_outer_target(&mut self) {
        if !self.in_plain_target() {
            return;
        }
        let Some(guard) = self
            .f
            .return_guard
            .and_then(|index| self.f.guards.get(index))
            .copied()
        else {
            return;
        };
        if !guard.is_open {
            return;
        }
        let flag = self.load_pointer(guard.flag);
        let left = self.not(flag);
        self.push(leave_if(left));
    }
}

/// Returns true for declarations whose names stand for places, which later statements use.
fn is_binding(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Declare(variables) => variables
            .iter()
            .any(|variable| variable.ty.reference || variable.space == crate::ast::Space::Shared),
        _ => false,
    }
}
