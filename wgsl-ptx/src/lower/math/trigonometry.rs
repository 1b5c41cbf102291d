//! Trigonometric functions of single precision.

use naga::MathFunction;

use crate::build::{Comparison, Operand, Rounding};
use crate::lower::Lowering;

/// atan(t) / t as a polynomial in t * t for t from 0 to 1, lowest power first: Chebyshev interpolation with an error below
/// 2e-7.
const ATAN: [f32; 9] = [
    1.0,
    -0.33333036,
    0.19991872,
    -0.14197798,
    0.10618371,
    -0.07456855,
    0.042137623,
    -0.015731249,
    0.0027662835,
];
const FRAC_PI_2: f32 = std::f32::consts::FRAC_PI_2;
const PI: f32 = std::f32::consts::PI;
/// 2 pi as a single, and the remainder of 2 pi.
const TAU_HIGH: f32 = std::f32::consts::TAU;
const TAU_LOW: f32 = -1.748_455_6e-7;

impl Lowering<'_> {
    pub(super) fn trigonometric_function(
        &mut self,
        fun: MathFunction,
        x: &[Operand],
    ) -> Option<Operand> {
        let a = x[0];
        Some(match fun {
            MathFunction::Sin => {
                let reduced = self.reduced_angle(a);
                self.kernel.sin(reduced).into()
            }
            MathFunction::Cos => {
                let reduced = self.reduced_angle(a);
                self.kernel.cos(reduced).into()
            }
            MathFunction::Tan => {
                let reduced = self.reduced_angle(a);
                let sine = self.kernel.sin(reduced);
                let cosine = self.kernel.cos(reduced);
                self.kernel.div(sine, cosine).into()
            }
            MathFunction::Atan => self.atan2(a, 1f32.into()),
            MathFunction::Atan2 => self.atan2(a, x[1]),
            MathFunction::Asin => {
                let cosine = self.root_of_one_minus_square(a);
                self.atan2(a, cosine)
            }
            MathFunction::Acos => {
                let sine = self.root_of_one_minus_square(a);
                self.atan2(sine, a)
            }
            _ => return None,
        })
    }

    /// Reduces an angle to -pi..pi, where the instructions are accurate.
    fn reduced_angle(&mut self, a: Operand) -> Operand {
        let turns = self.kernel.mul(a, 1.0 / TAU_HIGH);
        let turns = self.kernel.convert(turns.ty(), Rounding::Nearest, turns);
        let near = self.kernel.mad(turns, -TAU_HIGH, a);
        self.kernel.mad(turns, -TAU_LOW, near).into()
    }

    /// Returns sqrt(1 - a * a).
    fn root_of_one_minus_square(&mut self, a: Operand) -> Operand {
        let above = self.kernel.add(a, 1f32);
        let below = self.kernel.sub(1f32, a);
        let square = self.kernel.mul(above, below);
        self.kernel.sqrt(square).into()
    }

    fn atan2(&mut self, y: Operand, x: Operand) -> Operand {
        let (height, width) = (self.kernel.abs(y), self.kernel.abs(x));
        let longer = self.kernel.max(height, width);
        let shorter = self.kernel.min(height, width);
        let divisor = self.kernel.max(longer, f32::MIN_POSITIVE);
        let t = self.kernel.div(shorter, divisor);
        let square = self.kernel.mul(t, t);
        let mut polynomial = Operand::from(ATAN[ATAN.len() - 1]);
        for &coefficient in ATAN.iter().rev().skip(1) {
            polynomial = self.kernel.mad(polynomial, square, coefficient).into();
        }
        let angle = self.kernel.mul(polynomial, t);
        let is_steep = self.kernel.compare(Comparison::Gt, height, width);
        let complement = self.kernel.sub(FRAC_PI_2, angle);
        let angle = self.kernel.select(is_steep, complement, angle);
        let is_left = self.kernel.compare(Comparison::Lt, x, 0f32);
        let supplement = self.kernel.sub(PI, angle);
        let angle = self.kernel.select(is_left, supplement, angle);
        self.with_sign(angle.into(), y)
    }
}
