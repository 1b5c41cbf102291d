//! Parameters of device functions.

use super::Lowering;
use super::facts::ArgumentKey;
use super::function::Argument;
use super::level::{Kind, Level};
use super::state::{H, Var, VarKind};
use super::value::{Data, Place, Pointer, Value};
use crate::ast::Variable;
use crate::error::Outcome;
use crate::types::{Prim, Ty};
use naga::{Expression, FunctionArgument, Handle, Type};

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

impl Lowering<'_> {
    /// Appends an argument to the key and the values of a call.
    pub(super) fn pass_argument(
        &mut self,
        argument: &Argument,
        keys: &mut Vec<ArgumentKey>,
        values: &mut Vec<H>,
        at: u32,
    ) -> Outcome<()> {
        let (pointer, ty) = match argument {
            Argument::Value(Value {
                data: Data::Leaves(leaves),
                level,
                ..
            }) => {
                keys.push(ArgumentKey::Value(kind_number(level.kind)));
                values.extend(leaves);
                return Ok(());
            }
            Argument::Value(Value {
                data: Data::Null, ..
            }) => {
                keys.push(ArgumentKey::Null);
                return Ok(());
            }
            Argument::Value(Value {
                data: Data::Pointer(pointer),
                ty,
                ..
            }) => match ty {
                Ty::Pointer(element) => (pointer, (**element).clone()),
                other => (pointer, other.clone()),
            },
            Argument::Place { pointer, ty } => (pointer, ty.clone()),
        };
        match pointer {
            Pointer::Memory {
                component: Some(_), ..
            }
            | Pointer::Memory { .. } => {
                let (root, index, unit) = self.rebased(pointer, ty.element().size(), at)?;
                keys.push(ArgumentKey::Memory(root, unit, ty));
                values.push(index);
            }
            Pointer::Local {
                root,
                leaf,
                index,
                component,
            } => {
                keys.push(ArgumentKey::Local(
                    *root,
                    *leaf,
                    *component,
                    index.is_some(),
                    ty,
                ));
                values.extend(index);
            }
        }
        Ok(())
    }

    pub(super) fn argument(&mut self, name: &str, ty: Handle<Type>) -> H {
        self.f.function.arguments.push(FunctionArgument {
            name: Some(name.to_owned()),
            ty,
            binding: None,
        });
        let index = self.f.function.arguments.len() as u32 - 1;
        self.add(Expression::FunctionArgument(index))
    }

    /// Declares the arguments of WGSL for a parameter; returns its type and value.
    pub(super) fn parameter(
        &mut self,
        parameter: &Variable,
        argument: &ArgumentKey,
    ) -> Outcome<(Variable, Ty, Value)> {
        let at = parameter.at;
        let ty = self.resolve(&parameter.ty)?;
        let mut ty = self.array_of(ty, &parameter.lengths, at)?;
        if let Ty::Array(element, _) = &ty
            && !parameter.ty.reference
        {
            ty = Ty::Pointer(element.clone());
        }
        let name = if parameter.name.is_empty() {
            "unnamed"
        } else {
            &*parameter.name
        };
        let value = match argument {
            ArgumentKey::Value(number) => {
                let mut leaves = Vec::new();
                for leaf in ty.leaves() {
                    let leaf = self.leaf_ty(leaf);
                    leaves.push(self.argument(name, leaf));
                }
                Value {
                    ty: ty.clone(),
                    data: Data::Leaves(leaves),
                    level: level_of(*number, at),
                }
            }
            ArgumentKey::Null => Value {
                ty: ty.clone(),
                data: Data::Null,
                level: Level::UNIFORM,
            },
            ArgumentKey::Memory(root, unit, _) => {
                let index_ty = self.scalar_ty(Prim::UInt);
                let index = self.argument(name, index_ty);
                let pointer = Pointer::Memory {
                    root: *root,
                    index,
                    unit: *unit,
                    offset: 0,
                    component: None,
                };
                Value {
                    ty: ty.clone(),
                    data: Data::Pointer(pointer),
                    level: Level::divergent(at),
                }
            }
            ArgumentKey::Local(root, leaf, component, has_index, _) => {
                let index = if *has_index {
                    let ty = self.scalar_ty(Prim::UInt);
                    Some(self.argument(name, ty))
                } else {
                    None
                };
                let pointer = Pointer::Local {
                    root: *root,
                    leaf: *leaf,
                    index,
                    component: *component,
                };
                Value {
                    ty: ty.clone(),
                    data: Data::Pointer(pointer),
                    level: Level::divergent(at),
                }
            }
        };
        Ok((parameter.clone(), ty, value))
    }

    /// Gives a parameter its name, and a variable if it is assigned.
    pub(super) fn bind_parameter(
        &mut self,
        parameter: &Variable,
        ty: Ty,
        value: Value,
    ) -> Outcome<()> {
        let key = self.next_key(parameter.at, &parameter.name);
        if parameter.ty.reference
            && let Data::Pointer(pointer) = &value.data
        {
            let var = Var {
                ty,
                key,
                kind: VarKind::Place(pointer.clone(), value.level),
            };
            self.define(&parameter.name, var);
            return Ok(());
        }
        // Only a variable is indexed.
        let has_array = ty.leaves().iter().any(|leaf| leaf.count.is_some());
        let assigned = has_array || self.is_assigned(&parameter.name);
        let is_movable = matches!(
            &value.data,
            Data::Pointer(
                Pointer::Memory { .. }
                    | Pointer::Local {
                        index: Some(_),
                        component: None,
                        ..
                    }
            )
        );
        if assigned && is_movable {
            return self.declare_pointer(parameter, ty, Some(value));
        }
        if !assigned || matches!(value.data, Data::Pointer(_) | Data::Null) {
            let var = Var {
                ty,
                key,
                kind: VarKind::Value(value),
            };
            self.define(&parameter.name, var);
            return Ok(());
        }
        let var = self.declare_local(parameter, ty.clone())?;
        if let VarKind::Local(root) = &var.kind {
            let pointer = Pointer::Local {
                root: *root,
                leaf: 0,
                index: None,
                component: None,
            };
            let place = Place::At {
                pointer,
                ty,
                level: Level::UNIFORM,
            };
            self.store(&place, value, parameter.at)?;
        }
        Ok(())
    }
}
