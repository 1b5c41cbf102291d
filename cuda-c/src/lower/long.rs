//! Integers of 64 bits: their conversions, and functions on their halves. Vulkan counts and reverses the bits of 32 only.

use naga::{BinaryOperator as Op, Expression, Literal, MathFunction as Math};

use super::Lowering;
use super::state::{H, kind, scalar};
use super::value::Value;
use crate::ast::Expr;
use crate::error::Outcome;
use crate::types::{INT, Prim, Ty};

/// Converts a constant to a type, to or from 64 bits; `None` if a conversion of other types remains.
fn converted_literal(literal: Literal, to: Prim) -> Option<Literal> {
    let value = match literal {
        Literal::I32(a) => i128::from(a),
        Literal::U32(a) => i128::from(a),
        Literal::I64(a) => i128::from(a),
        Literal::U64(a) => i128::from(a),
        Literal::F32(a) if to == Prim::Long => i128::from(a as i64),
        Literal::F32(a) if to == Prim::ULong => i128::from(a as u64),
        _ => return None,
    };
    Some(match to {
        Prim::Char => Literal::I32((value as i8).into()),
        Prim::UChar => Literal::U32((value as u8).into()),
        Prim::Short => Literal::I32((value as i16).into()),
        Prim::UShort => Literal::U32((value as u16).into()),
        Prim::Int => Literal::I32(value as i32),
        Prim::UInt => Literal::U32(value as u32),
        Prim::Long => Literal::I64(value as i64),
        Prim::ULong => Literal::U64(value as u64),
        Prim::Float | Prim::Double => Literal::F32(value as f32),
        Prim::Bool | Prim::Half => return None,
    })
}

impl Lowering<'_> {
    /// Converts to or from a 64-bit integer; neither type is `bool`.
    pub(super) fn convert_long(&mut self, value: H, from: Prim, to: Prim) -> H {
        let known = self.literal_of(value);
        if let Some(literal) = known.and_then(|literal| converted_literal(literal, to)) {
            return self.add(Expression::Literal(literal));
        }
        // A float has all integers that are finite as `half`.
        if from == Prim::Half || to == Prim::Half {
            let value = self.convert_prim(value, from, Prim::Float);
            return self.convert_prim(value, Prim::Float, to);
        }
        if !from.is_integer() || !to.is_integer() {
            return self.converted(value, to);
        }
        // Languages differ in what they do if both the size and the sign change.
        let is_signed = from.is_signed();
        if to.size() < 8 {
            let word = if is_signed { Prim::Int } else { Prim::UInt };
            let value = self.converted(value, word);
            return self.convert_prim(value, word, to);
        }
        let long = if is_signed { Prim::Long } else { Prim::ULong };
        let value = if from.size() == 8 {
            value
        } else {
            self.converted(value, long)
        };
        if long == to {
            value
        } else {
            self.bitcast(value, to)
        }
    }

    fn converted(&mut self, expr: H, to: Prim) -> H {
        self.add(Expression::As {
            expr,
            kind: kind(to),
            convert: Some(scalar(to).width),
        })
    }

    /// Returns the lower and the upper word of a 64-bit integer.
    pub(super) fn halves(&mut self, value: H, prim: Prim) -> [H; 2] {
        let bits = self.convert_prim(value, prim, Prim::ULong);
        let by = self.u32(32);
        let upper = self.shift_of(Prim::ULong, Op::ShiftRight, bits, by);
        [bits, upper].map(|part| self.convert_prim(part, Prim::ULong, Prim::UInt))
    }

    /// Returns the 64-bit integer of two words.
    pub(super) fn joined(&mut self, low: H, high: H, prim: Prim) -> H {
        let [low, high] = [low, high].map(|word| self.convert_prim(word, Prim::UInt, Prim::ULong));
        let by = self.u32(32);
        let high = self.shift_of(Prim::ULong, Op::ShiftLeft, high, by);
        let bits = self.binary(Op::InclusiveOr, low, high);
        self.convert_prim(bits, Prim::ULong, prim)
    }

    /// Calls a function on the bits of 64-bit integers.
    pub(super) fn long_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        use Prim::{Long, ULong};
        let prims: &[Prim] = match name {
            "__popcll" | "__clzll" | "__ffsll" | "__brevll" => &[ULong],
            "__umul64hi" => &[ULong, ULong],
            "__mul64hi" => &[Long, Long],
            _ => return Ok(None),
        };
        self.primitive(prims[0], at)?;
        let (leaves, level) = self.scalars(name, arguments, prims, at)?;
        let (ty, leaf) = match (name, &leaves[..]) {
            ("__umul64hi", [a, b]) => (Ty::Prim(ULong), self.high_product(ULong, *a, *b)),
            ("__mul64hi", [a, b]) => (Ty::Prim(Long), self.signed_high_product(Long, *a, *b)),
            ("__brevll", _) => {
                let halves = self.halves(leaves[0], ULong);
                let [low, high] = halves.map(|half| self.math(Math::ReverseBits, &[half]));
                (Ty::Prim(ULong), self.joined(high, low, ULong))
            }
            _ => {
                let [low, high] = self.halves(leaves[0], ULong);
                let count = self.count_in_halves(name, low, high);
                (INT, self.convert_prim(count, Prim::UInt, Prim::Int))
            }
        };
        Ok(Some(Value::leaf(ty, leaf, level)))
    }

    fn count_in_halves(&mut self, name: &str, low: H, high: H) -> H {
        let (zero, one, bits) = (self.u32(0), self.u32(1), self.u32(32));
        match name {
            "__popcll" => {
                let counts = [low, high].map(|half| self.math(Math::CountOneBits, &[half]));
                self.plus(counts[0], counts[1])
            }
            "__clzll" => {
                let of_high = self.math(Math::CountLeadingZeros, &[high]);
                let of_low = self.math(Math::CountLeadingZeros, &[low]);
                let of_low = self.plus(of_low, bits);
                let is_zero = self.binary(Op::Equal, high, zero);
                self.select(is_zero, of_low, of_high)
            }
            _ => {
                let is_zero = self.binary(Op::Equal, low, zero);
                let half = self.select(is_zero, high, low);
                let place = self.math(Math::FirstTrailingBit, &[half]);
                // That of zero is -1.
                let place = self.plus(place, one);
                let above = self.plus(place, bits);
                let has_high = self.binary(Op::NotEqual, high, zero);
                let is_above = self.binary(Op::LogicalAnd, is_zero, has_high);
                self.select(is_above, above, place)
            }
        }
    }
}
