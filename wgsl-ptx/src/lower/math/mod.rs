//! Built-in functions on numbers.

mod bits;
mod float;
mod pack;
mod trigonometry;
mod vector;

use naga::proc::TypeResolution;
use naga::{Expression, Handle, MathFunction};

use super::Lowering;
use super::frame::Frame;
use super::value::Value;
use crate::Result;
use crate::build::{Comparison, Operand, PtxType};

impl Lowering<'_> {
    pub(super) fn math(
        &mut self,
        frame: &mut Frame<'_>,
        fun: MathFunction,
        arguments: &[Handle<Expression>],
        ty: &TypeResolution,
    ) -> Result<Value> {
        let types: Vec<&TypeResolution> = arguments
            .iter()
            .map(|&argument| frame.ty(argument))
            .collect();
        let leaves = arguments
            .iter()
            .map(|&argument| self.leaves_of(frame, argument));
        let leaves = leaves.collect::<Result<Vec<_>>>()?;
        if let Some(results) = self.vector_function(fun, &leaves, &types)? {
            return Ok(Value::Leaves(results));
        }
        if let Some(result) = self.pack_function(fun, &leaves)? {
            return Ok(Value::Leaves(result));
        }
        let n = leaves.iter().map(Vec::len).max().unwrap_or(0);
        let mut results = Vec::with_capacity(n);
        for i in 0..n {
            // A scalar argument is broadcast to the components of a vector.
            let scalars: Option<Vec<Operand>> = leaves
                .iter()
                .map(|leaves| leaves.get(i).or(leaves.first()).copied())
                .collect();
            let scalars = scalars.ok_or_else(|| self.error("a function of nothing"))?;
            results.push(self.scalar_function(fun, &scalars)?);
        }
        // Functions with two results return a structure of two vectors.
        let results = transpose(results);
        let expected = self.n_leaves(ty)?;
        if results.len() != expected {
            return Err(self.error(format_args!(
                "{fun:?} gave {} scalars instead of {expected}",
                results.len()
            )));
        }
        Ok(Value::Leaves(results))
    }

    /// Lowers a component-wise function; returns its results, two for `modf` and `frexp`, else one.
    fn scalar_function(&mut self, fun: MathFunction, x: &[Operand]) -> Result<Vec<Operand>> {
        let [a, b, c] = [0, 1, 2].map(|i| x.get(i).or(x.first()).copied());
        let (Some(a), Some(b), Some(c)) = (a, b, c) else {
            return Err(self.error("a function of nothing"));
        };
        let result = match fun {
            MathFunction::Modf => return self.modf(a),
            MathFunction::Frexp => return self.frexp(a),
            MathFunction::Abs => self.magnitude(a),
            MathFunction::Min => self.smaller(a, b),
            MathFunction::Max => self.larger(a, b),
            MathFunction::Clamp => {
                let raised = self.larger(a, b);
                self.smaller(raised, c)
            }
            MathFunction::Sign => self.sign(a),
            _ if a.ty().is_integer() => self.bit_function(fun, x)?,
            _ => self.float_function(fun, x)?,
        };
        Ok(vec![result])
    }

    pub(super) fn smaller(&mut self, a: Operand, b: Operand) -> Operand {
        match a.ty() {
            PtxType::F16 => self.in_single(&[a, b], |this, x| this.kernel.min(x[0], x[1]).into()),
            _ => self.minimum(a, b),
        }
    }

    pub(super) fn larger(&mut self, a: Operand, b: Operand) -> Operand {
        match a.ty() {
            PtxType::F16 => self.in_single(&[a, b], |this, x| this.kernel.max(x[0], x[1]).into()),
            _ => self.maximum(a, b),
        }
    }

    fn magnitude(&mut self, a: Operand) -> Operand {
        match a.ty() {
            PtxType::F16 => {
                let bits = Operand::Constant(PtxType::U16, 0x7fff);
                self.bitwise_and(a.bitcast(PtxType::U16), bits)
                    .bitcast(PtxType::F16)
            }
            ty if ty.is_float() || ty.is_signed() => self.kernel.abs(a).into(),
            _ => a,
        }
    }

    fn sign(&mut self, a: Operand) -> Operand {
        let ty = a.ty();
        if ty.is_integer() {
            let at_most = self.minimum(a, Operand::integer(ty, 1));
            return self.maximum(at_most, Operand::integer(ty, -1));
        }
        let zero = Operand::Constant(ty, 0);
        let one = self.converted(true.into(), ty);
        let minus_one = self.kernel.neg(one);
        let above = self.compared(Comparison::Gt, a, zero);
        let below = self.compared(Comparison::Lt, a, zero);
        let negative = self.selected(below, minus_one.into(), zero);
        self.selected(above, one, negative)
    }
}

/// Returns the first results of all components, then the second ones.
fn transpose(results: Vec<Vec<Operand>>) -> Vec<Operand> {
    let n = results.first().map_or(0, Vec::len);
    (0..n)
        .flat_map(|i| results.iter().map(move |component| component[i]))
        .collect()
}
