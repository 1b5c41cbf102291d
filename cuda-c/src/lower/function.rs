//! Functions: a function of the source becomes one of WGSL for each combination of template arguments and of memory that its
//! pointers point into.

use std::collections::HashMap;
use std::rc::Rc;

use naga::{
    AddressSpace, Expression, FunctionResult, Handle, Span, Statement, StructMember, Type,
    TypeInner,
};

use super::Lowering;
use super::facts::{ArgumentKey, Root, Spec, SpecKey};
use super::level::Level;
use super::state::{H, State};
use super::value::{Data, Pointer, Value};
use crate::ast::{Function, Variable};
use crate::error::{Outcome, fault};
use crate::types::{Leaf, Prim, Ty};

/// An argument of a call, evaluated.
#[derive(Debug, Clone)]
pub(super) enum Argument {
    Value(Value),
    /// The target of a reference.
    Place {
        pointer: Pointer,
        ty: Ty,
    },
}

/// A function of WGSL.
#[derive(Debug, Clone)]
pub(super) struct Lowered {
    pub(super) handle: Handle<naga::Function>,
    /// Local variables of callers that it takes, in the order of its arguments.
    pub(super) roots: Vec<Root>,
    pub(super) builtins: Vec<u8>,
    pub(super) result: Ty,
}

pub(super) const BUILTINS: [u8; 5] = [1, 2, 4, 8, 16];

impl Lowering<'_> {
    /// Lowers a device function with the arguments of a call.
    pub(super) fn lower_device(
        &mut self,
        function: &Rc<Function>,
        spec: Spec,
        at: u32,
    ) -> Outcome<Lowered> {
        let body = match &function.body {
            Some(Ok(body)) => body,
            Some(Err(fault)) => return Err(fault.clone()),
            None => {
                return fault(
                    at,
                    format!(
                        "{} is declared and not defined; add its body",
                        function.name
                    ),
                );
            }
        };
        let key = self.facts.specs[spec.0].clone();
        let outer = std::mem::take(&mut self.f);
        self.calls.push(function.index);
        let lowered = self.lower_body(function, spec, &key, body, &outer);
        self.calls.pop();
        let state = std::mem::replace(&mut self.f, outer);
        let (roots, builtins, result) = lowered?;
        let handle = self
            .module
            .functions
            .append(state.function, Span::UNDEFINED);
        let lowered = Lowered {
            handle,
            roots,
            builtins,
            result,
        };
        self.lowered.insert(spec, lowered.clone());
        Ok(lowered)
    }

    fn lower_body(
        &mut self,
        function: &Rc<Function>,
        spec: Spec,
        key: &SpecKey,
        body: &crate::ast::Stmt,
        outer: &State,
    ) -> Outcome<(Vec<Root>, Vec<u8>, Ty)> {
        self.f.spec = Some(spec);
        self.f.function.name = Some(
            function
                .name
                .replace(|c: char| !c.is_alphanumeric() && c != '_', "_"),
        );
        self.f.name = Rc::from(format!(
            "{} {} {:?}",
            function.name, function.index, key.template
        ));
        self.f.is_collective = self.collective.contains(&function.name);
        self.f.assigned_names = self.assigned_names(body);
        self.f.aliased_names = self.aliased_names(body);
        self.f.scopes.push(HashMap::new());
        self.f.blocks.push(naga::Block::new());
        self.f.ended.push(false);
        self.define_template(&function.template, &key.template)?;
        // Local variables of callers come first.
        let mut roots: Vec<Root> = Vec::new();
        for argument in &key.arguments {
            if let ArgumentKey::Local(root, ..) = argument
                && !roots.contains(root)
            {
                roots.push(*root);
                let leaves: Vec<Leaf> = outer.locals.get(root).map_or(Vec::new(), |leaves| {
                    leaves.iter().map(|(_, leaf)| *leaf).collect()
                });
                let mut pointers = Vec::new();
                for leaf in leaves {
                    let base = self.leaf_ty(leaf);
                    let ty = self.ty(TypeInner::Pointer {
                        base,
                        space: AddressSpace::Function,
                    });
                    pointers.push((self.argument("variable", ty), leaf));
                }
                self.f.locals.insert(*root, pointers);
            }
        }
        let mut bindings = Vec::new();
        for (parameter, argument) in function.parameters.iter().zip(&key.arguments) {
            bindings.push(self.parameter(parameter, argument)?);
        }
        let mask = if key.is_masked {
            let ty = self.scalar_ty(Prim::Bool);
            Some(self.argument("active", ty))
        } else {
            None
        };
        let known = self.facts.builtins.get(&spec).copied().unwrap_or(0);
        let builtins: Vec<u8> = BUILTINS
            .into_iter()
            .filter(|bit| known & bit != 0)
            .collect();
        for bit in &builtins {
            let (ty, _, name) = self.builtin_argument(*bit);
            let handle = self.argument(name, ty);
            self.f.builtins.insert(*bit, handle);
        }
        let ty = self.resolve(&function.result)?;
        self.f.result = ty.clone();
        if ty != Ty::Void {
            let ty = self.result_ty(&ty);
            self.f.function.result = Some(FunctionResult { ty, binding: None });
        }
        self.function_body(body, mask, bindings)?;
        let block = self.f.blocks.pop().unwrap_or_default();
        self.f.function.body = block;
        Ok((roots, builtins, ty))
    }

    /// Lowers the statements of a function, from the variables of its parameters on.
    pub(super) fn function_body(
        &mut self,
        body: &crate::ast::Stmt,
        mask: Option<H>,
        parameters: Vec<(Variable, Ty, Value)>,
    ) -> Outcome<()> {
        let ty = self.f.result.clone();
        if self.f.is_collective && (mask.is_some() || has_return(body)) {
            let level = if mask.is_some() {
                Level::divergent(body.at)
            } else {
                Level::UNIFORM
            };
            let index = self.add_guard("active", mask, level);
            self.f.return_guard = Some(index);
            if mask.is_some() {
                self.open_guard(index, level);
            }
            for leaf in if ty == Ty::Void {
                Vec::new()
            } else {
                ty.leaves()
            } {
                let ty = self.leaf_ty(leaf);
                let variable = self.local("result", ty, None);
                self.f.result_variables.push(variable);
            }
        }
        for (variable, ty, value) in parameters {
            self.bind_parameter(&variable, ty, value)?;
        }
        self.guarded_stmt(body)?;
        if self.has_ended() {
            return Ok(());
        }
        let value = if ty == Ty::Void {
            None
        } else if self.f.result_variables.is_empty() {
            let value = self.zero_value(&ty, body.at)?;
            match value.data {
                Data::Leaves(_) => self.returned(value, body.at)?,
                _ => Some(self.u32(0)),
            }
        } else {
            let leaves = self
                .f
                .result_variables
                .clone()
                .into_iter()
                .map(|variable| self.load_pointer(variable))
                .collect();
            let value = Value {
                ty,
                data: Data::Leaves(leaves),
                level: Level::UNIFORM,
            };
            self.returned(value, body.at)?
        };
        if value.is_some() || !self.f.is_kernel {
            self.push(Statement::Return { value });
        }
        Ok(())
    }

    /// Returns the type of WGSL for a result.
    pub(super) fn result_ty(&mut self, ty: &Ty) -> Handle<Type> {
        if matches!(ty, Ty::Pointer(_)) {
            return self.scalar_ty(Prim::UInt);
        }
        let leaves = ty.leaves();
        if leaves.len() == 1 {
            return self.leaf_ty(leaves[0]);
        }
        let mut members = Vec::new();
        let mut offset = 0u32;
        for (n, leaf) in leaves.iter().enumerate() {
            let (size, align) = match leaf.lanes {
                1 => (4, 4),
                2 => (8, 8),
                3 if leaf.count.is_none() => (12, 16),
                _ => (16, 16),
            };
            offset = offset.next_multiple_of(align);
            let leaf_ty = self.leaf_ty(*leaf);
            members.push(StructMember {
                name: Some(format!("part_{n}_")),
                ty: leaf_ty,
                binding: None,
                offset,
            });
            offset += size * leaf.count.unwrap_or(1);
        }
        let span = offset.next_multiple_of(16);
        self.module.types.insert(
            Type {
                name: Some(format!("{}_value", ty.name())),
                inner: TypeInner::Struct { members, span },
            },
            Span::UNDEFINED,
        )
    }

    /// Converts a value to the result of the function.
    pub(super) fn returned(&mut self, value: Value, at: u32) -> Outcome<Option<H>> {
        match (&value.ty, &value.data) {
            (Ty::Pointer(element), Data::Pointer(pointer)) => {
                let (root, index, unit) = self.rebased(pointer, element.size(), at)?;
                let key = (self.spec(), 0, 0);
                self.note_pointer(key, root, unit, at)?;
                let wanted = self
                    .facts
                    .pointers
                    .get(&key)
                    .map_or(unit, |facts| facts.unit);
                Ok(Some(self.scaled(index, unit / wanted.max(1))))
            }
            (_, Data::Leaves(leaves)) if leaves.len() == 1 => Ok(Some(leaves[0])),
            (ty, Data::Leaves(leaves)) => {
                let ty = self.result_ty(&ty.clone());
                Ok(Some(self.add(Expression::Compose {
                    ty,
                    components: leaves.clone(),
                })))
            }
            _ => fault(at, "nullptr is not returned; return an index"),
        }
    }
}

/// Returns true if a return precedes the end.
fn has_return(body: &crate::ast::Stmt) -> bool {
    use crate::ast::StmtKind as Kind;
    match &body.kind {
        Kind::Return(_) => true,
        Kind::Block(body) => body.iter().any(has_return),
        Kind::If(_, accept, reject) => {
            has_return(accept) || reject.as_deref().is_some_and(has_return)
        }
        Kind::For { body, .. } | Kind::While(_, body) | Kind::DoWhile(body, _) => has_return(body),
        Kind::Switch(_, cases) => cases.iter().any(|case| case.body.iter().any(has_return)),
        _ => false,
    }
}
