//! Calls of functions that `ptx::intrinsics` lists.

use naga::{Block, Expression, Function, GlobalVariable, Handle, Statement};

use super::Lowering;
use super::call::Frame;
use super::place::At;
use super::value::Value;
use crate::Result;
use crate::ptx::build::{Comparison, Operand, Ordering, PtxType, WarpReduction};
use crate::ptx::intrinsics::{self, Intrinsic};

impl Lowering<'_> {
    /// The intrinsic that this kernel puts in the place of a function.
    fn known(&self, function: Handle<Function>) -> Option<Intrinsic> {
        let span = self.module.functions.get_span(function);
        let text = span.to_range().and_then(|range| self.wgsl.get(range));
        let is_warp = self.n_invocations() <= 32;
        text.and_then(intrinsics::find)
            .filter(|intrinsic| match intrinsic {
                Intrinsic::Funnel => true,
                Intrinsic::Agree => is_warp && self.options.sm >= super::subgroup::REDUX_SM,
                Intrinsic::Vote => is_warp,
            })
    }

    /// The result of a call that is done otherwise, or `None`.
    pub(super) fn intrinsic(
        &mut self,
        callee: Handle<Function>,
        arguments: &[Value],
    ) -> Result<Option<Value>> {
        match self.known(callee) {
            Some(Intrinsic::Funnel) => self.funnel(arguments),
            Some(Intrinsic::Agree) => self.agree(callee, arguments),
            Some(Intrinsic::Vote) => Ok(self.vote(arguments)),
            None => Ok(None),
        }
    }

    /// Whether anything but functions that need no memory here names a variable.
    pub(super) fn is_named(&self, entry: &Function, variable: Handle<GlobalVariable>) -> bool {
        let functions = self.module.functions.iter();
        let mut others =
            functions.filter(|(handle, _)| self.known(*handle) != Some(Intrinsic::Vote));
        let names = |function: &Function| {
            let mut expressions = function.expressions.iter();
            expressions.any(|(_, e)| matches!(e, Expression::GlobalVariable(v) if *v == variable))
        };
        names(entry) || others.any(|(_, function)| names(function))
    }

    fn vote(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Pointer(_), Value::Leaves(yes)] = arguments else {
            return None;
        };
        let mask = self.warp_mask();
        Some(Operand::from(self.kernel.vote_any(yes[0], mask)).into())
    }

    fn funnel(&mut self, arguments: &[Value]) -> Result<Option<Value>> {
        let [Value::Leaves(low), Value::Leaves(high), Value::Leaves(n)] = arguments else {
            return Ok(None);
        };
        let n = self.shift_amount(n[0]);
        Ok(Some(
            Operand::from(self.kernel.funnel_right(low[0], high[0], n)).into(),
        ))
    }

    /// As the body does, but that the invocations tell each other by a reduction what the largest code is, and one of
    /// them leaves it in shared memory for all.
    fn agree(&mut self, callee: Handle<Function>, arguments: &[Value]) -> Result<Option<Value>> {
        let [Value::Pointer(round), Value::Leaves(code)] = arguments else {
            return Ok(None);
        };
        let function = &self.module.functions[callee];
        let Some(pointer) = uniform_load(&function.body) else {
            return Ok(None);
        };
        let end = self.kernel.label();
        let mut frame = Frame::new(
            Some(callee),
            function,
            &self.info[callee],
            arguments.to_vec(),
            end,
        );
        let agreed = self.place_of(&mut frame, pointer)?;
        let At::Memory(memory) = &agreed.at else {
            return Ok(None);
        };
        let before = self.load_leaves(round)?[0];
        let number = self.sum(before, 1u32.into());
        self.store_leaves(round, &[number])?;
        let mask = self.warp_mask();
        let largest = self.kernel.reduce_warp(WarpReduction::Max, code[0], mask);
        let shifted = self.kernel.shl(number, 8u32);
        let word = self.kernel.or(shifted, largest);
        let index = self.local_index();
        let is_first = self.compared(Comparison::Eq, index, 0u32.into());
        let is_any = self.compared(Comparison::Ne, largest.into(), 0u32.into());
        let stores = self.bitwise_and(is_first, is_any);
        self.kernel.branch_if(stores, false, end);
        self.store_leaf(PtxType::U32, Ordering::Relaxed, memory, 0, word.into());
        self.kernel.land(end);
        self.workgroup_barrier();
        Ok(Some(Operand::from(largest).into()))
    }
}

/// What the function loads for the whole workgroup.
fn uniform_load(body: &Block) -> Option<Handle<Expression>> {
    body.iter().find_map(|statement| match statement {
        Statement::WorkGroupUniformLoad { pointer, .. } => Some(*pointer),
        _ => None,
    })
}
