//! Statements.

use std::collections::HashMap;

use naga::{Block, Literal, Statement, SwitchCase, SwitchValue};

use super::Lowering;
use super::counter::For;
use super::level::{Kind, Level};
use super::state::Target;
use crate::ast::{Case, Expr, Stmt, StmtKind};
use crate::error::{Outcome, fault};
use crate::types::Prim;

impl Lowering<'_> {
    /// Lowers statements in a scope of their own.
    pub(super) fn stmts(&mut self, body: &[Stmt]) -> Outcome<()> {
        self.f.scopes.push(HashMap::new());
        let mut done = Ok(());
        for stmt in body {
            if self.has_ended() {
                break;
            }
            done = self.guarded_stmt(stmt);
            if done.is_err() {
                break;
            }
        }
        self.f.scopes.pop();
        done
    }

    /// Lowers the body of a construct: a block, or one statement.
    pub(super) fn body(&mut self, stmt: &Stmt) -> Outcome<()> {
        self.stmts(std::slice::from_ref(stmt))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Outcome<()> {
        self.enter(stmt.at)?;
        self.spend(stmt.at)?;
        let done = self.stmt_inside(stmt);
        self.leave();
        done
    }

    fn stmt_inside(&mut self, stmt: &Stmt) -> Outcome<()> {
        match &stmt.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Expr(expr) => self.expr(expr).map(drop),
            StmtKind::Declare(variables) => variables
                .iter()
                .try_for_each(|variable| self.declare(variable)),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If(condition, accept, reject) => {
                self.if_stmt(condition, accept, reject.as_deref())
            }
            StmtKind::For {
                init,
                condition,
                step,
                body,
            } => {
                let parts = For {
                    init: init.as_deref(),
                    condition: condition.as_ref(),
                    step: step.as_ref(),
                    body,
                };
                self.f.scopes.push(HashMap::new());
                let done = self.for_stmt(stmt, parts);
                self.f.scopes.pop();
                done
            }
            StmtKind::While(condition, body) => {
                self.loop_stmt(stmt, Some(condition), None, body, false)
            }
            StmtKind::DoWhile(body, condition) => {
                self.loop_stmt(stmt, Some(condition), None, body, true)
            }
            StmtKind::Switch(selector, cases) => self.switch_stmt(stmt, selector, cases),
            StmtKind::Break => self.break_stmt(stmt.at),
            StmtKind::Continue => self.continue_stmt(stmt.at),
            StmtKind::Return(value) => self.return_stmt(value.as_ref(), stmt.at),
        }
    }

    fn if_stmt(&mut self, condition: &Expr, accept: &Stmt, reject: Option<&Stmt>) -> Outcome<()> {
        let value = self.expr(condition)?;
        let condition_value = self.truth(value, condition.at)?;
        let Some(test) = condition_value.first() else {
            return fault(condition.at, "the condition is not a number or pointer");
        };
        if let Some(Literal::Bool(known)) = self.literal_of(test) {
            return match (known, reject) {
                (true, _) => self.body(accept),
                (false, Some(reject)) => self.body(reject),
                (false, None) => Ok(()),
            };
        }
        let is_collective = self.stmt_is_collective(accept)
            || reject.is_some_and(|stmt| self.stmt_is_collective(stmt));
        if is_collective {
            return self.collective_if(test, condition_value.level, condition.at, accept, reject);
        }
        self.f.has_effect = true;
        let test = self.with_guards(test);
        let (accept_block, reject_block) = self.branches(
            condition_value.level,
            |this| this.body(accept),
            |this| match reject {
                Some(reject) => this.body(reject),
                None => Ok(()),
            },
        )?;
        self.push_if(test, accept_block, reject_block);
        Ok(())
    }

    /// Lowers two branches, each from the same state of guards.
    pub(super) fn branches(
        &mut self,
        level: Level,
        accept: impl FnOnce(&mut Self) -> Outcome<()>,
        reject: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<(Block, Block)> {
        let outside = self.f.control;
        self.f.control = outside.join(level);
        let before: Vec<bool> = self.f.guards.iter().map(|guard| guard.is_open).collect();
        let accepted = self.block(accept);
        let opened: Vec<bool> = self.f.guards.iter().map(|guard| guard.is_open).collect();
        for (guard, was_open) in self.f.guards.iter_mut().zip(&before) {
            guard.is_open = *was_open;
        }
        let rejected = self.block(reject);
        for (guard, was_opened) in self.f.guards.iter_mut().zip(&opened) {
            guard.is_open |= *was_opened;
        }
        self.f.control = outside.join(self.f.exit);
        Ok((accepted?.0, rejected?.0))
    }

    fn switch_stmt(&mut self, stmt: &Stmt, selector: &Expr, cases: &[Case]) -> Outcome<()> {
        let value = self.expr(selector)?;
        let value = self.promote(value);
        let (Some(prim @ (Prim::Int | Prim::UInt)), Some(handle)) =
            (value.ty.prim(), value.first())
        else {
            return fault(
                selector.at,
                "switch takes an integer of at most 32 bits; convert it, or use if",
            );
        };
        let is_collective = cases
            .iter()
            .any(|case| case.body.iter().any(|stmt| self.stmt_is_collective(stmt)));
        if is_collective && value.level.kind != Kind::Uniform {
            return self.divergent(
                selector.at,
                value.level,
                "the switch around a barrier or warp function",
            );
        }
        let handle = self.opaque(handle);
        self.f.has_effect = true;
        let outside = self.f.control;
        self.f.control = outside.join(value.level);
        let target = Target {
            is_switch: true,
            key: (self.spec(), stmt.id),
            is_collective,
            flags: None,
        };
        self.f.targets.push(target);
        let lowered = self.cases(cases, prim, selector.at);
        self.f.targets.pop();
        self.f.control = outside.join(self.f.exit);
        let lowered = lowered?;
        self.push(Statement::Switch {
            selector: handle,
            cases: lowered,
        });
        self.leave_outer_target();
        Ok(())
    }

    fn cases(&mut self, cases: &[Case], prim: Prim, selector_at: u32) -> Outcome<Vec<SwitchCase>> {
        let mut lowered = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut has_default = false;
        for (index, case) in cases.iter().enumerate() {
            let mut values = Vec::new();
            for label in &case.labels {
                let Some(label) = label else {
                    if has_default {
                        return fault(selector_at, "the switch has two defaults; remove one");
                    }
                    has_default = true;
                    values.push(SwitchValue::Default);
                    continue;
                };
                let value = self.expr(label)?;
                let Some(constant) = self.constant(&value) else {
                    return fault(label.at, "the case is not an integer constant");
                };
                if !seen.insert(constant as u32) {
                    return fault(
                        label.at,
                        format!("the case {constant} occurs twice; remove one"),
                    );
                }
                values.push(if prim == Prim::Int {
                    SwitchValue::I32(constant as i32)
                } else {
                    SwitchValue::U32(constant as u32)
                });
            }
            // A case that falls through contains the statements of the next, too.
            let (mut body, ()) = self.block(|this| {
                this.f.scopes.push(HashMap::new());
                let done = cases[index..]
                    .iter()
                    .flat_map(|case| &case.body)
                    .try_for_each(|stmt| {
                        if this.has_ended() {
                            Ok(())
                        } else {
                            this.guarded_stmt(stmt)
                        }
                    });
                this.f.scopes.pop();
                done
            })?;
            let last = values.len().saturating_sub(1);
            for (n, value) in values.into_iter().enumerate() {
                let is_last = n == last;
                let body = if is_last {
                    std::mem::take(&mut body)
                } else {
                    Block::new()
                };
                lowered.push(SwitchCase {
                    value,
                    body,
                    fall_through: !is_last,
                });
            }
        }
        if !has_default {
            lowered.push(SwitchCase {
                value: SwitchValue::Default,
                body: Block::new(),
                fall_through: false,
            });
        }
        Ok(lowered)
    }

    /// Refuses what differs between threads.
    pub(super) fn divergent<T>(&self, at: u32, level: Level, what: &str) -> Outcome<T> {
        let source = self.source;
        let word: String = source
            .get(level.why as usize..)
            .unwrap_or("")
            .chars()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
            .collect();
        let (line, _) = crate::error::place(source, level.why);
        let cause = if word.is_empty() {
            format!("line {line}")
        } else {
            format!("{word} on line {line}")
        };
        fault(
            at,
            format!(
                "{what} differs between the threads of a block, because of {cause}; make it equal in all threads"
            ),
        )
    }
}
