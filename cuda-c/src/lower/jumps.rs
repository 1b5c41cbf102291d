//! `break`, `continue` and `return`.

use super::Lowering;
use super::level::Level;
use super::state::H;
use super::value::{Data, Value};
use crate::ast::{Expr, ExprKind};
use crate::error::{Outcome, fault};
use crate::types::Ty;
use naga::{Block, Span, Statement};

impl Lowering<'_> {
    /// True if all threads of the block are here.
    pub(super) fn is_together(&self) -> bool {
        self.f.control.is_uniform()
            && !self.f.is_wrapped
            && !self.f.guards.iter().any(|guard| guard.is_open)
    }

    pub(super) fn break_stmt(&mut self, at: u32) -> Outcome<()> {
        self.f.has_effect = true;
        let Some(target) = self.f.targets.last().copied() else {
            return fault(at, "break is outside of a loop or switch");
        };
        match target.flags {
            Some((index, _)) if !self.is_together() => self.clear(index),
            None if target.is_collective && !self.is_together() => fault(
                at,
                "break leaves a switch with a barrier in some threads only; use if",
            ),
            _ => {
                if !target.is_switch && !target.is_collective && !self.f.control.is_uniform() {
                    self.facts.raise_loop(target.key, self.f.control);
                }
                self.push(Statement::Break);
                Ok(())
            }
        }
    }

    pub(super) fn continue_stmt(&mut self, at: u32) -> Outcome<()> {
        self.f.has_effect = true;
        let Some(position) = self.f.targets.iter().rposition(|target| !target.is_switch) else {
            return fault(at, "continue is outside of a loop");
        };
        let target = self.f.targets[position];
        let in_switch = position + 1 < self.f.targets.len();
        match target.flags {
            Some((_, index)) if !self.is_together() => {
                self.clear(index)?;
                if in_switch {
                    self.push(Statement::Break);
                }
                Ok(())
            }
            _ => {
                if !target.is_collective && !self.f.control.is_uniform() {
                    self.facts.raise_loop(target.key, self.f.control);
                }
                self.push(Statement::Continue);
                Ok(())
            }
        }
    }

    /// Clears the flag of a guard for the threads that are here.
    pub(super) fn clear(&mut self, index: usize) -> Outcome<()> {
        let level = Level::divergent(self.f.control.why).join(self.f.control);
        let flag = self.f.guards[index].flag;
        let never = self.bool(false);
        self.guarded(0, |this| {
            this.store_pointer(flag, never);
            Ok(())
        })?;
        self.open_guard(index, level);
        Ok(())
    }

    pub(super) fn return_stmt(&mut self, value: Option<&Expr>, at: u32) -> Outcome<()> {
        self.f.has_effect = true;
        let ty = self.f.result.clone();
        let value = match value {
            None => None,
            Some(expr) => {
                let value = match &expr.kind {
                    ExprKind::List(parts) => self.construct(&ty, parts, at)?,
                    _ => self.expr(expr)?,
                };
                if ty == Ty::Void {
                    None
                } else {
                    Some(self.convert(value, &ty, at)?)
                }
            }
        };
        if ty != Ty::Void && value.is_none() {
            return fault(at, format!("return lacks a value of type {}", ty.name()));
        }
        if !self.f.is_collective || self.is_together() || self.f.return_guard.is_none() {
            return self.plain_return(value, at);
        }
        let level = Level::divergent(self.f.control.why).join(self.f.control);
        if let Some(value) = value {
            let spec = self.spec();
            self.facts.raise_result(spec, Level::divergent(at));
            let Data::Leaves(leaves) = value.data else {
                return fault(
                    at,
                    "a function with barriers does not return a pointer; return an index",
                );
            };
            let variables = self.f.result_variables.clone();
            self.guarded(0, |this| {
                for (variable, leaf) in variables.iter().zip(&leaves) {
                    this.store_pointer(*variable, *leaf);
                }
                Ok(())
            })?;
        }
        let index = self.f.return_guard.unwrap_or(0);
        self.clear(index)?;
        self.open_guard(index, level);
        if self
            .f
            .targets
            .last()
            .is_some_and(|target| !target.is_collective)
        {
            self.push(Statement::Break);
        }
        Ok(())
    }

    pub(super) fn plain_return(&mut self, value: Option<Value>, at: u32) -> Outcome<()> {
        if !self.f.control.is_uniform() {
            let level = self.f.control;
            self.f.exit = self.f.exit.join(level);
            for target in self.f.targets.clone() {
                self.facts.raise_loop(target.key, level);
            }
        }
        let value = match value {
            None => None,
            Some(value) => {
                let spec = self.spec();
                let level = value.level.join(self.f.control);
                self.facts.raise_result(spec, level);
                self.returned(value, at)?
            }
        };
        self.push(Statement::Return { value });
        Ok(())
    }
}

/// Returns the statement that leaves a loop if a condition holds.
pub(super) fn leave_if(condition: H) -> Statement {
    let mut exit = Block::new();
    exit.push(Statement::Break, Span::UNDEFINED);
    Statement::If {
        condition,
        accept: exit,
        reject: Block::new(),
    }
}
