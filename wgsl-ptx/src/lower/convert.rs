//! Conversions and bit casts.

use naga::{Expression, Handle, Scalar, ScalarKind};

use super::Lowering;
use super::frame::Frame;
use super::value::Value;
use crate::Result;
use crate::build::{Comparison, Operand, PtxType, Rounding};

/// The largest finite half.
const MAX_HALF: f32 = 65504.0;

impl Lowering<'_> {
    pub(super) fn cast(
        &mut self,
        frame: &mut Frame<'_>,
        operand: Handle<Expression>,
        kind: ScalarKind,
        convert: Option<u8>,
    ) -> Result<Value> {
        let leaves = self.leaves_of(frame, operand)?;
        let mut results = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let width = convert.unwrap_or((leaf.ty().n_bits() / 8) as u8);
            let to = self.ptx_type(Scalar { kind, width })?;
            results.push(match convert {
                None => leaf.bitcast(to),
                Some(_) => self.converted(leaf, to),
            });
        }
        Ok(Value::Leaves(results))
    }

    /// Converts a number or bool to another type by the rules of WGSL.
    pub(super) fn converted(&mut self, a: Operand, to: PtxType) -> Operand {
        let from = a.ty();
        if from == to {
            return a;
        }
        if to == PtxType::Pred {
            // Negative zero is false too.
            return self.compared(Comparison::Ne, a, Operand::Constant(from, 0));
        }
        if from == PtxType::Pred {
            let one = match to {
                PtxType::F16 => 0x3c00,
                PtxType::F32 => u64::from(1f32.to_bits()),
                PtxType::F64 => 1f64.to_bits(),
                _ => 1,
            };
            return self.selected(a, Operand::Constant(to, one), Operand::Constant(to, 0));
        }
        if from.is_integer() && to.is_integer() {
            if from.n_bits() == to.n_bits() {
                return a.bitcast(to);
            }
            if let Some(bits) = a.constant() {
                let shift = 64 - from.n_bits();
                let value = if from.is_signed() {
                    (bits << shift) as i64 >> shift
                } else {
                    bits as i64
                };
                return Operand::integer(to, value);
            }
        }
        let a = if to.is_integer() {
            self.kept_below(a, to)
        } else {
            a
        };
        let rounding = if to.is_integer() {
            Rounding::Zero
        } else {
            Rounding::Nearest
        };
        self.kernel.convert(to, rounding, a).into()
    }

    /// Clamps a float to the largest one that the integer type can represent: WGSL converts larger ones to it, whereas the
    /// instruction saturates to the largest integer. Both agree below the least integer.
    fn kept_below(&mut self, a: Operand, to: PtxType) -> Operand {
        let n_digits = if to.is_signed() {
            to.n_bits() - 1
        } else {
            to.n_bits()
        };
        match a.ty() {
            PtxType::F16 if n_digits > 15 => {
                let single = self.kernel.convert(PtxType::F32, Rounding::Nearest, a);
                let raised = self.kernel.max(single, -MAX_HALF);
                self.kernel.min(raised, MAX_HALF).into()
            }
            PtxType::F32 if n_digits > f32::MANTISSA_DIGITS => {
                let next = (n_digits as f32).exp2();
                self.kernel
                    .min(a, f32::from_bits(next.to_bits() - 1))
                    .into()
            }
            PtxType::F64 if n_digits > f64::MANTISSA_DIGITS => {
                let next = f64::from(n_digits).exp2();
                self.kernel
                    .min(a, f64::from_bits(next.to_bits() - 1))
                    .into()
            }
            _ => a,
        }
    }
}
