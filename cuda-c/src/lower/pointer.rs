//! Pointer arithmetic, and parts of places.

use naga::{BinaryOperator, Expression, Literal};

use super::Lowering;
use super::facts::Root;
use super::state::H;
use super::value::{Data, Pointer, Value};
use crate::ast::BinOp;
use crate::error::{Outcome, fault};
use crate::types::{BOOL, INT, Prim, Ty};

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Greatest constant index that is written as a constant.
const MAX_CONSTANT_INDEX: u32 = 1 << 26;

impl Lowering<'_> {
    /// Converts an index to `unsigned`.
    fn index_of(&mut self, index: &Value, at: u32) -> Outcome<H> {
        match (index.ty.prim(), index.first()) {
            (Some(prim), Some(leaf)) if prim.is_integer() => {
                Ok(self.convert_prim(leaf, prim, Prim::UInt))
            }
            _ => fault(
                at,
                format!("{} is not an index; use an integer", index.ty.name()),
            ),
        }
    }

    pub(super) fn scaled(&mut self, index: H, by: u32) -> H {
        let by = self.u32(by);
        self.binary(BinaryOperator::Multiply, index, by)
    }

    pub(super) fn plus(&mut self, a: H, b: H) -> H {
        self.binary(BinaryOperator::Add, a, b)
    }

    /// Adds `index` elements of type `element` to an address.
    pub(super) fn advance(
        &mut self,
        pointer: &Pointer,
        index: H,
        element: &Ty,
        at: u32,
    ) -> Outcome<Pointer> {
        match pointer {
            Pointer::Memory {
                root,
                index: base,
                unit,
                offset,
                component,
            } => {
                let (mut base, mut unit, mut offset) = (*base, *unit, *offset);
                if component.is_some() {
                    return fault(
                        at,
                        "a pointer to an element of a vector does not move; index the vector's buffer as scalars",
                    );
                }
                let size = element.size();
                if unit == 0 || !size.is_multiple_of(unit) || !offset.is_multiple_of(unit) {
                    let step = gcd(gcd(size, unit), offset).max(1);
                    base = self.scaled(base, unit / step);
                    unit = step;
                }
                if offset != 0 {
                    let steps = self.u32(offset / unit);
                    base = self.plus(base, steps);
                    offset = 0;
                }
                let steps = self.scaled(index, size / unit);
                let index = self.plus(base, steps);
                Ok(Pointer::Memory {
                    root: *root,
                    index,
                    unit,
                    offset,
                    component: None,
                })
            }
            Pointer::Local {
                root,
                leaf,
                index: base,
                component,
            } => {
                let steps = self.scaled(index, element.n_elements());
                let is_zero = matches!(self.literal_of(steps), Some(Literal::U32(0)));
                let index = match base {
                    Some(base) => Some(self.plus(*base, steps)),
                    None if is_zero => None,
                    None => {
                        return fault(
                            at,
                            "a pointer to a single local variable does not move; use an array",
                        );
                    }
                };
                Ok(Pointer::Local {
                    root: *root,
                    leaf: *leaf,
                    index,
                    component: *component,
                })
            }
        }
    }

    /// Returns the address of element `index` of an array at an address.
    pub(super) fn element_at(
        &mut self,
        pointer: &Pointer,
        index: H,
        element: &Ty,
        at: u32,
    ) -> Outcome<Pointer> {
        match pointer {
            Pointer::Local {
                root,
                leaf,
                index: None,
                component,
            } => {
                let first = Pointer::Local {
                    root: *root,
                    leaf: *leaf,
                    index: Some(self.u32(0)),
                    component: *component,
                };
                self.advance(&first, index, element, at)
            }
            _ => self.advance(pointer, index, element, at),
        }
    }

    /// Returns the address of a field.
    pub(super) fn field_at(&mut self, pointer: &Pointer, offset: u32, first: usize) -> Pointer {
        match pointer {
            Pointer::Memory {
                root,
                index,
                unit,
                offset: base,
                component,
            } => Pointer::Memory {
                root: *root,
                index: *index,
                unit: *unit,
                offset: base + offset,
                component: component.clone(),
            },
            Pointer::Local {
                root,
                leaf,
                index,
                component,
            } => Pointer::Local {
                root: *root,
                leaf: leaf + first,
                index: *index,
                component: *component,
            },
        }
    }

    /// Converts an array's address to that of its first element.
    pub(super) fn decayed(&mut self, pointer: Pointer) -> Pointer {
        match pointer {
            Pointer::Local {
                root,
                leaf,
                index: None,
                component,
            } => Pointer::Local {
                root,
                leaf,
                index: Some(self.u32(0)),
                component,
            },
            other => other,
        }
    }

    /// Rewrites an address so that its index counts `unit` bytes, or a divisor of it, and nothing is added.
    pub(super) fn rebased(
        &mut self,
        pointer: &Pointer,
        wanted: u32,
        at: u32,
    ) -> Outcome<(Root, H, u32)> {
        let Pointer::Memory {
            root,
            index,
            unit,
            offset,
            component,
        } = pointer
        else {
            return fault(
                at,
                "a pointer variable cannot point to a local variable and to memory; use two",
            );
        };
        let (mut offset, mut wanted) = (*offset, wanted.max(1));
        if let Some((lane, vector)) = component {
            let size = lane_size(vector);
            offset += size * lane;
            wanted = wanted.min(size);
        }
        if offset == 0 && *unit % wanted == 0 {
            let index = self.scaled(*index, *unit / wanted);
            return Ok((*root, index, wanted));
        }
        let step = gcd(gcd(*unit, wanted), offset).max(1);
        let index = self.scaled(*index, unit / step);
        let extra = self.u32(offset / step);
        let index = self.plus(index, extra);
        Ok((*root, index, step))
    }

    /// Adds, subtracts or compares pointers.
    pub(super) fn operate_pointers(
        &mut self,
        op: BinOp,
        left: Value,
        right: Value,
        at: u32,
    ) -> Outcome<Value> {
        let level = left.level.join(right.level);
        match (&left.ty, &right.ty, op) {
            (Ty::Pointer(element), Ty::Prim(_), BinOp::Add | BinOp::Sub) => {
                let mut index = self.index_of(&right, at)?;
                if op == BinOp::Sub {
                    let zero = self.u32(0);
                    index = self.binary(BinaryOperator::Subtract, zero, index);
                }
                let Data::Pointer(pointer) = &left.data else {
                    return fault(at, "nullptr is not an address to compute with");
                };
                let pointer = self.advance(pointer, index, element, at)?;
                Ok(Value {
                    ty: left.ty.clone(),
                    data: Data::Pointer(pointer),
                    level,
                })
            }
            (Ty::Prim(_), Ty::Pointer(_), BinOp::Add) => self.operate_pointers(op, right, left, at),
            (Ty::Pointer(_), _, BinOp::Eq | BinOp::Ne)
                if matches!((&left.data, &right.data), (Data::Null, _) | (_, Data::Null)) =>
            {
                let both = matches!((&left.data, &right.data), (Data::Null, Data::Null));
                let leaf = self.bool(both == (op == BinOp::Eq));
                Ok(Value::leaf(BOOL, leaf, level))
            }
            (Ty::Pointer(a), Ty::Pointer(_), _) => {
                let (Data::Pointer(x), Data::Pointer(y)) = (&left.data, &right.data) else {
                    return fault(at, "nullptr is not an address to compute with");
                };
                self.pointer_difference(op, x, y, a.size(), at)
                    .map(|value| Value { level, ..value })
            }
            _ => fault(
                at,
                format!(
                    "{} {} {} is not defined for pointers",
                    left.ty.name(),
                    super::convert::sign(op),
                    right.ty.name()
                ),
            ),
        }
    }

    fn pointer_difference(
        &mut self,
        op: BinOp,
        x: &Pointer,
        y: &Pointer,
        size: u32,
        at: u32,
    ) -> Outcome<Value> {
        let (a, b, unit) = match (x, y) {
            (
                Pointer::Local {
                    root,
                    index: Some(i),
                    ..
                },
                Pointer::Local {
                    root: other,
                    index: Some(j),
                    ..
                },
            ) if root == other => (*i, *j, size),
            _ => {
                let (root, i, unit) = self.rebased(x, size, at)?;
                let (other, j, other_unit) = self.rebased(y, size, at)?;
                if root != other {
                    return fault(
                        at,
                        "the pointers point into different buffers; compare pointers into one",
                    );
                }
                let step = gcd(unit, other_unit).max(1);
                (
                    self.scaled(i, unit / step),
                    self.scaled(j, other_unit / step),
                    step,
                )
            }
        };
        let difference = self.binary(BinaryOperator::Subtract, a, b);
        let difference = self.bitcast(difference, Prim::Int);
        let leaf = if op == BinOp::Sub {
            let per = self.i32((size / unit) as i32);
            let leaf = self.binary(BinaryOperator::Divide, difference, per);
            return Ok(Value::leaf(INT, leaf, super::level::Level::UNIFORM));
        } else {
            let zero = self.i32(0);
            match op {
                BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => {
                    self.binary(super::convert::ir_operator(op), difference, zero)
                }
                _ => {
                    return fault(
                        at,
                        format!("{} is not defined for pointers", super::convert::sign(op)),
                    );
                }
            }
        };
        Ok(Value::leaf(BOOL, leaf, super::level::Level::UNIFORM))
    }

    /// Returns the index of a subscript as `unsigned`.
    pub(super) fn subscript(&mut self, index: &Value, at: u32) -> Outcome<H> {
        self.index_of(index, at)
    }

    /// Keeps a constant index within an array, since WGSL refuses others.
    pub(super) fn within(&mut self, index: H, count: u32) -> H {
        match self.literal_of(index) {
            Some(Literal::U32(value)) if value >= count => self.u32(count.saturating_sub(1)),
            _ => index,
        }
    }

    /// Takes an element of a composite.
    pub(super) fn access(&mut self, base: H, index: H) -> H {
        match self.literal_of(index) {
            Some(Literal::U32(index)) if index <= MAX_CONSTANT_INDEX => {
                self.add(Expression::AccessIndex { base, index })
            }
            Some(_) => {
                // Such as a negative one: WGSL refuses the constant, and bounds the access at run time.
                let index = self.opaque(index);
                self.add(Expression::Access { base, index })
            }
            _ => self.add(Expression::Access { base, index }),
        }
    }
}

/// Bytes of an element of a vector.
pub(super) fn lane_size(vector: &Ty) -> u32 {
    match vector {
        Ty::Vector(prim, _) => prim.size(),
        _ => 4,
    }
}
