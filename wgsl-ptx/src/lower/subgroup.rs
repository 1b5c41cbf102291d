//! Subgroup operations. A subgroup is a warp.
//!
//! In uniform control flow, which includes loops that a warp leaves together, all its invocations participate, in trees of
//! shuffles. In divergent control flow the active ones do, by a loop over them, one at a time.

use naga::{CollectiveOperation, Direction, Expression, GatherMode, Handle, SubgroupOperation};

use super::Lowering;
use super::frame::Frame;
use super::value::Value;
use crate::Result;
use crate::build::{Comparison, Operand, PtxType, Shuffle, Special, WarpReduction};

/// First architecture with warp reductions in one instruction.
pub(super) const REDUX_SM: u32 = 80;

impl Lowering<'_> {
    /// Returns the mask of participating invocations, and whether it is a whole warp.
    fn participants(&mut self) -> (Operand, bool) {
        if self.divergence > 0 || self.may_have_returned {
            return (self.kernel.active_mask().into(), false);
        }
        (self.warp_mask(), self.n_invocations().is_multiple_of(32))
    }

    pub(super) fn ballot(
        &mut self,
        frame: &mut Frame<'_>,
        result: Handle<Expression>,
        predicate: Option<Handle<Expression>>,
    ) -> Result<()> {
        let predicate = match predicate {
            Some(predicate) => self.scalar(frame, predicate)?,
            None => true.into(),
        };
        let (mask, _) = self.participants();
        let bits = self.kernel.ballot(predicate, mask).into();
        let zero = Operand::from(0u32);
        self.set(frame, result, Value::Leaves(vec![bits, zero, zero, zero]));
        Ok(())
    }

    pub(super) fn gather(
        &mut self,
        frame: &mut Frame<'_>,
        mode: GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let leaves = self.leaves_of(frame, argument)?;
        let (mask, _) = self.participants();
        let (shuffle, by) = match mode {
            GatherMode::BroadcastFirst => {
                let reversed = self.kernel.brev(mask);
                (Shuffle::Index, self.kernel.clz(reversed).into())
            }
            GatherMode::Broadcast(index) | GatherMode::Shuffle(index) => {
                (Shuffle::Index, self.lane_number(frame, index)?)
            }
            GatherMode::ShuffleDown(delta) => (Shuffle::Down, self.lane_number(frame, delta)?),
            GatherMode::ShuffleUp(delta) => (Shuffle::Up, self.lane_number(frame, delta)?),
            GatherMode::ShuffleXor(bits) => (Shuffle::Xor, self.lane_number(frame, bits)?),
            GatherMode::QuadBroadcast(index) => {
                let index = self.lane_number(frame, index)?;
                let lane = self.kernel.special(Special::Lane);
                let first = self.kernel.and(lane, !3u32);
                (Shuffle::Index, self.sum(first.into(), index))
            }
            GatherMode::QuadSwap(direction) => {
                let bits: u32 = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                (Shuffle::Xor, bits.into())
            }
        };
        let gathered = leaves
            .into_iter()
            .map(|leaf| self.shuffled(shuffle, leaf, by, mask));
        let gathered = gathered.collect();
        self.set(frame, result, Value::Leaves(gathered));
        Ok(())
    }

    fn lane_number(&mut self, frame: &mut Frame<'_>, index: Handle<Expression>) -> Result<Operand> {
        Ok(self.scalar(frame, index)?.bitcast(PtxType::U32))
    }

    /// Returns the value, of any size, of another invocation.
    fn shuffled(
        &mut self,
        shuffle: Shuffle,
        value: Operand,
        by: Operand,
        mask: Operand,
    ) -> Operand {
        let ty = value.ty();
        match ty.n_bits() {
            1 => {
                let word = self.selected(value, 1u32.into(), 0u32.into());
                let found = self.kernel.shuffle(shuffle, word, by, mask);
                self.kernel.compare(Comparison::Ne, found, 0u32).into()
            }
            16 => {
                let word = self.converted(value.bitcast(PtxType::U16), PtxType::U32);
                let found = self.kernel.shuffle(shuffle, word, by, mask);
                self.converted(found.into(), PtxType::U16).bitcast(ty)
            }
            32 => self.kernel.shuffle(shuffle, value, by, mask).into(),
            _ => {
                let bits = self.kernel.in_register(value.bitcast(PtxType::U64));
                let low = self.converted(bits, PtxType::U32);
                let high = self.kernel.shr(bits, 32u32);
                let high = self.converted(high.into(), PtxType::U32);
                let low = self.kernel.shuffle(shuffle, low, by, mask);
                let high = self.kernel.shuffle(shuffle, high, by, mask);
                let low = self.converted(low.into(), PtxType::U64);
                let high = self.converted(high.into(), PtxType::U64);
                let high = self.kernel.shl(high, 32u32);
                Operand::from(self.kernel.or(low, high)).bitcast(ty)
            }
        }
    }

    pub(super) fn collective(
        &mut self,
        frame: &mut Frame<'_>,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let leaves = self.leaves_of(frame, argument)?;
        let (mask, whole) = self.participants();
        let mut results = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            results.push(match (op, collective) {
                (SubgroupOperation::All, _) => self.kernel.vote_all(leaf, mask).into(),
                (SubgroupOperation::Any, _) => self.kernel.vote_any(leaf, mask).into(),
                (_, CollectiveOperation::Reduce) => self.reduced(op, leaf, mask, whole)?,
                (_, CollectiveOperation::InclusiveScan) => {
                    self.scanned(op, leaf, mask, whole, true)?
                }
                (_, CollectiveOperation::ExclusiveScan) => {
                    self.scanned(op, leaf, mask, whole, false)?
                }
            });
        }
        self.set(frame, result, Value::Leaves(results));
        Ok(())
    }

    fn reduced(
        &mut self,
        op: SubgroupOperation,
        value: Operand,
        mask: Operand,
        whole: bool,
    ) -> Result<Operand> {
        let reduction = match op {
            SubgroupOperation::Add => Some(WarpReduction::Add),
            SubgroupOperation::Min => Some(WarpReduction::Min),
            SubgroupOperation::Max => Some(WarpReduction::Max),
            SubgroupOperation::And => Some(WarpReduction::And),
            SubgroupOperation::Or => Some(WarpReduction::Or),
            SubgroupOperation::Xor => Some(WarpReduction::Xor),
            _ => None,
        };
        let fits = matches!(value.ty(), PtxType::U32 | PtxType::S32) && self.options.sm >= REDUX_SM;
        if let Some(reduction) = reduction.filter(|_| fits) {
            return Ok(self.kernel.reduce_warp(reduction, value, mask).into());
        }
        if !whole {
            return self.combine_serially(op, value, mask, None);
        }
        let mut total = value;
        for bits in [16u32, 8, 4, 2, 1] {
            let other = self.shuffled(Shuffle::Xor, total, bits.into(), mask);
            total = self.combined(op, total, other)?;
        }
        Ok(total)
    }

    fn scanned(
        &mut self,
        op: SubgroupOperation,
        value: Operand,
        mask: Operand,
        whole: bool,
        inclusive: bool,
    ) -> Result<Operand> {
        if !whole {
            let comparison = if inclusive {
                Comparison::Le
            } else {
                Comparison::Lt
            };
            return self.combine_serially(op, value, mask, Some(comparison));
        }
        let lane = self.kernel.special(Special::Lane);
        let mut total = value;
        for distance in [1u32, 2, 4, 8, 16] {
            let other = self.shuffled(Shuffle::Up, total, distance.into(), mask);
            let sum = self.combined(op, total, other)?;
            let has_other = self.kernel.compare(Comparison::Ge, lane, distance);
            total = self.selected(has_other.into(), sum, total);
        }
        if inclusive {
            return Ok(total);
        }
        let before = self.shuffled(Shuffle::Up, total, 1u32.into(), mask);
        let is_first = self.kernel.compare(Comparison::Eq, lane, 0u32);
        let neutral = self.neutral(op, value.ty())?;
        Ok(self.selected(is_first.into(), neutral, before))
    }

    /// Combines the values of the invocations in `mask` in order; only those with an index that compares so with the own one.
    fn combine_serially(
        &mut self,
        op: SubgroupOperation,
        value: Operand,
        mask: Operand,
        of: Option<Comparison>,
    ) -> Result<Operand> {
        let value = self.kernel.in_register(value);
        let neutral = self.neutral(op, value.ty())?;
        let total = self.kernel.copy(neutral);
        let left = self.kernel.copy(mask);
        let lane = self.kernel.special(Special::Lane);
        let begin = self.kernel.label();
        self.kernel.place(begin);
        let reversed = self.kernel.brev(left);
        let source = self.kernel.clz(reversed);
        let other = self.shuffled(Shuffle::Index, value, source.into(), mask);
        let sum = self.combined(op, total.into(), other)?;
        let counts = match of {
            Some(comparison) => self.kernel.compare(comparison, source, lane).into(),
            None => Operand::from(true),
        };
        let next = self.selected(counts, sum, total.into());
        self.kernel.assign(total, next);
        let rest = self.kernel.sub(left, 1u32);
        let rest = self.kernel.and(left, rest);
        self.kernel.assign(left, rest);
        let goes_on = self.kernel.compare(Comparison::Ne, left, 0u32);
        self.kernel.branch_if(goes_on, true, begin);
        Ok(total.into())
    }

    fn combined(&mut self, op: SubgroupOperation, a: Operand, b: Operand) -> Result<Operand> {
        Ok(match op {
            SubgroupOperation::Add => self.sum(a, b),
            SubgroupOperation::Mul if a.ty().is_float() => self.kernel.mul(a, b).into(),
            SubgroupOperation::Mul => self.product(a, b),
            SubgroupOperation::Min => self.smaller(a, b),
            SubgroupOperation::Max => self.larger(a, b),
            SubgroupOperation::And => self.bitwise_and(a, b),
            SubgroupOperation::Or => self.bitwise_or(a, b),
            SubgroupOperation::Xor => self.bitwise_xor(a, b),
            SubgroupOperation::All | SubgroupOperation::Any => {
                return Err(self.error("a vote as an operation on numbers"));
            }
        })
    }

    /// Returns the identity element of an operation.
    fn neutral(&self, op: SubgroupOperation, ty: PtxType) -> Result<Operand> {
        let infinity = |negative: bool| match ty {
            PtxType::F16 => Operand::Constant(ty, if negative { 0xfc00 } else { 0x7c00 }),
            PtxType::F32 if negative => f32::NEG_INFINITY.into(),
            PtxType::F32 => f32::INFINITY.into(),
            _ if negative => f64::NEG_INFINITY.into(),
            _ => f64::INFINITY.into(),
        };
        let one = match ty {
            PtxType::F16 => Operand::Constant(ty, 0x3c00),
            PtxType::F32 => 1f32.into(),
            PtxType::F64 => 1f64.into(),
            _ => Operand::integer(ty, 1),
        };
        let least = i64::MIN >> (64 - ty.n_bits());
        Ok(match op {
            SubgroupOperation::Add | SubgroupOperation::Or | SubgroupOperation::Xor => {
                Operand::Constant(ty, 0)
            }
            SubgroupOperation::Mul => one,
            SubgroupOperation::And => Operand::integer(ty, -1),
            SubgroupOperation::Min if ty.is_float() => infinity(false),
            SubgroupOperation::Max if ty.is_float() => infinity(true),
            SubgroupOperation::Min if ty.is_signed() => Operand::integer(ty, !least),
            SubgroupOperation::Min => Operand::integer(ty, -1),
            SubgroupOperation::Max if ty.is_signed() => Operand::integer(ty, least),
            SubgroupOperation::Max => Operand::integer(ty, 0),
            SubgroupOperation::All | SubgroupOperation::Any => {
                return Err(self.error("a vote as an operation on numbers"));
            }
        })
    }
}
