//! Barriers.

use naga::{Barrier, Block, Statement};

use super::Lowering;
use crate::Result;
use crate::build::{Comparison, Operand, PtxType};

impl Lowering<'_> {
    pub(super) fn control_barrier(&mut self, barrier: Barrier) -> Result<()> {
        if barrier.contains(Barrier::TEXTURE) {
            return Err(self.unsupported("a texture barrier"));
        }
        if barrier.intersects(Barrier::STORAGE | Barrier::WORK_GROUP) {
            self.workgroup_barrier();
        } else {
            let mask = self.warp_mask();
            self.kernel.warp_barrier(mask);
        }
        Ok(())
    }

    /// Returns true if a block, or a function that it calls, contains a barrier.
    pub(super) fn has_barrier(&self, block: &Block) -> bool {
        block.iter().any(|statement| match statement {
            Statement::ControlBarrier(_) | Statement::WorkGroupUniformLoad { .. } => true,
            Statement::Block(block) => self.has_barrier(block),
            Statement::If { accept, reject, .. } => {
                self.has_barrier(accept) || self.has_barrier(reject)
            }
            Statement::Switch { cases, .. } => {
                cases.iter().any(|case| self.has_barrier(&case.body))
            }
            Statement::Loop {
                body, continuing, ..
            } => self.has_barrier(body) || self.has_barrier(continuing),
            Statement::Call { function, .. } => self.facts[function.index()].has_barrier,
            _ => false,
        })
    }

    pub(super) fn memory_barrier(&mut self, barrier: Barrier) -> Result<()> {
        if barrier.contains(Barrier::TEXTURE) {
            return Err(self.unsupported("a texture barrier"));
        }
        self.kernel.workgroup_fence();
        Ok(())
    }

    /// Emits a workgroup barrier, after which all writes before it are visible. A workgroup of one warp uses the much cheaper
    /// warp barrier, which means the same there.
    pub(super) fn workgroup_barrier(&mut self) {
        if self.has_group_products {
            self.kernel.fence_products();
        }
        if self.n_invocations() <= 32 {
            let mask = self.warp_mask();
            self.kernel.warp_barrier(mask);
        } else {
            self.converge();
            self.kernel.barrier();
        }
    }

    /// Synchronises the warp if it may have diverged, for an instruction that all its invocations must execute together.
    pub(super) fn converge(&mut self) {
        if self.kernel.may_have_diverged() {
            let mask = self.warp_mask();
            self.kernel.warp_barrier(mask);
        }
    }

    /// Returns the mask of this warp's invocations, for an instruction at which they synchronise.
    pub(super) fn warp_mask(&mut self) -> Operand {
        let n = self.n_invocations();
        let rest = n % 32;
        let whole = self.kernel.whole_warp();
        if rest == 0 {
            return whole;
        }
        let of_last = (1u32 << rest) - 1;
        if n < 32 {
            return self.bitwise_and(whole, of_last.into());
        }
        let index = self.local_index();
        let is_last = self.kernel.compare(
            Comparison::Ge,
            index,
            Operand::integer(PtxType::U32, i64::from(n - rest)),
        );
        self.kernel.select(is_last, of_last, whole).into()
    }
}
