//! Loops of functions with barriers whose counter is declared before them. Within the loop it is a variable of its own: where
//! another loop lets the counter differ between threads, this one need not.

use super::Lowering;
use super::state::VarKind;
use super::value::Place;
use crate::ast::{Base, Expr, ExprKind, Space, Stmt, StmtKind, TypeName, Variable};
use crate::error::Outcome;
use crate::types::Ty;

/// The parts of a `for`.
#[derive(Clone, Copy)]
pub(super) struct For<'a> {
    pub(super) init: Option<&'a Stmt>,
    pub(super) condition: Option<&'a Expr>,
    pub(super) step: Option<&'a Expr>,
    pub(super) body: &'a Stmt,
}

impl Lowering<'_> {
    /// Lowers a `for` in a scope of its own.
    pub(super) fn for_stmt(&mut self, stmt: &Stmt, parts: For<'_>) -> Outcome<()> {
        let counter = self.counter_declaration(parts);
        let outer = match &counter {
            Some((_, variable)) => Some(self.name(&variable.name, &[], stmt.at)?),
            None => None,
        };
        let declaration = counter.map(|(init, variable)| Stmt {
            at: init.at,
            id: init.id,
            kind: StmtKind::Declare(vec![variable]),
        });
        if let Some(init) = declaration.as_ref().or(parts.init) {
            self.guarded_stmt(init)?;
        }
        if outer.is_none() {
            self.free_counters();
        }
        self.loop_stmt(stmt, parts.condition, parts.step, parts.body, false)?;
        match (outer, declaration) {
            (Some(outer), Some(declaration)) => self.leave_counter(&outer, &declaration),
            _ => Ok(()),
        }
    }

    /// Returns the declaration that replaces the assignment before a loop, if the function has barriers and the loop starts with one.
    fn counter_declaration<'a>(&self, parts: For<'a>) -> Option<(&'a Stmt, Variable)> {
        let init = parts.init?;
        let StmtKind::Expr(Expr {
            kind: ExprKind::Assign(None, target, value),
            at,
        }) = &init.kind
        else {
            return None;
        };
        let ExprKind::Name(name, _) = &target.kind else {
            return None;
        };
        let var = self.find(name)?;
        let (VarKind::Local(_), Ty::Prim(prim)) = (&var.kind, &var.ty) else {
            return None;
        };
        if !self.f.is_collective || self.f.aliased_names.contains(name) {
            return None;
        }
        let ty = TypeName {
            at: *at,
            base: Base::Prim(*prim),
            pointers: 0,
            reference: false,
            is_const: false,
        };
        let variable = Variable {
            at: *at,
            name: name.clone(),
            ty,
            lengths: Vec::new(),
            init: Some((**value).clone()),
            space: Space::Plain,
            is_extern: false,
        };
        Some((init, variable))
    }

    /// Stores the last value of a loop's counter in the variable that was declared before.
    fn leave_counter(&mut self, outer: &Place, declaration: &Stmt) -> Outcome<()> {
        let StmtKind::Declare(variables) = &declaration.kind else {
            return Ok(());
        };
        variables.iter().try_for_each(|variable| {
            let inner = self.name(&variable.name, &[], variable.at)?;
            let value = self.load(&inner, variable.at)?;
            self.store(outer, value, variable.at)
        })
    }
}
