//! Shifts, counts and bit fields of integers.

use super::kernel::PtxKernel;
use super::types::{Operand, PtxType, Register};

const INTEGER: fn(PtxType) -> bool = PtxType::is_integer;
const WORD: fn(PtxType) -> bool = |ty| ty.is_integer() && ty.n_bits() >= 32;

impl PtxKernel {
    /// Shifts `a` left by `n`, a `U32`; the result is 0 for `n` of 32 (the size of `a`) or more.
    pub fn shl(&mut self, a: impl Into<Operand>, n: impl Into<Operand>) -> Register {
        self.shift("shl", a.into(), n.into())
    }

    /// Shifts `a` right by `n`, a `U32`; arithmetically if `a` is signed.
    pub fn shr(&mut self, a: impl Into<Operand>, n: impl Into<Operand>) -> Register {
        self.shift("shr", a.into(), n.into())
    }

    fn shift(&mut self, mnemonic: &str, a: Operand, n: Operand) -> Register {
        let ty = a.ty();
        self.require(mnemonic, ty, INTEGER);
        self.require(mnemonic, n.ty(), |ty| ty == PtxType::U32);
        let suffix = if mnemonic == "shl" {
            ty.bits_suffix()
        } else {
            ty.suffix()
        };
        self.compute(ty, &format!("{mnemonic}.{suffix}"), &[a, n])
    }

    /// Returns the 64 bits of a low and a high word of 32 bits.
    pub fn join_words(&mut self, low: impl Into<Operand>, high: impl Into<Operand>) -> Register {
        let (low, high) = (low.into(), high.into());
        for word in [low, high] {
            self.require("join_words", word.ty(), |ty| ty.n_bits() == 32);
        }
        let (low, high) = (self.in_register(low), self.in_register(high));
        let d = self.register(PtxType::U64);
        self.push(format!("mov.b64 {d}, {{{low}, {high}}};"));
        d
    }

    /// Funnel shift: returns the low word of `high:low` shifted right by `n` modulo 32.
    pub fn funnel_right(
        &mut self,
        low: impl Into<Operand>,
        high: impl Into<Operand>,
        n: impl Into<Operand>,
    ) -> Register {
        self.funnel("shf.r.wrap.b32", low.into(), high.into(), n.into())
    }

    /// Funnel shift: returns the high word of `high:low` shifted left by `n` modulo 32.
    pub fn funnel_left(
        &mut self,
        low: impl Into<Operand>,
        high: impl Into<Operand>,
        n: impl Into<Operand>,
    ) -> Register {
        self.funnel("shf.l.wrap.b32", low.into(), high.into(), n.into())
    }

    fn funnel(&mut self, mnemonic: &str, low: Operand, high: Operand, n: Operand) -> Register {
        for operand in [low, high, n] {
            self.require("funnel", operand.ty(), |ty| ty.n_bits() == 32);
        }
        let ty = if low.constant() == Some(0) {
            high.ty()
        } else {
            low.ty()
        };
        self.compute(ty, mnemonic, &[low, high, n])
    }

    /// Counts the bits set (population count), as a `U32`.
    pub fn popc(&mut self, a: impl Into<Operand>) -> Register {
        self.count("popc", a.into(), |ty| ty.bits_suffix())
    }

    /// Counts leading zeros, as a `U32`; the size of `a` if no bit is set.
    pub fn clz(&mut self, a: impl Into<Operand>) -> Register {
        self.count("clz", a.into(), |ty| ty.bits_suffix())
    }

    /// Returns the position of the highest bit that differs from the sign, as a `U32`; all ones if there is none.
    pub fn bfind(&mut self, a: impl Into<Operand>) -> Register {
        self.count("bfind", a.into(), PtxType::suffix)
    }

    /// Returns the left shift that moves this bit to the top, as a `U32`; all ones if there is none.
    pub fn bfind_shift(&mut self, a: impl Into<Operand>) -> Register {
        self.count("bfind.shiftamt", a.into(), PtxType::suffix)
    }

    fn count(
        &mut self,
        mnemonic: &str,
        a: Operand,
        suffix: impl Fn(PtxType) -> &'static str,
    ) -> Register {
        self.require(mnemonic, a.ty(), WORD);
        let mnemonic = format!("{mnemonic}.{}", suffix(a.ty()));
        self.compute(PtxType::U32, &mnemonic, &[a])
    }

    /// Extracts `n` bits of `a` from bit `at` on; sign-extended if `a` is signed.
    pub fn bfe(
        &mut self,
        a: impl Into<Operand>,
        at: impl Into<Operand>,
        n: impl Into<Operand>,
    ) -> Register {
        let a = a.into();
        self.require("bfe", a.ty(), WORD);
        let mnemonic = format!("bfe.{}", a.ty().suffix());
        self.compute(a.ty(), &mnemonic, &[a, at.into(), n.into()])
    }

    /// Replaces `n` bits of `base` from bit `at` on by the lowest of `bits`.
    pub fn bfi(
        &mut self,
        bits: impl Into<Operand>,
        base: impl Into<Operand>,
        at: impl Into<Operand>,
        n: impl Into<Operand>,
    ) -> Register {
        let (bits, base) = (bits.into(), base.into());
        self.require("bfi", base.ty(), WORD);
        let mnemonic = format!("bfi.{}", base.ty().bits_suffix());
        self.compute(base.ty(), &mnemonic, &[bits, base, at.into(), n.into()])
    }

    /// Permutes bytes: picks four of the eight bytes of `b:a` by the four hexadecimal digits of `selector`.
    pub fn prmt(
        &mut self,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        selector: impl Into<Operand>,
    ) -> Register {
        self.compute(
            PtxType::U32,
            "prmt.b32",
            &[a.into(), b.into(), selector.into()],
        )
    }

    /// Computes the dot product of four pairs of bytes plus `c`; signed if `c` is.
    pub fn dp4a(
        &mut self,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        c: impl Into<Operand>,
    ) -> Register {
        let c = c.into();
        self.require("dp4a", c.ty(), |ty| {
            matches!(ty, PtxType::U32 | PtxType::S32)
        });
        let suffix = c.ty().suffix();
        self.compute(
            c.ty(),
            &format!("dp4a.{suffix}.{suffix}"),
            &[a.into(), b.into(), c],
        )
    }
}
