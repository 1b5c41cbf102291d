//! Atomic operations on 32-bit words. Those that WGSL lacks are loops around compare-and-exchange.

use naga::{
    AtomicFunction, BinaryOperator, Block, Expression, MathFunction, PredeclaredType, Statement,
};

use super::Lowering;
use super::jumps::leave_if;
use super::level::Level;
use super::state::{H, scalar};
use super::value::{Pointer, Value};
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

impl Lowering<'_> {
    pub(super) fn atomic_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let Some(operation) = name.strip_prefix("atomic") else {
            return Ok(None);
        };
        let operation = operation
            .trim_end_matches("_block")
            .trim_end_matches("_system");
        let n_arguments = if operation == "CAS" { 3 } else { 2 };
        if !matches!(
            operation,
            "Add" | "Sub" | "Min" | "Max" | "And" | "Or" | "Xor" | "Exch" | "CAS" | "Inc" | "Dec"
        ) {
            return Ok(None);
        }
        self.expect_arguments(name, arguments, n_arguments..=n_arguments, at)?;
        let pointer = self.expr(&arguments[0])?;
        let prim = match &pointer.ty {
            Ty::Pointer(element) => element.prim(),
            _ => return fault(at, format!("{name} takes a pointer first; add &")),
        };
        let Some(prim @ (Prim::Int | Prim::UInt | Prim::Float)) = prim else {
            return fault(
                at,
                format!(
                    "{name} takes int, unsigned int and float only; 64-bit and narrower atomics are not supported"
                ),
            );
        };
        let Some(target) = Self::pointer_data(&pointer).cloned() else {
            return fault(
                at,
                format!("{name} takes the address of memory, not nullptr"),
            );
        };
        if matches!(target, Pointer::Local { .. }) {
            return fault(
                at,
                format!(
                    "{name} is on a local variable, which no other thread sees; use a plain operation"
                ),
            );
        }
        let mut values = Vec::new();
        for argument in &arguments[1..] {
            let value = self.scalar_argument(argument, prim)?;
            values.extend(value.first());
        }
        if values.len() + 1 != n_arguments {
            return fault(at, format!("{name} takes numbers"));
        }
        if prim == Prim::Float
            && !matches!(operation, "Add" | "Sub" | "Min" | "Max" | "Exch" | "CAS")
        {
            return fault(
                at,
                format!("{name} takes integers; convert the bits with __float_as_int"),
            );
        }
        let is_signed = prim == Prim::Int && matches!(operation, "Min" | "Max");
        let (_, root) = self.atomic_word(&target, at)?;
        if self.is_constant(root) {
            return fault(
                at,
                "__constant__ memory is not written by kernels; use a buffer",
            );
        }
        self.f.has_effect = true;
        self.facts.note_atomic(root, is_signed);
        self.facts.note_written(root);
        let leaf = self.guarded_value(prim, |this| {
            if !this.facts.of(root).is_atomic || this.facts.changed {
                // The memory is declared anew in the next pass.
                return Ok(values[0]);
            }
            let (word, root) = this.atomic_word(&target, at)?;
            this.atomic(operation, word, this.word_prim(root), prim, &values)
        })?;
        Ok(Some(Value::leaf(
            Ty::Prim(prim),
            leaf,
            Level::divergent(at),
        )))
    }

    /// Runs what yields a scalar under the guards.
    fn guarded_value(
        &mut self,
        prim: Prim,
        inside: impl FnOnce(&mut Self) -> Outcome<H>,
    ) -> Outcome<H> {
        if !self.f.guards_stores || !self.f.guards.iter().any(|guard| guard.is_open) {
            return inside(self);
        }
        let ty = self.scalar_ty(prim);
        let variable = self.local("old", ty, None);
        self.guarded(0, |this| {
            let value = inside(this)?;
            this.store_pointer(variable, value);
            Ok(())
        })?;
        Ok(self.load_pointer(variable))
    }

    fn as_word(&mut self, value: H, from: Prim, word: Prim) -> H {
        if from == word {
            value
        } else {
            self.bitcast(value, word)
        }
    }

    fn atomic(
        &mut self,
        operation: &str,
        pointer: H,
        word: Prim,
        prim: Prim,
        values: &[H],
    ) -> Outcome<H> {
        let is_integer = prim != Prim::Float;
        let fun = match operation {
            "Add" if is_integer => Some(AtomicFunction::Add),
            "Sub" if is_integer => Some(AtomicFunction::Subtract),
            "And" => Some(AtomicFunction::And),
            "Or" => Some(AtomicFunction::InclusiveOr),
            "Xor" => Some(AtomicFunction::ExclusiveOr),
            "Exch" => Some(AtomicFunction::Exchange { compare: None }),
            "Min" if prim == word => Some(AtomicFunction::Min),
            "Max" if prim == word => Some(AtomicFunction::Max),
            _ => None,
        };
        if let Some(fun) = fun {
            let value = self.as_word(values[0], prim, word);
            let ty = self.scalar_ty(word);
            let result = self.add(Expression::AtomicResult {
                ty,
                comparison: false,
            });
            self.push(Statement::Atomic {
                pointer,
                fun,
                value,
                result: Some(result),
            });
            return Ok(self.as_word(result, word, prim));
        }
        if operation == "CAS" {
            return self.compare_and_swap(pointer, word, prim, values[0], values[1]);
        }
        let ty = self.scalar_ty(word);
        let old = self.local("old", ty, None);
        let seen = self.load_pointer(pointer);
        self.store_pointer(old, seen);
        let (body, ()) = self.block(|this| {
            let seen = this.load_pointer(old);
            let value = this.as_word(seen, word, prim);
            let new = this.updated(operation, prim, value, values[0]);
            let new = this.as_word(new, prim, word);
            this.exchange_if(pointer, word, seen, new, old, None)
        })?;
        self.push(Statement::Loop {
            body,
            continuing: Block::new(),
            break_if: None,
        });
        let result = self.load_pointer(old);
        Ok(self.as_word(result, word, prim))
    }

    /// The value that a loop stores.
    fn updated(&mut self, operation: &str, prim: Prim, old: H, operand: H) -> H {
        match operation {
            "Add" => self.binary(BinaryOperator::Add, old, operand),
            "Sub" => self.binary(BinaryOperator::Subtract, old, operand),
            "Min" => self.math(MathFunction::Min, &[old, operand]),
            "Max" => self.math(MathFunction::Max, &[old, operand]),
            "Inc" => {
                let (one, zero) = (self.one(prim), self.zero(prim));
                let more = self.binary(BinaryOperator::Add, old, one);
                let wraps = self.unsigned_less(prim, old, operand);
                self.select(wraps, more, zero)
            }
            _ => {
                let (one, zero) = (self.one(prim), self.zero(prim));
                let less = self.binary(BinaryOperator::Subtract, old, one);
                let is_zero = self.binary(BinaryOperator::Equal, old, zero);
                let above = self.unsigned_less(prim, operand, old);
                let wraps = self.binary(BinaryOperator::LogicalOr, is_zero, above);
                self.select(wraps, operand, less)
            }
        }
    }

    fn unsigned_less(&mut self, prim: Prim, a: H, b: H) -> H {
        let a = self.as_word(a, prim, Prim::UInt);
        let b = self.as_word(b, prim, Prim::UInt);
        self.binary(BinaryOperator::Less, a, b)
    }

    /// Exchanges `seen` by `new`, leaves the loop if that succeeded, and stores the value seen otherwise.
    fn exchange_if(
        &mut self,
        pointer: H,
        word: Prim,
        seen: H,
        new: H,
        old: H,
        expected: Option<H>,
    ) -> Outcome<()> {
        let ty = self.module.generate_predeclared_type(
            PredeclaredType::AtomicCompareExchangeWeakResult(scalar(word)),
        );
        let result = self.add(Expression::AtomicResult {
            ty,
            comparison: true,
        });
        let fun = AtomicFunction::Exchange {
            compare: Some(seen),
        };
        self.push(Statement::Atomic {
            pointer,
            fun,
            value: new,
            result: Some(result),
        });
        let found = self.add(Expression::AccessIndex {
            base: result,
            index: 0,
        });
        let mut done = self.add(Expression::AccessIndex {
            base: result,
            index: 1,
        });
        self.store_pointer(old, found);
        if let Some(expected) = expected {
            // The exchange may fail though the values are equal.
            let differs = self.binary(BinaryOperator::NotEqual, found, expected);
            done = self.binary(BinaryOperator::LogicalOr, done, differs);
        }
        self.push(leave_if(done));
        Ok(())
    }

    fn compare_and_swap(
        &mut self,
        pointer: H,
        word: Prim,
        prim: Prim,
        compare: H,
        value: H,
    ) -> Outcome<H> {
        let compare = self.as_word(compare, prim, word);
        let value = self.as_word(value, prim, word);
        let ty = self.scalar_ty(word);
        let old = self.local("old", ty, None);
        let (body, ()) =
            self.block(|this| this.exchange_if(pointer, word, compare, value, old, Some(compare)))?;
        self.push(Statement::Loop {
            body,
            continuing: Block::new(),
            break_if: None,
        });
        let result = self.load_pointer(old);
        Ok(self.as_word(result, word, prim))
    }
}
