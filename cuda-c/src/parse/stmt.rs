//! Statements.

use super::Parser;
use crate::ast::{Case, Stmt, StmtKind};
use crate::error::{Outcome, fault};
use crate::source::Tok;

impl Parser {
    pub(super) fn make(&mut self, at: u32, kind: StmtKind) -> Stmt {
        let id = self.program.n_statements;
        self.program.n_statements += 1;
        Stmt { at, id, kind }
    }

    /// Parses a block from its opening brace on.
    pub(super) fn block(&mut self) -> Outcome<Stmt> {
        let at = self.at();
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.take("}") {
            if *self.peek() == Tok::End {
                return fault(at, "the block is never closed; add }");
            }
            body.push(self.statement()?);
        }
        Ok(self.make(at, StmtKind::Block(body)))
    }

    pub(super) fn statement(&mut self) -> Outcome<Stmt> {
        self.enter()?;
        let stmt = self.statement_inside();
        self.leave();
        stmt
    }

    fn statement_inside(&mut self) -> Outcome<Stmt> {
        let at = self.at();
        if self.is("{") {
            return self.block();
        }
        if self.take(";") {
            return Ok(self.make(at, StmtKind::Empty));
        }
        let word = match self.peek() {
            Tok::Name(name) => name.clone(),
            _ => return self.expression_statement(),
        };
        let kind = match &*word {
            "if" => self.if_statement()?,
            "for" => self.for_statement()?,
            "while" => {
                self.next += 1;
                let condition = self.parenthesized()?;
                StmtKind::While(condition, Box::new(self.statement()?))
            }
            "do" => {
                self.next += 1;
                let body = Box::new(self.statement()?);
                if !self.take_word("while") {
                    return self.unexpected("while");
                }
                let condition = self.parenthesized()?;
                self.expect(";")?;
                StmtKind::DoWhile(body, condition)
            }
            "switch" => self.switch_statement()?,
            "break" | "continue" => {
                self.next += 1;
                self.expect(";")?;
                if &*word == "break" {
                    StmtKind::Break
                } else {
                    StmtKind::Continue
                }
            }
            "return" => {
                self.next += 1;
                let value = if self.is(";") {
                    None
                } else if self.is("{") {
                    let at = self.at();
                    let parts = self.initializer_list()?;
                    Some(crate::ast::Expr {
                        at,
                        kind: crate::ast::ExprKind::List(parts),
                    })
                } else {
                    Some(self.expression()?)
                };
                self.expect(";")?;
                StmtKind::Return(value)
            }
            "asm" | "__asm__" => {
                return fault(
                    at,
                    "inline assembly is not supported; write the operation in C",
                );
            }
            "goto" => return fault(at, "goto is not supported; use loops, break and continue"),
            "try" | "throw" => {
                return fault(
                    at,
                    "exceptions are not supported; write a status to a buffer",
                );
            }
            "case" | "default" => {
                return fault(
                    at,
                    format!("{word} is not directly inside a switch; move it there"),
                );
            }
            "using" | "typedef" => {
                self.alias()?;
                StmtKind::Empty
            }
            "static_assert" => {
                self.next = self.after_bracket(self.next + 1)?;
                self.expect(";")?;
                StmtKind::Empty
            }
            "namespace" if self.is_at(2, "=") => {
                self.next += 4;
                self.expect(";")?;
                StmtKind::Empty
            }
            "struct" | "union" if self.is_at(1, "{") || self.is_at(2, "{") => {
                let name = self.structure_body(Vec::new())?;
                if self.take(";") {
                    return Ok(self.make(at, StmtKind::Empty));
                }
                let specifiers = self.specifiers_of(at, &name);
                StmtKind::Declare(self.declarators(&specifiers)?)
            }
            _ if self.is_declaration() => {
                let specifiers = self.specifiers()?;
                StmtKind::Declare(self.declarators(&specifiers)?)
            }
            _ => return self.expression_statement(),
        };
        Ok(self.make(at, kind))
    }

    fn expression_statement(&mut self) -> Outcome<Stmt> {
        let at = self.at();
        let expr = self.expression()?;
        self.expect(";")?;
        Ok(self.make(at, StmtKind::Expr(expr)))
    }

    fn parenthesized(&mut self) -> Outcome<crate::ast::Expr> {
        self.expect("(")?;
        let expr = self.expression()?;
        self.expect(")")?;
        Ok(expr)
    }

    fn if_statement(&mut self) -> Outcome<StmtKind> {
        self.next += 1;
        self.take_word("constexpr");
        let at = self.at();
        if self.is("(") && self.is_type_at(1) && !self.is_at(2, "(") {
            return self.if_with_declaration(at);
        }
        let condition = self.parenthesized()?;
        let accept = Box::new(self.statement()?);
        let reject = if self.take_word("else") {
            Some(Box::new(self.statement()?))
        } else {
            None
        };
        Ok(StmtKind::If(condition, accept, reject))
    }

    /// Parses `if (int x = f()) …` as `{ int x = f(); if (x) … }`.
    fn if_with_declaration(&mut self, at: u32) -> Outcome<StmtKind> {
        self.expect("(")?;
        let specifiers = self.specifiers()?;
        let mut variable = self.declarator(&specifiers)?;
        self.expect("=")?;
        variable.init = Some(self.assignment()?);
        self.expect(")")?;
        let condition = crate::ast::Expr {
            at,
            kind: crate::ast::ExprKind::Name(variable.name.clone(), Vec::new()),
        };
        let accept = Box::new(self.statement()?);
        let reject = if self.take_word("else") {
            Some(Box::new(self.statement()?))
        } else {
            None
        };
        let declared = self.make(at, StmtKind::Declare(vec![variable]));
        let branch = self.make(at, StmtKind::If(condition, accept, reject));
        Ok(StmtKind::Block(vec![declared, branch]))
    }

    fn for_statement(&mut self) -> Outcome<StmtKind> {
        self.next += 1;
        self.expect("(")?;
        let at = self.at();
        let init = if self.take(";") {
            None
        } else if self.is_declaration() {
            let specifiers = self.specifiers()?;
            let variables = self.declarators(&specifiers)?;
            Some(Box::new(self.make(at, StmtKind::Declare(variables))))
        } else {
            Some(Box::new(self.expression_statement()?))
        };
        let condition = if self.is(";") {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect(";")?;
        let step = if self.is(")") {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::For {
            init,
            condition,
            step,
            body,
        })
    }

    fn switch_statement(&mut self) -> Outcome<StmtKind> {
        self.next += 1;
        let selector = self.parenthesized()?;
        self.expect("{")?;
        let mut cases: Vec<Case> = Vec::new();
        while !self.take("}") {
            let at = self.at();
            let label = if self.take_word("case") {
                Some(self.conditional_label()?)
            } else if self.take_word("default") {
                None
            } else {
                if *self.peek() == Tok::End {
                    return fault(at, "the switch is never closed; add }");
                }
                let stmt = self.statement()?;
                match cases.last_mut() {
                    Some(case) => case.body.push(stmt),
                    None => {
                        return fault(
                            at,
                            "a statement of the switch precedes its first case; move it",
                        );
                    }
                }
                continue;
            };
            self.expect(":")?;
            match cases.last_mut() {
                Some(case) if case.body.is_empty() => case.labels.push(label),
                _ => cases.push(Case {
                    labels: vec![label],
                    body: Vec::new(),
                }),
            }
        }
        Ok(StmtKind::Switch(selector, cases))
    }

    fn conditional_label(&mut self) -> Outcome<crate::ast::Expr> {
        self.assignment()
    }
}
