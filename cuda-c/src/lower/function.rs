//! Functions: a function of the source becomes one of WGSL for each combination of template arguments and of memory that its
//! pointers point into.

use std::collections::HashMap;
use std::rc::Rc;

use naga::{AddressSpace, Expression, FunctionArgument, FunctionResult, Handle, Span, Statement, StructMember, Type, TypeInner};

use super::Lowering;
use super::facts::{ArgumentKey, PointerFacts, Root, Spec, SpecKey, TemplateValue};
use super::level::{Kind, Level};
use super::state::{H, State, Var, VarKind};
use super::value::{Data, Place, Pointer, Value};
use crate::ast::{Function, TemplateArg, TemplateParam, Variable};
use crate::error::{Outcome, fault};
use crate::types::{Leaf, Prim, Ty};

/// An argument of a call, evaluated.
#[derive(Debug, Clone)]
pub(super) enum Argument {
    Value(Value),
    /// The target of a reference.
    Place { pointer: Pointer, ty: Ty },
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

fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Uniform => 0,
        Kind::Memory => 1,
        Kind::Divergent => 2,
    }
}

fn level_of(number: u8, at: u32) -> Level {
    match number {
        0 => Level::UNIFORM,
        1 => Level::memory(at),
        _ => Level::divergent(at),
    }
}

pub(super) const BUILTINS: [u8; 5] = [1, 2, 4, 8, 16];

impl Lowering<'_> {
    /// Binds template arguments to parameters.
    pub(super) fn bind_template(&mut self, parameters: &[TemplateParam], arguments: &[TemplateArg], at: u32) -> Outcome<Vec<TemplateValue>> {
        let mut bound = Vec::new();
        if arguments.len() > parameters.len() {
            return fault(at, format!("the template takes {} arguments, and {} are given", parameters.len(), arguments.len()));
        }
        for (index, parameter) in parameters.iter().enumerate() {
            let Some(argument) = arguments.get(index).or(parameter.default.as_ref()) else {
                return fault(at, format!("the template parameter {} has no argument; give all of them", parameter.name));
            };
            bound.push(self.template_value(parameter, argument, at)?);
        }
        Ok(bound)
    }

    fn template_value(&mut self, parameter: &TemplateParam, argument: &TemplateArg, at: u32) -> Outcome<TemplateValue> {
        match (&parameter.value, argument) {
            (None, TemplateArg::Type(ty)) => Ok(TemplateValue::Type(self.resolve(ty)?)),
            (Some(ty), TemplateArg::Value(expr)) => {
                let ty = self.resolve(ty)?;
                let value = self.expr(expr)?;
                let value = self.convert(value, &ty, expr.at)?;
                match self.constant(&value) {
                    Some(constant) => Ok(TemplateValue::Int(constant, ty)),
                    None => fault(expr.at, format!("the argument for {} is not an integer constant", parameter.name)),
                }
            }
            _ => fault(at, format!("{} is a {}; give one", parameter.name, if parameter.value.is_some() { "value" } else { "type" })),
        }
    }

    /// Defines the template parameters in the current scope.
    pub(super) fn define_template(&mut self, parameters: &[TemplateParam], bound: &[TemplateValue]) -> Outcome<()> {
        for (parameter, value) in parameters.iter().zip(bound) {
            match value {
                TemplateValue::Type(ty) => {
                    self.f.types.insert(parameter.name.clone(), ty.clone());
                }
                TemplateValue::Int(value, ty) => {
                    let leaf = self.literal(*value as i32, ty.prim().unwrap_or(Prim::Int));
                    let value = Value::leaf(ty.clone(), leaf, Level::UNIFORM);
                    let var = Var { ty: ty.clone(), key: (self.spec(), 0, 0), kind: VarKind::Value(value) };
                    self.define(&parameter.name, var);
                }
            }
        }
        Ok(())
    }

    /// Calls a function with evaluated arguments.
    pub(super) fn call_function(
        &mut self,
        function: &Rc<Function>,
        template: Vec<TemplateValue>,
        arguments: Vec<Argument>,
        at: u32,
    ) -> Outcome<Value> {
        let is_collective = self.collective.contains(&function.name);
        if self.barriers.contains(&function.name) && !self.f.control.is_uniform() {
            let control = self.f.control;
            return self.divergent(at, control, &format!("the control flow around {}, which has a barrier,", function.name));
        }
        if self.calls.iter().any(|name| *name == function.index) {
            return fault(at, format!("{} calls itself: recursion is not supported; use a loop and a stack in an array", function.name));
        }
        let is_masked = is_collective && self.f.guards.iter().any(|guard| guard.is_open);
        let mut keys = Vec::new();
        let mut values: Vec<H> = Vec::new();
        for argument in &arguments {
            self.pass_argument(argument, &mut keys, &mut values, at)?;
        }
        let key = SpecKey { function: function.index, template, arguments: keys, is_masked };
        let spec = self.facts.spec(key);
        let lowered = match self.lowered.get(&spec) {
            Some(lowered) => lowered.clone(),
            None => self.lower_device(function, spec, at)?,
        };
        let mut passed = Vec::new();
        for root in &lowered.roots {
            let leaves = self.f.locals.get(root).cloned().unwrap_or_default();
            passed.extend(leaves.into_iter().map(|(leaf, _)| leaf));
            // The callee may assign what it has a pointer to.
            self.note_assigned(*root, Level::divergent(at));
        }
        passed.extend(values);
        if is_masked && let Some((hold, _)) = self.guards_hold(0) {
            passed.push(hold);
        }
        for bit in &lowered.builtins {
            passed.push(self.builtin(*bit));
        }
        self.f.has_effect = true;
        self.finish_call(spec, &lowered, passed, is_collective)
    }

    fn finish_call(&mut self, spec: Spec, lowered: &Lowered, passed: Vec<H>, is_collective: bool) -> Outcome<Value> {
        let level = self.facts.results.get(&spec).copied().unwrap_or(Level::UNIFORM);
        let ty = lowered.result.clone();
        let function = lowered.handle;
        let has_result = ty != Ty::Void;
        let guarded = !is_collective && self.f.guards_stores && self.f.guards.iter().any(|guard| guard.is_open);
        let mut result = None;
        if guarded {
            // Threads that have left must not run it.
            let variable = if has_result {
                let ty = self.result_ty(&ty);
                Some(self.local("returned", ty, None))
            } else {
                None
            };
            self.guarded(0, |this| {
                let handle = has_result.then(|| this.add(Expression::CallResult(function)));
                this.push(Statement::Call { function, arguments: passed, result: handle });
                if let (Some(variable), Some(handle)) = (variable, handle) {
                    this.store_pointer(variable, handle);
                }
                Ok(())
            })?;
            if let Some(variable) = variable {
                result = Some(self.load_pointer(variable));
            }
        } else {
            result = has_result.then(|| self.add(Expression::CallResult(function)));
            self.push(Statement::Call { function, arguments: passed, result });
        }
        let Some(handle) = result else {
            return Ok(Value { ty: Ty::Void, data: Data::Leaves(Vec::new()), level });
        };
        if let Ty::Pointer(_) = ty {
            let facts = self.facts.pointers.get(&(spec, 0, 0)).cloned();
            let data = match facts {
                Some(PointerFacts { root, unit }) => Data::Pointer(Pointer::Memory { root, index: handle, unit, offset: 0, component: None }),
                None => Data::Null,
            };
            return Ok(Value { ty, data, level });
        }
        let n_leaves = ty.n_leaves();
        let leaves = if n_leaves == 1 {
            vec![handle]
        } else {
            (0..n_leaves as u32).map(|index| self.add(Expression::AccessIndex { base: handle, index })).collect()
        };
        Ok(Value { ty, data: Data::Leaves(leaves), level })
    }

    /// Appends an argument to the key and the values of a call.
    fn pass_argument(&mut self, argument: &Argument, keys: &mut Vec<ArgumentKey>, values: &mut Vec<H>, at: u32) -> Outcome<()> {
        let (pointer, ty) = match argument {
            Argument::Value(Value { data: Data::Leaves(leaves), level, .. }) => {
                keys.push(ArgumentKey::Value(kind_number(level.kind)));
                values.extend(leaves);
                return Ok(());
            }
            Argument::Value(Value { data: Data::Null, .. }) => {
                keys.push(ArgumentKey::Null);
                return Ok(());
            }
            Argument::Value(Value { data: Data::Pointer(pointer), ty, .. }) => match ty {
                Ty::Pointer(element) => (pointer, (**element).clone()),
                other => (pointer, other.clone()),
            },
            Argument::Place { pointer, ty } => (pointer, ty.clone()),
        };
        match pointer {
            Pointer::Memory { component: Some(_), .. } | Pointer::Memory { .. } => {
                let (root, index, unit) = self.rebased(pointer, ty.element().size(), at)?;
                keys.push(ArgumentKey::Memory(root, unit, ty));
                values.push(index);
            }
            Pointer::Local { root, leaf, index, component } => {
                keys.push(ArgumentKey::Local(*root, *leaf, *component, index.is_some(), ty));
                values.extend(index);
            }
        }
        Ok(())
    }

    /// Lowers a device function with the arguments of a call.
    fn lower_device(&mut self, function: &Rc<Function>, spec: Spec, at: u32) -> Outcome<Lowered> {
        let body = match &function.body {
            Some(Ok(body)) => body,
            Some(Err(fault)) => return Err(fault.clone()),
            None => return fault(at, format!("{} is declared and not defined; add its body", function.name)),
        };
        let key = self.facts.specs[spec.0].clone();
        let outer = std::mem::take(&mut self.f);
        self.calls.push(function.index);
        let lowered = self.lower_body(function, spec, &key, body, &outer);
        self.calls.pop();
        let state = std::mem::replace(&mut self.f, outer);
        let (roots, builtins, result) = lowered?;
        let handle = self.module.functions.append(state.function, Span::UNDEFINED);
        let lowered = Lowered { handle, roots, builtins, result };
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
        self.f.function.name = Some(function.name.replace(|c: char| !c.is_alphanumeric() && c != '_', "_"));
        self.f.name = Rc::from(format!("{} {} {:?}", function.name, function.index, key.template));
        self.f.is_collective = self.collective.contains(&function.name);
        self.f.assigned_names = self.assigned_names(body);
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
                let leaves: Vec<Leaf> = outer.locals.get(root).map_or(Vec::new(), |leaves| leaves.iter().map(|(_, leaf)| *leaf).collect());
                let mut pointers = Vec::new();
                for leaf in leaves {
                    let base = self.leaf_ty(leaf);
                    let ty = self.ty(TypeInner::Pointer { base, space: AddressSpace::Function });
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
        let builtins: Vec<u8> = BUILTINS.into_iter().filter(|bit| known & bit != 0).collect();
        for bit in &builtins {
            let (ty, _, name) = self.builtin_argument(*bit);
            let handle = self.argument(name, ty);
            self.f.builtins.insert(*bit, handle);
        }
        let ty = self.resolve(&function.result)?;
        if function.result.reference {
            return fault(function.at, "functions that return references are not supported; return a value or an index");
        }
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
    pub(super) fn function_body(&mut self, body: &crate::ast::Stmt, mask: Option<H>, parameters: Vec<(Variable, Ty, Value)>) -> Outcome<()> {
        let ty = self.f.result.clone();
        if self.f.is_collective && (mask.is_some() || has_return(body)) {
            let level = if mask.is_some() { Level::divergent(body.at) } else { Level::UNIFORM };
            let index = self.add_guard("active", mask, level);
            self.f.return_guard = Some(index);
            if mask.is_some() {
                self.open_guard(index, level);
            }
            for leaf in if ty == Ty::Void { Vec::new() } else { ty.leaves() } {
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
            let leaves = self.f.result_variables.clone().into_iter().map(|variable| self.load_pointer(variable)).collect();
            let value = Value { ty, data: Data::Leaves(leaves), level: Level::UNIFORM };
            self.returned(value, body.at)?
        };
        if value.is_some() || !self.f.is_kernel {
            self.push(Statement::Return { value });
        }
        Ok(())
    }

    fn argument(&mut self, name: &str, ty: Handle<Type>) -> H {
        self.f.function.arguments.push(FunctionArgument { name: Some(name.to_owned()), ty, binding: None });
        let index = self.f.function.arguments.len() as u32 - 1;
        self.add(Expression::FunctionArgument(index))
    }

    /// Declares the arguments of WGSL for a parameter; returns its type and value.
    fn parameter(&mut self, parameter: &Variable, argument: &ArgumentKey) -> Outcome<(Variable, Ty, Value)> {
        let at = parameter.at;
        let ty = self.resolve(&parameter.ty)?;
        let mut ty = self.array_of(ty, &parameter.lengths, at)?;
        if let Ty::Array(element, _) = &ty
            && !parameter.ty.reference
        {
            ty = Ty::Pointer(element.clone());
        }
        let name = if parameter.name.is_empty() { "unnamed" } else { &*parameter.name };
        let value = match argument {
            ArgumentKey::Value(number) => {
                let mut leaves = Vec::new();
                for leaf in ty.leaves() {
                    let leaf = self.leaf_ty(leaf);
                    leaves.push(self.argument(name, leaf));
                }
                Value { ty: ty.clone(), data: Data::Leaves(leaves), level: level_of(*number, at) }
            }
            ArgumentKey::Null => Value { ty: ty.clone(), data: Data::Null, level: Level::UNIFORM },
            ArgumentKey::Memory(root, unit, _) => {
                let index_ty = self.scalar_ty(Prim::UInt);
                let index = self.argument(name, index_ty);
                let pointer = Pointer::Memory { root: *root, index, unit: *unit, offset: 0, component: None };
                Value { ty: ty.clone(), data: Data::Pointer(pointer), level: Level::divergent(at) }
            }
            ArgumentKey::Local(root, leaf, component, has_index, _) => {
                let index = if *has_index {
                    let ty = self.scalar_ty(Prim::UInt);
                    Some(self.argument(name, ty))
                } else {
                    None
                };
                let pointer = Pointer::Local { root: *root, leaf: *leaf, index, component: *component };
                Value { ty: ty.clone(), data: Data::Pointer(pointer), level: Level::divergent(at) }
            }
        };
        Ok((parameter.clone(), ty, value))
    }

    /// Gives a parameter its name, and a variable if it is assigned.
    pub(super) fn bind_parameter(&mut self, parameter: &Variable, ty: Ty, value: Value) -> Outcome<()> {
        let key = self.next_key(parameter.at, &parameter.name);
        if parameter.ty.reference
            && let Data::Pointer(pointer) = &value.data
        {
            let var = Var { ty, key, kind: VarKind::Place(pointer.clone(), value.level) };
            self.define(&parameter.name, var);
            return Ok(());
        }
        let assigned = self.is_assigned(&parameter.name);
        let is_movable = matches!(
            &value.data,
            Data::Pointer(Pointer::Memory { .. } | Pointer::Local { index: Some(_), component: None, .. })
        );
        if assigned && is_movable {
            return self.declare_pointer(parameter, ty, Some(value));
        }
        if !assigned || matches!(value.data, Data::Pointer(_) | Data::Null) {
            let var = Var { ty, key, kind: VarKind::Value(value) };
            self.define(&parameter.name, var);
            return Ok(());
        }
        let var = self.declare_local(parameter, ty.clone())?;
        if let VarKind::Local(root) = &var.kind {
            let pointer = Pointer::Local { root: *root, leaf: 0, index: None, component: None };
            let place = Place::At { pointer, ty, level: Level::UNIFORM };
            self.store(&place, value, parameter.at)?;
        }
        Ok(())
    }

    /// Returns the type of WGSL for a result.
    fn result_ty(&mut self, ty: &Ty) -> Handle<Type> {
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
            members.push(StructMember { name: Some(format!("part_{n}_")), ty: leaf_ty, binding: None, offset });
            offset += size * leaf.count.unwrap_or(1);
        }
        let span = offset.next_multiple_of(16);
        self.module.types.insert(
            Type { name: Some(format!("{}_value", ty.name())), inner: TypeInner::Struct { members, span } },
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
                let wanted = self.facts.pointers.get(&key).map_or(unit, |facts| facts.unit);
                Ok(Some(self.scaled(index, unit / wanted.max(1))))
            }
            (_, Data::Leaves(leaves)) if leaves.len() == 1 => Ok(Some(leaves[0])),
            (ty, Data::Leaves(leaves)) => {
                let ty = self.result_ty(&ty.clone());
                Ok(Some(self.add(Expression::Compose { ty, components: leaves.clone() })))
            }
            _ => fault(at, "nullptr is not returned; return an index"),
        }
    }

    /// Notes the memory that a pointer variable points into.
    fn note_pointer(&mut self, key: super::facts::VarKey, root: Root, unit: u32, at: u32) -> Outcome<()> {
        match self.facts.pointers.get_mut(&key) {
            None => {
                self.facts.pointers.insert(key, PointerFacts { root, unit });
                self.facts.changed = true;
            }
            Some(known) if known.root != root => {
                return fault(at, "the pointer may point into one of two buffers; use one pointer for each, or an index");
            }
            Some(known) => {
                let mut step = (known.unit, unit);
                while step.1 != 0 {
                    step = (step.1, step.0 % step.1);
                }
                if step.0 != known.unit {
                    known.unit = step.0;
                    self.facts.changed = true;
                }
            }
        }
        Ok(())
    }

    /// Assigns to a pointer variable.
    pub(super) fn assign_pointer(&mut self, var: &Rc<Var>, value: Value, at: u32) -> Outcome<()> {
        let VarKind::Pointer(local) = &var.kind else {
            return fault(at, "this pointer is not assigned to; copy it to a variable");
        };
        let Data::Pointer(pointer) = &value.data else {
            return fault(at, "a pointer variable is set to nullptr or a number; use a flag");
        };
        if matches!(pointer, Pointer::Local { .. }) {
            return self.assign_local_pointer(var, *local, value, at);
        }
        let size = match &var.ty {
            Ty::Pointer(element) => element.element().size(),
            _ => 1,
        };
        let (root, index, unit) = self.rebased(pointer, size, at)?;
        self.note_pointer(var.key, root, unit, at)?;
        let wanted = self.facts.pointers.get(&var.key).map_or(unit, |facts| facts.unit);
        let index = self.scaled(index, unit / wanted.max(1));
        let n_guards = self.n_guards_of(var.key);
        let level = value.level.join(self.f.control);
        self.facts.raise_variable(var.key, level);
        self.note_guarded(var.key, n_guards);
        let local = *local;
        self.guarded(n_guards, |this| {
            this.store_pointer(local, index);
            Ok(())
        })
    }

    /// A pointer into a local array: its index is kept in the variable.
    fn assign_local_pointer(&mut self, var: &Rc<Var>, local: H, value: Value, at: u32) -> Outcome<()> {
        let Data::Pointer(Pointer::Local { root, leaf, index, component: None }) = &value.data else {
            return fault(at, "a pointer to an element of a vector is not kept; use a float variable");
        };
        let known = self.f.local_pointers.get(&var.key).copied();
        let target = (*root, *leaf, index.is_some());
        if known.is_some_and(|known| known != target) {
            return fault(at, "the pointer may point to one of two variables; use one pointer for each, or an index");
        }
        self.f.local_pointers.insert(var.key, target);
        let n_guards = self.n_guards_of(var.key);
        let level = value.level.join(self.f.control);
        self.facts.raise_variable(var.key, level);
        self.note_guarded(var.key, n_guards);
        let index = *index;
        self.guarded(n_guards, |this| {
            if let Some(index) = index {
                this.store_pointer(local, index);
            }
            Ok(())
        })
    }

    pub(super) fn load_pointer_variable(&mut self, var: &Rc<Var>, at: u32) -> Outcome<Value> {
        let VarKind::Pointer(local) = &var.kind else {
            return fault(at, "this is not a pointer variable");
        };
        let level = self.facts.levels.get(&var.key).copied().unwrap_or(Level::UNIFORM);
        if let Some((root, leaf, has_index)) = self.f.local_pointers.get(&var.key).copied() {
            let index = has_index.then(|| self.load_pointer(*local));
            let pointer = Pointer::Local { root, leaf, index, component: None };
            return Ok(Value { ty: var.ty.clone(), data: Data::Pointer(pointer), level });
        }
        let Some(PointerFacts { root, unit }) = self.facts.pointers.get(&var.key).cloned() else {
            return fault(at, "the pointer is read before it is assigned; initialise it");
        };
        let index = self.load_pointer(*local);
        let pointer = Pointer::Memory { root, index, unit, offset: 0, component: None };
        Ok(Value { ty: var.ty.clone(), data: Data::Pointer(pointer), level })
    }
}

/// Returns true if a return precedes the end.
fn has_return(body: &crate::ast::Stmt) -> bool {
    use crate::ast::StmtKind as Kind;
    match &body.kind {
        Kind::Return(_) => true,
        Kind::Block(body) => body.iter().any(has_return),
        Kind::If(_, accept, reject) => has_return(accept) || reject.as_deref().is_some_and(has_return),
        Kind::For { body, .. } | Kind::While(_, body) | Kind::DoWhile(body, _) => has_return(body),
        Kind::Switch(_, cases) => cases.iter().any(|case| case.body.iter().any(has_return)),
        _ => false,
    }
}
