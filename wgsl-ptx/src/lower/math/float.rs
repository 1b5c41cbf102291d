//! Built-in functions on floats: rounding, powers, decomposition. Half precision is computed in single precision.

use naga::MathFunction;

use crate::Result;
use crate::build::{Comparison, Operand, PtxType, Rounding};
use crate::lower::Lowering;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LN_2: f32 = std::f32::consts::LN_2;

impl Lowering<'_> {
    pub(super) fn float_function(&mut self, fun: MathFunction, x: &[Operand]) -> Result<Operand> {
        let ty = x[0].ty();
        if !ty.is_float() {
            return Err(self.unsupported(format_args!("{fun:?} of {}", ty.suffix())));
        }
        if fun == MathFunction::Ldexp {
            return self.ldexp(x);
        }
        if fun == MathFunction::Fma && ty == PtxType::F16 {
            return Ok(self.kernel.mad(x[0], x[1], x[2]).into());
        }
        if ty == PtxType::F16 {
            let mut result = Ok(x[0]);
            let half = self.in_single(x, |this, x| {
                result = this.float_function(fun, x);
                result.clone().unwrap_or(x[0])
            });
            return result.map(|_| half);
        }
        if let Some(result) = self.exact_function(fun, x) {
            return Ok(result);
        }
        if ty == PtxType::F64 {
            return Err(self.unsupported(format_args!("{fun:?} of f64")));
        }
        if let Some(result) = self.power_function(fun, x) {
            return Ok(result);
        }
        match self.trigonometric_function(fun, x) {
            Some(result) => Ok(result),
            None => Err(self.unsupported(format_args!("{fun:?} of floats"))),
        }
    }

    /// Returns a number as a constant of the type.
    pub(super) fn number(&self, ty: PtxType, v: f32) -> Operand {
        match ty {
            PtxType::F64 => f64::from(v).into(),
            _ => v.into(),
        }
    }

    /// Lowers functions that single and double precision share.
    fn exact_function(&mut self, fun: MathFunction, x: &[Operand]) -> Option<Operand> {
        let ty = x[0].ty();
        let a = x[0];
        let [zero, one] = [0.0, 1.0].map(|v| self.number(ty, v));
        let rounded = |this: &mut Self, rounding| Some(this.kernel.convert(ty, rounding, a).into());
        match fun {
            MathFunction::Ceil => rounded(self, Rounding::Up),
            MathFunction::Floor => rounded(self, Rounding::Down),
            MathFunction::Round => rounded(self, Rounding::Nearest),
            MathFunction::Trunc => rounded(self, Rounding::Zero),
            MathFunction::Fract => {
                let whole = self.kernel.convert(ty, Rounding::Down, a);
                Some(self.kernel.sub(a, whole).into())
            }
            MathFunction::Saturate => {
                let raised = self.kernel.max(a, zero);
                Some(self.kernel.min(raised, one).into())
            }
            MathFunction::Sqrt => Some(self.kernel.sqrt(a).into()),
            MathFunction::InverseSqrt if ty == PtxType::F64 => {
                let root = self.kernel.sqrt(a);
                Some(self.kernel.div(one, root).into())
            }
            MathFunction::InverseSqrt => Some(self.kernel.rsqrt(a).into()),
            MathFunction::Fma => Some(self.kernel.mad(x[0], x[1], x[2]).into()),
            MathFunction::Mix => {
                let rest = self.kernel.sub(one, x[2]);
                let first = self.kernel.mul(x[0], rest);
                Some(self.kernel.mad(x[1], x[2], first).into())
            }
            MathFunction::Step => {
                let reached = self.compared(Comparison::Le, x[0], x[1]);
                Some(self.selected(reached, one, zero))
            }
            MathFunction::SmoothStep => Some(self.smooth_step(x)),
            MathFunction::Radians => {
                let factor = self.number(ty, std::f32::consts::PI / 180.0);
                Some(self.kernel.mul(a, factor).into())
            }
            MathFunction::Degrees => {
                let factor = self.number(ty, 180.0 / std::f32::consts::PI);
                Some(self.kernel.mul(a, factor).into())
            }
            MathFunction::QuantizeToF16 => {
                let half = self.kernel.convert(PtxType::F16, Rounding::Nearest, a);
                Some(self.kernel.convert(ty, Rounding::Nearest, half).into())
            }
            _ => None,
        }
    }

    /// Lowers `smoothstep`: t * t * (3 - 2 t), with t from 0 to 1 between the first two arguments.
    fn smooth_step(&mut self, x: &[Operand]) -> Operand {
        let ty = x[0].ty();
        let [zero, one, minus_two, three] = [0.0, 1.0, -2.0, 3.0].map(|v| self.number(ty, v));
        let width = self.kernel.sub(x[1], x[0]);
        let from_low = self.kernel.sub(x[2], x[0]);
        let t = self.kernel.div(from_low, width);
        let t = self.kernel.max(t, zero);
        let t = self.kernel.min(t, one);
        let slope = self.kernel.mad(t, minus_two, three);
        let square = self.kernel.mul(t, t);
        self.kernel.mul(square, slope).into()
    }

    /// Lowers powers, exponentials and logarithms of single precision.
    fn power_function(&mut self, fun: MathFunction, x: &[Operand]) -> Option<Operand> {
        let a = x[0];
        Some(match fun {
            MathFunction::Exp2 => self.kernel.ex2(a).into(),
            MathFunction::Log2 => self.kernel.lg2(a).into(),
            MathFunction::Exp => self.exp(a),
            MathFunction::Log => self.log(a),
            MathFunction::Pow => {
                let exponent = self.kernel.lg2(a);
                let exponent = self.kernel.mul(exponent, x[1]);
                self.kernel.ex2(exponent).into()
            }
            MathFunction::Sinh => {
                self.exp_pair(a, |this, up, down| this.kernel.sub(up, down).into())
            }
            MathFunction::Cosh => {
                self.exp_pair(a, |this, up, down| this.kernel.add(up, down).into())
            }
            MathFunction::Tanh => {
                // 1 - 2 / (exp(2 a) + 1), which stays finite.
                let doubled = self.kernel.add(a, a);
                let power = self.exp(doubled.into());
                let more = self.kernel.add(power, 1f32);
                let part = self.kernel.div(-2f32, more);
                self.kernel.add(part, 1f32).into()
            }
            MathFunction::Asinh => self.inverse_hyperbolic(a, 1.0),
            MathFunction::Acosh => self.inverse_hyperbolic(a, -1.0),
            MathFunction::Atanh => {
                let above = self.kernel.add(a, 1f32);
                let below = self.kernel.sub(1f32, a);
                let ratio = self.kernel.div(above, below);
                let log = self.log(ratio.into());
                self.kernel.mul(log, 0.5f32).into()
            }
            _ => return None,
        })
    }

    fn exp(&mut self, a: Operand) -> Operand {
        let exponent = self.kernel.mul(a, LOG2_E);
        self.kernel.ex2(exponent).into()
    }

    fn log(&mut self, a: Operand) -> Operand {
        let log = self.kernel.lg2(a);
        self.kernel.mul(log, LN_2).into()
    }

    /// Returns half of `combine(exp(a), exp(-a))`.
    fn exp_pair(
        &mut self,
        a: Operand,
        combine: impl FnOnce(&mut Self, Operand, Operand) -> Operand,
    ) -> Operand {
        let up = self.exp(a);
        let minus = self.kernel.neg(a);
        let down = self.exp(minus.into());
        let combined = combine(self, up, down);
        self.kernel.mul(combined, 0.5f32).into()
    }

    /// Returns log(a + sqrt(a * a + one)); for a negative argument of asinh, of its magnitude and with its sign.
    fn inverse_hyperbolic(&mut self, a: Operand, one: f32) -> Operand {
        let magnitude = self.kernel.abs(a);
        let of = if one > 0.0 { magnitude.into() } else { a };
        let square = self.kernel.mad(of, of, one);
        let root = self.kernel.sqrt(square);
        let sum = self.kernel.add(of, root);
        let log = self.log(sum.into());
        if one > 0.0 {
            self.with_sign(log, a)
        } else {
            log
        }
    }

    /// Returns the magnitude of a non-negative single with the sign of another.
    pub(super) fn with_sign(&mut self, magnitude: Operand, of: Operand) -> Operand {
        let sign = self.bitwise_and(of.bitcast(PtxType::U32), 0x8000_0000u32.into());
        self.bitwise_or(magnitude.bitcast(PtxType::U32), sign)
            .bitcast(PtxType::F32)
    }

    /// Returns fraction and whole part (`modf`).
    pub(super) fn modf(&mut self, a: Operand) -> Result<Vec<Operand>> {
        let whole = self.kernel.convert(a.ty(), Rounding::Zero, a);
        let fraction = self.kernel.sub(a, whole);
        Ok(vec![fraction.into(), whole.into()])
    }

    /// Returns a fraction from 0.5 to 1 and an exponent (`frexp`).
    pub(super) fn frexp(&mut self, a: Operand) -> Result<Vec<Operand>> {
        match a.ty() {
            PtxType::F32 => Ok(self.frexp_single(a)),
            PtxType::F16 => {
                let single = self.kernel.convert(PtxType::F32, Rounding::Nearest, a);
                let results = self.frexp_single(single.into());
                let fraction = self
                    .kernel
                    .convert(PtxType::F16, Rounding::Nearest, results[0]);
                Ok(vec![fraction.into(), results[1]])
            }
            _ => Err(self.unsupported("frexp of f64")),
        }
    }

    fn frexp_single(&mut self, a: Operand) -> Vec<Operand> {
        // Subnormal numbers are scaled to normal ones first.
        let magnitude = self.kernel.abs(a);
        let is_small = self
            .kernel
            .compare(Comparison::Lt, magnitude, f32::MIN_POSITIVE);
        let scaled = self.kernel.mul(a, (1u32 << 24) as f32);
        let normal = self
            .kernel
            .select(is_small, scaled, a)
            .bitcast(PtxType::U32);
        let exponent = self.kernel.bfe(normal, 23u32, 8u32).bitcast(PtxType::S32);
        let bias = self.kernel.select(is_small, -126 - 24, -126);
        let exponent = self.kernel.add(exponent, bias);
        let fraction = self.kernel.and(normal, 0x807f_ffffu32);
        let fraction = self
            .kernel
            .or(fraction, 0x3f00_0000u32)
            .bitcast(PtxType::F32);
        // Zero, infinity and NaN are returned unchanged.
        let is_zero = self.kernel.compare(Comparison::Eq, a, 0f32);
        let finite = self.kernel.compare(Comparison::Le, magnitude, f32::MAX);
        let not_zero = self.kernel.not(is_zero);
        let ordinary = self.kernel.and(finite, not_zero);
        let fraction = self.kernel.select(ordinary, fraction, a);
        let exponent = self.kernel.select(ordinary, exponent, 0i32);
        vec![fraction.into(), exponent.into()]
    }

    /// Returns `x[0]` times 2 to the power of `x[1]`, in two steps so that neither factor overflows.
    fn ldexp(&mut self, x: &[Operand]) -> Result<Operand> {
        let exponent = self.converted(x[1], PtxType::S32);
        match x[0].ty() {
            PtxType::F16 => {
                let single = self.kernel.convert(PtxType::F32, Rounding::Nearest, x[0]);
                let result = self.ldexp(&[single.into(), exponent])?;
                Ok(self
                    .kernel
                    .convert(PtxType::F16, Rounding::Nearest, result)
                    .into())
            }
            PtxType::F32 => {
                let low = self.maximum(exponent, (-252i32).into());
                let bounded = self.minimum(low, 254i32.into());
                let half = self.shifted_right(bounded, 1u32.into());
                let rest = self.difference(bounded, half);
                let mut product = x[0];
                for part in [half, rest] {
                    let biased = self.sum(part, 127i32.into());
                    let factor = self.shifted_left(biased, 23u32.into());
                    product = self
                        .kernel
                        .mul(product, factor.bitcast(PtxType::F32))
                        .into();
                }
                Ok(product)
            }
            _ => Err(self.unsupported("ldexp of f64")),
        }
    }
}
