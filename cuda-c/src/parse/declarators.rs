//! Declarators and initialisers.

use super::Parser;
use super::types::Specifiers;
use crate::ast::{Expr, ExprKind, TypeName, Variable};
use crate::error::{Outcome, fault};
use crate::source::Tok;
use std::rc::Rc;

impl Parser {
    /// A variable hides a type of its name, up to the end of the function.
    pub(super) fn shadow(&mut self, name: &Rc<str>) {
        if self.types.remove(name) {
            self.shadowed.push(name.clone());
        }
    }

    /// Parses `*`, `&` and their qualifiers.
    pub(super) fn pointers(&mut self, mut ty: TypeName) -> Outcome<TypeName> {
        loop {
            if self.take("*") {
                ty.pointers += 1;
            } else if self.is("&") || self.is("&&") {
                self.next += 1;
                ty.reference = true;
            } else if matches!(self.peek(), Tok::Name(name) if matches!(&**name, "const" | "__restrict__" | "__restrict" | "restrict" | "volatile"))
            {
                self.next += 1;
            } else {
                break;
            }
        }
        if ty.pointers > 8 {
            return fault(
                ty.at,
                "the type has more than 8 levels of pointers; use indices",
            );
        }
        Ok(ty)
    }

    /// Parses a declarator: pointers, a name and array lengths.
    pub(super) fn declarator(&mut self, specifiers: &Specifiers) -> Outcome<Variable> {
        let mut ty = self.pointers(specifiers.ty.clone())?;
        let at = self.at();
        // `T (&name)[N]`.
        let is_array_reference = self.is("(") && self.is_at(1, "&");
        if is_array_reference {
            self.next += 2;
            ty.reference = true;
        }
        if self.is("(") && self.is_at(1, "*") {
            return fault(
                at,
                "function pointers and pointers to arrays are not supported; call functions by name, index arrays",
            );
        }
        let name = self.name("the name of a variable")?;
        self.shadow(&name);
        if is_array_reference {
            self.expect(")")?;
        }
        let mut lengths = Vec::new();
        while self.take("[") {
            if self.take("]") {
                lengths.push(None);
                continue;
            }
            let length = self.expression()?;
            lengths.push(Some(length));
            self.expect("]")?;
        }
        if lengths.len() > 8 {
            return fault(at, "the array has more than 8 dimensions; use fewer");
        }
        Ok(Variable {
            at,
            name,
            ty,
            lengths,
            init: None,
            space: specifiers.space,
            is_extern: specifiers.is_extern,
        })
    }

    /// Parses declarators with initialisers up to a semicolon.
    pub(super) fn declarators(&mut self, specifiers: &Specifiers) -> Outcome<Vec<Variable>> {
        let mut variables = Vec::new();
        loop {
            let mut variable = self.declarator(specifiers)?;
            if self.take("=") || self.is("{") {
                variable.init = Some(self.initializer()?);
            } else if self.is("(") {
                let at = self.at();
                self.next += 1;
                let arguments = self.arguments()?;
                let kind = ExprKind::Construct(variable.ty.clone(), arguments);
                variable.init = Some(Expr { at, kind });
            }
            variables.push(variable);
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(variables)
    }

    pub(super) fn initializer(&mut self) -> Outcome<Expr> {
        if !self.is("{") {
            return self.assignment();
        }
        self.enter()?;
        let at = self.at();
        self.next += 1;
        let mut parts = Vec::new();
        while !self.is("}") {
            if self.is(".") {
                return fault(
                    self.at(),
                    "designated initialisers are not supported; list the values in order",
                );
            }
            parts.push(self.initializer()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        self.leave();
        Ok(Expr {
            at,
            kind: ExprKind::List(parts),
        })
    }

    pub(super) fn initializer_list(&mut self) -> Outcome<Vec<Expr>> {
        match self.initializer()?.kind {
            ExprKind::List(parts) => Ok(parts),
            _ => self.unexpected("{"),
        }
    }
}
