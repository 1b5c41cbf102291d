//! Lowers the intrinsics of asynchronous copies to workgroup memory.

use naga::{AddressSpace, Expression, Function, Handle};

use super::Lowering;
use super::frame::Frame;
use super::place::{At, InMemory};
use super::value::Value;
use crate::build::{COPIED_BYTES, Operand};
use crate::{Bounds, Result};

/// The first architecture with asynchronous copies.
const ASYNCHRONOUS_SM: u32 = 80;

impl Lowering<'_> {
    /// Returns true if intrinsics of staging become asynchronous copies. These neither check bounds nor align addresses.
    pub(super) fn copies_asynchronously(&self) -> bool {
        self.options.sm >= ASYNCHRONOUS_SM && self.options.bounds == Bounds::Unchecked
    }

    /// Lowers `stage_left` or `stage_right` to an asynchronous copy.
    pub(super) fn stage(
        &mut self,
        callee: Handle<Function>,
        arguments: &[Value],
    ) -> Result<Option<Value>> {
        let [_, _, Value::Leaves(inside)] = arguments else {
            return Ok(None);
        };
        let inside = inside[0];
        let function = &self.module.functions[callee];
        let (Some(to), Some(from)) = (
            self.first_element(function, |space| space == AddressSpace::WorkGroup),
            self.first_element(function, |space| {
                matches!(space, AddressSpace::Storage { .. })
            }),
        ) else {
            return Ok(None);
        };
        let mut frame = self.frame_of(callee, arguments.to_vec());
        let (Some(to), Some(from)) = (
            self.element_in_memory(&mut frame, to)?,
            self.element_in_memory(&mut frame, from)?,
        ) else {
            return Ok(None);
        };
        let n_bytes = match inside.constant() {
            Some(0) => Operand::from(0u32),
            Some(_) => COPIED_BYTES.into(),
            None => self.kernel.select(inside, COPIED_BYTES, 0u32).into(),
        };
        self.kernel.copy_async(&to.address, &from.address, n_bytes);
        Ok(Some(Value::Leaves(Vec::new())))
    }

    pub(super) fn end_stage(&mut self) -> Option<Value> {
        self.kernel.commit_copies();
        Some(Value::Leaves(Vec::new()))
    }

    pub(super) fn await_staged(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(n_pending)] = arguments else {
            return None;
        };
        // Waiting for all copies is right for every number.
        let n_pending = n_pending[0].constant().unwrap_or(0);
        self.kernel.await_copies(n_pending as u32);
        self.workgroup_barrier();
        Some(Value::Leaves(Vec::new()))
    }

    /// Returns the first element that a function accesses of an array in such an address space.
    fn first_element(
        &self,
        function: &Function,
        is_space: impl Fn(AddressSpace) -> bool,
    ) -> Option<Handle<Expression>> {
        let expressions = &function.expressions;
        let found = expressions.iter().find(|(_, expression)| {
            let Expression::Access { base, .. } = expression else {
                return false;
            };
            let Expression::GlobalVariable(variable) = expressions[*base] else {
                return false;
            };
            is_space(self.module.global_variables[variable].space)
        });
        found.map(|(handle, _)| handle)
    }

    fn element_in_memory(
        &mut self,
        frame: &mut Frame<'_>,
        element: Handle<Expression>,
    ) -> Result<Option<InMemory>> {
        let place = self.place_of(frame, element)?;
        Ok(match place.at {
            At::Memory(memory) => Some(memory),
            _ => None,
        })
    }
}
