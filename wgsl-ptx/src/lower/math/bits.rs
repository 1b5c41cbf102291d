//! Built-in functions on the bits of integers.

use naga::MathFunction;

use crate::Result;
use crate::build::{Operand, PtxType};
use crate::lower::Lowering;

impl Lowering<'_> {
    pub(super) fn bit_function(&mut self, fun: MathFunction, x: &[Operand]) -> Result<Operand> {
        let a = x[0];
        let ty = a.ty();
        if ty.n_bits() < 32 {
            return Err(self.unsupported(format_args!("{fun:?} of 16 bits")));
        }
        let bits = a.bitcast(ty.unsigned());
        let count = match fun {
            MathFunction::CountOneBits => self.kernel.popc(bits),
            MathFunction::CountLeadingZeros => self.kernel.clz(bits),
            MathFunction::CountTrailingZeros => {
                let reversed = self.kernel.brev(bits);
                self.kernel.clz(reversed)
            }
            MathFunction::FirstTrailingBit => {
                let reversed = self.kernel.brev(bits);
                self.kernel.bfind_shift(reversed)
            }
            MathFunction::FirstLeadingBit => self.kernel.bfind(a),
            MathFunction::ReverseBits => {
                return Ok(Operand::from(self.kernel.brev(bits)).bitcast(ty));
            }
            MathFunction::ExtractBits => return self.extract_bits(x),
            MathFunction::InsertBits => return self.insert_bits(x),
            other => return Err(self.unsupported(format_args!("{other:?} of integers"))),
        };
        // All ones (no bit found) stay all ones.
        Ok(self.converted(count.bitcast(PtxType::S32).into(), ty))
    }

    fn extract_bits(&mut self, x: &[Operand]) -> Result<Operand> {
        let [a, at, n] = *x else {
            return Err(self.error("extractBits takes three arguments"));
        };
        let (at, n) = self.bit_range(a.ty(), at, n);
        Ok(self.kernel.bfe(a, at, n).into())
    }

    fn insert_bits(&mut self, x: &[Operand]) -> Result<Operand> {
        let [a, new, at, n] = *x else {
            return Err(self.error("insertBits takes four arguments"));
        };
        let (at, n) = self.bit_range(a.ty(), at, n);
        Ok(self.kernel.bfi(new, a, at, n).into())
    }

    /// Clamps start and count of a bit range to the width of the number.
    fn bit_range(&mut self, ty: PtxType, at: Operand, n: Operand) -> (Operand, Operand) {
        let size = Operand::from(ty.n_bits());
        let at = self.minimum(at, size);
        let room = self.difference(size, at);
        (at, self.minimum(n, room))
    }
}
