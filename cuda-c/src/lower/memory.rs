//! Loads and stores.

use naga::Expression;

use super::Lowering;
use super::facts::Root;
use super::level::{Kind, Level};
use super::state::H;
use super::value::{Data, Place, Pointer, Value};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

impl Lowering<'_> {
    /// Loads a place.
    pub(super) fn load(&mut self, place: &Place, at: u32) -> Outcome<Value> {
        self.spend(at)?;
        match place {
            Place::Value(value) => Ok(value.clone()),
            Place::Variable(var) => self.load_pointer_variable(var, at),
            Place::At { pointer, ty, level } => {
                if let Ty::Array(element, _) = ty {
                    let pointer = self.decayed(pointer.clone());
                    let ty = Ty::Pointer(element.clone());
                    return Ok(Value {
                        ty,
                        data: Data::Pointer(pointer),
                        level: *level,
                    });
                }
                if matches!(ty, Ty::Pointer(_) | Ty::Void) {
                    return fault(
                        at,
                        format!(
                            "{} is not read from memory; keep pointers in variables of their own",
                            ty.name()
                        ),
                    );
                }
                let level = level.join(self.level_of(pointer, at));
                let leaves = match pointer {
                    Pointer::Local {
                        root,
                        leaf,
                        index,
                        component,
                    } => self.load_local(*root, *leaf, *index, *component, ty, at)?,
                    Pointer::Memory { .. } => {
                        self.f.has_effect = true;
                        let mut leaves = Vec::new();
                        self.load_memory(pointer, ty, at, &mut leaves)?;
                        leaves
                    }
                };
                Ok(Value {
                    ty: ty.clone(),
                    data: Data::Leaves(leaves),
                    level,
                })
            }
        }
    }

    /// Returns how much the contents of memory may differ between threads that read one address.
    fn level_of(&self, pointer: &Pointer, at: u32) -> Level {
        match pointer {
            Pointer::Local { root, .. } => match &self.facts.roots[root.0].0 {
                super::facts::RootKey::Local(spec, at, n) => self
                    .facts
                    .levels
                    .get(&(*spec, *at, *n))
                    .copied()
                    .unwrap_or(Level::UNIFORM),
                _ => Level::divergent(at),
            },
            Pointer::Memory { root, .. } => {
                let is_read_only = matches!(
                    self.facts.roots[root.0].0,
                    super::facts::RootKey::Parameter(_) | super::facts::RootKey::Global(_)
                ) && !self.facts.of(*root).is_written
                    && !self.is_private(*root);
                if is_read_only {
                    Level::UNIFORM
                } else {
                    Level::memory(at)
                }
            }
        }
    }

    /// Stores a value of the place's type.
    pub(super) fn store(&mut self, place: &Place, value: Value, at: u32) -> Outcome<()> {
        self.spend(at)?;
        match place {
            Place::Value(_) => fault(at, "a temporary value is not assigned to; use a variable"),
            Place::Variable(var) => {
                let var = var.clone();
                self.assign_pointer(&var, value, at)
            }
            Place::At { pointer, ty, level } => {
                if matches!(ty, Ty::Array(..)) {
                    return fault(
                        at,
                        "an array is not assigned as a whole; assign its elements",
                    );
                }
                let value = self.convert(value, ty, at)?;
                match pointer {
                    Pointer::Local { root, .. } => {
                        let level = value.level.join(*level);
                        let n_guards = self.note_assigned(*root, level);
                        let pointer = pointer.clone();
                        self.guarded(n_guards, |this| this.store_local(&pointer, &value, at))
                    }
                    Pointer::Memory { root, .. } => {
                        self.f.has_effect = true;
                        if self.is_constant(*root) {
                            return fault(
                                at,
                                "__constant__ memory is not written by kernels; use a buffer",
                            );
                        }
                        self.facts.note_written(*root);
                        let (pointer, ty) = (pointer.clone(), ty.clone());
                        self.guarded(0, |this| {
                            let Data::Leaves(leaves) = &value.data else {
                                return fault(
                                    at,
                                    "a pointer is not stored in memory; store an index",
                                );
                            };
                            this.store_memory(&pointer, &ty, &mut leaves.iter().copied(), at)
                        })
                    }
                }
            }
        }
    }

    /// Visits the scalars and vectors of a type in memory; arrays in structures are visited element by element.
    fn load_memory(
        &mut self,
        pointer: &Pointer,
        ty: &Ty,
        at: u32,
        out: &mut Vec<H>,
    ) -> Outcome<()> {
        match ty {
            Ty::Struct(structure) => {
                for field in structure.parts() {
                    let part = self.field_at(pointer, field.offset, 0);
                    self.load_memory(&part, &field.ty, at, out)?;
                }
                Ok(())
            }
            Ty::Array(..) => {
                let element = ty.element();
                if matches!(element, Ty::Struct(_)) || ty.n_elements() > 64 {
                    return fault(
                        at,
                        format!(
                            "{} is too large to copy at once; copy its elements",
                            ty.name()
                        ),
                    );
                }
                let mut parts = Vec::new();
                for i in 0..ty.n_elements() {
                    let part = self.field_at(pointer, i * element.size(), 0);
                    self.load_memory(&part, element, at, &mut parts)?;
                }
                let leaf = ty.leaves()[0];
                let array = self.leaf_ty(leaf);
                out.push(self.add(Expression::Compose {
                    ty: array,
                    components: parts,
                }));
                Ok(())
            }
            Ty::Prim(prim) => {
                out.push(self.load_element(pointer, *prim, 1, at)?);
                Ok(())
            }
            Ty::Vector(prim, lanes) => {
                out.push(self.load_element(pointer, *prim, *lanes, at)?);
                Ok(())
            }
            Ty::Void | Ty::Pointer(_) => {
                fault(at, format!("{} is not read from memory", ty.name()))
            }
        }
    }

    fn store_memory(
        &mut self,
        pointer: &Pointer,
        ty: &Ty,
        values: &mut dyn Iterator<Item = H>,
        at: u32,
    ) -> Outcome<()> {
        match ty {
            Ty::Struct(structure) => {
                for field in structure.parts() {
                    let part = self.field_at(pointer, field.offset, 0);
                    self.store_memory(&part, &field.ty, values, at)?;
                }
                Ok(())
            }
            Ty::Array(..) => {
                let element = ty.element();
                let Some(array) = values.next() else {
                    return Ok(());
                };
                for i in 0..ty.n_elements() {
                    let part = self.field_at(pointer, i * element.size(), 0);
                    let value = self.add(Expression::AccessIndex {
                        base: array,
                        index: i,
                    });
                    self.store_memory(&part, element, &mut std::iter::once(value), at)?;
                }
                Ok(())
            }
            Ty::Prim(_) | Ty::Vector(..) => {
                let (prim, lanes) = match ty {
                    Ty::Vector(prim, lanes) => (*prim, *lanes),
                    _ => (ty.prim().unwrap_or(Prim::UInt), 1),
                };
                match values.next() {
                    Some(value) => self.store_element(pointer, prim, lanes, value, at),
                    None => Ok(()),
                }
            }
            Ty::Void | Ty::Pointer(_) => {
                fault(at, format!("{} is not stored in memory", ty.name()))
            }
        }
    }

    /// Raises the level of an assigned variable, and returns the number of guards that it needs none of.
    pub(super) fn note_assigned(&mut self, root: Root, level: Level) -> usize {
        let key = match &self.facts.roots[root.0].0 {
            super::facts::RootKey::Local(spec, at, n) => (*spec, *at, *n),
            _ => return 0,
        };
        let level = level.join(self.f.control);
        let n_guards = self.n_guards_of(key);
        if level.kind != Kind::Uniform {
            self.facts.raise_variable(key, level);
        }
        self.note_guarded(key, n_guards);
        n_guards
    }
}
