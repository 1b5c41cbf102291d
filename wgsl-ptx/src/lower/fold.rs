//! Constant folding of integer and logical operations. Inlining makes many operands constant.

use super::Lowering;
use crate::build::{Comparison, Operand, PtxType, Register};

/// The computation of a register, for peephole rules on shift amounts and indices.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// A word masked by a constant.
    Masked(Operand, u32),
    /// A word times a power of two, given as its exponent.
    Scaled(Operand, u32),
    /// A word shifted right by a constant.
    Shifted(Operand, u32),
}

/// Sign- or zero-extends the bits of a constant.
fn widened(ty: PtxType, bits: u64) -> i128 {
    match ty {
        PtxType::S16 => i128::from(bits as u16 as i16),
        PtxType::S32 => i128::from(bits as u32 as i32),
        PtxType::S64 => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

/// Returns both operands if they are constants other than floats.
fn constants(a: Operand, b: Operand) -> Option<(i128, i128)> {
    if a.ty().is_float() {
        return None;
    }
    Some((
        widened(a.ty(), a.constant()?),
        widened(b.ty(), b.constant()?),
    ))
}

fn is(operand: Operand, value: u64) -> bool {
    operand.constant() == Some(value) && !operand.ty().is_float()
}

fn all_ones(ty: PtxType) -> u64 {
    if ty.n_bits() == 64 {
        u64::MAX
    } else {
        (1 << ty.n_bits()) - 1
    }
}

impl Lowering<'_> {
    pub(super) fn sum(&mut self, a: Operand, b: Operand) -> Operand {
        match constants(a, b) {
            Some((x, y)) => Operand::integer(a.ty(), x.wrapping_add(y) as i64),
            None if is(a, 0) => b,
            None if is(b, 0) => a,
            None => self.kernel.add(a, b).into(),
        }
    }

    pub(super) fn difference(&mut self, a: Operand, b: Operand) -> Operand {
        match constants(a, b) {
            Some((x, y)) => Operand::integer(a.ty(), x.wrapping_sub(y) as i64),
            None if is(b, 0) => a,
            None => self.kernel.sub(a, b).into(),
        }
    }

    pub(super) fn product(&mut self, a: Operand, b: Operand) -> Operand {
        match constants(a, b) {
            Some((x, y)) => Operand::integer(a.ty(), x.wrapping_mul(y) as i64),
            None if is(a, 1) => b,
            None if is(b, 1) => a,
            None if is(a, 0) => a,
            None if is(b, 0) => b,
            None => {
                let product = self.kernel.mul(a, b);
                let factor = b.constant().filter(|factor| factor.is_power_of_two());
                self.record_origin(product, a, |a| {
                    Some(Origin::Scaled(a, factor?.trailing_zeros()))
                });
                product.into()
            }
        }
    }

    pub(super) fn minimum(&mut self, a: Operand, b: Operand) -> Operand {
        match constants(a, b) {
            Some((x, y)) => {
                if x <= y {
                    a
                } else {
                    b
                }
            }
            None => self.kernel.min(a, b).into(),
        }
    }

    pub(super) fn maximum(&mut self, a: Operand, b: Operand) -> Operand {
        match constants(a, b) {
            Some((x, y)) => {
                if x >= y {
                    a
                } else {
                    b
                }
            }
            None => self.kernel.max(a, b).into(),
        }
    }

    pub(super) fn bitwise_and(&mut self, a: Operand, b: Operand) -> Operand {
        let ones = all_ones(a.ty());
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => Operand::Constant(a.ty(), x & y),
            (Some(0), _) => a,
            (_, Some(0)) => b,
            (Some(x), _) if x == ones => b,
            (_, Some(y)) if y == ones => a,
            (_, mask) => {
                let masked = self.kernel.and(a, b);
                self.record_origin(masked, a, |a| Some(Origin::Masked(a, mask? as u32)));
                masked.into()
            }
        }
    }

    /// Records how a word was computed.
    fn record_origin(
        &mut self,
        word: Register,
        from: Operand,
        origin: impl FnOnce(Operand) -> Option<Origin>,
    ) {
        if word.ty() == PtxType::U32
            && let Some(origin) = origin(from)
        {
            self.origins.insert(word, origin);
        }
    }

    fn origin(&self, operand: Operand) -> Option<Origin> {
        match operand {
            Operand::Register(register) => self.origins.get(&register).copied(),
            Operand::Constant(..) => None,
        }
    }

    /// Returns a shift amount, counted modulo 32, without a redundant mask: `(p & 3) * 8` can be `p * 8` if all bits that count
    /// are kept.
    pub(super) fn shift_amount(&mut self, n: Operand) -> Operand {
        match self.origin(n) {
            Some(Origin::Masked(word, mask)) if mask & 31 == 31 => word,
            Some(Origin::Scaled(scaled, k)) if k < 5 => match self.origin(scaled) {
                Some(Origin::Masked(word, mask)) if (mask << k) & 31 == (31 << k) & 31 => {
                    self.kernel.shl(word, k).into()
                }
                _ => n,
            },
            _ => n,
        }
    }

    /// Returns `index * stride` if `index` is the result of a right shift that the product undoes but for the lowest bits:
    /// `(p >> 2) * 4` becomes `p & ~3`.
    pub(super) fn undo_shift(&mut self, index: Operand, stride: u32) -> Option<Register> {
        match self.origin(index)? {
            Origin::Shifted(word, k)
                if stride.checked_shr(k) == Some(1) && stride.is_power_of_two() =>
            {
                Some(self.kernel.and(word, !(stride - 1)))
            }
            _ => None,
        }
    }

    pub(super) fn bitwise_or(&mut self, a: Operand, b: Operand) -> Operand {
        let ones = all_ones(a.ty());
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => Operand::Constant(a.ty(), x | y),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(x), _) if x == ones => a,
            (_, Some(y)) if y == ones => b,
            _ => self.kernel.or(a, b).into(),
        }
    }

    pub(super) fn bitwise_xor(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => Operand::Constant(a.ty(), x ^ y),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.kernel.xor(a, b).into(),
        }
    }

    pub(super) fn inverted(&mut self, a: Operand) -> Operand {
        match a.constant() {
            Some(x) => Operand::Constant(a.ty(), !x & all_ones(a.ty())),
            None => self.kernel.not(a).into(),
        }
    }

    /// Shifts `a` left by `n` modulo its size.
    pub(super) fn shifted_left(&mut self, a: Operand, n: Operand) -> Operand {
        let n_bits = a.ty().n_bits();
        if let Some(n) = n.constant() {
            let n = (n as u32) % n_bits;
            return match a.constant() {
                Some(x) => Operand::integer(a.ty(), (x << n) as i64),
                None if n == 0 => a,
                None => self.kernel.shl(a, n).into(),
            };
        }
        if n_bits == 32 {
            let zero = Operand::Constant(a.ty(), 0);
            let n = self.shift_amount(n);
            return self.kernel.funnel_left(zero, a, n).into();
        }
        let n = self.kernel.and(n, n_bits - 1);
        self.kernel.shl(a, n).into()
    }

    /// Shifts `a` right by `n` modulo its size.
    pub(super) fn shifted_right(&mut self, a: Operand, n: Operand) -> Operand {
        let n_bits = a.ty().n_bits();
        if let Some(n) = n.constant() {
            let n = (n as u32) % n_bits;
            return match a.constant() {
                Some(x) => Operand::integer(a.ty(), (widened(a.ty(), x) >> n) as i64),
                None if n == 0 => a,
                None => {
                    let shifted = self.kernel.shr(a, n);
                    self.record_origin(shifted, a, |a| Some(Origin::Shifted(a, n)));
                    shifted.into()
                }
            };
        }
        if a.ty() == PtxType::U32 {
            let n = self.shift_amount(n);
            return self.kernel.funnel_right(a, 0u32, n).into();
        }
        let n = self.kernel.and(n, n_bits - 1);
        self.kernel.shr(a, n).into()
    }

    pub(super) fn compared(&mut self, comparison: Comparison, a: Operand, b: Operand) -> Operand {
        if let Some((x, y)) = constants(a, b) {
            return Operand::from(match comparison {
                Comparison::Eq => x == y,
                Comparison::Ne => x != y,
                Comparison::Lt => x < y,
                Comparison::Le => x <= y,
                Comparison::Gt => x > y,
                Comparison::Ge => x >= y,
            });
        }
        if a.ty() == PtxType::Pred {
            let differs = self.bitwise_xor(a, b);
            return match comparison {
                Comparison::Eq => self.inverted(differs),
                _ => differs,
            };
        }
        self.kernel.compare(comparison, a, b).into()
    }

    /// Returns `a` if the condition is true, else `b`.
    pub(super) fn selected(&mut self, condition: Operand, a: Operand, b: Operand) -> Operand {
        match condition.constant() {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None if a.ty() == PtxType::Pred => {
                let first = self.bitwise_and(condition, a);
                let not = self.inverted(condition);
                let second = self.bitwise_and(not, b);
                self.bitwise_or(first, second)
            }
            None => self.kernel.select(condition, a, b).into(),
        }
    }
}
