//! Division and remainder as WGSL defines them. The assembler does not strength-reduce divisions by constants, so this module
//! does.

use super::Lowering;
use crate::build::{Comparison, Operand, PtxType, Rounding};

impl Lowering<'_> {
    pub(super) fn quotient(&mut self, a: Operand, b: Operand) -> Operand {
        match a.ty() {
            PtxType::F16 => self.in_single(&[a, b], |this, x| this.kernel.div(x[0], x[1]).into()),
            ty if ty.is_float() => self.kernel.div(a, b).into(),
            _ => {
                if let Some(quotient) = self.quotient_by_constant(a, b) {
                    return quotient;
                }
                let b = self.divisor(a, b);
                self.kernel.div(a, b).into()
            }
        }
    }

    pub(super) fn remainder(&mut self, a: Operand, b: Operand) -> Operand {
        let ty = a.ty();
        if ty == PtxType::F16 {
            return self.in_single(&[a, b], |this, x| this.remainder(x[0], x[1]));
        }
        if ty.is_float() {
            // a - b * trunc(a / b)
            let quotient = self.kernel.div(a, b);
            let whole = self.kernel.convert(ty, Rounding::Zero, quotient);
            let minus_b = self.kernel.neg(b);
            return self.kernel.mad(whole, minus_b, a).into();
        }
        if let Some(quotient) = self.quotient_by_constant(a, b) {
            if let Some(d) = b
                .constant()
                .filter(|d| d.is_power_of_two() && !ty.is_signed())
            {
                return self.bitwise_and(a, Operand::Constant(ty, d - 1));
            }
            let whole = self.product(quotient, b);
            return self.difference(a, whole);
        }
        let b = self.divisor(a, b);
        self.kernel.rem(a, b).into()
    }

    /// Divides by a constant other than 0 and -1 by shifts and multiplications.
    fn quotient_by_constant(&mut self, a: Operand, b: Operand) -> Option<Operand> {
        let ty = a.ty();
        let d = b.constant()?;
        if let Some(x) = a.constant() {
            return constant_quotient(ty, x, d);
        }
        match ty {
            PtxType::U32 | PtxType::U64 if d.is_power_of_two() => {
                Some(self.shifted_right(a, d.trailing_zeros().into()))
            }
            PtxType::U32 if d != 0 => Some(self.unsigned_quotient(a, d as u32)),
            PtxType::S32 if !matches!(d as u32 as i32, 0 | -1 | i32::MIN) => {
                Some(self.signed_quotient(a, d as u32 as i32))
            }
            _ => None,
        }
    }

    /// With s the bits of d - 1 and m = ceil(2^(32 + s) / d), the quotient is floor(m a / 2^(32 + s)); m has 33 bits, the
    /// highest of which is added separately (Granlund and Montgomery, 1994).
    fn unsigned_quotient(&mut self, a: Operand, d: u32) -> Operand {
        let s = 32 - (d - 1).leading_zeros();
        let m = (1u128 << (32 + s)).div_ceil(u128::from(d));
        // A shorter multiplier suffices if it is exact for all 32-bit dividends.
        for shorter in 0..s {
            let power = 1u128 << (32 + shorter);
            let short = power.div_ceil(u128::from(d));
            let excess = short * u128::from(d) - power;
            if short < 1 << 32 && excess <= 1 << shorter {
                let high = self.kernel.mul_hi(a, short as u32).into();
                return self.shifted_right(high, shorter.into());
            }
        }
        let high = self.kernel.mul_hi(a, m as u32);
        let rest = self.kernel.sub(a, high);
        let half = self.kernel.shr(rest, 1u32);
        let sum = self.kernel.add(half, high).into();
        self.shifted_right(sum, (s - 1).into())
    }

    /// Rounds towards zero: the quotient by |d| rounded down, plus one if it is negative, then the sign of d.
    fn signed_quotient(&mut self, a: Operand, d: i32) -> Operand {
        let magnitude = d.unsigned_abs();
        let s = 31 - (magnitude - 1).leading_zeros().min(31);
        let m = ((1u64 << (32 + s)) / u64::from(magnitude) + 1) as u32 as i32;
        let is_negative = self.kernel.shr(a, 31u32);
        let quotient = if magnitude == 1 {
            a
        } else if magnitude.is_power_of_two() {
            let k = magnitude.trailing_zeros();
            let bias = self.kernel.shr(is_negative.bitcast(PtxType::U32), 32 - k);
            let biased = self.kernel.add(a, bias.bitcast(PtxType::S32));
            self.kernel.shr(biased, k).into()
        } else {
            let high = self.kernel.mul_hi(a, m);
            // A multiplier with its highest bit set is 2^32 too small as a signed integer.
            let high = if m < 0 {
                self.kernel.add(high, a)
            } else {
                high
            };
            let rounded_down = self.shifted_right(high.into(), s.into());
            self.kernel.sub(rounded_down, is_negative).into()
        };
        if d < 0 {
            self.negated(quotient)
        } else {
            quotient
        }
    }

    /// Returns the divisor, or 1 where WGSL defines the quotient as the dividend: for 0, and for the least integer by -1.
    fn divisor(&mut self, a: Operand, b: Operand) -> Operand {
        let ty = b.ty();
        let [zero, one, minus_one] = [0, 1, -1].map(|v| Operand::integer(ty, v));
        let least = Operand::integer(ty, i64::MIN >> (64 - ty.n_bits()));
        let is_zero = self.compared(Comparison::Eq, b, zero);
        let mut wrong = is_zero;
        if ty.is_signed() {
            let by_minus_one = self.compared(Comparison::Eq, b, minus_one);
            if by_minus_one.constant() != Some(0) {
                let is_least = self.compared(Comparison::Eq, a, least);
                let overflows = self.bitwise_and(is_least, by_minus_one);
                wrong = self.bitwise_or(is_zero, overflows);
            }
        }
        self.selected(wrong, one, b)
    }
}

fn constant_quotient(ty: PtxType, x: u64, d: u64) -> Option<Operand> {
    let quotient = match ty {
        PtxType::U32 => i64::from((x as u32).checked_div(d as u32)?),
        PtxType::S32 => i64::from((x as u32 as i32).checked_div(d as u32 as i32)?),
        PtxType::U64 => x.checked_div(d)? as i64,
        PtxType::S64 => (x as i64).checked_div(d as i64)?,
        _ => return None,
    };
    Some(Operand::integer(ty, quotient))
}
