//! Barriers, and votes of a block.

use naga::{BinaryOperator, Block, Expression, GlobalVariable, Handle, Statement};

use super::Lowering;
use super::level::Level;
use super::state::H;
use super::value::{Data, Value};
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{BOOL, INT, Prim, Ty};

pub(super) fn nothing() -> Value {
    Value {
        ty: Ty::Void,
        data: Data::Leaves(Vec::new()),
        level: Level::UNIFORM,
    }
}

impl Lowering<'_> {
    pub(super) fn n_threads(&self) -> u32 {
        self.options.block.iter().product()
    }

    /// Returns the variable of the block through which threads agree on a condition.
    pub(super) fn vote_variable(&mut self) -> Handle<GlobalVariable> {
        if let Some(vote) = self.scratch.vote {
            return vote;
        }
        let ty = self.scalar_ty(Prim::UInt);
        let vote = self.workgroup("vote", ty);
        self.scratch.vote = Some(vote);
        vote
    }

    fn refuse_divergence(&self, name: &str, at: u32) -> Outcome<()> {
        if self.f.control.is_uniform() && !self.f.is_wrapped {
            return Ok(());
        }
        let control = self.f.control;
        self.divergent(at, control, &format!("the control flow around {name}"))
    }

    pub(super) fn sync_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        match name {
            "__syncthreads" | "__syncwarp" => {
                self.refuse_divergence(name, at)?;
                // CUDA's barrier orders buffers, too.
                let mut memory = naga::Barrier::WORK_GROUP;
                if self.facts.exchanges_by_buffers() {
                    memory |= naga::Barrier::STORAGE;
                }
                self.f.has_effect = true;
                self.push(Statement::ControlBarrier(memory));
                Ok(Some(nothing()))
            }
            "__threadfence" | "__threadfence_block" | "__threadfence_system" => {
                self.note(at, "WGSL has no memory fence without a barrier: the fence does not order writes for other blocks");
                Ok(Some(nothing()))
            }
            "__syncthreads_or" | "__syncthreads_and" | "__syncthreads_count" => {
                self.refuse_divergence(name, at)?;
                let [argument] = arguments else {
                    return fault(at, format!("{name} takes one condition"));
                };
                let value = self.expr(argument)?;
                let value = self.truth(value, at)?;
                let Some(test) = value.first() else {
                    return fault(at, format!("{name} takes a number"));
                };
                let leaf = match name {
                    "__syncthreads_or" => {
                        let any = self.any(test)?;
                        self.convert_prim(any, Prim::Bool, Prim::Int)
                    }
                    "__syncthreads_and" => {
                        let fails = self.not(test);
                        let any = self.any(fails)?;
                        let all = self.not(any);
                        self.convert_prim(all, Prim::Bool, Prim::Int)
                    }
                    _ => self.count(test)?,
                };
                // The count is read from memory, not by `workgroupUniformLoad`.
                let level = if name == "__syncthreads_count" {
                    Level::memory(at)
                } else {
                    Level::UNIFORM
                };
                Ok(Some(Value::leaf(INT, leaf, level)))
            }
            _ => Ok(None),
        }
    }

    /// Counts the threads for which a condition holds.
    fn count(&mut self, test: H) -> Outcome<H> {
        let test = match self.guards_hold(0) {
            Some((hold, _)) => self.binary(BinaryOperator::LogicalAnd, hold, test),
            None => test,
        };
        let variable = match self.scratch.count {
            Some(variable) => variable,
            None => {
                let ty = self.ty(naga::TypeInner::Atomic(naga::Scalar::U32));
                let variable = self.workgroup("count", ty);
                self.scratch.count = Some(variable);
                variable
            }
        };
        let pointer = self.add(Expression::GlobalVariable(variable));
        self.clear_together(pointer)?;
        let one = self.u32(1);
        let (block, ()) = self.block(|this| {
            this.push(Statement::Atomic {
                pointer,
                fun: naga::AtomicFunction::Add,
                value: one,
                result: None,
            });
            Ok(())
        })?;
        self.push_if(test, block, Block::new());
        self.barrier();
        let count = self.load_pointer(pointer);
        let count = self.convert_prim(count, Prim::UInt, Prim::Int);
        Ok(count)
    }

    pub(super) fn truth_of(&mut self, argument: &Expr) -> Outcome<H> {
        let value = self.expr(argument)?;
        let value = self.convert(value, &BOOL, argument.at)?;
        match value.first() {
            Some(leaf) => Ok(leaf),
            None => fault(argument.at, "a condition is a number"),
        }
    }
}
