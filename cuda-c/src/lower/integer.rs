//! Built-in functions on integers, conversions with a rounding, and loads with a cache hint.

use naga::{BinaryOperator as Op, MathFunction as Math};

use super::Lowering;
use super::level::Level;
use super::state::H;
use super::value::Value;
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{FLOAT, INT, Prim, Ty, UINT};

impl Lowering<'_> {
    /// Evaluates arguments as scalars of types.
    pub(super) fn scalars(
        &mut self,
        name: &str,
        arguments: &[Expr],
        prims: &[Prim],
        at: u32,
    ) -> Outcome<(Vec<H>, Level)> {
        self.expect_arguments(name, arguments, prims.len()..=prims.len(), at)?;
        let mut leaves = Vec::new();
        let mut level = Level::UNIFORM;
        for (argument, prim) in arguments.iter().zip(prims) {
            let value = self.scalar_argument(argument, *prim)?;
            level = level.join(value.level);
            leaves.extend(value.first());
        }
        if leaves.len() != prims.len() {
            return fault(at, format!("{name} takes numbers"));
        }
        Ok((leaves, level))
    }

    pub(super) fn integer_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        use Prim::{Float, Int, UInt};
        let prims: &[Prim] = match name {
            "__popc" | "__clz" | "__ffs" | "__brev" => &[UInt],
            "__umulhi" | "__umul24" | "__uhadd" | "__urhadd" => &[UInt, UInt],
            "__mulhi" | "__mul24" | "__hadd" => &[Int, Int],
            "__byte_perm" | "__funnelshift_l" | "__funnelshift_r" | "__usad" => &[UInt, UInt, UInt],
            "__sad" => &[Int, Int, UInt],
            "__dp4a" => &[Int, Int, Int],
            "__float_as_int" | "__float_as_uint" => &[Float],
            "__int_as_float" => &[Int],
            "__uint_as_float" => &[UInt],
            "__ldg" | "__ldcg" | "__ldca" | "__ldcs" | "__ldlu" | "__ldcv" => {
                return self.load_hint(name, arguments, at).map(Some);
            }
            _ => match self.long_call(name, arguments, at)? {
                Some(value) => return Ok(Some(value)),
                None => return self.rounding_call(name, arguments, at),
            },
        };
        let (leaves, level) = self.scalars(name, arguments, prims, at)?;
        let a = leaves[0];
        let (ty, leaf) = match name {
            "__popc" => (INT, self.counted(Math::CountOneBits, a)),
            "__clz" => (INT, self.counted(Math::CountLeadingZeros, a)),
            "__ffs" => {
                let place = self.math(Math::FirstTrailingBit, &[a]);
                let one = self.u32(1);
                let place = self.plus(place, one);
                (INT, self.convert_prim(place, UInt, Int))
            }
            "__brev" => (UINT, self.math(Math::ReverseBits, &[a])),
            "__umulhi" => (UINT, self.high_product(UInt, a, leaves[1])),
            "__mulhi" => (INT, self.signed_high_product(Int, a, leaves[1])),
            "__umul24" | "__mul24" => (Ty::Prim(prims[0]), self.product_24(a, leaves[1])),
            "__uhadd" | "__urhadd" | "__hadd" => (
                Ty::Prim(prims[0]),
                self.average(a, leaves[1], name == "__urhadd"),
            ),
            "__byte_perm" => (UINT, self.byte_perm(a, leaves[1], leaves[2])),
            "__funnelshift_l" | "__funnelshift_r" => (
                UINT,
                self.funnel(name.ends_with('l'), a, leaves[1], leaves[2]),
            ),
            "__usad" | "__sad" => {
                let above = self.binary(Op::Greater, a, leaves[1]);
                let down = self.binary(Op::Subtract, a, leaves[1]);
                let up = self.binary(Op::Subtract, leaves[1], a);
                let difference = self.select(above, down, up);
                let difference = if prims[0] == Int {
                    self.bitcast(difference, UInt)
                } else {
                    difference
                };
                (UINT, self.plus(difference, leaves[2]))
            }
            "__dp4a" => (INT, self.dot_4(&leaves)),
            "__float_as_int" => (INT, self.bitcast(a, Int)),
            "__float_as_uint" => (UINT, self.bitcast(a, UInt)),
            _ => (FLOAT, self.bitcast(a, Float)),
        };
        Ok(Some(Value::leaf(ty, leaf, level)))
    }

    fn load_hint(&mut self, name: &str, arguments: &[Expr], at: u32) -> Outcome<Value> {
        self.expect_arguments(name, arguments, 1..=1, at)?;
        let deref = Expr {
            at,
            kind: crate::ast::ExprKind::Unary(
                crate::ast::UnOp::Deref,
                Box::new(arguments[0].clone()),
            ),
        };
        self.expr(&deref)
    }

    fn counted(&mut self, fun: Math, value: H) -> H {
        let count = self.math(fun, &[value]);
        self.convert_prim(count, Prim::UInt, Prim::Int)
    }

    /// The upper half of a product of `unsigned` or `unsigned long`, from products of halves.
    pub(super) fn high_product(&mut self, prim: Prim, a: H, b: H) -> H {
        let n_bits = 4 * prim.size();
        let (mask, half) = (self.literal((1 << n_bits) - 1, prim), self.u32(n_bits));
        let (al, ah) = (
            self.binary(Op::And, a, mask),
            self.shift_of(prim, Op::ShiftRight, a, half),
        );
        let (bl, bh) = (
            self.binary(Op::And, b, mask),
            self.shift_of(prim, Op::ShiftRight, b, half),
        );
        let low = self.binary(Op::Multiply, al, bl);
        let carry = self.shift_of(prim, Op::ShiftRight, low, half);
        let cross = self.binary(Op::Multiply, ah, bl);
        let first = self.plus(cross, carry);
        let first_low = self.binary(Op::And, first, mask);
        let first_high = self.shift_of(prim, Op::ShiftRight, first, half);
        let cross = self.binary(Op::Multiply, al, bh);
        let second = self.plus(cross, first_low);
        let second_high = self.shift_of(prim, Op::ShiftRight, second, half);
        let high = self.binary(Op::Multiply, ah, bh);
        let high = self.plus(high, first_high);
        self.plus(high, second_high)
    }

    pub(super) fn signed_high_product(&mut self, prim: Prim, a: H, b: H) -> H {
        let unsigned = if prim == Prim::Long {
            Prim::ULong
        } else {
            Prim::UInt
        };
        let (x, y) = (self.bitcast(a, unsigned), self.bitcast(b, unsigned));
        let mut high = self.high_product(unsigned, x, y);
        let (zero, none) = (self.zero(prim), self.zero(unsigned));
        for (sign, other) in [(a, y), (b, x)] {
            let negative = self.binary(Op::Less, sign, zero);
            let less = self.select(negative, other, none);
            high = self.binary(Op::Subtract, high, less);
        }
        self.bitcast(high, prim)
    }

    fn product_24(&mut self, a: H, b: H) -> H {
        let (zero, bits) = (self.u32(0), self.u32(24));
        let a = self.math(Math::ExtractBits, &[a, zero, bits]);
        let b = self.math(Math::ExtractBits, &[b, zero, bits]);
        self.binary(Op::Multiply, a, b)
    }

    /// The average without overflow.
    fn average(&mut self, a: H, b: H, up: bool) -> H {
        let one = self.u32(1);
        let common = self.binary(if up { Op::InclusiveOr } else { Op::And }, a, b);
        let differing = self.binary(Op::ExclusiveOr, a, b);
        let half = self.shift(Op::ShiftRight, differing, one);
        self.binary(if up { Op::Subtract } else { Op::Add }, common, half)
    }

    fn byte_perm(&mut self, a: H, b: H, selector: H) -> H {
        let mut result = self.u32(0);
        for byte in 0..4 {
            let (by, seven, three, four) =
                (self.u32(4 * byte), self.u32(7), self.u32(3), self.u32(4));
            let shifted = self.shift(Op::ShiftRight, selector, by);
            let chosen = self.binary(Op::And, shifted, seven);
            let is_b = self.binary(Op::GreaterEqual, chosen, four);
            let word = self.select(is_b, b, a);
            let within = self.binary(Op::And, chosen, three);
            let bits = self.shift(Op::ShiftLeft, within, three);
            let eight = self.u32(8);
            let part = self.math(Math::ExtractBits, &[word, bits, eight]);
            // The fourth bit of a selector replicates the sign.
            let sign_place = self.u32(7);
            let sign = self.shift(Op::ShiftRight, part, sign_place);
            let all = self.u32(0xff);
            let spread = self.binary(Op::Multiply, sign, all);
            let eighth = self.u32(8);
            let flag = self.binary(Op::And, shifted, eighth);
            let zero = self.u32(0);
            let replicates = self.binary(Op::NotEqual, flag, zero);
            let part = self.select(replicates, spread, part);
            let to = self.u32(8 * byte);
            let placed = self.shift(Op::ShiftLeft, part, to);
            result = self.binary(Op::InclusiveOr, result, placed);
        }
        result
    }

    fn funnel(&mut self, left: bool, low: H, high: H, by: H) -> H {
        let mask = self.u32(31);
        let by = self.binary(Op::And, by, mask);
        let zero = self.u32(0);
        let is_zero = self.binary(Op::Equal, by, zero);
        let all = self.u32(32);
        let rest = self.binary(Op::Subtract, all, by);
        if left {
            let upper = self.shift(Op::ShiftLeft, high, by);
            let lower = self.shift(Op::ShiftRight, low, rest);
            let both = self.binary(Op::InclusiveOr, upper, lower);
            self.select(is_zero, high, both)
        } else {
            let upper = self.shift(Op::ShiftLeft, high, rest);
            let lower = self.shift(Op::ShiftRight, low, by);
            let both = self.binary(Op::InclusiveOr, upper, lower);
            self.select(is_zero, low, both)
        }
    }

    /// The dot product of four signed bytes, plus a number.
    fn dot_4(&mut self, leaves: &[H]) -> H {
        let mut total = leaves[2];
        for byte in 0..4 {
            let (from, eight) = (self.u32(8 * byte), self.u32(8));
            let a = self.math(Math::ExtractBits, &[leaves[0], from, eight]);
            let b = self.math(Math::ExtractBits, &[leaves[1], from, eight]);
            let product = self.binary(Op::Multiply, a, b);
            total = self.plus(total, product);
        }
        total
    }

    /// Conversions such as `__float2int_rd`.
    fn rounding_call(&mut self, name: &str, arguments: &[Expr], at: u32) -> Outcome<Option<Value>> {
        let Some((base, rounding)) = name.rsplit_once('_') else {
            return Ok(None);
        };
        let (from, to) = match base {
            "__float2int" => (Prim::Float, Prim::Int),
            "__float2uint" => (Prim::Float, Prim::UInt),
            "__int2float" => (Prim::Int, Prim::Float),
            "__uint2float" => (Prim::UInt, Prim::Float),
            "__float2ll" => (Prim::Float, Prim::Long),
            "__float2ull" => (Prim::Float, Prim::ULong),
            "__ll2float" => (Prim::Long, Prim::Float),
            "__ull2float" => (Prim::ULong, Prim::Float),
            _ => return Ok(None),
        };
        self.primitive(from, at)?;
        self.primitive(to, at)?;
        let (leaves, level) = self.scalars(name, arguments, &[from], at)?;
        let leaf = match (rounding, from) {
            ("rn", Prim::Float) => self.math(Math::Round, &leaves),
            ("rd", Prim::Float) => self.math(Math::Floor, &leaves),
            ("ru", Prim::Float) => self.math(Math::Ceil, &leaves),
            ("rz", Prim::Float) | ("rn", _) => leaves[0],
            _ => {
                return fault(
                    at,
                    format!(
                        "{name} is not supported; conversions to float round to nearest: use {base}_rn"
                    ),
                );
            }
        };
        let leaf = self.convert_prim(leaf, from, to);
        Ok(Some(Value::leaf(Ty::Prim(to), leaf, level)))
    }
}
