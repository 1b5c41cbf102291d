//! Mathematical functions. `docs/cuda-c.md` has their accuracy.

use naga::{BinaryOperator as Op, MathFunction as Math, UnaryOperator};

use super::Lowering;
use super::state::H;
use super::value::{Data, Place, Value};
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{BOOL, FLOAT, INT, Prim, Ty};

/// Functions of one `float` that WGSL has.
fn direct(name: &str) -> Option<Math> {
    Some(match name {
        "sqrt" | "fsqrt" => Math::Sqrt,
        "rsqrt" | "frsqrt" => Math::InverseSqrt,
        "exp" => Math::Exp,
        "exp2" => Math::Exp2,
        "log" => Math::Log,
        "log2" => Math::Log2,
        "sin" => Math::Sin,
        "cos" => Math::Cos,
        "tan" => Math::Tan,
        "asin" => Math::Asin,
        "acos" => Math::Acos,
        "atan" => Math::Atan,
        "sinh" => Math::Sinh,
        "cosh" => Math::Cosh,
        "asinh" => Math::Asinh,
        "acosh" => Math::Acosh,
        "atanh" => Math::Atanh,
        "floor" => Math::Floor,
        "ceil" => Math::Ceil,
        "trunc" => Math::Trunc,
        "fabs" => Math::Abs,
        "rint" | "nearbyint" => Math::Round,
        "saturate" => Math::Saturate,
        _ => return None,
    })
}

/// Removes what marks a function as one of `float`: `sqrtf`, `__expf`, `__fsqrt_rn`.
fn stem(name: &str) -> &str {
    let inner = name.strip_prefix("__").unwrap_or(name);
    for rounding in ["_rn", "_rz", "_ru", "_rd"] {
        if let Some(stem) = inner
            .strip_suffix(rounding)
            .filter(|_| name.starts_with("__"))
        {
            return stem;
        }
    }
    match inner {
        "erf" | "isinf" | "modf" | "signbitf" => {
            inner.strip_suffix("signbitf").map_or(inner, |_| "signbit")
        }
        _ => inner
            .strip_suffix('f')
            .filter(|stem| !stem.is_empty())
            .unwrap_or(inner),
    }
}

impl Lowering<'_> {
    pub(super) fn math_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        if matches!(
            name,
            "min"
                | "max"
                | "abs"
                | "fmin"
                | "fmax"
                | "fminf"
                | "fmaxf"
                | "umin"
                | "umax"
                | "labs"
                | "llabs"
                | "llmin"
                | "llmax"
                | "ullmin"
                | "ullmax"
        ) {
            return self.extreme(name, arguments, at).map(Some);
        }
        let stem = stem(name);
        if let Some(fun) = direct(stem) {
            let (leaves, level) = self.scalars(name, arguments, &[Prim::Float], at)?;
            let leaf = self.math(fun, &leaves);
            return Ok(Some(Value::leaf(FLOAT, leaf, level)));
        }
        if let Some(value) = self.classify(stem, name, arguments, at)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.split_call(stem, name, arguments, at)? {
            return Ok(Some(value));
        }
        let n_arguments = match stem {
            "fma" | "fmaf" => 3,
            "pow" | "pow_" | "atan2" | "fmod" | "hypot" | "copysign" | "fdim" | "fdivide"
            | "fdiv" | "fadd" | "fsub" | "fmul" => 2,
            "log10" | "log1p" | "expm1" | "exp10" | "round" | "lround" | "llround" | "lrint"
            | "llrint" | "cbrt" | "rcbrt" | "erf" | "erfc" | "normcdf" | "tanh" | "sinpi"
            | "cospi" | "frcp" | "logb" => 1,
            "ldexp" | "scalbn" => return self.scale(name, arguments, at).map(Some),
            _ => return Ok(None),
        };
        let (leaves, level) = self.scalars(name, arguments, &vec![Prim::Float; n_arguments], at)?;
        let leaf = self.float_function(stem, &leaves)?;
        if stem.starts_with("lr") || stem.starts_with("llr") {
            // Without 64 bits, the result of those of `long` is an `int`.
            let prim = match self.primitive(Prim::Long, at) {
                Ok(_) => Prim::Long,
                Err(_) if stem.starts_with("lr") => Prim::Int,
                Err(fault) => return Err(fault),
            };
            let leaf = self.convert_prim(leaf, Prim::Float, prim);
            return Ok(Some(Value::leaf(Ty::Prim(prim), leaf, level)));
        }
        Ok(Some(Value::leaf(FLOAT, leaf, level)))
    }

    fn float_function(&mut self, name: &str, leaves: &[H]) -> Outcome<H> {
        let x = leaves[0];
        let y = leaves.get(1).copied().unwrap_or(x);
        Ok(match name {
            "fma" | "fmaf" => self.math(Math::Fma, leaves),
            "fdivide" | "fdiv" => self.binary(Op::Divide, x, y),
            "fadd" => self.binary(Op::Add, x, y),
            "fsub" => self.binary(Op::Subtract, x, y),
            "fmul" => self.binary(Op::Multiply, x, y),
            "frcp" => {
                let one = self.f32(1.0);
                self.binary(Op::Divide, one, x)
            }
            "atan2" => self.math(Math::Atan2, &[x, y]),
            "pow" if matches!(self.literal_of(y), Some(naga::Literal::F32(2.0))) => {
                self.binary(Op::Multiply, x, x)
            }
            "log10" => {
                let log = self.math(Math::Log2, &[x]);
                let scale = self.f32(std::f32::consts::LOG10_2);
                self.binary(Op::Multiply, log, scale)
            }
            "exp10" => {
                let scale = self.f32(std::f32::consts::LOG2_10);
                let power = self.binary(Op::Multiply, x, scale);
                self.math(Math::Exp2, &[power])
            }
            "fdim" => {
                let difference = self.binary(Op::Subtract, x, y);
                let zero = self.f32(0.0);
                self.math(Math::Max, &[difference, zero])
            }
            "copysign" => self.copy_sign(x, y),
            "round" | "lround" | "llround" => self.round_away(x),
            "lrint" | "llrint" => self.math(Math::Round, &[x]),
            "logb" => {
                let log = self.math(Math::Log2, &[x]);
                self.math(Math::Floor, &[log])
            }
            "sinpi" | "cospi" => {
                // Reduces to one period first, which is exact.
                let half = self.f32(0.5);
                let halves = self.binary(Op::Multiply, x, half);
                let nearest = self.math(Math::Round, &[halves]);
                let two = self.f32(2.0);
                let periods = self.binary(Op::Multiply, nearest, two);
                let rest = self.binary(Op::Subtract, x, periods);
                let pi = self.f32(std::f32::consts::PI);
                let angle = self.binary(Op::Multiply, rest, pi);
                self.math(
                    if name == "sinpi" {
                        Math::Sin
                    } else {
                        Math::Cos
                    },
                    &[angle],
                )
            }
            "rcbrt" => {
                let root = self.helper("cbrt", &[x])?;
                let one = self.f32(1.0);
                self.binary(Op::Divide, one, root)
            }
            other => self.helper(other, leaves)?,
        })
    }

    pub(super) fn copy_sign(&mut self, x: H, y: H) -> H {
        let (x, y) = (self.bitcast(x, Prim::UInt), self.bitcast(y, Prim::UInt));
        let (rest, sign) = (self.u32(0x7fff_ffff), self.u32(0x8000_0000));
        let x = self.binary(Op::And, x, rest);
        let y = self.binary(Op::And, y, sign);
        let both = self.binary(Op::InclusiveOr, x, y);
        self.bitcast(both, Prim::Float)
    }

    /// Rounds to the nearest integer, halves away from zero.
    fn round_away(&mut self, x: H) -> H {
        let whole = self.math(Math::Trunc, &[x]);
        let rest = self.binary(Op::Subtract, x, whole);
        let rest = self.math(Math::Abs, &[rest]);
        let half = self.f32(0.5);
        let up = self.binary(Op::GreaterEqual, rest, half);
        let one = self.f32(1.0);
        let one = self.copy_sign(one, x);
        let more = self.plus(whole, one);
        self.select(up, more, whole)
    }

    /// Tests of the bits, which compilers do not assume away.
    fn classify(
        &mut self,
        stem: &str,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let base = match name {
            "isinf" | "__isinff" | "__isinf" => "isinf",
            _ => stem,
        };
        if !matches!(base, "isnan" | "isinf" | "isfinite" | "signbit" | "finite") {
            return Ok(None);
        }
        let (leaves, level) = self.scalars(name, arguments, &[Prim::Float], at)?;
        let bits = self.bitcast(leaves[0], Prim::UInt);
        let mask = self.u32(0x7fff_ffff);
        let infinity = self.u32(0x7f80_0000);
        let magnitude = self.binary(Op::And, bits, mask);
        let leaf = match base {
            "isnan" => self.binary(Op::Greater, magnitude, infinity),
            "isinf" => self.binary(Op::Equal, magnitude, infinity),
            "signbit" => {
                let sign = self.u32(0x8000_0000);
                self.binary(Op::GreaterEqual, bits, sign)
            }
            _ => self.binary(Op::Less, magnitude, infinity),
        };
        Ok(Some(Value::leaf(BOOL, leaf, level)))
    }

    /// `ldexp`: two factors, so that each is representable.
    fn scale(&mut self, name: &str, arguments: &[Expr], at: u32) -> Outcome<Value> {
        let (leaves, level) = self.scalars(name, arguments, &[Prim::Float, Prim::Int], at)?;
        let one = self.u32(1);
        let half = self.shift(Op::ShiftRight, leaves[1], one);
        let rest = self.binary(Op::Subtract, leaves[1], half);
        let mut value = leaves[0];
        for exponent in [half, rest] {
            let (low, high) = (self.i32(-126), self.i32(127));
            let exponent = self.math(Math::Max, &[exponent, low]);
            let exponent = self.math(Math::Min, &[exponent, high]);
            let bias = self.i32(127);
            let biased = self.plus(exponent, bias);
            let places = self.u32(23);
            let bits = self.shift(Op::ShiftLeft, biased, places);
            let factor = self.bitcast(bits, Prim::Float);
            value = self.binary(Op::Multiply, value, factor);
        }
        Ok(Value::leaf(FLOAT, value, level))
    }

    /// Functions with results through pointers: `sincosf`, `modff`, `frexpf`.
    fn split_call(
        &mut self,
        stem: &str,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        match (stem, arguments) {
            ("sincos" | "sincospi", [x, sine, cosine]) => {
                let x = self.scalar_argument(x, Prim::Float)?;
                let Some(leaf) = x.first() else {
                    return fault(at, format!("{name} takes a number"));
                };
                let functions = if stem == "sincos" {
                    None
                } else {
                    Some(["sinpi", "cospi"])
                };
                for (index, target) in [sine, cosine].into_iter().enumerate() {
                    let result = match functions {
                        Some(names) => self.float_function(names[index], &[leaf])?,
                        None => self.math(if index == 0 { Math::Sin } else { Math::Cos }, &[leaf]),
                    };
                    self.store_through(target, Value::leaf(FLOAT, result, x.level))?;
                }
                Ok(Some(super::sync::nothing()))
            }
            ("modf", [x, whole]) => {
                let x = self.scalar_argument(x, Prim::Float)?;
                let Some(leaf) = x.first() else {
                    return fault(at, format!("{name} takes a number"));
                };
                let part = self.math(Math::Trunc, &[leaf]);
                self.store_through(whole, Value::leaf(FLOAT, part, x.level))?;
                let rest = self.binary(Op::Subtract, leaf, part);
                Ok(Some(Value::leaf(FLOAT, rest, x.level)))
            }
            ("frexp", [x, exponent]) => {
                let x = self.scalar_argument(x, Prim::Float)?;
                let Some(leaf) = x.first() else {
                    return fault(at, format!("{name} takes a number"));
                };
                let bits = self.bitcast(leaf, Prim::UInt);
                let (from, count) = (self.u32(23), self.u32(8));
                let biased = self.math(Math::ExtractBits, &[bits, from, count]);
                let biased = self.convert_prim(biased, Prim::UInt, Prim::Int);
                let zero = self.i32(0);
                let is_zero = self.binary(Op::Equal, biased, zero);
                let bias = self.i32(126);
                let power = self.binary(Op::Subtract, biased, bias);
                let power = self.select(is_zero, zero, power);
                self.store_through(exponent, Value::leaf(INT, power, x.level))?;
                let (mask, half) = (self.u32(0x807f_ffff), self.u32(0x3f00_0000));
                let fraction = self.binary(Op::And, bits, mask);
                let fraction = self.binary(Op::InclusiveOr, fraction, half);
                let fraction = self.bitcast(fraction, Prim::Float);
                let fraction = self.select(is_zero, leaf, fraction);
                Ok(Some(Value::leaf(FLOAT, fraction, x.level)))
            }
            _ => Ok(None),
        }
    }

    fn store_through(&mut self, target: &Expr, value: Value) -> Outcome<()> {
        let pointer = self.expr(target)?;
        match (&pointer.ty, &pointer.data) {
            (Ty::Pointer(element), Data::Pointer(to)) => {
                let place = Place::At {
                    pointer: to.clone(),
                    ty: (**element).clone(),
                    level: pointer.level,
                };
                self.store(&place, value, target.at)
            }
            _ => fault(target.at, "the result goes through a pointer; add &"),
        }
    }

    pub(super) fn negated(&mut self, x: H) -> H {
        self.unary(UnaryOperator::Negate, x)
    }
}
