//! Expressions.

use naga::{Expression, Handle, Literal};

use super::Lowering;
use super::access::Index;
use super::frame::Frame;
use super::place::{At, Place};
use super::value::Value;
use crate::Bounds;
use crate::Result;
use crate::build::{Operand, PtxType, Space};

impl Lowering<'_> {
    /// Lowers the expressions of a range, in order (naga's `Emit`).
    pub(super) fn emit(
        &mut self,
        frame: &mut Frame<'_>,
        range: naga::Range<Expression>,
    ) -> Result<()> {
        let statement = self.span;
        for handle in range {
            if frame.info[handle].ref_count == 0 {
                continue;
            }
            let span = frame.function.expressions.get_span(handle);
            self.span = if span.is_defined() { span } else { statement };
            let value = self.expression(frame, handle)?;
            self.set(frame, handle, value);
        }
        self.span = statement;
        Ok(())
    }

    pub(super) fn set(&mut self, frame: &mut Frame<'_>, handle: Handle<Expression>, value: Value) {
        frame.values[handle.index()] = Some(value);
    }

    /// Returns the value of an expression that was lowered before or needs no code.
    pub(super) fn value(
        &mut self,
        frame: &mut Frame<'_>,
        handle: Handle<Expression>,
    ) -> Result<Value> {
        if let Some(value) = &frame.values[handle.index()] {
            return Ok(value.clone());
        }
        self.expression(frame, handle)
    }

    pub(super) fn leaves_of(
        &mut self,
        frame: &mut Frame<'_>,
        handle: Handle<Expression>,
    ) -> Result<Vec<Operand>> {
        let value = self.value(frame, handle)?;
        self.scalars_of(value)
    }

    /// Returns the value of a scalar expression.
    pub(super) fn scalar(
        &mut self,
        frame: &mut Frame<'_>,
        handle: Handle<Expression>,
    ) -> Result<Operand> {
        let leaves = self.leaves_of(frame, handle)?;
        leaves
            .first()
            .copied()
            .ok_or_else(|| self.error("a value without scalars"))
    }

    /// Returns the place that a pointer expression points to.
    pub(super) fn place_of(
        &mut self,
        frame: &mut Frame<'_>,
        handle: Handle<Expression>,
    ) -> Result<Place> {
        match self.value(frame, handle)? {
            Value::Pointer(place) => Ok(place),
            _ => Err(self.error("a value where a pointer is needed")),
        }
    }

    fn expression(&mut self, frame: &mut Frame<'_>, handle: Handle<Expression>) -> Result<Value> {
        self.spend(1)?;
        let function = frame.function;
        let ty = frame.ty(handle);
        match function.expressions[handle] {
            Expression::Literal(literal) => Ok(self.literal(literal)?.into()),
            Expression::Constant(constant) => {
                self.global_expression(self.module.constants[constant].init)
            }
            Expression::ZeroValue(_) => self.zero(ty),
            Expression::Compose { ref components, .. } => {
                self.spend_scalars(self.n_leaves(ty)?)?;
                let mut leaves = Vec::new();
                for &component in components {
                    leaves.extend(self.leaves_of(frame, component)?);
                }
                self.value_of(ty, leaves)
            }
            Expression::Splat { size, value } => {
                let value = self.scalar(frame, value)?;
                Ok(Value::Leaves(vec![value; size as usize]))
            }
            Expression::Swizzle {
                size,
                vector,
                pattern,
            } => {
                let leaves = self.leaves_of(frame, vector)?;
                let chosen = pattern.iter().take(size as usize);
                let chosen =
                    chosen.filter_map(|component| leaves.get(*component as usize).copied());
                Ok(Value::Leaves(chosen.collect()))
            }
            Expression::Access { base, index } => {
                let value = self.value(frame, base)?;
                let index = self.index(frame, &value, index)?;
                self.value_element(&value, frame.ty(base), index)
            }
            Expression::AccessIndex { base, index } => {
                let value = self.value(frame, base)?;
                self.value_part(&value, frame.ty(base), index)
            }
            Expression::FunctionArgument(i) => {
                let argument = frame.arguments.get(i as usize).cloned();
                argument.ok_or_else(|| self.error("a missing argument"))
            }
            Expression::GlobalVariable(variable) => {
                let place = self.globals.places.get(&variable).cloned();
                let place = place.ok_or_else(|| self.unsupported("this variable"))?;
                Ok(Value::Pointer(place))
            }
            Expression::LocalVariable(variable) => {
                let place = frame.locals.get(variable.index()).cloned();
                let place = place.ok_or_else(|| self.error("a variable before its declaration"))?;
                Ok(Value::Pointer(place))
            }
            Expression::Load { pointer } => self.load_expression(frame, pointer),
            Expression::Unary { op, expr } => self.unary(frame, op, expr),
            Expression::Binary { op, left, right } => self.binary(frame, op, left, right),
            Expression::Select {
                condition,
                accept,
                reject,
            } => self.select(frame, condition, accept, reject),
            Expression::Relational { fun, argument } => self.relational(frame, fun, argument),
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                arg3,
            } => {
                let arguments: Vec<_> = [Some(arg), arg1, arg2, arg3]
                    .into_iter()
                    .flatten()
                    .collect();
                self.math(frame, fun, &arguments, ty)
            }
            Expression::As {
                expr,
                kind,
                convert,
            } => self.cast(frame, expr, kind, convert),
            Expression::ArrayLength(pointer) => {
                let place = self.place_of(frame, pointer)?;
                let At::Memory(memory) = &place.at else {
                    return Err(self.error("the length of an array in registers"));
                };
                Ok(self.array_count(memory, &place.ty)?.into())
            }
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => {
                Err(self.error("a result before its statement"))
            }
            Expression::Override(_) => Err(self.error("an override constant without a value")),
            Expression::ImageSample { .. }
            | Expression::ImageLoad { .. }
            | Expression::ImageQuery { .. } => Err(self.unsupported("a texture")),
            Expression::Derivative { .. } => Err(self.unsupported("a derivative")),
            Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. } => Err(self.unsupported("ray tracing")),
            Expression::CooperativeLoad { ref data, .. } => self.load_matrix(frame, handle, data),
            Expression::CooperativeMultiplyAdd { a, b, c } => {
                self.multiply_add_matrices(frame, [a, b, c])
            }
        }
    }

    /// Lowers an index expression. Addressing modes in global and workgroup memory add a constant for free; with bounds checks,
    /// the sum has to be computed anyway.
    fn index(
        &mut self,
        frame: &mut Frame<'_>,
        base: &Value,
        index: Handle<Expression>,
    ) -> Result<Index> {
        let has_offsets = match base {
            Value::Pointer(Place {
                at: At::Memory(memory),
                ..
            }) => {
                matches!(
                    memory.address.space(),
                    Space::Global | Space::GlobalReadOnly | Space::Shared
                )
            }
            _ => false,
        };
        if has_offsets
            && self.options.bounds == Bounds::Unchecked
            && let Some((rest, plus)) = constant_summand(self.module, frame, index)
        {
            let value = self.scalar(frame, rest)?;
            return Ok(Index { value, plus });
        }
        let value = self.scalar(frame, index)?;
        Ok(Index { value, plus: 0 })
    }

    pub(super) fn literal(&self, literal: Literal) -> Result<Operand> {
        Ok(match literal {
            Literal::F64(v) => v.into(),
            Literal::F32(v) => v.into(),
            Literal::F16(v) => Operand::Constant(PtxType::F16, u64::from(v.to_bits())),
            Literal::U16(v) => v.into(),
            Literal::I16(v) => Operand::integer(PtxType::S16, i64::from(v)),
            Literal::U32(v) => v.into(),
            Literal::I32(v) => v.into(),
            Literal::U64(v) => v.into(),
            Literal::I64(v) => v.into(),
            Literal::Bool(v) => v.into(),
            Literal::AbstractInt(_) | Literal::AbstractFloat(_) => {
                return Err(self.error("an abstract number"));
            }
        })
    }

    /// Returns the value of a module-scope constant expression.
    pub(super) fn global_expression(&mut self, handle: Handle<Expression>) -> Result<Value> {
        self.spend(1)?;
        let ty = &self.info[handle];
        match self.module.global_expressions[handle] {
            Expression::Literal(literal) => Ok(self.literal(literal)?.into()),
            Expression::Constant(constant) => {
                self.global_expression(self.module.constants[constant].init)
            }
            Expression::ZeroValue(_) => self.zero(ty),
            Expression::Compose { ref components, .. } => {
                self.spend_scalars(self.n_leaves(ty)?)?;
                let mut leaves = Vec::new();
                for &component in components {
                    let value = self.global_expression(component)?;
                    leaves.extend(self.scalars_of(value)?);
                }
                self.value_of(ty, leaves)
            }
            Expression::Splat { size, value } => {
                let value = self.global_expression(value)?;
                let leaves = self.scalars_of(value)?;
                Ok(Value::Leaves(leaves.repeat(size as usize)))
            }
            ref other => Err(self.unsupported(format_args!("the constant expression {other:?}"))),
        }
    }
}

/// Splits `x + c` or `x - c` into x and a constant.
fn constant_summand(
    module: &naga::Module,
    frame: &Frame<'_>,
    index: Handle<Expression>,
) -> Option<(Handle<Expression>, i64)> {
    let expressions = &frame.function.expressions;
    let literal = |handle: Handle<Expression>| {
        let value = match expressions[handle] {
            Expression::Constant(constant) => {
                &module.global_expressions[module.constants[constant].init]
            }
            ref other => other,
        };
        match *value {
            Expression::Literal(Literal::U32(v)) => Some(i64::from(v)),
            Expression::Literal(Literal::I32(v)) => Some(i64::from(v)),
            _ => None,
        }
    };
    let Expression::Binary { op, left, right } = expressions[index] else {
        return None;
    };
    let (rest, plus) = match (op, literal(left), literal(right)) {
        (naga::BinaryOperator::Add, _, Some(c)) => (left, c),
        (naga::BinaryOperator::Add, Some(c), _) => (right, c),
        (naga::BinaryOperator::Subtract, _, Some(c)) => (left, -c),
        _ => return None,
    };
    // A constant beyond the range of an address offset may rely on wrap-around.
    (plus.abs() < 1 << 20).then_some((rest, plus))
}
