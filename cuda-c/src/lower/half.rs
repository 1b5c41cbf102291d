//! Bits of `half`. WGSL packs and unpacks two at a time.

use naga::{Expression, MathFunction as Math, ScalarKind};

use super::Lowering;
use super::state::H;
use super::value::Value;
use crate::ast::Expr;
use crate::error::Outcome;
use crate::types::{Prim, Ty};

impl Lowering<'_> {
    fn with_width(&mut self, expr: H, width: u8) -> H {
        // The writer of WGSL enables `f16` for a type only.
        self.scalar_ty(Prim::Half);
        self.add(Expression::As {
            expr,
            kind: ScalarKind::Float,
            convert: Some(width),
        })
    }

    /// Returns the word of a `half2`.
    pub(super) fn packed(&mut self, pair: H) -> H {
        let wide = self.with_width(pair, 4);
        self.math(Math::Pack2x16float, &[wide])
    }

    /// Returns the `half2` of a word.
    pub(super) fn unpacked(&mut self, word: H) -> H {
        let wide = self.math(Math::Unpack2x16float, &[word]);
        self.with_width(wide, 2)
    }

    /// Returns the bits of a `half`, as an `unsigned`.
    pub(super) fn bits_of_half(&mut self, value: H) -> H {
        let wide = self.convert_prim(value, Prim::Half, Prim::Float);
        let zero = self.f32(0.0);
        let pair = self.compose(Prim::Float, &[wide, zero]);
        self.math(Math::Pack2x16float, &[pair])
    }

    /// Returns the `half` of bits in an `unsigned`.
    pub(super) fn half_of_bits(&mut self, bits: H) -> H {
        let wide = self.math(Math::Unpack2x16float, &[bits]);
        let first = self.add(Expression::AccessIndex {
            base: wide,
            index: 0,
        });
        self.convert_prim(first, Prim::Float, Prim::Half)
    }

    /// Calls a function on the bits of a `half`.
    pub(super) fn half_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let to = match name {
            "__half_as_ushort" => Prim::UShort,
            "__half_as_short" => Prim::Short,
            "__ushort_as_half" | "__short_as_half" => Prim::Half,
            _ => return Ok(None),
        };
        self.primitive(Prim::Half, at)?;
        let from = if to == Prim::Half {
            Prim::UInt
        } else {
            Prim::Half
        };
        let (leaves, level) = self.scalars(name, arguments, &[from], at)?;
        let leaf = if to == Prim::Half {
            self.half_of_bits(leaves[0])
        } else {
            let bits = self.bits_of_half(leaves[0]);
            self.convert_prim(bits, Prim::UInt, to)
        };
        Ok(Some(Value::leaf(Ty::Prim(to), leaf, level)))
    }
}
