//! Expressions: unary, postfix and primary ones.

use std::rc::Rc;

use super::Parser;
use crate::ast::{Expr, ExprKind, TypeName, UnOp};
use crate::error::{Outcome, fault};
use crate::source::Tok;

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

impl Parser {
    pub(super) fn unary(&mut self) -> Outcome<Expr> {
        self.enter()?;
        let expr = self.unary_inside();
        self.leave();
        expr
    }

    fn unary_inside(&mut self) -> Outcome<Expr> {
        let at = self.at();
        let operator = match self.peek() {
            Tok::Punct("-") => UnOp::Neg,
            Tok::Punct("+") => UnOp::Plus,
            Tok::Punct("!") => UnOp::Not,
            Tok::Punct("~") => UnOp::BitNot,
            Tok::Punct("*") => UnOp::Deref,
            Tok::Punct("&") => UnOp::AddressOf,
            Tok::Punct(step @ ("++" | "--")) => {
                let amount = if *step == "++" { 1 } else { -1 };
                self.next += 1;
                let operand = boxed(self.unary()?);
                return Ok(Expr {
                    at,
                    kind: ExprKind::Step {
                        amount,
                        prefix: true,
                        operand,
                    },
                });
            }
            Tok::Punct("(") if self.is_type_at(1) && self.is_cast() => {
                self.next += 1;
                let ty = self.type_name()?;
                self.expect(")")?;
                if self.is("{") {
                    let parts = self.initializer_list()?;
                    return Ok(Expr {
                        at,
                        kind: ExprKind::Construct(ty, parts),
                    });
                }
                let operand = boxed(self.unary()?);
                return Ok(Expr {
                    at,
                    kind: ExprKind::Cast {
                        ty,
                        operand,
                        reinterpret: false,
                    },
                });
            }
            _ => return self.postfix(),
        };
        self.next += 1;
        let operand = boxed(self.unary()?);
        Ok(Expr {
            at,
            kind: ExprKind::Unary(operator, operand),
        })
    }

    /// Returns true if the parenthesis here encloses a type alone, rather than an expression such as `(float(x) + 1)`.
    fn is_cast(&self) -> bool {
        let mut ahead = 1;
        let mut depth = 0u32;
        loop {
            match self.peek_at(ahead) {
                Tok::Punct("<") => depth += 1,
                Tok::Punct(">") => depth = depth.saturating_sub(1),
                Tok::Punct(")") => return true,
                Tok::Punct("*" | "&" | "::") | Tok::Name(_) => {}
                Tok::Punct(",") | Tok::Int { .. } if depth > 0 => {}
                _ => return false,
            }
            ahead += 1;
        }
    }

    /// Parses arguments after an opening parenthesis.
    pub(super) fn arguments(&mut self) -> Outcome<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            if self.is("{") {
                let at = self.at();
                let parts = self.initializer_list()?;
                arguments.push(Expr {
                    at,
                    kind: ExprKind::List(parts),
                });
            } else {
                arguments.push(self.assignment()?);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn postfix(&mut self) -> Outcome<Expr> {
        let mut expr = self.primary()?;
        let mut entered = 0;
        loop {
            let at = self.at();
            let kind = if self.take("(") {
                ExprKind::Call(boxed(expr), self.arguments()?)
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                ExprKind::Index(boxed(expr), boxed(index))
            } else if self.is(".") || self.is("->") {
                let arrow = self.is("->");
                self.next += 1;
                let name = self.name("the name of a member")?;
                ExprKind::Member {
                    object: boxed(expr),
                    name,
                    arrow,
                }
            } else if self.is("++") || self.is("--") {
                let amount = if self.is("++") { 1 } else { -1 };
                self.next += 1;
                ExprKind::Step {
                    amount,
                    prefix: false,
                    operand: boxed(expr),
                }
            } else if self.is("<<<") {
                return fault(
                    at,
                    "a kernel cannot launch a kernel (dynamic parallelism); launch it from the host",
                );
            } else {
                break;
            };
            self.enter()?;
            entered += 1;
            // A call's place is that of the called name.
            let at = match &kind {
                ExprKind::Call(callee, _) => callee.at,
                _ => at,
            };
            expr = Expr { at, kind };
        }
        self.depth -= entered;
        Ok(expr)
    }

    fn primary(&mut self) -> Outcome<Expr> {
        let at = self.at();
        let kind = match self.peek().clone() {
            Tok::Int {
                value,
                unsigned,
                long,
                decimal,
            } => ExprKind::Int {
                value,
                unsigned,
                long,
                decimal,
            },
            Tok::Float { value } => ExprKind::Float(value),
            Tok::Char(value) => ExprKind::Char(value),
            Tok::Text(text) => {
                let mut bytes = text.to_vec();
                while let Tok::Text(more) = self.peek_at(1) {
                    bytes.extend_from_slice(more);
                    self.next += 1;
                }
                ExprKind::Text(bytes.into())
            }
            Tok::Punct("(") => {
                self.next += 1;
                let expr = self.expression()?;
                self.expect(")")?;
                return Ok(expr);
            }
            Tok::Punct("[") => {
                return fault(at, "lambdas are not supported; write a __device__ function");
            }
            Tok::Name(name) => return self.named(&name),
            _ => return self.unexpected("an expression"),
        };
        self.next += 1;
        Ok(Expr { at, kind })
    }

    fn named(&mut self, name: &Rc<str>) -> Outcome<Expr> {
        let at = self.at();
        let kind = match &**name {
            "true" | "false" => ExprKind::Bool(&**name == "true"),
            "nullptr" | "NULL" => ExprKind::Null,
            "sizeof" => return self.sizeof(),
            "alignof" | "__alignof__" if self.is_at(1, "(") => {
                self.next += 2;
                let ty = self.type_name()?;
                self.expect(")")?;
                return Ok(Expr {
                    at,
                    kind: ExprKind::AlignofType(ty),
                });
            }
            "static_cast" | "reinterpret_cast" | "const_cast" => {
                self.next += 1;
                self.expect("<")?;
                let ty = self.type_name()?;
                self.close_angle()?;
                self.expect("(")?;
                let operand = boxed(self.expression()?);
                self.expect(")")?;
                let reinterpret = &**name == "reinterpret_cast";
                return Ok(Expr {
                    at,
                    kind: ExprKind::Cast {
                        ty,
                        operand,
                        reinterpret,
                    },
                });
            }
            "dynamic_cast" | "typeid" | "throw" | "new" | "delete" | "co_await" => {
                return fault(
                    at,
                    format!("{name} is not supported; use functions and buffers"),
                );
            }
            "asm" | "__asm__" => {
                return fault(
                    at,
                    "inline assembly is not supported; write the operation in C",
                );
            }
            // `this` is the object here, and a pointer to it in C++.
            "this" => {
                let object = Expr {
                    at,
                    kind: ExprKind::Name(name.clone(), Vec::new()),
                };
                ExprKind::Unary(UnOp::AddressOf, boxed(object))
            }
            "operator" => return fault(at, "call the operator by its sign"),
            _ if self.is_type() && !self.is_at(1, "::") && !self.templates.contains(name) => {
                let ty = self.construct_type()?;
                let parts = if self.is("{") {
                    self.initializer_list()?
                } else {
                    self.expect("(")?;
                    self.arguments()?
                };
                return Ok(Expr {
                    at,
                    kind: ExprKind::Construct(ty, parts),
                });
            }
            _ => return self.qualified(),
        };
        self.next += 1;
        Ok(Expr { at, kind })
    }

    fn construct_type(&mut self) -> Outcome<TypeName> {
        Ok(self.specifiers()?.ty)
    }

    /// Parses a name with its scopes and template arguments.
    fn qualified(&mut self) -> Outcome<Expr> {
        let at = self.at();
        let mut path = String::new();
        loop {
            path.push_str(&self.name("a name")?);
            if !self.take("::") {
                break;
            }
            path.push_str("::");
        }
        let name: Rc<str> = Rc::from(path);
        let takes_arguments = self.templates.contains(&name)
            || matches!(
                &*name,
                "numeric_limits" | "is_same" | "is_same_v" | "min" | "max" | "swap"
            );
        let is_comparison = matches!(&*name, "min" | "max" | "swap") && !self.is_type_at(1);
        let arguments = if takes_arguments && self.is("<") && !is_comparison {
            self.template_arguments()?
        } else {
            Vec::new()
        };
        if &*name == "is_same" && self.take("::") {
            self.name("value")?;
            let name = Rc::from("is_same_v");
            return Ok(Expr {
                at,
                kind: ExprKind::Name(name, arguments),
            });
        }
        if &*name == "numeric_limits" && self.take("::") {
            let limit = self.name("a limit")?;
            let name = Rc::from(format!("numeric_limits::{limit}"));
            return Ok(Expr {
                at,
                kind: ExprKind::Name(name, arguments),
            });
        }
        Ok(Expr {
            at,
            kind: ExprKind::Name(name, arguments),
        })
    }

    fn sizeof(&mut self) -> Outcome<Expr> {
        let at = self.at();
        self.next += 1;
        let kind = if self.is("(") && self.is_type_at(1) {
            self.next += 1;
            let ty = self.type_name()?;
            self.expect(")")?;
            ExprKind::SizeofType(ty)
        } else {
            ExprKind::SizeofExpr(boxed(self.unary()?))
        };
        Ok(Expr { at, kind })
    }
}
