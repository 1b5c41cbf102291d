//! Function calls. Every call is inlined.

use naga::proc::TypeResolution;
use naga::{Block, Function, Handle, Statement};

use super::Lowering;
use super::frame::{Frame, ResultOf};
use super::statement::Targets;
use super::value::Value;
use crate::Result;
use crate::intrinsics::Intrinsic;

/// Cached facts about a function.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) has_barrier: bool,
    /// Number of expressions and statements, including called functions.
    pub(super) size: usize,
    /// Number of its own statements.
    own: usize,
}

impl Lowering<'_> {
    /// naga orders functions after their callees.
    pub(super) fn gather_facts(&mut self) {
        for (handle, function) in self.module.functions.iter() {
            let is_free = self.intrinsic_of(handle).is_some_and(Intrinsic::is_free);
            let facts = Facts {
                has_barrier: !is_free && self.has_barrier(&function.body),
                size: if is_free {
                    1
                } else {
                    self.size_of(&function.body)
                },
                own: n_statements(&function.body),
            };
            self.facts.push(facts);
        }
    }

    /// Lowers the code of a function, from its variables to its end.
    pub(super) fn function_body(&mut self, frame: &mut Frame<'_>) -> Result<()> {
        for (handle, variable) in frame.function.local_variables.iter() {
            self.span = frame.function.local_variables.get_span(handle);
            let ty = TypeResolution::Handle(variable.ty);
            let in_memory = self.in_memory.locals.contains(&(frame.id, handle));
            let place = self.variable_place(&ty, in_memory)?;
            let value = match variable.init {
                Some(init) => self.value(frame, init)?,
                None => self.zero(&ty)?,
            };
            self.store(&place, value)?;
            frame.locals.push(place);
        }
        self.block(frame, &frame.function.body, Targets::default())?;
        self.kernel.land(frame.end);
        Ok(())
    }

    /// Lowers a call and returns its result, if it has one.
    pub(super) fn call(
        &mut self,
        callee: Handle<Function>,
        arguments: Vec<Value>,
    ) -> Result<Option<Value>> {
        if let Some(result) = self.intrinsic(callee, &arguments)? {
            return Ok(Some(result));
        }
        let function = &self.module.functions[callee];
        // A frame has a slot for each expression, and the body is searched for returns: spend both.
        self.spend(function.expressions.len() + self.facts[callee.index()].own)?;
        let mut frame = self.frame_of(callee, arguments);
        if let Some(result) = &function.result
            && !returns_at_the_end_only(&function.body)
        {
            let ty = TypeResolution::Handle(result.ty);
            let place = self.variable_place(&ty, false)?;
            frame.result = ResultOf::Variable(place);
        }
        let (span, may_have_returned) = (self.span, self.may_have_returned);
        self.function_body(&mut frame)?;
        // Invocations reconverge at the end of the call.
        (self.span, self.may_have_returned) = (span, may_have_returned);
        match frame.result {
            ResultOf::Once(value) => Ok(value),
            ResultOf::Variable(place) => Ok(Some(self.load(&place)?)),
        }
    }

    pub(super) fn return_value(
        &mut self,
        frame: &mut Frame<'_>,
        value: Option<Value>,
    ) -> Result<()> {
        match (&frame.result, value) {
            (ResultOf::Variable(place), Some(value)) => {
                let place = place.clone();
                self.store(&place, value)?;
            }
            (_, value) => frame.result = ResultOf::Once(value),
        }
        self.may_have_returned |= self.divergence > 0;
        self.kernel.branch(frame.end);
        Ok(())
    }
}

impl<'a> Lowering<'a> {
    /// Creates the frame of a call, with a new label at its end.
    pub(super) fn frame_of(
        &mut self,
        callee: Handle<Function>,
        arguments: Vec<Value>,
    ) -> Frame<'a> {
        let (function, info) = (&self.module.functions[callee], &self.info[callee]);
        Frame::new(Some(callee), function, info, arguments, self.kernel.label())
    }
}

/// Returns true if the only return is the last statement.
fn returns_at_the_end_only(body: &Block) -> bool {
    matches!(body.last(), Some(Statement::Return { .. })) && n_returns(body) == 1
}

fn n_statements(block: &Block) -> usize {
    let count = |statement: &Statement| match statement {
        Statement::Block(block) => n_statements(block),
        Statement::If { accept, reject, .. } => n_statements(accept) + n_statements(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| n_statements(&case.body)).sum(),
        Statement::Loop {
            body, continuing, ..
        } => n_statements(body) + n_statements(continuing),
        _ => 0,
    };
    block.len() + block.iter().map(count).sum::<usize>()
}

pub(super) fn n_returns(block: &Block) -> usize {
    block
        .iter()
        .map(|statement| match statement {
            Statement::Return { .. } => 1,
            Statement::Block(block) => n_returns(block),
            Statement::If { accept, reject, .. } => n_returns(accept) + n_returns(reject),
            Statement::Switch { cases, .. } => cases.iter().map(|case| n_returns(&case.body)).sum(),
            Statement::Loop {
                body, continuing, ..
            } => n_returns(body) + n_returns(continuing),
            _ => 0,
        })
        .sum()
}
