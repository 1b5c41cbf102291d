//! Conversions between types, and the arithmetic of C on values.

use naga::{BinaryOperator, Expression, Literal};

use super::Lowering;
use super::state::vector_size;
use super::value::{Data, Value};
use crate::ast::BinOp;
use crate::error::{Outcome, fault};
use crate::types::{BOOL, INT, Prim, Ty};

/// The type that integers narrower than `int` are promoted to.
pub(super) fn promoted(prim: Prim) -> Prim {
    match prim {
        Prim::Float | Prim::Double | Prim::Half | Prim::UInt | Prim::Long | Prim::ULong => prim,
        _ => Prim::Int,
    }
}

/// The common type of two operands.
pub(super) fn common(a: Prim, b: Prim) -> Prim {
    let (a, b) = (promoted(a), promoted(b));
    if a == Prim::Float || b == Prim::Float {
        Prim::Float
    } else if a == Prim::Half || b == Prim::Half {
        Prim::Half
    } else if a == Prim::ULong || b == Prim::ULong {
        Prim::ULong
    } else if a == Prim::Long || b == Prim::Long {
        Prim::Long
    } else if a == Prim::UInt || b == Prim::UInt {
        Prim::UInt
    } else {
        Prim::Int
    }
}

pub(super) fn ir_operator(op: BinOp) -> BinaryOperator {
    match op {
        BinOp::Add => BinaryOperator::Add,
        BinOp::Sub => BinaryOperator::Subtract,
        BinOp::Mul => BinaryOperator::Multiply,
        BinOp::Div => BinaryOperator::Divide,
        BinOp::Rem => BinaryOperator::Modulo,
        BinOp::Shl => BinaryOperator::ShiftLeft,
        BinOp::Shr => BinaryOperator::ShiftRight,
        BinOp::And => BinaryOperator::And,
        BinOp::Or => BinaryOperator::InclusiveOr,
        BinOp::Xor => BinaryOperator::ExclusiveOr,
        BinOp::Lt => BinaryOperator::Less,
        BinOp::Le => BinaryOperator::LessEqual,
        BinOp::Gt => BinaryOperator::Greater,
        BinOp::Ge => BinaryOperator::GreaterEqual,
        BinOp::Eq => BinaryOperator::Equal,
        BinOp::Ne => BinaryOperator::NotEqual,
        BinOp::LogicalAnd => BinaryOperator::LogicalAnd,
        BinOp::LogicalOr => BinaryOperator::LogicalOr,
    }
}

pub(super) fn sign(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::LogicalAnd => "&&",
        BinOp::LogicalOr => "||",
    }
}

fn is_comparison(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne
    )
}

impl Lowering<'_> {
    /// Converts a value to a type as assignment does.
    pub(super) fn convert(&mut self, value: Value, to: &Ty, at: u32) -> Outcome<Value> {
        if value.ty == *to {
            return Ok(value);
        }
        let level = value.level;
        match (&value.ty, to, &value.data) {
            (Ty::Prim(from), Ty::Prim(prim), Data::Leaves(leaves)) => {
                let leaf = self.convert_prim(leaves[0], *from, *prim);
                Ok(Value::leaf(to.clone(), leaf, level))
            }
            (_, Ty::Void, _) => Ok(Value {
                ty: Ty::Void,
                ..value
            }),
            (Ty::Pointer(from), Ty::Pointer(element), data) => {
                let fits =
                    **from == Ty::Void || **element == Ty::Void || matches!(data, Data::Null);
                if !fits {
                    return fault(
                        at,
                        format!(
                            "{} does not convert to {}; cast it",
                            value.ty.name(),
                            to.name()
                        ),
                    );
                }
                Ok(Value {
                    ty: to.clone(),
                    ..value
                })
            }
            (Ty::Pointer(_), Ty::Prim(Prim::Bool), data) => {
                let leaf = self.bool(!matches!(data, Data::Null));
                Ok(Value::leaf(BOOL, leaf, level))
            }
            // `dim3 d = n`.
            (Ty::Prim(from), Ty::Vector(Prim::UInt, 3), Data::Leaves(leaves)) => {
                let x = self.convert_prim(leaves[0], *from, Prim::UInt);
                let one = self.one(Prim::UInt);
                let leaf = self.compose(Prim::UInt, &[x, one, one]);
                Ok(Value::leaf(to.clone(), leaf, level))
            }
            _ => fault(
                at,
                format!(
                    "{} does not convert to {}; convert its parts",
                    value.ty.name(),
                    to.name()
                ),
            ),
        }
    }

    /// Makes a vector of scalars.
    pub(super) fn compose(
        &mut self,
        prim: Prim,
        components: &[super::state::H],
    ) -> super::state::H {
        let ty = self.element_ty(prim, components.len() as u32);
        self.add(Expression::Compose {
            ty,
            components: components.to_vec(),
        })
    }

    /// Converts a value to a condition.
    pub(super) fn truth(&mut self, value: Value, at: u32) -> Outcome<Value> {
        self.convert(value, &BOOL, at)
    }

    /// Returns the value of a constant integer; that of an `unsigned long` wraps.
    pub(super) fn constant(&self, value: &Value) -> Option<i64> {
        match self.literal_of(value.first()?)? {
            Literal::I32(value) => Some(i64::from(value)),
            Literal::U32(value) => Some(i64::from(value)),
            Literal::I64(value) => Some(value),
            Literal::U64(value) => Some(value as i64),
            Literal::Bool(value) => Some(i64::from(value)),
            _ => None,
        }
    }

    /// Applies an arithmetic, bitwise or comparison operator.
    pub(super) fn operate(
        &mut self,
        op: BinOp,
        left: Value,
        right: Value,
        at: u32,
    ) -> Outcome<Value> {
        let level = left.level.join(right.level);
        if matches!(left.ty, Ty::Pointer(_)) || matches!(right.ty, Ty::Pointer(_)) {
            return self.operate_pointers(op, left, right, at);
        }
        if matches!(left.ty, Ty::Vector(..)) || matches!(right.ty, Ty::Vector(..)) {
            return self.operate_vectors(op, left, right, at);
        }
        let (Some(a), Some(b), Some(x), Some(y)) =
            (left.ty.prim(), right.ty.prim(), left.first(), right.first())
        else {
            return fault(
                at,
                format!(
                    "{} {} {} is not defined; define an operator{} for them or use their members",
                    left.ty.name(),
                    sign(op),
                    right.ty.name(),
                    sign(op)
                ),
            );
        };
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            let prim = promoted(a);
            if !prim.is_integer() || !b.is_integer() {
                return fault(
                    at,
                    format!("{} shifts integers only; convert the float", sign(op)),
                );
            }
            let x = self.convert_prim(x, a, prim);
            let y = self.convert_prim(y, b, Prim::UInt);
            let leaf = self.shift_as_cuda(prim, ir_operator(op), x, y);
            return Ok(Value::leaf(Ty::Prim(prim), leaf, level));
        }
        let prim = common(a, b);
        if !prim.is_integer() && matches!(op, BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor) {
            return fault(
                at,
                format!(
                    "{} takes integers only; use fmodf, or convert the floats",
                    sign(op)
                ),
            );
        }
        let x = self.convert_prim(x, a, prim);
        let y = self.convert_prim(y, b, prim);
        let leaf = self.binary(ir_operator(op), x, y);
        let ty = if is_comparison(op) {
            BOOL
        } else {
            Ty::Prim(prim)
        };
        Ok(Value::leaf(ty, leaf, level))
    }

    /// Applies an operator element by element, as the operators of `helper_math.h` do.
    fn operate_vectors(&mut self, op: BinOp, left: Value, right: Value, at: u32) -> Outcome<Value> {
        let level = left.level.join(right.level);
        let is_arithmetic = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div);
        let vector = match (&left.ty, &right.ty) {
            (Ty::Vector(a, n), Ty::Vector(b, m)) if a == b && n == m && is_arithmetic => {
                Some((*a, *n))
            }
            (Ty::Vector(a, n), Ty::Prim(_)) | (Ty::Prim(_), Ty::Vector(a, n)) if is_arithmetic => {
                Some((*a, *n))
            }
            _ => None,
        };
        let (Some((prim, lanes)), Some(x), Some(y)) = (vector, left.first(), right.first()) else {
            return fault(
                at,
                format!(
                    "{} {} {} is not defined; define an operator{} for them or use their members",
                    left.ty.name(),
                    sign(op),
                    right.ty.name(),
                    sign(op)
                ),
            );
        };
        let x = self.splat(x, &left.ty, prim, lanes);
        let y = self.splat(y, &right.ty, prim, lanes);
        let leaf = self.add(Expression::Binary {
            op: ir_operator(op),
            left: x,
            right: y,
        });
        Ok(Value::leaf(Ty::Vector(prim, lanes), leaf, level))
    }

    /// Spreads a scalar to a vector; a vector stays.
    pub(super) fn splat(
        &mut self,
        value: super::state::H,
        from: &Ty,
        prim: Prim,
        lanes: u32,
    ) -> super::state::H {
        match (from, vector_size(lanes)) {
            (Ty::Prim(from), Some(size)) => {
                let value = self.convert_prim(value, *from, prim);
                // A constant vector could make a constant expression that overflows.
                let value = self.opaque(value);
                self.add(Expression::Splat { size, value })
            }
            _ => value,
        }
    }

    /// Promotes a small integer to `int`.
    pub(super) fn promote(&mut self, value: Value) -> Value {
        match (value.ty.prim(), value.first()) {
            (Some(prim), Some(leaf)) if promoted(prim) != prim => {
                let leaf = self.convert_prim(leaf, prim, Prim::Int);
                Value::leaf(INT, leaf, value.level)
            }
            _ => value,
        }
    }
}
