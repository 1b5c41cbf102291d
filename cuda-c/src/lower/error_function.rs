//! The error function, its complement and the normal distribution.

use naga::{BinaryOperator as Op, MathFunction as Math};

use super::Lowering;
use super::state::H;
use crate::error::Outcome;
use crate::types::Prim;

/// `(1 + 2x) * exp(x^2) * erfc(x)` as a polynomial in `(x - 2) / (x + 2)` for `x` from 0.5 to 14, highest power first: interpolated at
/// Chebyshev nodes, with a relative error below 2^-25.
const SCALED_TAIL: [f32; 10] = [
    -1.293_509_3e-4,
    -1.280_758_6e-3,
    1.060_844_3e-3,
    8.667_868e-3,
    -7.980_172_5e-3,
    -5.421_259_3e-2,
    0.164_045_93,
    -0.166_030_78,
    -9.276_368_5e-2,
    1.276_978_4,
];

/// The logarithm of two: its first 9 bits, whose product with a whole number below 2^15 is exact, and the rest.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

impl Lowering<'_> {
    /// The series of Taylor below 1, one minus the tail beyond.
    pub(super) fn error_function(&mut self, x: H) -> H {
        let magnitude = self.math(Math::Abs, &[x]);
        let one = self.f32(1.0);
        let bounded = self.math(Math::Min, &[magnitude, one]);
        let square = self.binary(Op::Multiply, bounded, bounded);
        let mut factorial = 1.0;
        let coefficients = (0..12u8).map(|n| {
            factorial *= f64::from(n.max(1));
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            let of_term = sign / (factorial * f64::from(2 * n + 1));
            (of_term * std::f64::consts::FRAC_2_SQRT_PI) as f32
        });
        let coefficients: Vec<f32> = coefficients.collect();
        let series = self.polynomial(square, coefficients.iter().rev());
        let near = self.binary(Op::Multiply, bounded, series);
        let tail = self.tail(magnitude);
        let far = self.binary(Op::Subtract, one, tail);
        let is_near = self.binary(Op::Less, magnitude, one);
        let result = self.select(is_near, near, far);
        let result = self.copy_sign(result, x);
        self.unless_nan(x, result)
    }

    /// `1 - erf(x)`, by the tail where the difference would cancel.
    pub(super) fn complement(&mut self, x: H) -> Outcome<H> {
        let erf = self.helper("erf", &[x])?;
        let (one, border) = (self.f32(1.0), self.f32(0.5));
        let near = self.binary(Op::Subtract, one, erf);
        let tail = self.tail(x);
        let is_far = self.binary(Op::GreaterEqual, x, border);
        Ok(self.select(is_far, tail, near))
    }

    /// `erfc(-x / sqrt(2)) / 2`. The tail magnifies the rounding error of its argument, so it is corrected to first order: the
    /// logarithm of `erfc(z)` falls by about `2z` per unit.
    pub(super) fn normal_distribution(&mut self, x: H) -> Outcome<H> {
        let root = std::f64::consts::FRAC_1_SQRT_2;
        let rest = root - f64::from(root as f32);
        let (scale, rest) = (self.f32(-root as f32), self.f32(-rest as f32));
        let scaled = self.binary(Op::Multiply, x, scale);
        let erfc = self.helper("erfc", &[scaled])?;
        let (lowest, highest) = (self.f32(-15.0), self.f32(0.0));
        let bounded = self.math(Math::Clamp, &[x, lowest, highest]);
        let argument = self.binary(Op::Multiply, bounded, scale);
        let rounded = self.negated(argument);
        let error = self.math(Math::Fma, &[bounded, scale, rounded]);
        let error = self.math(Math::Fma, &[bounded, rest, error]);
        let slope = self.plus(argument, argument);
        let slope = self.negated(slope);
        let (one, half) = (self.f32(1.0), self.f32(0.5));
        let factor = self.math(Math::Fma, &[slope, error, one]);
        let corrected = self.binary(Op::Multiply, erfc, factor);
        Ok(self.binary(Op::Multiply, corrected, half))
    }

    /// `erfc(x)` for `x` of at least 0.5; the result vanishes before 10.5.
    fn tail(&mut self, x: H) -> H {
        let (least, most) = (self.f32(0.5), self.f32(10.5));
        let x = self.math(Math::Clamp, &[x, least, most]);
        let (one, two) = (self.f32(1.0), self.f32(2.0));
        let (above, below) = (self.plus(x, two), self.binary(Op::Subtract, x, two));
        let place = self.binary(Op::Divide, below, above);
        let scaled = self.polynomial(place, SCALED_TAIL.iter());
        let divisor = self.math(Math::Fma, &[two, x, one]);
        let scaled = self.binary(Op::Divide, scaled, divisor);
        self.with_decay(scaled, x)
    }

    /// `value * exp(-x^2)` for `x` from 0.5 to 10.5, with an exponent whose rounding errors are kept apart.
    fn with_decay(&mut self, value: H, x: H) -> H {
        // The square of the upper half of the bits is exact, and the rest of the exponent is small.
        let mask = self.u32(0xffff_f000);
        let bits = self.bitcast(x, Prim::UInt);
        let bits = self.binary(Op::And, bits, mask);
        let upper = self.bitcast(bits, Prim::Float);
        let square = self.binary(Op::Multiply, upper, upper);
        let exponent = self.negated(square);
        let (difference, sum) = (self.binary(Op::Subtract, upper, x), self.plus(upper, x));
        let small = self.binary(Op::Multiply, difference, sum);
        let per_two = self.f32(std::f32::consts::LOG2_E);
        let powers = self.binary(Op::Multiply, exponent, per_two);
        let powers = self.math(Math::Round, &[powers]);
        let negative = self.negated(powers);
        let mut rest = exponent;
        for part in LN_2 {
            let part = self.f32(part);
            rest = self.math(Math::Fma, &[negative, part, rest]);
        }
        let rest = self.plus(rest, small);
        let power = self.math(Math::Exp, &[rest]);
        let mut result = self.binary(Op::Multiply, value, power);
        // Two factors: the power of two may be too small for one.
        let half = self.f32(0.5);
        let halves = self.binary(Op::Multiply, powers, half);
        let first = self.math(Math::Floor, &[halves]);
        let second = self.binary(Op::Subtract, powers, first);
        for power in [first, second] {
            let factor = self.power_of_two(power);
            result = self.binary(Op::Multiply, result, factor);
        }
        result
    }

    /// Two to a whole power from -126 to 127.
    fn power_of_two(&mut self, power: H) -> H {
        let (bias, place) = (self.f32(127.0), self.u32(23));
        let biased = self.plus(power, bias);
        let biased = self.convert_prim(biased, Prim::Float, Prim::UInt);
        let bits = self.binary(Op::ShiftLeft, biased, place);
        self.bitcast(bits, Prim::Float)
    }

    /// A polynomial with its coefficients from the highest power.
    pub(super) fn polynomial<'a>(
        &mut self,
        x: H,
        coefficients: impl Iterator<Item = &'a f32>,
    ) -> H {
        let mut sum = None;
        for coefficient in coefficients {
            let next = self.f32(*coefficient);
            sum = Some(match sum {
                Some(sum) => self.math(Math::Fma, &[sum, x, next]),
                None => next,
            });
        }
        sum.unwrap_or(x)
    }
}
