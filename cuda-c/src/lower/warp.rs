//! Warp functions: by subgroups of 32 where the device has them, else through memory of the block.

use naga::{
    BinaryOperator, CollectiveOperation, Expression, GatherMode, GlobalVariable, Handle, Literal,
    Statement, SubgroupOperation, TypeInner,
};

use super::Lowering;
use super::facts::LINEAR;
use super::level::Level;
use super::state::H;
use super::value::Value;
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{INT, Prim, Ty, UINT};

/// The source lane of a shuffle.
#[derive(Clone, Copy, PartialEq)]
enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

impl Lowering<'_> {
    pub(super) fn warp_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        if !super::scan::is_warp_function(name) {
            return Ok(None);
        }
        if !self.options.subgroups && (!self.f.control.is_uniform() || self.f.is_wrapped) {
            let control = self.f.control;
            return self.divergent(at, control, &format!("the control flow around {name}"));
        }
        let is_sync = name.ends_with("_sync");
        let (arguments, base) = match (is_sync, arguments) {
            (true, [_, rest @ ..]) => (rest, name.trim_end_matches("_sync")),
            (true, []) => return fault(at, format!("{name} lacks its arguments")),
            (false, all) => (all, name),
        };
        let level = Level::divergent(at);
        let value = match (base, arguments) {
            ("__shfl", [value, lane, width @ ..]) => {
                self.shuffle(Shuffle::Index, value, lane, width, at)?
            }
            ("__shfl_up", [value, lane, width @ ..]) => {
                self.shuffle(Shuffle::Up, value, lane, width, at)?
            }
            ("__shfl_down", [value, lane, width @ ..]) => {
                self.shuffle(Shuffle::Down, value, lane, width, at)?
            }
            ("__shfl_xor", [value, lane, width @ ..]) => {
                self.shuffle(Shuffle::Xor, value, lane, width, at)?
            }
            ("__ballot", [test]) => {
                let test = self.truth_of(test)?;
                Value::leaf(UINT, self.ballot(test)?, level)
            }
            ("__activemask", []) => {
                let test = self.bool(true);
                Value::leaf(UINT, self.ballot(test)?, level)
            }
            ("__any" | "__all", [test]) => {
                let mut test = self.truth_of(test)?;
                if base == "__all" {
                    test = self.not(test);
                }
                let ballot = self.ballot(test)?;
                let zero = self.u32(0);
                let op = if base == "__all" {
                    BinaryOperator::Equal
                } else {
                    BinaryOperator::NotEqual
                };
                let leaf = self.binary(op, ballot, zero);
                let leaf = self.convert_prim(leaf, Prim::Bool, Prim::Int);
                Value::leaf(INT, leaf, level)
            }
            (_, [value]) if base.starts_with("__reduce_") => self.reduce(base, value, at)?,
            _ => {
                return fault(
                    at,
                    format!(
                        "{name} with {} arguments is not supported; use __shfl_sync and __ballot_sync",
                        arguments.len()
                    ),
                );
            }
        };
        Ok(Some(value))
    }

    fn lane(&mut self) -> (H, H) {
        let linear = self.builtin(LINEAR);
        let mask = self.u32(31);
        let lane = self.binary(BinaryOperator::And, linear, mask);
        let mask = self.u32(!31);
        let first = self.binary(BinaryOperator::And, linear, mask);
        (lane, first)
    }

    fn shuffle(
        &mut self,
        kind: Shuffle,
        value: &Expr,
        by: &Expr,
        width: &[Expr],
        at: u32,
    ) -> Outcome<Value> {
        let value = self.expr(value)?;
        let value = self.promote(value);
        if let (Ty::Vector(Prim::Half, 2), Some(pair)) = (&value.ty, value.first()) {
            let word = self.packed(pair);
            let source = self.shuffle_source(kind, by, width, at)?;
            let word = self.exchange(word, Prim::UInt, source)?;
            let leaf = self.unpacked(word);
            return Ok(Value::leaf(value.ty, leaf, Level::divergent(at)));
        }
        let (Some(prim), Some(leaf)) = (value.ty.prim(), value.first()) else {
            return fault(at, "shuffles move numbers; move the members one by one");
        };
        let source = self.shuffle_source(kind, by, width, at)?;
        let moved = if prim == Prim::Half {
            Prim::Float
        } else {
            prim
        };
        let leaf = self.convert_prim(leaf, prim, moved);
        let leaf = if prim.size() == 8 {
            let [low, high] = self.halves(leaf, prim);
            let low = self.exchange(low, Prim::UInt, source)?;
            let high = self.exchange(high, Prim::UInt, source)?;
            self.joined(low, high, prim)
        } else {
            self.exchange(leaf, moved, source)?
        };
        let leaf = self.convert_prim(leaf, moved, prim);
        Ok(Value::leaf(Ty::Prim(prim), leaf, Level::divergent(at)))
    }

    fn shuffle_source(&mut self, kind: Shuffle, by: &Expr, width: &[Expr], at: u32) -> Outcome<H> {
        let by = self.scalar_argument(by, Prim::UInt)?;
        let width = match width {
            [] => Some(self.u32(32)),
            [width] => self.scalar_argument(width, Prim::UInt)?.first(),
            _ => return fault(at, "a shuffle takes at most four arguments"),
        };
        match (by.first(), width) {
            (Some(by), Some(width)) => Ok(self.source_lane(kind, by, width)),
            _ => fault(at, "the lane and the width of a shuffle are numbers"),
        }
    }

    /// Returns the lane that a shuffle reads.
    fn source_lane(&mut self, kind: Shuffle, by: H, width: H) -> H {
        let (lane, _) = self.lane();
        let one = self.u32(1);
        let low = self.binary(BinaryOperator::Subtract, width, one);
        let within = self.binary(BinaryOperator::And, lane, low);
        match kind {
            Shuffle::Index => {
                let high = self.unary(naga::UnaryOperator::BitwiseNot, low);
                let segment = self.binary(BinaryOperator::And, lane, high);
                let by = self.binary(BinaryOperator::And, by, low);
                self.binary(BinaryOperator::InclusiveOr, segment, by)
            }
            Shuffle::Up => {
                let source = self.binary(BinaryOperator::Subtract, lane, by);
                let outside = self.binary(BinaryOperator::Less, within, by);
                self.select(outside, lane, source)
            }
            Shuffle::Down => {
                let source = self.binary(BinaryOperator::Add, lane, by);
                let room = self.binary(BinaryOperator::Subtract, low, within);
                let outside = self.binary(BinaryOperator::Greater, by, room);
                self.select(outside, lane, source)
            }
            Shuffle::Xor => {
                let source = self.binary(BinaryOperator::ExclusiveOr, lane, by);
                let last = self.binary(BinaryOperator::InclusiveOr, lane, low);
                let outside = self.binary(BinaryOperator::Greater, source, last);
                self.select(outside, lane, source)
            }
        }
    }

    /// Returns the value of another lane of the warp.
    fn exchange(&mut self, leaf: H, prim: Prim, source: H) -> Outcome<H> {
        self.f.has_effect = true;
        if self.options.subgroups {
            let ty = self.scalar_ty(prim);
            // A constant argument would be typed by WGSL anew.
            let argument = self.opaque(leaf);
            let result = self.add(Expression::SubgroupOperationResult { ty });
            self.push(Statement::SubgroupGather {
                mode: GatherMode::Shuffle(source),
                argument,
                result,
            });
            return Ok(result);
        }
        let n_threads = self.n_threads();
        let variable = self.words_variable(n_threads);
        let base = self.add(Expression::GlobalVariable(variable));
        let (_, first) = self.lane();
        let linear = self.builtin(LINEAR);
        let word = match prim {
            Prim::Bool => self.convert_prim(leaf, Prim::Bool, Prim::UInt),
            _ if super::state::kind(prim) == naga::ScalarKind::Uint => leaf,
            _ => self.bitcast(leaf, Prim::UInt),
        };
        let own = self.access(base, linear);
        self.store_pointer(own, word);
        self.barrier();
        let index = self.binary(BinaryOperator::Add, first, source);
        let last = self.u32(n_threads - 1);
        let index = self.math(naga::MathFunction::Min, &[index, last]);
        let other = self.access(base, index);
        let word = self.load_pointer(other);
        self.barrier();
        Ok(match prim {
            Prim::Bool => self.convert_prim(word, Prim::UInt, Prim::Bool),
            _ if super::state::kind(prim) == naga::ScalarKind::Uint => word,
            _ => self.bitcast(word, prim),
        })
    }

    fn words_variable(&mut self, n_threads: u32) -> Handle<GlobalVariable> {
        if let Some(words) = self.scratch.words {
            return words;
        }
        let base = self.scalar_ty(Prim::UInt);
        let ty = self.array_ty(base, 4, n_threads);
        let words = self.workgroup("warp_words", ty);
        self.scratch.words = Some(words);
        words
    }

    /// Returns the lanes of the warp for which a condition holds, as bits.
    fn ballot(&mut self, test: H) -> Outcome<H> {
        self.f.has_effect = true;
        let test = match self.guards_hold(0) {
            Some((hold, _)) => self.binary(BinaryOperator::LogicalAnd, hold, test),
            None => test,
        };
        if self.options.subgroups {
            let predicate = self.opaque(test);
            let result = self.add(Expression::SubgroupBallotResult);
            self.push(Statement::SubgroupBallot {
                result,
                predicate: Some(predicate),
            });
            return Ok(self.add(Expression::AccessIndex {
                base: result,
                index: 0,
            }));
        }
        let n_warps = self.n_threads().div_ceil(32);
        let variable = match self.scratch.ballots {
            Some(ballots) => ballots,
            None => {
                let base = self.ty(TypeInner::Atomic(naga::Scalar::U32));
                let ty = self.array_ty(base, 4, n_warps);
                let ballots = self.workgroup("warp_ballots", ty);
                self.scratch.ballots = Some(ballots);
                ballots
            }
        };
        let base = self.add(Expression::GlobalVariable(variable));
        let (lane, first) = self.lane();
        let five = self.u32(5);
        let warp = self.shift(BinaryOperator::ShiftRight, first, five);
        let pointer = self.access(base, warp);
        let zero = self.u32(0);
        let is_first = self.binary(BinaryOperator::Equal, lane, zero);
        let (block, ()) = self.block(|this| {
            this.store_pointer(pointer, zero);
            Ok(())
        })?;
        self.push_if(is_first, block, naga::Block::new());
        self.barrier();
        let one = self.u32(1);
        let bit = self.shift(BinaryOperator::ShiftLeft, one, lane);
        let (block, ()) = self.block(|this| {
            this.push(Statement::Atomic {
                pointer,
                fun: naga::AtomicFunction::InclusiveOr,
                value: bit,
                result: None,
            });
            Ok(())
        })?;
        self.push_if(test, block, naga::Block::new());
        self.barrier();
        let bits = self.load_pointer(pointer);
        self.barrier();
        Ok(bits)
    }

    fn reduce(&mut self, name: &str, value: &Expr, at: u32) -> Outcome<Value> {
        let value = self.expr(value)?;
        let value = self.promote(value);
        let (Some(prim @ (Prim::Int | Prim::UInt)), Some(leaf)) = (value.ty.prim(), value.first())
        else {
            return fault(
                at,
                format!("{name}_sync reduces integers; use shuffles for floats"),
            );
        };
        let signed = prim == Prim::Int;
        let (operation, identity) = match name {
            "__reduce_add" => (SubgroupOperation::Add, 0),
            "__reduce_and" => (SubgroupOperation::And, -1),
            "__reduce_or" => (SubgroupOperation::Or, 0),
            "__reduce_xor" => (SubgroupOperation::Xor, 0),
            "__reduce_min" => (
                SubgroupOperation::Min,
                if signed { i32::MAX.into() } else { -1 },
            ),
            "__reduce_max" => (
                SubgroupOperation::Max,
                if signed { i32::MIN.into() } else { 0 },
            ),
            _ => return fault(at, format!("{name}_sync is not supported; use shuffles")),
        };
        let ty = Ty::Prim(prim);
        if self.options.subgroups {
            let result_ty = self.scalar_ty(prim);
            let argument = self.opaque(leaf);
            let result = self.add(Expression::SubgroupOperationResult { ty: result_ty });
            self.push(Statement::SubgroupCollectiveOperation {
                op: operation,
                collective_op: CollectiveOperation::Reduce,
                argument,
                result,
            });
            self.f.has_effect = true;
            return Ok(Value::leaf(ty, result, Level::divergent(at)));
        }
        // Threads that have left contribute the identity.
        let mut total = match self.guards_hold(0) {
            Some((hold, _)) => {
                let identity = self.literal(identity, prim);
                self.select(hold, leaf, identity)
            }
            None => leaf,
        };
        for step in [16, 8, 4, 2, 1] {
            let by = self.u32(step);
            let width = self.u32(32);
            let source = self.source_lane(Shuffle::Xor, by, width);
            let other = self.exchange(total, prim, source)?;
            let other = self.with_missing_lanes(other, source, identity, prim);
            total = match operation {
                SubgroupOperation::Add => self.binary(BinaryOperator::Add, total, other),
                SubgroupOperation::And => self.binary(BinaryOperator::And, total, other),
                SubgroupOperation::Or => self.binary(BinaryOperator::InclusiveOr, total, other),
                SubgroupOperation::Xor => self.binary(BinaryOperator::ExclusiveOr, total, other),
                SubgroupOperation::Min => self.math(naga::MathFunction::Min, &[total, other]),
                _ => self.math(naga::MathFunction::Max, &[total, other]),
            };
        }
        Ok(Value::leaf(ty, total, Level::divergent(at)))
    }

    /// Replaces what lanes beyond the end of the block hold.
    fn with_missing_lanes(&mut self, value: H, source: H, identity: i64, prim: Prim) -> H {
        let n_threads = self.n_threads();
        if n_threads.is_multiple_of(32) {
            return value;
        }
        let (_, first) = self.lane();
        let index = self.binary(BinaryOperator::Add, first, source);
        let count = self.add(Expression::Literal(Literal::U32(n_threads)));
        let exists = self.binary(BinaryOperator::Less, index, count);
        let identity = self.literal(identity, prim);
        self.select(exists, value, identity)
    }
}
