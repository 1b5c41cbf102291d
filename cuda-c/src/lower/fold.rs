//! Scalar operations on expressions of the IR. Constants are folded, since WGSL refuses constant expressions that overflow.

use naga::{BinaryOperator, Expression, Literal, MathFunction, UnaryOperator};

use super::Lowering;
use super::state::{H, kind, scalar};
use crate::types::Prim;

impl Lowering<'_> {
    pub(super) fn binary(&mut self, op: BinaryOperator, left: H, right: H) -> H {
        use BinaryOperator as Op;
        let literals = (self.literal_of(left), self.literal_of(right));
        match literals {
            (Some(a), Some(b)) => {
                if let Some(folded) = folded(op, a, b) {
                    return self.add(Expression::Literal(folded));
                }
                let left = self.opaque(left);
                let right = match (op, b) {
                    (Op::Divide | Op::Modulo, b)
                        if !matches!(b, Literal::F32(_) | Literal::F16(_)) =>
                    {
                        self.opaque(right)
                    }
                    _ => right,
                };
                return self.add(Expression::Binary { op, left, right });
            }
            (None, Some(b)) => {
                let (is_zero, is_one) = (is_integer(b, 0), is_integer(b, 1));
                match op {
                    Op::Add | Op::Subtract | Op::InclusiveOr | Op::ExclusiveOr if is_zero => {
                        return left;
                    }
                    Op::Multiply | Op::Divide if is_one => return left,
                    Op::Divide | Op::Modulo if is_zero => {
                        let right = self.opaque(right);
                        return self.add(Expression::Binary { op, left, right });
                    }
                    _ => {}
                }
            }
            (Some(a), None) => {
                let (is_zero, is_one) = (is_integer(a, 0), is_integer(a, 1));
                match op {
                    Op::Add if is_zero => return right,
                    Op::Multiply if is_one => return right,
                    _ => {}
                }
            }
            (None, None) => {}
        }
        self.add(Expression::Binary { op, left, right })
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, operand: H) -> H {
        let folded = match (op, self.literal_of(operand)) {
            (UnaryOperator::Negate, Some(Literal::I32(a))) => Some(Literal::I32(a.wrapping_neg())),
            (UnaryOperator::Negate, Some(Literal::I64(a))) => Some(Literal::I64(a.wrapping_neg())),
            (UnaryOperator::BitwiseNot, Some(Literal::I64(a))) => Some(Literal::I64(!a)),
            (UnaryOperator::BitwiseNot, Some(Literal::U64(a))) => Some(Literal::U64(!a)),
            (UnaryOperator::Negate, Some(Literal::F32(a))) => Some(Literal::F32(-a)),
            (UnaryOperator::BitwiseNot, Some(Literal::I32(a))) => Some(Literal::I32(!a)),
            (UnaryOperator::BitwiseNot, Some(Literal::U32(a))) => Some(Literal::U32(!a)),
            (UnaryOperator::LogicalNot, Some(Literal::Bool(a))) => Some(Literal::Bool(!a)),
            _ => None,
        };
        match folded {
            Some(literal) => self.add(Expression::Literal(literal)),
            None => self.add(Expression::Unary { op, expr: operand }),
        }
    }

    pub(super) fn not(&mut self, operand: H) -> H {
        self.unary(UnaryOperator::LogicalNot, operand)
    }

    /// Returns `accept` where the condition holds, else `reject`.
    pub(super) fn select(&mut self, condition: H, accept: H, reject: H) -> H {
        match self.literal_of(condition) {
            Some(Literal::Bool(true)) => accept,
            Some(Literal::Bool(false)) => reject,
            _ => self.add(Expression::Select {
                condition,
                accept,
                reject,
            }),
        }
    }

    /// Reinterprets the bits of a scalar or vector as a type of the same size.
    pub(super) fn bitcast(&mut self, operand: H, to: Prim) -> H {
        let folded = match (self.literal_of(operand), to) {
            (Some(Literal::I32(a)), Prim::UInt) => Some(Literal::U32(a as u32)),
            (Some(Literal::U32(a)), Prim::Int) => Some(Literal::I32(a as i32)),
            (Some(Literal::F32(a)), Prim::UInt) => Some(Literal::U32(a.to_bits())),
            (Some(Literal::F32(a)), Prim::Int) => Some(Literal::I32(a.to_bits() as i32)),
            (Some(Literal::I64(a)), Prim::ULong) => Some(Literal::U64(a as u64)),
            (Some(Literal::U64(a)), Prim::Long) => Some(Literal::I64(a as i64)),
            (Some(Literal::U32(a)), Prim::Float) => finite(f32::from_bits(a)),
            (Some(Literal::I32(a)), Prim::Float) => finite(f32::from_bits(a as u32)),
            _ => None,
        };
        if let Some(literal) = folded {
            return self.add(Expression::Literal(literal));
        }
        let operand = self.opaque(operand);
        self.add(Expression::As {
            expr: operand,
            kind: kind(to),
            convert: None,
        })
    }

    /// Converts a scalar to another type, as C does.
    pub(super) fn convert_prim(&mut self, value: H, from: Prim, to: Prim) -> H {
        if from == to {
            return value;
        }
        if to == Prim::Bool {
            let zero = self.zero(from);
            return self.binary(BinaryOperator::NotEqual, value, zero);
        }
        if from == Prim::Bool {
            let (one, zero) = (self.one(to), self.zero(to));
            return self.select(value, one, zero);
        }
        if from.size() == 8 || to.size() == 8 {
            return self.convert_long(value, from, to);
        }
        let mut converted = value;
        if scalar(from) != scalar(to) {
            converted = match self
                .literal_of(value)
                .and_then(|literal| converted_literal(literal, to))
            {
                Some(literal) => self.add(Expression::Literal(literal)),
                None => {
                    let value = if to == Prim::Half || from == Prim::Half {
                        // The writer of WGSL enables `f16` for a type only.
                        self.scalar_ty(Prim::Half);
                        // A constant beyond the range would be an error of WGSL.
                        self.opaque(value)
                    } else {
                        value
                    };
                    let convert = Some(scalar(to).width);
                    self.add(Expression::As {
                        expr: value,
                        kind: kind(to),
                        convert,
                    })
                }
            };
        }
        if !to.is_integer() || to.size() == 4 {
            return converted;
        }
        let fits = from.is_integer()
            && ((from.is_signed() == to.is_signed() && from.size() <= to.size())
                || (to.is_signed() && from.size() < to.size()));
        if fits {
            converted
        } else {
            self.narrow(converted, to)
        }
    }

    /// Wraps an `int` or `unsigned` to the range of a type of 8 or 16 bits.
    fn narrow(&mut self, value: H, to: Prim) -> H {
        let bits = 8 * to.size();
        match self.literal_of(value) {
            Some(Literal::I32(a)) => return self.i32(a << (32 - bits) >> (32 - bits)),
            Some(Literal::U32(a)) => return self.u32(a << (32 - bits) >> (32 - bits)),
            _ => {}
        }
        let (zero, count) = (self.u32(0), self.u32(bits));
        self.math(MathFunction::ExtractBits, &[value, zero, count])
    }

    pub(super) fn zero(&mut self, prim: Prim) -> H {
        let literal = literal_from(0, prim);
        self.add(Expression::Literal(literal))
    }

    pub(super) fn one(&mut self, prim: Prim) -> H {
        let literal = literal_from(1, prim);
        self.add(Expression::Literal(literal))
    }

    pub(super) fn literal(&mut self, value: i64, prim: Prim) -> H {
        self.add(Expression::Literal(literal_from(value, prim)))
    }

    /// Calls a function of WGSL.
    pub(super) fn math(&mut self, fun: MathFunction, arguments: &[H]) -> H {
        let mut arguments = arguments.to_vec();
        if arguments
            .iter()
            .all(|argument| self.literal_of(*argument).is_some())
        {
            arguments[0] = self.opaque(arguments[0]);
        }
        self.add(Expression::Math {
            fun,
            arg: arguments[0],
            arg1: arguments.get(1).copied(),
            arg2: arguments.get(2).copied(),
            arg3: arguments.get(3).copied(),
        })
    }
}

/// Browsers refuse the decimal that naga writes for the greatest float.
pub(super) fn is_spelled(value: f32) -> bool {
    value.abs() < f32::MAX
}

fn finite(value: f32) -> Option<Literal> {
    is_spelled(value).then_some(Literal::F32(value))
}

/// Returns true for a constant integer of this value.
fn is_integer(literal: Literal, value: u8) -> bool {
    match literal {
        Literal::I32(a) => a == i32::from(value),
        Literal::U32(a) => a == u32::from(value),
        Literal::I64(a) => a == i64::from(value),
        Literal::U64(a) => a == u64::from(value),
        _ => false,
    }
}

pub(super) fn literal_from(value: i64, prim: Prim) -> Literal {
    match prim {
        Prim::Bool => Literal::Bool(value != 0),
        Prim::Half => Literal::F16(half::f16::from_f32(value as f32)),
        Prim::Float | Prim::Double => Literal::F32(value as f32),
        Prim::Long => Literal::I64(value),
        Prim::ULong => Literal::U64(value as u64),
        prim if prim.is_signed() => Literal::I32(value as i32),
        _ => Literal::U32(value as u32),
    }
}

fn converted_literal(literal: Literal, to: Prim) -> Option<Literal> {
    if to == Prim::Half {
        let value = match literal {
            Literal::F32(a) => half::f16::from_f32(a),
            Literal::I32(a) => half::f16::from_f64(f64::from(a)),
            Literal::U32(a) => half::f16::from_f64(f64::from(a)),
            _ => return None,
        };
        return value.is_finite().then_some(Literal::F16(value));
    }
    if let Literal::F16(value) = literal {
        return (to == Prim::Float).then_some(Literal::F32(value.to_f32()));
    }
    Some(match (literal, kind(to)) {
        (Literal::I32(a), naga::ScalarKind::Uint) => Literal::U32(a as u32),
        (Literal::I32(a), naga::ScalarKind::Float) => Literal::F32(a as f32),
        (Literal::U32(a), naga::ScalarKind::Sint) => Literal::I32(a as i32),
        (Literal::U32(a), naga::ScalarKind::Float) => Literal::F32(a as f32),
        (Literal::F32(a), naga::ScalarKind::Sint) => Literal::I32(a as i32),
        (Literal::F32(a), naga::ScalarKind::Uint) => Literal::U32(a as u32),
        _ => return None,
    })
}

/// Folds an operator on integers of a type, or compares them.
macro_rules! folded_integer {
    ($literal:ident, $op:expr, $a:expr, $b:expr) => {{
        let (op, a, b) = ($op, $a, $b);
        let value = match op {
            BinaryOperator::Add => Some(a.wrapping_add(b)),
            BinaryOperator::Subtract => Some(a.wrapping_sub(b)),
            BinaryOperator::Multiply => Some(a.wrapping_mul(b)),
            BinaryOperator::Divide => a.checked_div(b),
            BinaryOperator::Modulo => a.checked_rem(b),
            BinaryOperator::And => Some(a & b),
            BinaryOperator::InclusiveOr => Some(a | b),
            BinaryOperator::ExclusiveOr => Some(a ^ b),
            _ => return compared(op, a, b),
        };
        value.map(Literal::$literal)
    }};
}

fn folded(op: BinaryOperator, a: Literal, b: Literal) -> Option<Literal> {
    match (a, b) {
        (Literal::I32(a), Literal::I32(b)) => folded_integer!(I32, op, a, b),
        (Literal::U32(a), Literal::U32(b)) => folded_integer!(U32, op, a, b),
        (Literal::I64(a), Literal::I64(b)) => folded_integer!(I64, op, a, b),
        (Literal::U64(a), Literal::U64(b)) => folded_integer!(U64, op, a, b),
        (Literal::F32(a), Literal::F32(b)) => folded_f32(op, a, b),
        (Literal::Bool(a), Literal::Bool(b)) => Some(Literal::Bool(match op {
            BinaryOperator::Equal => a == b,
            BinaryOperator::NotEqual => a != b,
            BinaryOperator::LogicalAnd | BinaryOperator::And => a && b,
            BinaryOperator::LogicalOr | BinaryOperator::InclusiveOr => a || b,
            _ => return None,
        })),
        _ => None,
    }
}

fn compared<T: PartialOrd>(op: BinaryOperator, a: T, b: T) -> Option<Literal> {
    Some(Literal::Bool(match op {
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterEqual => a >= b,
        _ => return None,
    }))
}

fn folded_f32(op: BinaryOperator, a: f32, b: f32) -> Option<Literal> {
    let value = match op {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a / b,
        _ => return compared(op, a, b),
    };
    finite(value)
}
