//! Searches of the syntax tree: barriers, warp functions, assigned names.

use std::collections::HashSet;
use std::rc::Rc;

use super::Lowering;
use crate::ast::{Expr, ExprKind, Program, Stmt, StmtKind, UnOp};

/// Calls `visit` with the expression and all within it.
fn walk_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Unary(_, a)
        | ExprKind::Step { operand: a, .. }
        | ExprKind::Cast { operand: a, .. }
        | ExprKind::Member { object: a, .. } => {
            walk_expr(a, visit);
        }
        ExprKind::Binary(_, a, b)
        | ExprKind::Assign(_, a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => {
            walk_expr(a, visit);
            walk_expr(b, visit);
        }
        ExprKind::Conditional(a, b, c) => {
            walk_expr(a, visit);
            walk_expr(b, visit);
            walk_expr(c, visit);
        }
        ExprKind::Call(callee, arguments) => {
            walk_expr(callee, visit);
            arguments
                .iter()
                .for_each(|argument| walk_expr(argument, visit));
        }
        ExprKind::Construct(_, parts) | ExprKind::List(parts) => {
            parts.iter().for_each(|part| walk_expr(part, visit))
        }
        _ => {}
    }
}

/// Calls `visit` with all expressions of a statement.
fn walk_stmt(stmt: &Stmt, visit: &mut dyn FnMut(&Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) => walk_expr(expr, visit),
        StmtKind::Declare(variables) => {
            for variable in variables {
                if let Some(init) = &variable.init {
                    walk_expr(init, visit);
                }
            }
        }
        StmtKind::Block(body) => body.iter().for_each(|stmt| walk_stmt(stmt, visit)),
        StmtKind::If(condition, accept, reject) => {
            walk_expr(condition, visit);
            walk_stmt(accept, visit);
            if let Some(reject) = reject {
                walk_stmt(reject, visit);
            }
        }
        StmtKind::For {
            init,
            condition,
            step,
            body,
        } => {
            if let Some(init) = init {
                walk_stmt(init, visit);
            }
            condition
                .iter()
                .chain(step)
                .for_each(|expr| walk_expr(expr, visit));
            walk_stmt(body, visit);
        }
        StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
            walk_expr(condition, visit);
            walk_stmt(body, visit);
        }
        StmtKind::Switch(selector, cases) => {
            walk_expr(selector, visit);
            cases
                .iter()
                .flat_map(|case| &case.body)
                .for_each(|stmt| walk_stmt(stmt, visit));
        }
        StmtKind::Return(Some(value)) => walk_expr(value, visit),
        StmtKind::Return(None) | StmtKind::Empty | StmtKind::Break | StmtKind::Continue => {}
    }
}

fn called(expr: &Expr) -> Option<&Rc<str>> {
    match &expr.kind {
        ExprKind::Call(callee, _) => match &callee.kind {
            ExprKind::Name(name, _) | ExprKind::Member { name, .. } => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Warp functions, which need all threads of a block where there are no subgroups.
pub(super) fn is_warp_function(name: &str) -> bool {
    name.starts_with("__shfl")
        || name.starts_with("__ballot")
        || name.starts_with("__any")
        || name.starts_with("__all")
        || name.starts_with("__reduce_")
        || name.starts_with("__match_")
        || name == "__activemask"
}

pub(super) fn is_barrier(name: &str) -> bool {
    name.starts_with("__syncthreads") || name == "__syncwarp"
}

/// Returns the functions that call one of the kind, directly or through others.
pub(super) fn functions_that_call(
    program: &Program,
    is_kind: &dyn Fn(&str) -> bool,
) -> HashSet<Rc<str>> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for function in &program.functions {
            let Some(Ok(body)) = &function.body else {
                continue;
            };
            let mut calls = false;
            walk_stmt(body, &mut |expr| {
                calls |= called(expr).is_some_and(|name| is_kind(name) || found.contains(name));
            });
            if calls {
                // A member function is called by its last name.
                if let Some((_, last)) = function.name.rsplit_once("::") {
                    found.insert(Rc::from(last));
                }
                found.insert(function.name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl Lowering<'_> {
    fn is_collective_name(&self, name: &str) -> bool {
        is_barrier(name)
            || (!self.options.subgroups && is_warp_function(name))
            || self.collective.contains(name)
    }

    /// Returns true if an expression has a barrier or, without subgroups, a warp function.
    pub(super) fn has_collective(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk_expr(expr, &mut |expr| {
            found |= called(expr).is_some_and(|name| self.is_collective_name(name))
        });
        found
    }

    pub(super) fn stmt_is_collective(&mut self, stmt: &Stmt) -> bool {
        if !self.f.is_collective {
            return false;
        }
        if let Some(known) = self.collective_stmts.get(&stmt.id) {
            return *known;
        }
        let mut found = false;
        walk_stmt(stmt, &mut |expr| {
            found |= called(expr).is_some_and(|name| self.is_collective_name(name))
        });
        self.collective_stmts.insert(stmt.id, found);
        found
    }

    pub(super) fn stmt_has_barrier(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        walk_stmt(stmt, &mut |expr| {
            found |= called(expr).is_some_and(|name| {
                (is_barrier(name) && name.as_ref() != "__syncwarp") || self.barriers.contains(name)
            });
        });
        found
    }

    /// Returns the names that a function assigns or takes the address of.
    pub(super) fn assigned_names(&self, body: &Stmt) -> HashSet<Rc<str>> {
        let mut names = HashSet::new();
        walk_stmt(body, &mut |expr| match &expr.kind {
            ExprKind::Assign(_, target, _)
            | ExprKind::Step {
                operand: target, ..
            }
            | ExprKind::Unary(UnOp::AddressOf, target) => {
                names.extend(base_name(target));
            }
            // An argument may be bound to a reference.
            ExprKind::Call(_, arguments) => names.extend(arguments.iter().filter_map(base_name)),
            _ => {}
        });
        // So may the initialiser of a reference.
        collect_references(body, &mut names);
        names
    }

    /// Returns the names that pointers and references of a function may stand for.
    pub(super) fn aliased_names(&self, body: &Stmt) -> HashSet<Rc<str>> {
        let mut names = HashSet::new();
        walk_stmt(body, &mut |expr| {
            if let ExprKind::Unary(UnOp::AddressOf, target) = &expr.kind {
                names.extend(base_name(target));
            }
        });
        collect_references(body, &mut names);
        names
    }

    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.f.assigned_names.contains(name)
    }
}

/// Returns true if a loop's body has a `break` or `continue` of the loop.
pub(super) fn has_jump(body: &Stmt) -> bool {
    jumps(body, false)
}

fn jumps(stmt: &Stmt, in_switch: bool) -> bool {
    match &stmt.kind {
        StmtKind::Break => !in_switch,
        StmtKind::Continue => true,
        StmtKind::Block(body) => body.iter().any(|stmt| jumps(stmt, in_switch)),
        StmtKind::If(_, accept, reject) => {
            jumps(accept, in_switch) || reject.as_deref().is_some_and(|stmt| jumps(stmt, in_switch))
        }
        StmtKind::Switch(_, cases) => cases
            .iter()
            .flat_map(|case| &case.body)
            .any(|stmt| jumps(stmt, true)),
        _ => false,
    }
}

fn base_name(expr: &Expr) -> Option<Rc<str>> {
    match &expr.kind {
        ExprKind::Name(name, _) => Some(name.clone()),
        ExprKind::Member {
            object,
            arrow: false,
            ..
        } => base_name(object),
        // A store through a pointer does not assign the pointer; arrays have variables in any case.
        ExprKind::Index(object, _) if !matches!(object.kind, ExprKind::Name(..)) => {
            base_name(object)
        }
        _ => None,
    }
}

fn collect_references(stmt: &Stmt, names: &mut HashSet<Rc<str>>) {
    match &stmt.kind {
        StmtKind::Declare(variables) => {
            for variable in variables.iter().filter(|variable| variable.ty.reference) {
                names.extend(variable.init.as_ref().and_then(base_name));
            }
        }
        StmtKind::Block(body) => body.iter().for_each(|stmt| collect_references(stmt, names)),
        StmtKind::If(_, accept, reject) => {
            collect_references(accept, names);
            if let Some(reject) = reject {
                collect_references(reject, names);
            }
        }
        StmtKind::For { body, .. } | StmtKind::While(_, body) | StmtKind::DoWhile(body, _) => {
            collect_references(body, names)
        }
        StmtKind::Switch(_, cases) => cases
            .iter()
            .flat_map(|case| &case.body)
            .for_each(|stmt| collect_references(stmt, names)),
        _ => {}
    }
}
