//! Member functions: each becomes a function `Structure::name` whose first parameter is the object, `this`.

use std::rc::Rc;

use super::Parser;
use crate::ast::{
    Base, Expr, ExprKind, Function, FunctionKind, Space, Stmt, StmtKind, TemplateArg,
    TemplateParam, TypeName, Variable,
};
use crate::error::{Outcome, fault};
use crate::source::Tok;

/// Returns the expression for the object of a member function.
fn this(at: u32) -> Expr {
    Expr {
        at,
        kind: ExprKind::Name(Rc::from("this"), Vec::new()),
    }
}

impl Parser {
    /// Returns true if a friend starts here, which is a function outside of the structure.
    pub(super) fn friend_ahead(&self) -> bool {
        let words = (0..).map_while(|ahead| match self.peek_at(ahead) {
            Tok::Name(word) => Some(word),
            _ => None,
        });
        words.into_iter().any(|word| &**word == "friend")
    }

    /// Returns true if a member function starts here: a parenthesis comes before the end of the member.
    pub(super) fn method_ahead(&self) -> bool {
        let mut ahead = 0;
        loop {
            match self.peek_at(ahead) {
                Tok::Name(word) if &**word == "operator" => return true,
                Tok::Name(word) if matches!(&**word, "alignas" | "__align__") => ahead += 1,
                Tok::Punct("(") => return !self.is_at(ahead + 1, "*"),
                Tok::Punct(";" | "=" | "{" | "[" | ",") | Tok::End => return false,
                _ => {}
            }
            ahead += 1;
        }
    }

    /// Parses a member function or constructor.
    pub(super) fn method(&mut self, owner: &Rc<str>, template: &[TemplateParam]) -> Outcome<()> {
        if self.is_word("template") || self.is("~") {
            return fault(
                self.at(),
                "member templates and destructors are not supported; write a __device__ function",
            );
        }
        while matches!(self.peek(), Tok::Name(word) if matches!(&**word, "__device__" | "__host__" | "inline" | "__forceinline__" | "__inline__" | "constexpr" | "explicit"))
        {
            self.next += 1;
        }
        if self.is_word("virtual") {
            return fault(
                self.at(),
                "virtual functions are not supported; write a __device__ function",
            );
        }
        let at = self.at();
        let is_constructor = self.is_word(owner) && self.is_at(1, "(");
        let result = if is_constructor {
            TypeName {
                at,
                base: Base::Void,
                pointers: 0,
                reference: false,
                is_const: false,
            }
        } else {
            let specifiers = self.specifiers()?;
            self.pointers(specifiers.ty)?
        };
        let at = self.at();
        let mut name = self.name("the name of a member")?.to_string();
        if name == "operator" {
            let Tok::Punct(sign) = *self.peek() else {
                return fault(at, "this operator is not supported; write a function");
            };
            self.next += 1;
            name.push_str(sign);
            if sign == "(" {
                self.expect(")")?;
                name.push(')');
            }
        }
        self.expect("(")?;
        let hidden = self.shadowed.len();
        let mut parameters = vec![object(at, owner, template)];
        parameters.extend(self.parameters()?);
        self.take_word("const");
        let end = self.method_end()?;
        let depth = self.depth;
        let body = self.method_body(at);
        self.depth = depth;
        self.next = end;
        self.take(";");
        self.types.extend(self.shadowed.drain(hidden..));
        self.push_function(Function {
            at,
            index: 0,
            name: Rc::from(format!("{owner}::{name}")),
            kind: FunctionKind::Device,
            template: template.to_vec(),
            specialises: None,
            result,
            parameters,
            body: Some(body),
        });
        Ok(())
    }

    /// Returns the index of the token after the body.
    fn method_end(&self) -> Outcome<usize> {
        let mut index = self.next;
        loop {
            match self.tokens.get(index).map(|token| &token.tok) {
                Some(Tok::Punct("(")) => index = self.after_bracket(index)?,
                Some(Tok::Punct("{")) => {
                    // Braces may initialise a member before the body.
                    let after = self.after_bracket(index)?;
                    let goes_on = self.tokens.get(after).map(|token| &token.tok);
                    if !matches!(goes_on, Some(Tok::Punct("," | "{"))) {
                        return Ok(after);
                    }
                    index = after;
                }
                Some(Tok::Punct(";") | Tok::End) | None => {
                    return fault(
                        self.at(),
                        "the member function has no body here; move it into the structure",
                    );
                }
                _ => index += 1,
            }
        }
    }

    /// Parses the initialisers of a constructor and the body.
    fn method_body(&mut self, at: u32) -> Outcome<Stmt> {
        let mut body = Vec::new();
        if self.take(":") {
            loop {
                let at = self.at();
                let name = self.name("the name of a member")?;
                let parts = if self.is("{") {
                    self.initializer_list()?
                } else {
                    self.expect("(")?;
                    self.arguments()?
                };
                let object = Box::new(this(at));
                let member = ExprKind::Member {
                    object,
                    name,
                    arrow: false,
                };
                let target = Box::new(Expr { at, kind: member });
                let mut parts = parts.into_iter();
                let value = match (parts.next(), parts.next()) {
                    (Some(only), None) => only,
                    (None, _) => Expr {
                        at,
                        kind: ExprKind::List(Vec::new()),
                    },
                    _ => {
                        return fault(
                            at,
                            "a member is initialised with several values; assign it in the body",
                        );
                    }
                };
                let kind = ExprKind::Assign(None, target, Box::new(value));
                body.push(self.make(at, StmtKind::Expr(Expr { at, kind })));
                if !self.take(",") {
                    break;
                }
            }
        }
        body.push(self.block()?);
        Ok(self.make(at, StmtKind::Block(body)))
    }
}

/// Returns the parameter for the object.
fn object(at: u32, owner: &Rc<str>, template: &[TemplateParam]) -> Variable {
    let argument = |parameter: &TemplateParam| match &parameter.value {
        None => TemplateArg::Type(TypeName {
            at,
            base: Base::Name(parameter.name.clone(), Vec::new()),
            pointers: 0,
            reference: false,
            is_const: false,
        }),
        Some(_) => TemplateArg::Value(Expr {
            at,
            kind: ExprKind::Name(parameter.name.clone(), Vec::new()),
        }),
    };
    let base = Base::Name(owner.clone(), template.iter().map(argument).collect());
    Variable {
        at,
        name: Rc::from("this"),
        ty: TypeName {
            at,
            base,
            pointers: 0,
            reference: true,
            is_const: false,
        },
        lengths: Vec::new(),
        init: None,
        space: Space::Plain,
        is_extern: false,
    }
}
