//! The state of a function that is being lowered.

use naga::proc::TypeResolution;
use naga::valid::FunctionInfo;
use naga::{Expression, Function, Handle};

use super::place::Place;
use super::value::Value;
use super::variables::FunctionId;
use crate::build::Label;

/// The state of a function that is being lowered.
pub(super) struct Frame<'f> {
    pub(super) id: FunctionId,
    pub(super) function: &'f Function,
    pub(super) info: &'f FunctionInfo,
    /// Values by index of expression.
    pub(super) values: Vec<Option<Value>>,
    pub(super) arguments: Vec<Value>,
    /// Places by index of local variable.
    pub(super) locals: Vec<Place>,
    /// Label after its last statement.
    pub(super) end: Label,
    pub(super) result: ResultOf,
    /// Number of loops that enclose the current statement.
    pub(super) n_loops: u32,
}

/// The result of a function.
pub(super) enum ResultOf {
    /// None, or not returned yet: the function returns once, at its end.
    Once(Option<Value>),
    /// In a variable: the function has several returns.
    Variable(Place),
}

impl<'f> Frame<'f> {
    pub(super) fn new(
        id: FunctionId,
        function: &'f Function,
        info: &'f FunctionInfo,
        arguments: Vec<Value>,
        end: Label,
    ) -> Self {
        Self {
            id,
            function,
            info,
            values: vec![None; function.expressions.len()],
            arguments,
            locals: Vec::new(),
            end,
            result: ResultOf::Once(None),
            n_loops: 0,
        }
    }

    pub(super) fn ty(&self, expression: Handle<Expression>) -> &'f TypeResolution {
        &self.info[expression].ty
    }
}
