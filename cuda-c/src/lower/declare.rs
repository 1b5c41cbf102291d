//! Declarations of variables.

use super::Lowering;
use super::level::Level;
use super::state::{H, Var, VarKind};
use super::value::{Data, Pointer, Value};
use crate::ast::{Base, Expr, ExprKind, Space, Variable};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

impl Lowering<'_> {
    /// The counters of a loop are not read after it, so threads that have left the loop may go on counting.
    pub(super) fn free_counters(&mut self) {
        let n_guards = self.f.guards.len() + 2;
        let keys: Vec<_> = self.f.scopes.last().map_or(Vec::new(), |scope| {
            scope.values().map(|var| var.key).collect()
        });
        for key in keys {
            self.f.guards_of.insert(key, n_guards);
        }
    }

    pub(super) fn declare(&mut self, variable: &Variable) -> Outcome<()> {
        let at = variable.at;
        if variable.space == Space::Shared {
            return self.declare_shared_variable(variable);
        }
        if variable.ty.reference {
            return self.declare_reference(variable);
        }
        let (ty, init) = if matches!(variable.ty.base, Base::Auto) {
            let Some(init) = &variable.init else {
                return fault(at, "auto needs an initialiser");
            };
            let value = self.expr(init)?;
            (value.ty.clone(), Some(value))
        } else {
            let ty = self.resolve(&variable.ty)?;
            let ty = self.array_of(ty, &variable.lengths, at)?;
            let ty = match &variable.init {
                Some(init) => self.completed(ty, init),
                None => ty,
            };
            let init = match &variable.init {
                None if matches!(ty, Ty::Struct(_)) => self.constructed(&ty, &[], at)?,
                None => None,
                Some(Expr {
                    kind: ExprKind::Text(text),
                    at,
                }) => match super::names::characters(text, *at).kind {
                    ExprKind::List(parts) => Some(self.construct(&ty, &parts, *at)?),
                    _ => None,
                },
                Some(Expr {
                    kind: ExprKind::List(parts),
                    at,
                }) => Some(self.construct(&ty, parts, *at)?),
                Some(Expr {
                    kind: ExprKind::Construct(_, parts),
                    at,
                }) if !matches!(ty, Ty::Array(..)) => Some(self.construct(&ty, parts, *at)?),
                Some(init) => {
                    let value = self.expr(init)?;
                    Some(self.convert(value, &ty, init.at)?)
                }
            };
            (ty, init)
        };
        if matches!(&ty, Ty::Pointer(element) if matches!(element.element(), Ty::Pointer(_)))
            || (matches!(ty, Ty::Array(..)) && matches!(ty.element(), Ty::Pointer(_)))
        {
            return fault(
                at,
                "pointers to pointers and arrays of pointers are not supported; use indices into one buffer",
            );
        }
        if let Ty::Pointer(_) = ty {
            return self.declare_pointer(variable, ty, init);
        }
        // A constant that is never assigned needs no variable.
        if let Some(value) = &init
            && value
                .first()
                .is_some_and(|leaf| self.literal_of(leaf).is_some())
            && matches!(ty, Ty::Prim(_))
            && !self.is_assigned(&variable.name)
        {
            let key = self.next_key(at, &variable.name);
            let var = Var {
                ty,
                key,
                kind: VarKind::Value(value.clone()),
            };
            self.define(&variable.name, var);
            return Ok(());
        }
        let var = self.declare_local(variable, ty)?;
        match (init, &var.kind) {
            (Some(value), VarKind::Local(root)) => {
                let pointer = Pointer::Local {
                    root: *root,
                    leaf: 0,
                    index: None,
                    component: None,
                };
                self.initialise(pointer, &var.ty, value, at)
            }
            _ => Ok(()),
        }
    }

    /// Stores the first value of a variable, arrays as a whole among them.
    pub(super) fn initialise(
        &mut self,
        pointer: Pointer,
        ty: &Ty,
        value: Value,
        at: u32,
    ) -> Outcome<()> {
        let Pointer::Local { root, .. } = &pointer else {
            return Ok(());
        };
        if !matches!(ty, Ty::Array(..)) {
            let place = super::value::Place::At {
                pointer,
                ty: ty.clone(),
                level: Level::UNIFORM,
            };
            return self.store(&place, value, at);
        }
        self.note_assigned(*root, value.level);
        let targets: Vec<H> = self.f.locals.get(root).map_or(Vec::new(), |leaves| {
            leaves.iter().map(|(leaf, _)| *leaf).collect()
        });
        if let Data::Leaves(leaves) = &value.data {
            for (target, leaf) in targets.into_iter().zip(leaves.clone()) {
                self.store_pointer(target, leaf);
            }
        }
        Ok(())
    }

    pub(super) fn declare_shared_variable(&mut self, variable: &Variable) -> Outcome<()> {
        let at = variable.at;
        let ty = self.resolve(&variable.ty)?;
        let ty = self.array_of(ty, &variable.lengths, at)?;
        if variable.init.is_some() {
            return fault(
                at,
                "a __shared__ variable has no initialiser; assign it in one thread and synchronise",
            );
        }
        if matches!(ty.element(), Ty::Pointer(_)) {
            return fault(at, "pointers are not stored in memory; store indices");
        }
        let key = self.next_key(at, &variable.name);
        let place = self.shared_place(variable, ty.clone())?;
        if let super::value::Place::At { pointer, .. } = place {
            self.define(
                &variable.name,
                Var {
                    ty,
                    key,
                    kind: VarKind::Place(pointer, Level::UNIFORM),
                },
            );
        }
        Ok(())
    }

    /// Declares memory of the block and returns its place.
    pub(super) fn shared_place(
        &mut self,
        variable: &Variable,
        ty: Ty,
    ) -> Outcome<super::value::Place> {
        let at = variable.at;
        let root = if variable.is_extern {
            let root = self.facts.root(super::facts::RootKey::Dynamic);
            let n_bytes = self.options.shared_bytes;
            if n_bytes == 0 {
                return fault(
                    at,
                    format!(
                        "{} is dynamic shared memory of 0 bytes; set shared_bytes (--shared)",
                        variable.name
                    ),
                );
            }
            self.declare_shared(root, &variable.name, n_bytes);
            root
        } else {
            if ty.n_elements() == 0 {
                return fault(
                    at,
                    format!(
                        "{} has no length; give one, or make it extern",
                        variable.name
                    ),
                );
            }
            let function = if self.find_global(variable) {
                std::rc::Rc::from("")
            } else {
                self.f.name.clone()
            };
            let name = self.facts.name(&variable.name);
            let key = super::facts::RootKey::Shared(function, at, name);
            let root = self.facts.root(key);
            let (group, offset, n_bytes) = self.facts.group(root, ty.size());
            self.declare_shared(group, &variable.name, n_bytes);
            let pointer = self.memory_at(group, &ty, offset);
            return Ok(super::value::Place::At {
                pointer,
                ty,
                level: Level::UNIFORM,
            });
        };
        let pointer = self.memory_start(root, &ty);
        Ok(super::value::Place::At {
            pointer,
            ty,
            level: Level::UNIFORM,
        })
    }

    pub(super) fn find_global(&self, variable: &Variable) -> bool {
        self.program
            .globals
            .iter()
            .any(|global| global.at == variable.at && global.name == variable.name)
    }

    pub(super) fn declare_reference(&mut self, variable: &Variable) -> Outcome<()> {
        let at = variable.at;
        let Some(init) = &variable.init else {
            return fault(at, "a reference needs an initialiser");
        };
        let place = self.place(init)?;
        let key = self.next_key(at, &variable.name);
        let var = match place {
            super::value::Place::At { pointer, ty, level } => Var {
                ty,
                key,
                kind: VarKind::Place(pointer, level),
            },
            super::value::Place::Value(value) => Var {
                ty: value.ty.clone(),
                key,
                kind: VarKind::Value(value),
            },
            super::value::Place::Variable(_) => {
                return fault(
                    at,
                    "references to pointers are not supported; copy the pointer",
                );
            }
        };
        self.define(&variable.name, var);
        Ok(())
    }

    pub(super) fn declare_pointer(
        &mut self,
        variable: &Variable,
        ty: Ty,
        init: Option<Value>,
    ) -> Outcome<()> {
        let index = self.scalar_ty(Prim::UInt);
        let local = self.local(&variable.name, index, None);
        let key = self.next_key(variable.at, &variable.name);
        let n_guards = self.f.guards.len();
        self.f.guards_of.insert(key, n_guards);
        self.define(
            &variable.name,
            Var {
                ty,
                key,
                kind: VarKind::Pointer(local),
            },
        );
        match (init, self.find(&variable.name)) {
            (Some(value), Some(var)) if !matches!(value.data, Data::Null) => {
                self.assign_pointer(&var, value, variable.at)
            }
            _ => Ok(()),
        }
    }
}
