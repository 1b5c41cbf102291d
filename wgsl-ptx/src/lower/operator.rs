//! Unary and binary operators, comparison, selection.

use naga::{BinaryOperator, Expression, Handle, RelationalFunction, TypeInner, UnaryOperator};

use super::Lowering;
use super::frame::Frame;
use super::value::Value;
use crate::Result;
use crate::build::{Comparison, Operand, PtxType, Rounding};

impl Lowering<'_> {
    pub(super) fn unary(
        &mut self,
        frame: &mut Frame<'_>,
        op: UnaryOperator,
        operand: Handle<Expression>,
    ) -> Result<Value> {
        if self.matrix(self.inner(frame.ty(operand)))?.is_some() {
            return Err(self.unsupported("this operator on cooperative matrices"));
        }
        let leaves = self.leaves_of(frame, operand)?;
        let results = leaves.into_iter().map(|a| match op {
            UnaryOperator::Negate => self.negated(a),
            UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot => self.inverted(a),
        });
        Ok(Value::Leaves(results.collect()))
    }

    pub(super) fn negated(&mut self, a: Operand) -> Operand {
        match a.constant() {
            Some(bits) if a.ty().is_integer() => {
                Operand::integer(a.ty(), (bits as i64).wrapping_neg())
            }
            _ => self.kernel.neg(a).into(),
        }
    }

    pub(super) fn binary(
        &mut self,
        frame: &mut Frame<'_>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Value> {
        if let Some(value) = self.binary_of_matrices(frame, op, left, right)? {
            return Ok(value);
        }
        let types = (self.inner(frame.ty(left)), self.inner(frame.ty(right)));
        if op == BinaryOperator::Multiply
            && (matches!(types.0, TypeInner::Matrix { .. })
                || matches!(types.1, TypeInner::Matrix { .. }))
        {
            return self.matrix_product(frame, left, right);
        }
        let (a, b) = (self.leaves_of(frame, left)?, self.leaves_of(frame, right)?);
        // A scalar operand is broadcast to the components of a vector.
        let n = a.len().max(b.len());
        let pick = |leaves: &[Operand], i: usize| leaves.get(i).or(leaves.first()).copied();
        let mut results = Vec::with_capacity(n);
        for i in 0..n {
            let (Some(a), Some(b)) = (pick(&a, i), pick(&b, i)) else {
                return Err(self.error("an operator on values without scalars"));
            };
            results.push(self.binary_scalar(op, a, b)?);
        }
        Ok(Value::Leaves(results))
    }

    pub(super) fn binary_scalar(
        &mut self,
        op: BinaryOperator,
        a: Operand,
        b: Operand,
    ) -> Result<Operand> {
        use BinaryOperator as Op;
        Ok(match op {
            Op::Add => self.sum(a, b),
            Op::Subtract => self.difference(a, b),
            Op::Multiply => self.product_of_numbers(a, b),
            Op::Divide => self.quotient(a, b),
            Op::Modulo => self.remainder(a, b),
            Op::Equal => self.compared(Comparison::Eq, a, b),
            Op::NotEqual => self.compared(Comparison::Ne, a, b),
            Op::Less => self.compared(Comparison::Lt, a, b),
            Op::LessEqual => self.compared(Comparison::Le, a, b),
            Op::Greater => self.compared(Comparison::Gt, a, b),
            Op::GreaterEqual => self.compared(Comparison::Ge, a, b),
            Op::And | Op::LogicalAnd => self.bitwise_and(a, b),
            Op::InclusiveOr | Op::LogicalOr => self.bitwise_or(a, b),
            Op::ExclusiveOr => self.bitwise_xor(a, b),
            Op::ShiftLeft => self.shifted_left(a, b),
            Op::ShiftRight => self.shifted_right(a, b),
        })
    }

    fn product_of_numbers(&mut self, a: Operand, b: Operand) -> Operand {
        if a.ty().is_float() {
            return self.kernel.mul(a, b).into();
        }
        self.product(a, b)
    }

    pub(super) fn select(
        &mut self,
        frame: &mut Frame<'_>,
        condition: Handle<Expression>,
        accept: Handle<Expression>,
        reject: Handle<Expression>,
    ) -> Result<Value> {
        let conditions = self.leaves_of(frame, condition)?;
        let (accept, reject) = (
            self.leaves_of(frame, accept)?,
            self.leaves_of(frame, reject)?,
        );
        let first = conditions.first().copied();
        let first = first.ok_or_else(|| self.error("a selection without condition"))?;
        let mut results = Vec::with_capacity(accept.len());
        for (i, (&a, &b)) in accept.iter().zip(&reject).enumerate() {
            let condition = conditions.get(i).copied().unwrap_or(first);
            results.push(self.selected(condition, a, b));
        }
        Ok(Value::Leaves(results))
    }

    pub(super) fn relational(
        &mut self,
        frame: &mut Frame<'_>,
        fun: RelationalFunction,
        argument: Handle<Expression>,
    ) -> Result<Value> {
        let leaves = self.leaves_of(frame, argument)?;
        let value = match fun {
            RelationalFunction::All => {
                let start = Operand::from(true);
                leaves
                    .into_iter()
                    .fold(start, |all, leaf| self.bitwise_and(all, leaf))
                    .into()
            }
            RelationalFunction::Any => {
                let start = Operand::from(false);
                leaves
                    .into_iter()
                    .fold(start, |any, leaf| self.bitwise_or(any, leaf))
                    .into()
            }
            RelationalFunction::IsNan => Value::Leaves(
                leaves
                    .into_iter()
                    .map(|leaf| self.kernel.is_nan(leaf).into())
                    .collect(),
            ),
            RelationalFunction::IsInf => Value::Leaves(
                leaves
                    .into_iter()
                    .map(|leaf| self.is_infinite(leaf))
                    .collect(),
            ),
        };
        Ok(value)
    }

    fn is_infinite(&mut self, a: Operand) -> Operand {
        let (magnitude, infinity) = match a.ty() {
            PtxType::F16 => (0x7fff, 0x7c00),
            PtxType::F32 => (0x7fff_ffff, 0x7f80_0000),
            _ => (i64::MAX, 0x7ff0_0000_0000_0000),
        };
        let ty = a.ty().unsigned();
        let bits = self.bitwise_and(a.bitcast(ty), Operand::integer(ty, magnitude));
        self.compared(Comparison::Eq, bits, Operand::integer(ty, infinity))
    }

    /// Computes in single precision what half precision has no instruction for, with one rounding.
    pub(super) fn in_single(
        &mut self,
        operands: &[Operand],
        compute: impl FnOnce(&mut Self, &[Operand]) -> Operand,
    ) -> Operand {
        let singles: Vec<Operand> = operands
            .iter()
            .map(|&a| {
                self.kernel
                    .convert(PtxType::F32, Rounding::Nearest, a)
                    .into()
            })
            .collect();
        let result = compute(self, &singles);
        self.kernel
            .convert(PtxType::F16, Rounding::Nearest, result)
            .into()
    }
}
