//! Lvalues.

use super::Lowering;
use super::level::Level;
use super::state::H;
use super::value::{Data, Place, Pointer, Value};
use crate::ast::{Expr, ExprKind, UnOp};
use crate::error::{Outcome, fault};
use crate::types::Ty;
use naga::Expression;

impl Lowering<'_> {
    /// Lowers an lvalue, or the value of an expression that is none.
    pub(super) fn place(&mut self, expr: &Expr) -> Outcome<Place> {
        self.enter(expr.at)?;
        let place = self.place_inside(expr);
        self.leave();
        place
    }

    pub(super) fn place_inside(&mut self, expr: &Expr) -> Outcome<Place> {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Name(name, arguments) => self.name(name, arguments, at),
            ExprKind::Unary(UnOp::Deref, operand) => {
                let pointer = self.expr(operand)?;
                self.pointee(&pointer, at)
            }
            ExprKind::Index(object, index) => {
                let object = self.place(object)?;
                let index = self.expr(index)?;
                let (object, index) = match (&object, &index.ty) {
                    // `2[p]`
                    (Place::Value(value), Ty::Pointer(_)) => {
                        (Place::Value(index.clone()), value.clone())
                    }
                    _ => (object, index),
                };
                self.indexed(&object, &index, at)
            }
            ExprKind::Member {
                object,
                name,
                arrow,
            } => {
                let object = if *arrow {
                    let pointer = self.expr(object)?;
                    self.pointee(&pointer, at)?
                } else {
                    self.place(object)?
                };
                self.member(object, name, at)
            }
            ExprKind::Assign(_, left, _) => {
                let value = self.expr(expr)?;
                if matches!(value.ty, Ty::Pointer(_)) {
                    return Ok(Place::Value(value));
                }
                self.place_again(left, value)
            }
            ExprKind::Step {
                prefix: true,
                operand,
                ..
            } => {
                let value = self.expr(expr)?;
                if matches!(value.ty, Ty::Pointer(_)) {
                    return Ok(Place::Value(value));
                }
                self.place_again(operand, value)
            }
            ExprKind::Comma(left, right) => {
                self.expr(left)?;
                self.place(right)
            }
            _ => Ok(Place::Value(self.expr(expr)?)),
        }
    }

    /// Returns the place of an assignment's left side where evaluating it twice is harmless, else the value.
    pub(super) fn place_again(&mut self, left: &Expr, value: Value) -> Outcome<Place> {
        if matches!(left.kind, ExprKind::Name(..)) {
            self.place(left)
        } else {
            Ok(Place::Value(value))
        }
    }

    pub(super) fn pointee(&mut self, value: &Value, at: u32) -> Outcome<Place> {
        match (&value.ty, &value.data) {
            (Ty::Pointer(element), Data::Pointer(pointer)) => Ok(Place::At {
                pointer: pointer.clone(),
                ty: (**element).clone(),
                level: value.level,
            }),
            (Ty::Pointer(_), _) => fault(at, "nullptr is dereferenced; remove the access"),
            _ => fault(at, format!("{} is not a pointer", value.ty.name())),
        }
    }

    pub(super) fn indexed(&mut self, object: &Place, index: &Value, at: u32) -> Outcome<Place> {
        let steps = self.subscript(index, at)?;
        if let Place::At {
            pointer,
            ty: Ty::Array(element, _),
            level,
        } = object
        {
            let pointer = self.element_at(pointer, steps, element, at)?;
            let level = level.join(index.level);
            return Ok(Place::At {
                pointer,
                ty: (**element).clone(),
                level,
            });
        }
        if let Place::Value(Value {
            ty: Ty::Array(..), ..
        }) = object
        {
            let object = self.materialised(object.clone(), at)?;
            return self.indexed(&object, index, at);
        }
        let value = self.load(object, at)?;
        let (Ty::Pointer(element), Data::Pointer(pointer)) = (&value.ty, &value.data) else {
            return fault(
                at,
                format!(
                    "{} is not indexed; index an array or pointer",
                    value.ty.name()
                ),
            );
        };
        let pointer = self.advance(pointer, steps, element, at)?;
        let level = value.level.join(index.level);
        Ok(Place::At {
            pointer,
            ty: (**element).clone(),
            level,
        })
    }

    pub(super) fn member(&mut self, object: Place, name: &str, at: u32) -> Outcome<Place> {
        let ty = match &object {
            Place::At { ty, .. } => ty.clone(),
            Place::Value(value) => value.ty.clone(),
            Place::Variable(var) => var.ty.clone(),
        };
        match &ty {
            Ty::Vector(prim, lanes) => {
                let lane = ["x", "y", "z", "w"]
                    .iter()
                    .position(|component| *component == name)
                    .map(|lane| lane as u32)
                    .filter(|lane| lane < lanes);
                let Some(lane) = lane else {
                    return fault(at, format!("{} has no member {name}", ty.name()));
                };
                Ok(match object {
                    Place::At { pointer, level, .. } => {
                        let pointer = match pointer {
                            Pointer::Memory {
                                root,
                                index,
                                unit,
                                offset,
                                ..
                            } => Pointer::Memory {
                                root,
                                index,
                                unit,
                                offset,
                                component: Some((lane, ty.clone())),
                            },
                            Pointer::Local {
                                root, leaf, index, ..
                            } => Pointer::Local {
                                root,
                                leaf,
                                index,
                                component: Some(lane),
                            },
                        };
                        Place::At {
                            pointer,
                            ty: Ty::Prim(*prim),
                            level,
                        }
                    }
                    Place::Value(value) => {
                        let level = value.level;
                        match value.first() {
                            Some(base) => {
                                let (leaf, level) = self.lane_of(base, lane, level);
                                Place::Value(Value::leaf(Ty::Prim(*prim), leaf, level))
                            }
                            None => return fault(at, "the vector has no value"),
                        }
                    }
                    Place::Variable(_) => return fault(at, "a pointer has no members; use ->"),
                })
            }
            Ty::Struct(structure) => {
                let Some(field) = structure.fields.iter().find(|field| *field.name == *name) else {
                    return fault(at, format!("{} has no member {name}", ty.name()));
                };
                Ok(match object {
                    Place::At { pointer, level, .. } => {
                        let pointer = self.field_at(&pointer, field.offset, field.leaf);
                        Place::At {
                            pointer,
                            ty: field.ty.clone(),
                            level,
                        }
                    }
                    Place::Value(Value {
                        data: Data::Leaves(leaves),
                        level,
                        ..
                    }) => {
                        let mut leaves =
                            leaves[field.leaf..field.leaf + field.ty.n_leaves()].to_vec();
                        if structure.is_union {
                            let (from, to) =
                                (structure.parts()[0].ty.leaves()[0], field.ty.leaves()[0]);
                            if from.prim != to.prim {
                                leaves[0] = self.bitcast(leaves[0], to.prim);
                            }
                        }
                        Place::Value(Value {
                            ty: field.ty.clone(),
                            data: Data::Leaves(leaves),
                            level,
                        })
                    }
                    _ => return fault(at, "a pointer has no members; use ->"),
                })
            }
            Ty::Pointer(_) => fault(at, format!("a pointer has no member {name}; use ->")),
            _ => fault(at, format!("{} has no member {name}", ty.name())),
        }
    }

    /// Returns an element of a vector: that of a constant vector is a constant, and an index of threads along which the block has
    /// one thread is zero.
    fn lane_of(&mut self, base: H, lane: u32, level: Level) -> (H, Level) {
        let is_thread = self.f.builtins.get(&super::facts::THREAD) == Some(&base);
        if is_thread && self.options.block.get(lane as usize) == Some(&1) {
            return (self.u32(0), Level::UNIFORM);
        }
        if let Expression::Compose { components, .. } = &self.f.function.expressions[base]
            && let Some(component) = components.get(lane as usize)
            && self.literal_of(*component).is_some()
        {
            return (*component, level);
        }
        let leaf = self.add(Expression::AccessIndex { base, index: lane });
        (leaf, level)
    }
}
