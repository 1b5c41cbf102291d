//! Names: variables, constants, built-in variables and types.

use std::rc::Rc;

use super::Lowering;
use super::facts::RootKey;
use super::level::Level;
use super::state::{Var, VarKind};
use super::value::{Data, Place, Pointer, Value};
use crate::ast::{Expr, ExprKind, Space, TemplateArg, Variable};
use crate::error::{Outcome, fault};
use crate::types::{INT, Ty};

/// Maximum elements of a local array.
const MAX_LOCAL_ELEMENTS: u32 = 1 << 14;
/// Maximum bytes of an initialised constant.
const MAX_CONSTANT_BYTES: u32 = 1 << 16;

impl Lowering<'_> {
    /// Resolves a name to its place.
    pub(super) fn name(
        &mut self,
        name: &Rc<str>,
        arguments: &[TemplateArg],
        at: u32,
    ) -> Outcome<Place> {
        if let Some(var) = self.find(name) {
            return Ok(match &var.kind {
                VarKind::Local(root) => Place::At {
                    pointer: Pointer::Local {
                        root: *root,
                        leaf: 0,
                        index: None,
                        component: None,
                    },
                    ty: var.ty.clone(),
                    level: Level::UNIFORM,
                },
                VarKind::Pointer(_) => Place::Variable(var.clone()),
                VarKind::Place(pointer, level) => Place::At {
                    pointer: pointer.clone(),
                    ty: var.ty.clone(),
                    level: *level,
                },
                VarKind::Value(value) => Place::Value(value.clone()),
            });
        }
        if let Some(place) = self.own_member(name, at)? {
            return Ok(place);
        }
        if let Some(value) = self.built_in(name, at)? {
            return Ok(Place::Value(value));
        }
        let program = self.program;
        if let Some(index) = program
            .constants
            .iter()
            .position(|(other, ..)| other == name)
        {
            return self.enumeration_constant(index, at).map(Place::Value);
        }
        if let Some(limit) = name.strip_prefix("numeric_limits::") {
            return self.numeric_limit(limit, arguments, at).map(Place::Value);
        }
        if let Some(owner) = &self.owner {
            let member = format!("{owner}::{name}");
            if let Some(global) = program
                .globals
                .iter()
                .find(|global| *global.name == *member)
            {
                return self.global(global, at);
            }
        }
        if &**name == "is_same_v" {
            return self.is_same(arguments, at).map(Place::Value);
        }
        if let Some(global) = program.globals.iter().find(|global| global.name == *name) {
            return self.global(global, at);
        }
        if program
            .functions
            .iter()
            .any(|function| function.name == *name)
        {
            return fault(
                at,
                format!("{name} is used as a value: function pointers are not supported; call it"),
            );
        }
        fault(at, format!("{name} is not declared"))
    }

    fn enumeration_constant(&mut self, index: usize, at: u32) -> Outcome<Value> {
        // Counts back to the last explicit value.
        let (mut current, mut steps) = (index, 0i32);
        let base = loop {
            match &self.program.constants[current] {
                (_, Some(expr), _) => {
                    let value = self.expr(expr)?;
                    match self.constant(&value) {
                        Some(value) => break value as i32,
                        None => {
                            return fault(
                                at,
                                "the enumeration constant is not an integer constant",
                            );
                        }
                    }
                }
                (_, None, Some(previous)) => {
                    current = *previous;
                    steps += 1;
                }
                (_, None, None) => break 0,
            }
        };
        let leaf = self.i32(base.wrapping_add(steps));
        Ok(Value::leaf(INT, leaf, Level::UNIFORM))
    }

    /// Compares two types. A type beyond the subset equals no other.
    fn is_same(&mut self, arguments: &[TemplateArg], at: u32) -> Outcome<Value> {
        let [TemplateArg::Type(a), TemplateArg::Type(b)] = arguments else {
            return fault(at, "is_same_v takes two types");
        };
        let same = matches!((self.resolve(a), self.resolve(b)), (Ok(a), Ok(b)) if a == b);
        let leaf = self.bool(same);
        Ok(Value::leaf(crate::types::BOOL, leaf, Level::UNIFORM))
    }

    /// Resolves a variable at file scope.
    pub(super) fn global(&mut self, global: &Variable, at: u32) -> Outcome<Place> {
        let owner = global
            .name
            .rsplit_once("::")
            .map(|(owner, _)| Rc::from(owner));
        let outer = std::mem::replace(&mut self.owner, owner);
        let place = self.global_inside(global, at);
        self.owner = outer;
        place
    }

    fn global_inside(&mut self, global: &Variable, at: u32) -> Outcome<Place> {
        let base = self.resolve(&global.ty)?;
        let ty = self.array_of(base, &global.lengths, global.at)?;
        let is_constant = global.space == Space::Constant || global.ty.is_const;
        match (global.space, &global.init) {
            (Space::Shared, _) => self.shared_place(global, ty),
            (Space::Plain, Some(init))
                if global.ty.is_const && !matches!(ty, Ty::Array(..) | Ty::Struct(_)) =>
            {
                let value = match &init.kind {
                    ExprKind::List(parts) => self.construct(&ty, parts, init.at)?,
                    _ => self.expr(init)?,
                };
                self.convert(value, &ty, init.at).map(Place::Value)
            }
            (Space::Plain, _) if !global.ty.is_const => fault(
                at,
                format!(
                    "{} is a variable of the host; make it __device__, const or a parameter",
                    global.name
                ),
            ),
            (_, Some(init)) if is_constant => self.initialised(global, ty, init, at),
            (_, Some(init)) if !is_zero(init) => fault(
                global.at,
                format!(
                    "{} is initialised and not const; initialise the buffer when it is bound",
                    global.name
                ),
            ),
            _ => {
                let root = self.facts.root(RootKey::Global(global.name.clone()));
                self.facts.note_extra(root, &global.name);
                let pointer = self.memory_start(root, &ty);
                Ok(Place::At {
                    pointer,
                    ty,
                    level: Level::UNIFORM,
                })
            }
        }
    }

    fn initialised(&mut self, global: &Variable, ty: Ty, init: &Expr, at: u32) -> Outcome<Place> {
        let ty = self.completed(ty, init);
        let root = self.facts.root(RootKey::Global(global.name.clone()));
        if !self.memories.contains_key(&root) {
            let n_bytes = ty.size();
            if n_bytes > MAX_CONSTANT_BYTES {
                return fault(
                    at,
                    format!(
                        "{} has {n_bytes} bytes; initialised constants have at most {MAX_CONSTANT_BYTES}; use a buffer",
                        global.name
                    ),
                );
            }
            let mut image = vec![0; n_bytes.next_multiple_of(16) as usize];
            self.image(&ty, init, &mut image, 0)?;
            image.truncate(n_bytes.next_multiple_of(4) as usize);
            self.declare_constants(root, &global.name, &image);
        }
        let pointer = self.memory_start(root, &ty);
        Ok(Place::At {
            pointer,
            ty,
            level: Level::UNIFORM,
        })
    }

    /// Gives an array without length that of its initialiser.
    pub(super) fn completed(&self, ty: Ty, init: &Expr) -> Ty {
        match (&ty, &init.kind) {
            (Ty::Array(element, 0), ExprKind::Text(text)) => {
                Ty::Array(element.clone(), text.len() as u32 + 1)
            }
            (Ty::Array(element, 0), ExprKind::List(parts)) => {
                Ty::Array(element.clone(), parts.len().max(1) as u32)
            }
            _ => ty,
        }
    }

    pub(super) fn memory_start(&mut self, root: super::facts::Root, ty: &Ty) -> Pointer {
        let index = self.u32(0);
        Pointer::Memory {
            root,
            index,
            unit: ty.element().size(),
            offset: 0,
            component: None,
        }
    }

    /// Returns the address of a variable at an offset in bytes of memory.
    pub(super) fn memory_at(&mut self, root: super::facts::Root, ty: &Ty, offset: u32) -> Pointer {
        let unit = ty.element().size();
        let is_whole = offset.is_multiple_of(unit);
        let index = self.u32(if is_whole { offset / unit } else { 0 });
        Pointer::Memory {
            root,
            index,
            unit,
            offset: if is_whole { 0 } else { offset },
            component: None,
        }
    }

    /// Declares a local variable of a type without pointers.
    pub(super) fn declare_local(&mut self, variable: &Variable, ty: Ty) -> Outcome<Rc<Var>> {
        if ty.n_elements() == 0 || ty.n_elements() > MAX_LOCAL_ELEMENTS {
            return fault(
                variable.at,
                format!(
                    "{} has {} elements; local arrays have 1 to {MAX_LOCAL_ELEMENTS}",
                    variable.name,
                    ty.n_elements()
                ),
            );
        }
        let key = self.next_key(variable.at, &variable.name);
        let root = self.facts.root(RootKey::Local(key.0, key.1, key.2));
        let mut leaves = Vec::new();
        for leaf in ty.leaves() {
            let leaf_ty = self.leaf_ty(leaf);
            leaves.push((self.local(&variable.name, leaf_ty, None), leaf));
        }
        self.f.locals.insert(root, leaves);
        let n_guards = self.f.guards.len();
        self.f.guards_of.insert(key, n_guards);
        let var = Var {
            ty,
            key,
            kind: VarKind::Local(root),
        };
        self.define(&variable.name, var);
        self.find(&variable.name)
            .map_or_else(|| fault(variable.at, "the variable has no scope"), Ok)
    }

    pub(super) fn n_guards_of(&self, key: super::facts::VarKey) -> usize {
        self.f.guards_of.get(&key).copied().unwrap_or(0)
    }

    pub(super) fn pointer_data(value: &Value) -> Option<&Pointer> {
        match &value.data {
            Data::Pointer(pointer) => Some(pointer),
            _ => None,
        }
    }
}

/// Returns the list that a string initialises an array of characters with.
pub(super) fn characters(text: &[u8], at: u32) -> Expr {
    let parts = text
        .iter()
        .chain(&[0])
        .map(|byte| Expr {
            at,
            kind: ExprKind::Char(i32::from(*byte as i8)),
        })
        .collect();
    Expr {
        at,
        kind: ExprKind::List(parts),
    }
}

fn is_zero(init: &Expr) -> bool {
    match &init.kind {
        ExprKind::Int { value, .. } => *value == 0,
        ExprKind::Float(value) => *value == 0.0,
        ExprKind::List(parts) => parts.iter().all(is_zero),
        ExprKind::Bool(value) => !value,
        _ => false,
    }
}
