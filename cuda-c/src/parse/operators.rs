//! Expressions with operators of two or three operands, by precedence.

use super::Parser;
use crate::ast::{BinOp, Expr, ExprKind};
use crate::error::Outcome;
use crate::source::Tok;

/// Precedence of the loosest operator, `||`.
const LOOSEST: u32 = 1;
/// Precedence of the operators tighter than `>`, which closes template arguments.
const SHIFT: u32 = 8;

fn operator(punct: &str) -> Option<(BinOp, u32)> {
    Some(match punct {
        "||" => (BinOp::LogicalOr, 1),
        "&&" => (BinOp::LogicalAnd, 2),
        "|" => (BinOp::Or, 3),
        "^" => (BinOp::Xor, 4),
        "&" => (BinOp::And, 5),
        "==" => (BinOp::Eq, 6),
        "!=" => (BinOp::Ne, 6),
        "<" => (BinOp::Lt, 7),
        ">" => (BinOp::Gt, 7),
        "<=" => (BinOp::Le, 7),
        ">=" => (BinOp::Ge, 7),
        "<<" => (BinOp::Shl, SHIFT),
        ">>" => (BinOp::Shr, SHIFT),
        "+" => (BinOp::Add, 9),
        "-" => (BinOp::Sub, 9),
        "*" => (BinOp::Mul, 10),
        "/" => (BinOp::Div, 10),
        "%" => (BinOp::Rem, 10),
        _ => return None,
    })
}

fn assignment(punct: &str) -> Option<Option<BinOp>> {
    Some(match punct {
        "=" => None,
        "+=" => Some(BinOp::Add),
        "-=" => Some(BinOp::Sub),
        "*=" => Some(BinOp::Mul),
        "/=" => Some(BinOp::Div),
        "%=" => Some(BinOp::Rem),
        "<<=" => Some(BinOp::Shl),
        ">>=" => Some(BinOp::Shr),
        "&=" => Some(BinOp::And),
        "|=" => Some(BinOp::Or),
        "^=" => Some(BinOp::Xor),
        _ => return None,
    })
}

impl Parser {
    /// Parses an expression with commas.
    pub(super) fn expression(&mut self) -> Outcome<Expr> {
        let mut left = self.assignment()?;
        let mut entered = 0;
        while self.is(",") {
            let at = self.at();
            self.next += 1;
            let right = self.assignment()?;
            left = Expr {
                at,
                kind: ExprKind::Comma(Box::new(left), Box::new(right)),
            };
            self.enter()?;
            entered += 1;
        }
        self.depth -= entered;
        Ok(left)
    }

    /// Parses an expression without commas.
    pub(super) fn assignment(&mut self) -> Outcome<Expr> {
        self.enter()?;
        let left = self.binary(LOOSEST)?;
        let at = self.at();
        let expr = match self.peek() {
            Tok::Punct("?") => {
                self.next += 1;
                let accept = self.expression()?;
                self.expect(":")?;
                let reject = self.assignment()?;
                let kind =
                    ExprKind::Conditional(Box::new(left), Box::new(accept), Box::new(reject));
                Expr { at, kind }
            }
            Tok::Punct(punct) => match assignment(punct) {
                Some(operator) => {
                    self.next += 1;
                    let right = if self.is("{") {
                        let at = self.at();
                        Expr {
                            at,
                            kind: ExprKind::List(self.initializer_list()?),
                        }
                    } else {
                        self.assignment()?
                    };
                    Expr {
                        at,
                        kind: ExprKind::Assign(operator, Box::new(left), Box::new(right)),
                    }
                }
                None => left,
            },
            _ => left,
        };
        self.leave();
        Ok(expr)
    }

    /// Parses the value of a template argument: `>` ends it.
    pub(super) fn template_value(&mut self) -> Outcome<Expr> {
        self.binary(SHIFT)
    }

    fn binary(&mut self, least: u32) -> Outcome<Expr> {
        let mut left = self.unary()?;
        let mut entered = 0;
        while let Tok::Punct(punct) = *self.peek() {
            let Some((operator, precedence)) = operator(punct) else {
                break;
            };
            // In template arguments `>>` closes two lists.
            if precedence < least || (least == SHIFT && punct == ">>") {
                break;
            }
            let at = self.at();
            self.next += 1;
            self.enter()?;
            entered += 1;
            let right = self.binary(precedence + 1)?;
            left = Expr {
                at,
                kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
            };
        }
        self.depth -= entered;
        Ok(left)
    }
}
