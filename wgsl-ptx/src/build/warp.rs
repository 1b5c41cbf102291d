//! Barriers, special registers and warp-level operations.

use super::kernel::PtxKernel;
use super::types::{Operand, PtxType, Register};

/// Source thread of a shuffle within the warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// The thread with this index (`idx`).
    Index,
    /// The thread this many before (`up`).
    Up,
    /// The thread this many after (`down`).
    Down,
    /// The thread whose index differs by this exclusive or (`bfly`).
    Xor,
}

/// A warp reduction in one instruction (`redux`), from `sm_80` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarpReduction {
    /// Sum.
    Add,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// A special register, read as a `U32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// Index of the thread in its workgroup, along x, y or z (0, 1, 2).
    Thread(u8),
    /// Index of the workgroup in the grid.
    Workgroup(u8),
    /// Number of workgroups in the grid.
    NumWorkgroups(u8),
    /// Number of threads in a workgroup.
    WorkgroupSize(u8),
    /// Index of the thread in its warp (lane).
    Lane,
}

impl PtxKernel {
    /// Reads a special register.
    pub fn special(&mut self, special: Special) -> Register {
        let (name, axis) = match special {
            Special::Thread(axis) => ("%tid", Some(axis)),
            Special::Workgroup(axis) => ("%ctaid", Some(axis)),
            Special::NumWorkgroups(axis) => ("%nctaid", Some(axis)),
            Special::WorkgroupSize(axis) => ("%ntid", Some(axis)),
            Special::Lane => ("%laneid", None),
        };
        let axis = match axis {
            None => "",
            Some(0) => ".x",
            Some(1) => ".y",
            Some(_) => ".z",
        };
        let d = self.register(PtxType::U32);
        self.push(format!("mov.u32 {d}, {name}{axis};"));
        d
    }

    /// Workgroup barrier: waits for all threads, and orders their accesses to global and shared memory.
    pub fn barrier(&mut self) {
        self.push("bar.sync 0;".to_owned());
    }

    /// Warp barrier: waits for the threads of the warp in `mask`, and orders their accesses to global and shared memory. For all
    /// threads, [`whole_warp`](Self::whole_warp) returns a mask that is right after divergence too; a constant one is not.
    pub fn warp_barrier(&mut self, mask: impl Into<Operand>) {
        let mask = mask.into();
        self.push(format!("bar.warp.sync {mask};"));
    }

    /// Memory fence at workgroup scope: orders accesses before and after it, without waiting.
    pub fn workgroup_fence(&mut self) {
        self.push("fence.acq_rel.cta;".to_owned());
    }

    /// Returns the mask of the active threads of the warp.
    pub fn active_mask(&mut self) -> Register {
        let d = self.register(PtxType::U32);
        self.push(format!("activemask.b32 {d};"));
        d
    }

    /// Shuffle: returns the 32-bit value of another thread of `mask`; the thread's own if there is no such thread.
    pub fn shuffle(
        &mut self,
        shuffle: Shuffle,
        value: impl Into<Operand>,
        by: impl Into<Operand>,
        mask: impl Into<Operand>,
    ) -> Register {
        let (mode, clamp) = match shuffle {
            Shuffle::Index => ("idx", 31),
            Shuffle::Up => ("up", 0),
            Shuffle::Down => ("down", 31),
            Shuffle::Xor => ("bfly", 31),
        };
        let value = self.in_register(value.into());
        self.require("shuffle", value.ty(), |ty| ty.n_bits() == 32);
        let mnemonic = format!("shfl.sync.{mode}.b32");
        let operands = [value, by.into(), Operand::from(clamp as u32), mask.into()];
        self.compute(value.ty(), &mnemonic, &operands)
    }

    /// Ballot: returns the mask of the threads of `mask` with a true predicate.
    pub fn ballot(&mut self, predicate: impl Into<Operand>, mask: impl Into<Operand>) -> Register {
        let predicate = self.in_register(predicate.into());
        self.require("ballot", predicate.ty(), |ty| ty == PtxType::Pred);
        self.compute(
            PtxType::U32,
            "vote.sync.ballot.b32",
            &[predicate, mask.into()],
        )
    }

    /// Returns true if the predicate is true in every thread of `mask`.
    pub fn vote_all(
        &mut self,
        predicate: impl Into<Operand>,
        mask: impl Into<Operand>,
    ) -> Register {
        let predicate = self.in_register(predicate.into());
        self.compute(
            PtxType::Pred,
            "vote.sync.all.pred",
            &[predicate, mask.into()],
        )
    }

    /// Returns true if the predicate is true in any thread of `mask`.
    pub fn vote_any(
        &mut self,
        predicate: impl Into<Operand>,
        mask: impl Into<Operand>,
    ) -> Register {
        let predicate = self.in_register(predicate.into());
        self.compute(
            PtxType::Pred,
            "vote.sync.any.pred",
            &[predicate, mask.into()],
        )
    }

    /// Match: returns the mask of the threads of `mask` whose 32-bit values are equal to the thread's own.
    pub fn match_any(&mut self, value: impl Into<Operand>, mask: impl Into<Operand>) -> Register {
        let value = self.in_register(value.into());
        self.require("match_any", value.ty(), |ty| ty.n_bits() == 32);
        self.compute(PtxType::U32, "match.any.sync.b32", &[value, mask.into()])
    }

    /// Reduces 32-bit integers over the threads of `mask`. Requires `sm_80`.
    pub fn reduce_warp(
        &mut self,
        reduction: WarpReduction,
        value: impl Into<Operand>,
        mask: impl Into<Operand>,
    ) -> Register {
        let value = self.in_register(value.into());
        self.require("reduce_warp", value.ty(), |ty| {
            matches!(ty, PtxType::U32 | PtxType::S32)
        });
        let (name, suffix) = match reduction {
            WarpReduction::Add => ("add", value.ty().suffix()),
            WarpReduction::Min => ("min", value.ty().suffix()),
            WarpReduction::Max => ("max", value.ty().suffix()),
            WarpReduction::And => ("and", "b32"),
            WarpReduction::Or => ("or", "b32"),
            WarpReduction::Xor => ("xor", "b32"),
        };
        self.compute(
            value.ty(),
            &format!("redux.sync.{name}.{suffix}"),
            &[value, mask.into()],
        )
    }
}
