//! Packing of small numbers into words, and dot products of packed bytes.

use naga::MathFunction;

use crate::Result;
use crate::build::{Operand, PtxType, Rounding};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// Lowers a packing function; returns `None` for others.
    pub(super) fn pack_function(
        &mut self,
        fun: MathFunction,
        x: &[Vec<Operand>],
    ) -> Result<Option<Vec<Operand>>> {
        let Some(a) = x.first().filter(|a| !a.is_empty()) else {
            return Ok(None);
        };
        let word = a[0];
        let second = x.get(1).and_then(|b| b.first()).copied().unwrap_or(word);
        Ok(Some(match fun {
            MathFunction::Pack4x8snorm => self.pack_normal(a, 8, -1.0, 127.0),
            MathFunction::Pack4x8unorm => self.pack_normal(a, 8, 0.0, 255.0),
            MathFunction::Pack2x16snorm => self.pack_normal(a, 16, -1.0, 32767.0),
            MathFunction::Pack2x16unorm => self.pack_normal(a, 16, 0.0, 65535.0),
            MathFunction::Unpack4x8snorm => self.unpack_normal(word, PtxType::S32, 8, 127.0),
            MathFunction::Unpack4x8unorm => self.unpack_normal(word, PtxType::U32, 8, 255.0),
            MathFunction::Unpack2x16snorm => self.unpack_normal(word, PtxType::S32, 16, 32767.0),
            MathFunction::Unpack2x16unorm => self.unpack_normal(word, PtxType::U32, 16, 65535.0),
            MathFunction::Pack2x16float => {
                let halves = a.iter().map(|&a| {
                    let half = self.kernel.convert(PtxType::F16, Rounding::Nearest, a);
                    self.converted(half.bitcast(PtxType::U16).into(), PtxType::U32)
                });
                let halves: Vec<Operand> = halves.collect();
                vec![self.packed(&halves, 16)]
            }
            MathFunction::Unpack2x16float => {
                let fields = self.fields(word, PtxType::U32, 16);
                fields
                    .into_iter()
                    .map(|field| self.single_of_half(field))
                    .collect()
            }
            MathFunction::Pack4xI8 | MathFunction::Pack4xU8 => vec![self.packed(a, 8)],
            MathFunction::Pack4xI8Clamp => self.pack_clamped(a, -128, 127),
            MathFunction::Pack4xU8Clamp => self.pack_clamped(a, 0, 255),
            MathFunction::Unpack4xI8 => self.fields(word, PtxType::S32, 8),
            MathFunction::Unpack4xU8 => self.fields(word, PtxType::U32, 8),
            MathFunction::Dot4I8Packed => vec![self.kernel.dp4a(word, second, 0i32).into()],
            MathFunction::Dot4U8Packed => vec![self.kernel.dp4a(word, second, 0u32).into()],
            _ => return Ok(None),
        }))
    }

    pub(in crate::lower) fn single_of_half(&mut self, bits: Operand) -> Operand {
        let half = self.converted(bits, PtxType::U16).bitcast(PtxType::F16);
        self.kernel
            .convert(PtxType::F32, Rounding::Nearest, half)
            .into()
    }

    /// Returns floor(0.5 + scale * a) of each a, clamped to `least..=1`.
    fn pack_normal(&mut self, a: &[Operand], n_bits: u32, least: f32, scale: f32) -> Vec<Operand> {
        let numbers = a.iter().map(|&a| {
            let raised = self.kernel.max(a, least);
            let kept = self.kernel.min(raised, 1f32);
            let scaled = self.kernel.mad(kept, scale, 0.5f32);
            self.kernel
                .convert(PtxType::S32, Rounding::Down, scaled)
                .bitcast(PtxType::U32)
                .into()
        });
        let numbers: Vec<Operand> = numbers.collect();
        vec![self.packed(&numbers, n_bits)]
    }

    fn pack_clamped(&mut self, a: &[Operand], least: i64, greatest: i64) -> Vec<Operand> {
        let numbers = a.iter().map(|&a| {
            let raised = self.maximum(a, Operand::integer(a.ty(), least));
            self.minimum(raised, Operand::integer(a.ty(), greatest))
        });
        let numbers: Vec<Operand> = numbers.collect();
        vec![self.packed(&numbers, 8)]
    }

    fn unpack_normal(
        &mut self,
        word: Operand,
        ty: PtxType,
        n_bits: u32,
        scale: f32,
    ) -> Vec<Operand> {
        let fields = self.fields(word, ty, n_bits);
        let normals = fields.into_iter().map(|field| {
            let number = self.kernel.convert(PtxType::F32, Rounding::Nearest, field);
            let normal = self.kernel.div(number, scale);
            // The least integer has no positive counterpart.
            if ty.is_signed() {
                self.kernel.max(normal, -1f32).into()
            } else {
                normal.into()
            }
        });
        normals.collect()
    }

    /// Extracts all fields of `n_bits` from a word, the lowest first.
    fn fields(&mut self, word: Operand, ty: PtxType, n_bits: u32) -> Vec<Operand> {
        let starts = (0..32 / n_bits).map(|i| i * n_bits);
        starts
            .map(|at| self.kernel.bfe(word.bitcast(ty), at, n_bits).into())
            .collect()
    }

    /// Packs the lowest `n_bits` of each number into a word, the first one lowest.
    fn packed(&mut self, numbers: &[Operand], n_bits: u32) -> Operand {
        let mut word = Operand::from(0u32);
        for (i, number) in numbers.iter().enumerate() {
            let bits = number.bitcast(PtxType::U32);
            let at = i as u32 * n_bits;
            word = if i == 0 {
                self.bitwise_and(bits, ((1u32 << n_bits) - 1).into())
            } else {
                self.kernel.bfi(bits, word, at, n_bits).into()
            };
        }
        word
    }
}
