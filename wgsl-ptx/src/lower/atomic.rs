//! Loads and stores through pointers, and atomic operations.

use naga::{AtomicFunction, Expression, Handle, TypeInner};

use super::Lowering;
use super::frame::Frame;
use super::place::{At, InMemory, Place};
use super::value::Value;
use crate::Bounds;
use crate::Result;
use crate::build::{AtomicOperation, Comparison, Operand, Ordering, PtxType, Space};

impl Lowering<'_> {
    pub(super) fn load_expression(
        &mut self,
        frame: &mut Frame<'_>,
        pointer: Handle<Expression>,
    ) -> Result<Value> {
        let place = self.place_of(frame, pointer)?;
        match self.atomic_place(&place)? {
            None => self.load(&place),
            Some((ty, memory)) => {
                let ordering = self.ordering(&memory);
                let Some(exists) = memory.exists else {
                    return Ok(self.load_leaf(ty, ordering, &memory, 0).into());
                };
                let result = self.kernel.copy(Operand::Constant(ty, 0));
                let end = self.kernel.label();
                self.kernel.branch_together_if(exists, false, end);
                let loaded = self.load_leaf(ty, ordering, &memory, 0);
                self.kernel.assign(result, loaded);
                self.kernel.land(end);
                Ok(Operand::from(result).into())
            }
        }
    }

    pub(super) fn store_statement(
        &mut self,
        frame: &mut Frame<'_>,
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    ) -> Result<()> {
        let place = self.place_of(frame, pointer)?;
        let Some((ty, memory)) = self.atomic_place(&place)? else {
            let value = self.value(frame, value)?;
            return self.store(&place, value);
        };
        let value = self.scalar(frame, value)?;
        let ordering = self.ordering(&memory);
        let end = self.kernel.label();
        if let Some(exists) = memory.exists {
            self.kernel.branch_together_if(exists, false, end);
        }
        self.store_leaf(ty, ordering, &memory, 0, value);
        self.kernel.land(end);
        Ok(())
    }

    /// Returns the ordering of an atomic load or store. In workgroup memory a weak access is not torn either, and is faster,
    /// since the assembler may move it between barriers (a sixth of the time of `lz4_parse`). But it might also hoist a load out
    /// of a loop that spins on another invocation.
    fn ordering(&self, memory: &InMemory) -> Ordering {
        let waits = self.may_spin && self.options.bounds == Bounds::Clamp;
        if memory.address.space() == Space::Shared && !waits {
            Ordering::Weak
        } else {
            Ordering::Relaxed
        }
    }

    /// Returns scalar type and address of an atomic; `None` if the place is not one.
    fn atomic_place(&self, place: &Place) -> Result<Option<(PtxType, InMemory)>> {
        let TypeInner::Atomic(scalar) = *self.inner(&place.ty) else {
            return Ok(None);
        };
        match &place.at {
            At::Memory(memory) => Ok(Some((self.ptx_type(scalar)?, memory.clone()))),
            At::Registers { .. } => Err(self.error("an atomic in registers")),
        }
    }

    pub(super) fn atomic(
        &mut self,
        frame: &mut Frame<'_>,
        pointer: Handle<Expression>,
        fun: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let place = self.place_of(frame, pointer)?;
        let Some((ty, memory)) = self.atomic_place(&place)? else {
            return Err(self.error("an atomic operation on something else"));
        };
        let value = self.scalar(frame, value)?;
        let result = result.filter(|result| frame.info[*result].ref_count > 0);
        if let AtomicFunction::Exchange {
            compare: Some(compare),
        } = *fun
        {
            let expected = self.scalar(frame, compare)?;
            let leaves = self.compare_exchange(&memory, expected, value);
            if let Some(result) = result {
                self.set(frame, result, Value::Leaves(leaves));
            }
            return Ok(());
        }
        let before = self.combine(&memory, fun, ty, value, result.is_some())?;
        if let (Some(result), Some(before)) = (result, before) {
            self.set(frame, result, before.into());
        }
        Ok(())
    }

    /// Returns the old value, and whether it was exchanged.
    fn compare_exchange(
        &mut self,
        memory: &InMemory,
        expected: Operand,
        value: Operand,
    ) -> Vec<Operand> {
        let old = self.kernel.register(value.ty());
        let end = self.kernel.label();
        if let Some(exists) = memory.exists {
            self.kernel.assign(old, Operand::Constant(value.ty(), 0));
            self.kernel.branch_together_if(exists, false, end);
        }
        let found = self
            .kernel
            .compare_exchange(&memory.address, expected, value);
        self.kernel.assign(old, found);
        self.kernel.land(end);
        let mut exchanged = self.kernel.compare(Comparison::Eq, old, expected).into();
        if let Some(exists) = memory.exists {
            exchanged = self.bitwise_and(exchanged, exists.into());
        }
        vec![old.into(), exchanged]
    }

    fn combine(
        &mut self,
        memory: &InMemory,
        fun: &AtomicFunction,
        ty: PtxType,
        value: Operand,
        wants_result: bool,
    ) -> Result<Option<Operand>> {
        let operation = match fun {
            AtomicFunction::Add | AtomicFunction::Subtract => AtomicOperation::Add,
            AtomicFunction::And => AtomicOperation::And,
            AtomicFunction::InclusiveOr => AtomicOperation::Or,
            AtomicFunction::ExclusiveOr => AtomicOperation::Xor,
            AtomicFunction::Min => AtomicOperation::Min,
            AtomicFunction::Max => AtomicOperation::Max,
            AtomicFunction::Exchange { .. } => AtomicOperation::Exchange,
        };
        if ty.is_float() && !matches!(operation, AtomicOperation::Add | AtomicOperation::Exchange) {
            return Err(self.unsupported(format_args!("atomic {fun:?} of floats")));
        }
        let value = match fun {
            AtomicFunction::Subtract => self.negated(value),
            _ => value,
        };
        let end = self.kernel.label();
        let Some(exists) = memory.exists else {
            if wants_result {
                return Ok(Some(
                    self.kernel.atomic(operation, &memory.address, value).into(),
                ));
            }
            self.kernel.reduce(operation, &memory.address, value);
            return Ok(None);
        };
        let result = self.kernel.copy(Operand::Constant(ty, 0));
        self.kernel.branch_together_if(exists, false, end);
        let before = self.kernel.atomic(operation, &memory.address, value);
        self.kernel.assign(result, before);
        self.kernel.land(end);
        Ok(Some(result.into()))
    }
}
