//! Constants as expressions.

use naga::{Expression, Literal};

use super::Lowering;
use super::state::H;
use crate::types::Prim;

impl Lowering<'_> {
    pub(super) fn literal_of(&self, handle: H) -> Option<Literal> {
        match self.f.function.expressions[handle] {
            Expression::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    pub(super) fn u32(&mut self, value: u32) -> H {
        self.add(Expression::Literal(Literal::U32(value)))
    }

    pub(super) fn i32(&mut self, value: i32) -> H {
        self.add(Expression::Literal(Literal::I32(value)))
    }

    pub(super) fn bool(&mut self, value: bool) -> H {
        self.add(Expression::Literal(Literal::Bool(value)))
    }

    /// Adds a constant, which WGSL cannot spell if it is infinite or not a number.
    pub(super) fn f32(&mut self, value: f32) -> H {
        if super::fold::is_spelled(value) {
            return self.add(Expression::Literal(Literal::F32(value)));
        }
        let bits = self.u32(value.to_bits());
        let bits = self.opaque(bits);
        self.bitcast(bits, Prim::Float)
    }

    /// Returns the constant that [`f32`](Self::f32) hid.
    pub(super) fn hidden_literal(&self, value: H) -> Option<Literal> {
        let expressions = &self.f.function.expressions;
        let Expression::As {
            expr,
            convert: None,
            ..
        } = expressions[value]
        else {
            return None;
        };
        let Expression::Load { pointer } = expressions[expr] else {
            return None;
        };
        let Expression::LocalVariable(variable) = expressions[pointer] else {
            return None;
        };
        match self.literal_of(self.f.function.local_variables[variable].init?)? {
            Literal::U32(bits) => Some(Literal::F32(f32::from_bits(bits))),
            _ => None,
        }
    }

    /// Hides a constant from constant evaluation, whose errors run-time evaluation does not have.
    pub(super) fn opaque(&mut self, value: H) -> H {
        let prim = match self.literal_of(value) {
            Some(Literal::F32(_)) => Prim::Float,
            Some(Literal::F16(_)) => Prim::Half,
            Some(Literal::I32(_)) => Prim::Int,
            Some(Literal::U32(_)) => Prim::UInt,
            Some(Literal::I64(_)) => Prim::Long,
            Some(Literal::U64(_)) => Prim::ULong,
            Some(Literal::Bool(_)) => Prim::Bool,
            _ => return value,
        };
        let ty = self.scalar_ty(prim);
        let pointer = self.local("constant", ty, Some(value));
        self.load_pointer(pointer)
    }
}
