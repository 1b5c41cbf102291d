//! Convergence: whether the threads of a warp execute together.
//!
//! The assembler takes the mask of all threads as a promise that they have converged, and then assumes it of the control flow
//! before: it omits the instruction that would wait for them (`WARPSYNC`). Where nested loops and conditions are left early,
//! however, threads do not always converge: on an H100, 5 % of random programs gave wrong results, because a barrier or a reduction
//! included only some threads of the warp. So each synchronisation after a branch takes the mask from a register whose value the
//! assembler does not know. Until the next branch, the threads stay together, and the constant mask is right.

use std::fmt::Write;

use super::kernel::PtxKernel;
use super::types::{Operand, PtxType, Register};

/// Convergence of a warp at the end of a kernel's lines so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Convergence {
    /// True if threads may have diverged since they last synchronised.
    pub(super) is_lost: bool,
    /// The mask of all threads, and a register to compute it, if it is used.
    whole_warp: Option<[Register; 2]>,
}

impl PtxKernel {
    /// Returns the mask of all threads of the warp, for an instruction at which they synchronise: an unknown one if they may
    /// have diverged, and a constant if not.
    pub fn whole_warp(&mut self) -> Operand {
        if !self.convergence.is_lost {
            return u32::MAX.into();
        }
        self.convergence.is_lost = false;
        let registers = match self.convergence.whole_warp {
            Some(registers) => registers,
            None => [self.register(PtxType::U32), self.register(PtxType::U32)],
        };
        self.convergence.whole_warp = Some(registers);
        registers[0].into()
    }

    /// Returns true if threads may have diverged since they last synchronised.
    #[must_use]
    pub const fn may_have_diverged(&self) -> bool {
        self.convergence.is_lost
    }

    /// Overrides [`may_have_diverged`](Self::may_have_diverged), for control flow whose convergence does not follow from the order
    /// of the instructions.
    pub const fn set_may_have_diverged(&mut self, may_have_diverged: bool) {
        self.convergence.is_lost = may_have_diverged;
    }

    /// Appends the computation of the mask of all threads: those up to this thread, and those after it.
    pub(super) fn write_whole_warp(&self, text: &mut String) {
        let Some([mask, after]) = self.convergence.whole_warp else {
            return;
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "    mov.u32 {mask}, %lanemask_le;");
        let _ = writeln!(text, "    mov.u32 {after}, %lanemask_gt;");
        let _ = writeln!(text, "    or.b32 {mask}, {mask}, {after};");
    }
}
