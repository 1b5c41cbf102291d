//! Loops of functions with barriers whose counter is declared before them. Within the loop it is a variable of its own: where
//! another loop lets the counter differ between threads, this one need not.

use std::rc::Rc;

use super::Lowering;
use super::state::VarKind;
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
        let Some((name, declaration)) = self.counter_declaration(parts) else {
            if let Some(init) = parts.init {
                self.guarded_stmt(init)?;
            }
            self.free_counters();
            return self.loop_stmt(stmt, parts.condition, parts.step, parts.body, false);
        };
        let at = declaration.at;
        let outer = self.name(&name, &[], at)?;
        self.guarded_stmt(&declaration)?;
        self.loop_stmt(stmt, parts.condition, parts.step, parts.body, false)?;
        // The variable declared before has the last value of the counter.
        let inner = self.name(&name, &[], at)?;
        let value = self.load(&inner, at)?;
        self.store(&outer, value, at)
    }

    /// Returns the counter and the declaration that replaces the assignment before a loop, if the function has barriers and the loop starts with one.
    fn counter_declaration(&self, parts: For<'_>) -> Option<(Rc<str>, Stmt)> {
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
        let declaration = Stmt {
            at: init.at,
            id: init.id,
            kind: StmtKind::Declare(vec![variable]),
        };
        Some((name.clone(), declaration))
    }
}
