//! Mathematical functions that WGSL lacks, as functions of their own in the module.

use naga::{
    BinaryOperator as Op, Block, Expression, FunctionArgument, FunctionResult,
    MathFunction as Math, Span, Statement,
};

use super::Lowering;
use super::jumps::leave_if;
use super::state::H;
use crate::error::Outcome;
use crate::types::Prim;

impl Lowering<'_> {
    /// Calls a helper, which is added to the module once.
    pub(super) fn helper(&mut self, name: &str, arguments: &[H]) -> Outcome<H> {
        let function = match self.helpers.get(name) {
            Some(function) => *function,
            None => {
                let function = self.helper_function(name, arguments.len())?;
                let handle = self.module.functions.append(function, Span::UNDEFINED);
                self.helpers.insert(name.to_owned(), handle);
                handle
            }
        };
        let result = self.add(Expression::CallResult(function));
        self.push(Statement::Call {
            function,
            arguments: arguments.to_vec(),
            result: Some(result),
        });
        Ok(result)
    }

    fn helper_function(&mut self, name: &str, n_arguments: usize) -> Outcome<naga::Function> {
        // Helpers that others call come first.
        let called = match name {
            "erfc" => Some("erf"),
            "normcdf" => Some("erfc"),
            _ => None,
        };
        if let Some(called) = called.filter(|called| !self.helpers.contains_key(*called)) {
            let function = self.helper_function(called, 1)?;
            let handle = self.module.functions.append(function, Span::UNDEFINED);
            self.helpers.insert(called.to_owned(), handle);
        }
        let outer = std::mem::take(&mut self.f);
        let float = self.scalar_ty(Prim::Float);
        self.f.function.name = Some(format!("cuda_{name}"));
        self.f.function.result = Some(FunctionResult {
            ty: float,
            binding: None,
        });
        self.f.blocks.push(Block::new());
        self.f.ended.push(false);
        let mut arguments = Vec::new();
        for index in 0..n_arguments {
            let argument = FunctionArgument {
                name: Some(["x", "y", "z"][index.min(2)].to_owned()),
                ty: float,
                binding: None,
            };
            self.f.function.arguments.push(argument);
            arguments.push(self.add(Expression::FunctionArgument(index as u32)));
        }
        let x = arguments[0];
        let y = arguments.get(1).copied().unwrap_or(x);
        let value = match name {
            "pow" => Ok(self.power(x, y)),
            "fmod" => self.remainder(x, y),
            "hypot" => Ok(self.hypotenuse(x, y)),
            "cbrt" => Ok(self.cube_root(x)),
            "tanh" => Ok(self.hyperbolic_tangent(x)),
            "log1p" => Ok(self.log_of_one_plus(x)),
            "expm1" => Ok(self.exp_minus_one(x)),
            "erf" => Ok(self.error_function(x)),
            "normcdf" => self.normal_distribution(x),
            _ => self.complement(x),
        };
        let done = value.map(|value| {
            self.push(Statement::Return { value: Some(value) });
            self.f.function.body = self.f.blocks.pop().unwrap_or_default();
        });
        let state = std::mem::replace(&mut self.f, outer);
        done.map(|()| state.function)
    }

    fn times(&mut self, a: H, b: H) -> H {
        self.binary(Op::Multiply, a, b)
    }

    fn minus(&mut self, a: H, b: H) -> H {
        self.binary(Op::Subtract, a, b)
    }

    fn over(&mut self, a: H, b: H) -> H {
        self.binary(Op::Divide, a, b)
    }

    /// `pow` of C: WGSL's is undefined for negative bases.
    fn power(&mut self, x: H, y: H) -> H {
        let (zero, one, half) = (self.f32(0.0), self.f32(1.0), self.f32(0.5));
        let magnitude = self.math(Math::Abs, &[x]);
        let power = self.math(Math::Pow, &[magnitude, y]);
        let whole = self.math(Math::Floor, &[y]);
        let is_whole = self.binary(Op::Equal, whole, y);
        let halves = self.times(y, half);
        let even = self.math(Math::Floor, &[halves]);
        let is_even = self.binary(Op::Equal, even, halves);
        let negated = self.negated(power);
        let signed = self.select(is_even, power, negated);
        let nan = self.f32(f32::NAN);
        let of_negative = self.select(is_whole, signed, nan);
        let is_negative = self.binary(Op::Less, x, zero);
        let result = self.select(is_negative, of_negative, power);
        // The logarithm of zero is infinite.
        let infinity = self.f32(f32::INFINITY);
        let falls = self.binary(Op::Less, y, zero);
        let at_zero = self.select(falls, infinity, zero);
        let is_zero = self.binary(Op::Equal, x, zero);
        let result = self.select(is_zero, at_zero, result);
        let is_plain = self.binary(Op::Equal, y, zero);
        let is_one = self.binary(Op::Equal, x, one);
        let is_plain = self.binary(Op::LogicalOr, is_plain, is_one);
        self.select(is_plain, one, result)
    }

    /// `fmod`, exact: subtracts the divisor times the largest power of two that fits, until the rest is smaller.
    fn remainder(&mut self, x: H, y: H) -> Outcome<H> {
        let (zero, half) = (self.f32(0.0), self.f32(0.5));
        let divisor = self.math(Math::Abs, &[y]);
        let start = self.math(Math::Abs, &[x]);
        let float = self.scalar_ty(Prim::Float);
        let rest = self.local("rest", float, None);
        self.store_pointer(rest, start);
        let infinity = self.f32(f32::MAX);
        let is_finite = self.binary(Op::LessEqual, start, infinity);
        let is_positive = self.binary(Op::Greater, divisor, zero);
        let is_defined = self.binary(Op::LogicalAnd, is_finite, is_positive);
        let (body, ()) = self.block(|this| {
            let left = this.load_pointer(rest);
            let goes_on = this.binary(Op::GreaterEqual, left, divisor);
            let goes_on = this.binary(Op::LogicalAnd, goes_on, is_defined);
            let ends = this.not(goes_on);
            this.push(leave_if(ends));
            let mask = this.u32(0x7f80_0000);
            let bits = this.bitcast(left, Prim::UInt);
            let exponent = this.binary(Op::And, bits, mask);
            let bits = this.bitcast(divisor, Prim::UInt);
            let fraction_mask = this.u32(0x007f_ffff);
            let fraction = this.binary(Op::And, bits, fraction_mask);
            // The divisor with the exponent of the rest, or one less.
            let scaled = this.binary(Op::InclusiveOr, exponent, fraction);
            let scaled = this.bitcast(scaled, Prim::Float);
            let smaller = this.times(scaled, half);
            let fits = this.binary(Op::LessEqual, scaled, left);
            let step = this.select(fits, scaled, smaller);
            let left = this.minus(left, step);
            this.store_pointer(rest, left);
            Ok(())
        })?;
        self.push(Statement::Loop {
            body,
            continuing: Block::new(),
            break_if: None,
        });
        let left = self.load_pointer(rest);
        let signed = self.copy_sign(left, x);
        let nan = self.f32(f32::NAN);
        Ok(self.select(is_defined, signed, nan))
    }

    /// Selects `x` if that is NaN, which bounds and comparisons may have dropped.
    pub(super) fn unless_nan(&mut self, x: H, result: H) -> H {
        let magnitude = self.math(Math::Abs, &[x]);
        let bits = self.bitcast(magnitude, Prim::UInt);
        let infinity = self.u32(0x7f80_0000);
        let is_nan = self.binary(Op::Greater, bits, infinity);
        self.select(is_nan, x, result)
    }

    fn hypotenuse(&mut self, x: H, y: H) -> H {
        let (x, y) = (self.math(Math::Abs, &[x]), self.math(Math::Abs, &[y]));
        let large = self.math(Math::Max, &[x, y]);
        let small = self.math(Math::Min, &[x, y]);
        let (zero, one) = (self.f32(0.0), self.f32(1.0));
        let is_zero = self.binary(Op::Equal, large, zero);
        let divisor = self.select(is_zero, one, large);
        let ratio = self.over(small, divisor);
        let sum = self.math(Math::Fma, &[ratio, ratio, one]);
        let root = self.math(Math::Sqrt, &[sum]);
        self.times(large, root)
    }

    /// A power of two of a third of the logarithm, then two steps of Newton.
    fn cube_root(&mut self, x: H) -> H {
        let magnitude = self.math(Math::Abs, &[x]);
        let log = self.math(Math::Log2, &[magnitude]);
        let third = self.f32(1.0 / 3.0);
        let log = self.times(log, third);
        let mut root = self.math(Math::Exp2, &[log]);
        for _ in 0..2 {
            let square = self.times(root, root);
            let quotient = self.over(magnitude, square);
            let difference = self.minus(quotient, root);
            root = self.math(Math::Fma, &[difference, third, root]);
        }
        let (zero, largest) = (self.f32(0.0), self.f32(f32::MAX));
        let is_positive = self.binary(Op::Greater, magnitude, zero);
        let is_finite = self.binary(Op::LessEqual, magnitude, largest);
        let is_usual = self.binary(Op::LogicalAnd, is_positive, is_finite);
        let signed = self.copy_sign(root, x);
        self.select(is_usual, signed, x)
    }

    /// By the exponential; a series near zero, where that cancels.
    fn hyperbolic_tangent(&mut self, x: H) -> H {
        let magnitude = self.math(Math::Abs, &[x]);
        let (one, two) = (self.f32(1.0), self.f32(2.0));
        let limit = self.f32(20.0);
        let bounded = self.math(Math::Min, &[magnitude, limit]);
        let double = self.times(bounded, two);
        let power = self.math(Math::Exp, &[double]);
        let more = self.plus(power, one);
        let part = self.over(two, more);
        let far = self.minus(one, part);
        let square = self.times(x, x);
        let mut series = self.f32(62.0 / 2835.0);
        for coefficient in [-17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0, 1.0] {
            let next = self.f32(coefficient);
            series = self.math(Math::Fma, &[series, square, next]);
        }
        let near = self.times(x, series);
        let border = self.f32(0.25);
        let is_near = self.binary(Op::Less, magnitude, border);
        let far = self.copy_sign(far, x);
        let result = self.select(is_near, near, far);
        self.unless_nan(x, result)
    }

    /// The series `2s * (1 + s^2/3 + s^4/5 + …)` of `s = x / (2 + x)` from -0.5 to 1: WGSL bounds only the absolute error of the
    /// logarithm there.
    fn log_of_one_plus(&mut self, x: H) -> H {
        let (one, two) = (self.f32(1.0), self.f32(2.0));
        let sum = self.plus(one, x);
        let far = self.math(Math::Log, &[sum]);
        let lowest = self.f32(-0.5);
        let bounded = self.math(Math::Clamp, &[x, lowest, one]);
        let divisor = self.plus(two, bounded);
        let ratio = self.over(bounded, divisor);
        let square = self.times(ratio, ratio);
        let coefficients: Vec<f32> = (0..8u8).rev().map(|n| 2.0 / f32::from(2 * n + 1)).collect();
        let series = self.polynomial(square, coefficients.iter());
        let near = self.times(ratio, series);
        let is_low = self.binary(Op::Less, x, lowest);
        let is_high = self.binary(Op::Greater, x, one);
        let is_far = self.binary(Op::LogicalOr, is_low, is_high);
        let result = self.select(is_far, far, near);
        self.unless_nan(x, result)
    }

    /// A series near zero, where the difference cancels.
    fn exp_minus_one(&mut self, x: H) -> H {
        let one = self.f32(1.0);
        let power = self.math(Math::Exp, &[x]);
        let far = self.minus(power, one);
        let mut series = self.f32(1.0 / 5040.0);
        for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
            let next = self.f32(coefficient);
            series = self.math(Math::Fma, &[series, x, next]);
        }
        let near = self.times(x, series);
        let magnitude = self.math(Math::Abs, &[x]);
        let border = self.f32(0.5);
        let is_near = self.binary(Op::Less, magnitude, border);
        self.select(is_near, near, far)
    }
}
