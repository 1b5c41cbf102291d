//! Arithmetic, bitwise, comparison, selection and conversion instructions.

use super::kernel::PtxKernel;
use super::types::{Operand, PtxType, Register};

/// A comparison; for floats ordered: false if either operand is NaN, except `Ne`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal; true if either operand is NaN.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
}

impl Comparison {
    const fn suffix(self, float: bool) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne if float => "neu",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
        }
    }
}

/// Rounding mode of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards negative infinity.
    Down,
    /// Towards positive infinity.
    Up,
}

impl Rounding {
    const fn suffix(self, to_integer: bool) -> &'static str {
        match (self, to_integer) {
            (Self::Nearest, true) => ".rni",
            (Self::Zero, true) => ".rzi",
            (Self::Down, true) => ".rmi",
            (Self::Up, true) => ".rpi",
            (Self::Nearest, false) => ".rn",
            (Self::Zero, false) => ".rz",
            (Self::Down, false) => ".rm",
            (Self::Up, false) => ".rp",
        }
    }
}

const ANY_NUMBER: fn(PtxType) -> bool = |ty| ty != PtxType::Pred;
const INTEGER: fn(PtxType) -> bool = PtxType::is_integer;
const FLOAT: fn(PtxType) -> bool = |ty| matches!(ty, PtxType::F32 | PtxType::F64);
const ANY_FLOAT: fn(PtxType) -> bool = PtxType::is_float;
const SINGLE: fn(PtxType) -> bool = |ty| matches!(ty, PtxType::F32);
const BITS: fn(PtxType) -> bool = |ty| !ty.is_float();
const WORD: fn(PtxType) -> bool = |ty| ty.is_integer() && ty.n_bits() >= 32;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident, $takes:expr, |$ty:ident| $mnemonic:expr;)*) => {
        impl PtxKernel {
            $($(#[$doc])*
            pub fn $name(&mut self, a: impl Into<Operand>) -> Register {
                let a = a.into();
                let $ty = a.ty();
                self.require(stringify!($name), $ty, $takes);
                self.compute($ty, &$mnemonic, &[a])
            })*
        }
    };
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident, $takes:expr, |$ty:ident| $mnemonic:expr;)*) => {
        impl PtxKernel {
            $($(#[$doc])*
            pub fn $name(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Register {
                let (a, b) = (a.into(), b.into());
                let $ty = a.ty();
                self.require(stringify!($name), $ty, $takes);
                self.require_same(stringify!($name), a, b);
                self.compute($ty, &$mnemonic, &[a, b])
            })*
        }
    };
}

unary! {
    /// Computes `-a`; integers wrap around.
    neg, ANY_NUMBER, |ty| format!("neg.{}", signed_suffix(ty));
    /// Computes `|a|`; the least integer stays as it is.
    abs, ANY_NUMBER, |ty| format!("abs.{}", signed_suffix(ty));
    /// Inverts all bits.
    not, BITS, |ty| format!("not.{}", ty.bits_suffix());
    /// Reverses the order of the bits.
    brev, WORD, |ty| format!("brev.{}", ty.bits_suffix());
    /// Computes the square root, to about 1 ulp.
    sqrt, FLOAT, |ty| format!("sqrt.{}{}", approximate(ty), ty.suffix());
    /// Computes the reciprocal of the square root.
    rsqrt, FLOAT, |ty| format!("rsqrt.approx.{}", ty.suffix());
    /// Computes 2 to the power of `a`.
    ex2, SINGLE, |ty| format!("ex2.approx.{}", ty.suffix());
    /// Computes 2 to the power of `a`; 0 where that is below the normal numbers.
    ex2_normal, SINGLE, |ty| format!("ex2.approx.ftz.{}", ty.suffix());
    /// Computes the logarithm to base 2.
    lg2, SINGLE, |ty| format!("lg2.approx.{}", ty.suffix());
    /// Computes the sine, accurate between -pi and pi.
    sin, SINGLE, |ty| format!("sin.approx.{}", ty.suffix());
    /// Computes the cosine, accurate between -pi and pi.
    cos, SINGLE, |ty| format!("cos.approx.{}", ty.suffix());
}

binary! {
    /// Computes `a + b`; integers wrap around.
    add, ANY_NUMBER, |ty| format!("add.{}", ty.suffix());
    /// Computes `a - b`; integers wrap around.
    sub, ANY_NUMBER, |ty| format!("sub.{}", ty.suffix());
    /// Computes `a * b`; for integers, the low half of the product.
    mul, ANY_NUMBER, |ty| format!("mul.{}{}", low(ty), ty.suffix());
    /// Computes the high half of the product of integers.
    mul_hi, INTEGER, |ty| format!("mul.hi.{}", ty.suffix());
    /// Computes `a / b`: integers truncated towards zero, unspecified for `b = 0`; singles to 2 ulp.
    div, ANY_NUMBER, |ty| format!("div.{}{}", division(ty), ty.suffix());
    /// Computes the remainder of integers, with the sign of `a`; unspecified for `b = 0`.
    rem, INTEGER, |ty| format!("rem.{}", ty.suffix());
    /// Computes the minimum; the other operand if one is NaN.
    min, ANY_NUMBER, |ty| format!("min.{}", ty.suffix());
    /// Computes the maximum; the other operand if one is NaN.
    max, ANY_NUMBER, |ty| format!("max.{}", ty.suffix());
    /// Computes bitwise and; also of predicates.
    and, BITS, |ty| format!("and.{}", ty.bits_suffix());
    /// Computes bitwise or; also of predicates.
    or, BITS, |ty| format!("or.{}", ty.bits_suffix());
    /// Computes bitwise exclusive or; also of predicates.
    xor, BITS, |ty| format!("xor.{}", ty.bits_suffix());
}

const fn signed_suffix(ty: PtxType) -> &'static str {
    match ty {
        PtxType::U16 => "s16",
        PtxType::U32 => "s32",
        PtxType::U64 => "s64",
        other => other.suffix(),
    }
}

const fn low(ty: PtxType) -> &'static str {
    if ty.is_integer() { "lo." } else { "" }
}

const fn division(ty: PtxType) -> &'static str {
    match ty {
        PtxType::F32 => "full.",
        PtxType::F64 => "rn.",
        _ => "",
    }
}

const fn approximate(ty: PtxType) -> &'static str {
    match ty {
        PtxType::F32 => "approx.",
        _ => "rn.",
    }
}

impl PtxKernel {
    /// Computes `a * b + c`: the low half for integers, with a single rounding for floats (fused multiply-add).
    pub fn mad(
        &mut self,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        c: impl Into<Operand>,
    ) -> Register {
        let (a, b, c) = (a.into(), b.into(), c.into());
        let ty = a.ty();
        self.require("mad", ty, ANY_NUMBER);
        self.require_same("mad", a, b);
        self.require_same("mad", a, c);
        let mnemonic = if ty.is_float() { "fma.rn" } else { "mad.lo" };
        self.compute(ty, &format!("{mnemonic}.{}", ty.suffix()), &[a, b, c])
    }

    /// Multiplies two 32-bit integers to a 64-bit product.
    pub fn mul_wide(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Register {
        let (a, b) = (a.into(), b.into());
        self.require_same("mul_wide", a, b);
        self.require("mul_wide", a.ty(), |ty| {
            matches!(ty, PtxType::U32 | PtxType::S32)
        });
        let wide = if a.ty().is_signed() {
            PtxType::S64
        } else {
            PtxType::U64
        };
        self.compute(wide, &format!("mul.wide.{}", a.ty().suffix()), &[a, b])
    }

    /// Compares two numbers and returns a predicate.
    pub fn compare(
        &mut self,
        comparison: Comparison,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) -> Register {
        let (a, b) = (a.into(), b.into());
        let ty = a.ty();
        self.require("compare", ty, ANY_NUMBER);
        self.require_same("compare", a, b);
        let mnemonic = format!("setp.{}.{}", comparison.suffix(ty.is_float()), ty.suffix());
        self.compute(PtxType::Pred, &mnemonic, &[a, b])
    }

    /// Returns a predicate that is true if a float is NaN.
    pub fn is_nan(&mut self, a: impl Into<Operand>) -> Register {
        let a = a.into();
        self.require("is_nan", a.ty(), ANY_FLOAT);
        self.compute(
            PtxType::Pred,
            &format!("setp.nan.{}", a.ty().suffix()),
            &[a, a],
        )
    }

    /// Returns `a` if the condition is true, else `b`.
    pub fn select(
        &mut self,
        condition: impl Into<Operand>,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) -> Register {
        let (condition, a, b) = (condition.into(), a.into(), b.into());
        self.require("select", condition.ty(), |ty| ty == PtxType::Pred);
        self.require_same("select", a, b);
        if a.ty() == PtxType::Pred {
            let first = self.and(condition, a);
            let not = self.not(condition);
            let second = self.and(not, b);
            return self.or(first, second);
        }
        self.compute(
            a.ty(),
            &format!("selp.{}", a.ty().bits_suffix()),
            &[a, b, condition],
        )
    }

    /// Returns a new register with the value of `a`.
    pub fn copy(&mut self, a: impl Into<Operand>) -> Register {
        let a = a.into();
        let d = self.register(a.ty());
        self.assign(d, a);
        d
    }

    /// Assigns a value to a register.
    pub fn assign(&mut self, d: Register, a: impl Into<Operand>) {
        let a = a.into();
        self.require_same("assign", d.into(), a);
        self.push(format!("mov.{} {d}, {a};", a.ty().bits_suffix()));
    }

    /// Converts between number types. Float to integer rounds by `rounding` and saturates, with 0 for NaN. Integer to float and
    /// wide float to narrow float round by `rounding`. Integer to integer extends or truncates. A float can also be rounded to
    /// a whole number of its own type.
    pub fn convert(&mut self, to: PtxType, rounding: Rounding, a: impl Into<Operand>) -> Register {
        let a = self.in_register(a.into());
        let from = a.ty();
        self.require("convert", from, ANY_NUMBER);
        self.require("convert", to, |ty| ANY_NUMBER(ty) && ty.n_bits() > 8);
        let rounding = match (from.is_float(), to.is_float()) {
            (false, false) => "",
            (true, false) => rounding.suffix(true),
            (false, true) => rounding.suffix(false),
            (true, true) if from == to => rounding.suffix(true),
            (true, true) if from.n_bits() > to.n_bits() => rounding.suffix(false),
            (true, true) => "",
        };
        self.compute(
            to,
            &format!("cvt{rounding}.{}.{}", to.suffix(), from.suffix()),
            &[a],
        )
    }

    /// Appends an instruction `mnemonic d, operands;` with a new register `d` of type `ty`.
    pub(crate) fn compute(
        &mut self,
        ty: PtxType,
        mnemonic: &str,
        operands: &[Operand],
    ) -> Register {
        let operands: Vec<String> = operands
            .iter()
            .map(|&operand| self.readable(operand))
            .collect();
        let d = self.register(ty);
        self.push(format!("{mnemonic} {d}, {};", operands.join(", ")));
        d
    }

    /// Returns the text of an operand. Half-precision constants have no literal form.
    fn readable(&mut self, operand: Operand) -> String {
        match operand {
            Operand::Constant(PtxType::F16, _) => self.copy(operand).to_string(),
            other => other.to_string(),
        }
    }

    /// Returns the operand in a register, for instructions that take no constant.
    pub(crate) fn in_register(&mut self, a: Operand) -> Operand {
        match a {
            Operand::Register(_) => a,
            Operand::Constant(..) => self.copy(a).into(),
        }
    }

    pub(super) fn require(&mut self, what: &str, ty: PtxType, takes: impl Fn(PtxType) -> bool) {
        if !takes(ty) {
            self.fail(format!("{what} takes no {}", ty.suffix()));
        }
    }

    pub(super) fn require_same(&mut self, what: &str, a: Operand, b: Operand) {
        if a.ty() != b.ty() {
            self.fail(format!(
                "{what} of {} and {}",
                a.ty().suffix(),
                b.ty().suffix()
            ));
        }
    }
}
