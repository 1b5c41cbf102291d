//! Shifts: WGSL and C leave amounts of the width and more undefined, GPUs of NVIDIA do not.

use naga::{BinaryOperator, Expression, Literal, MathFunction};

use super::Lowering;
use super::state::H;
use crate::types::Prim;

impl Lowering<'_> {
    /// Shifts an `int` or `unsigned`; the amount is an `unsigned` and counts modulo 32.
    pub(super) fn shift(&mut self, op: BinaryOperator, left: H, amount: H) -> H {
        self.shift_of(Prim::UInt, op, left, amount)
    }

    /// Shifts an integer of 32 or 64 bits; the amount is an `unsigned` and counts modulo these.
    pub(super) fn shift_of(&mut self, prim: Prim, op: BinaryOperator, left: H, amount: H) -> H {
        let mask = self.u32(8 * prim.size() - 1);
        let amount = self.binary(BinaryOperator::And, amount, mask);
        if matches!(self.literal_of(amount), Some(Literal::U32(0))) {
            return left;
        }
        if let (Some(a), Some(Literal::U32(by))) = (self.literal_of(left), self.literal_of(amount))
        {
            let folded = match (op, a) {
                (BinaryOperator::ShiftLeft, Literal::I32(a)) => Literal::I32(a.wrapping_shl(by)),
                (_, Literal::I32(a)) => Literal::I32(a.wrapping_shr(by)),
                (BinaryOperator::ShiftLeft, Literal::U32(a)) => Literal::U32(a.wrapping_shl(by)),
                (_, Literal::U32(a)) => Literal::U32(a.wrapping_shr(by)),
                (BinaryOperator::ShiftLeft, Literal::I64(a)) => Literal::I64(a.wrapping_shl(by)),
                (_, Literal::I64(a)) => Literal::I64(a.wrapping_shr(by)),
                (BinaryOperator::ShiftLeft, Literal::U64(a)) => Literal::U64(a.wrapping_shl(by)),
                (_, Literal::U64(a)) => Literal::U64(a.wrapping_shr(by)),
                (_, other) => other,
            };
            return self.add(Expression::Literal(folded));
        }
        self.add(Expression::Binary {
            op,
            left,
            right: amount,
        })
    }

    /// Shifts as NVIDIA's GPUs do: by the width or more, nothing but the sign is left.
    pub(super) fn shift_as_cuda(
        &mut self,
        prim: Prim,
        op: BinaryOperator,
        left: H,
        amount: H,
    ) -> H {
        let last = 8 * prim.size() - 1;
        if self.is_at_most(amount, last) {
            return self.shift_of(prim, op, left, amount);
        }
        let limit = self.u32(last);
        if op == BinaryOperator::ShiftRight && prim.is_signed() {
            let amount = self.math(MathFunction::Min, &[amount, limit]);
            return self.shift_of(prim, op, left, amount);
        }
        let shifted = self.shift_of(prim, op, left, amount);
        let none = self.literal(0, prim);
        let is_beyond = self.binary(BinaryOperator::Greater, amount, limit);
        self.select(is_beyond, none, shifted)
    }

    /// Returns true if an `unsigned` is a constant of at most `bound`, or masked with one.
    fn is_at_most(&self, value: H, bound: u32) -> bool {
        let is_small =
            |value| matches!(self.literal_of(value), Some(Literal::U32(n)) if n <= bound);
        match self.f.function.expressions[value] {
            Expression::Binary {
                op: BinaryOperator::And,
                left,
                right,
            } => is_small(left) || is_small(right),
            Expression::As { expr, .. } => match self.f.function.expressions[expr] {
                Expression::Binary {
                    op: BinaryOperator::And,
                    left,
                    right,
                } => [left, right].into_iter().any(|operand| {
                    matches!(self.literal_of(operand), Some(Literal::I32(n)) if (0..=bound as i32).contains(&n))
                }),
                _ => false,
            },
            _ => is_small(value),
        }
    }
}
