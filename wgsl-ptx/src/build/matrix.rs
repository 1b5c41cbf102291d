//! Matrix units of tensor cores: loads of fragments, products of warps, arithmetic on pairs of halves.

use super::kernel::{PtxKernel, Space};
use super::memory::Address;
use super::types::{Operand, PtxType, Register};

/// Types and depth of a product of a warp (`mma.sync`): 16 rows, 8 columns, and a depth of 8 or 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixProduct {
    /// Halves, depth 8, single-precision sum. From `sm_75` on.
    HalfDepth8,
    /// Halves, depth 8, sum of halves. From `sm_75` on.
    HalfDepth8ToHalf,
    /// Halves, depth 16, single-precision sum. From `sm_80` on.
    Half,
    /// Halves, depth 16, sum of halves. From `sm_80` on.
    HalfToHalf,
    /// Numbers of type bfloat16, depth 16, single-precision sum. From `sm_80` on.
    Bfloat16,
    /// Numbers of type TF32 (single precision of which the low 13 bits are ignored), depth 8, single-precision sum. From
    /// `sm_80` on.
    Tf32,
}

impl MatrixProduct {
    const fn suffix(self) -> &'static str {
        match self {
            Self::HalfDepth8 => "m16n8k8.row.col.f32.f16.f16.f32",
            Self::HalfDepth8ToHalf => "m16n8k8.row.col.f16.f16.f16.f16",
            Self::Half => "m16n8k16.row.col.f32.f16.f16.f32",
            Self::HalfToHalf => "m16n8k16.row.col.f16.f16.f16.f16",
            Self::Bfloat16 => "m16n8k16.row.col.f32.bf16.bf16.f32",
            Self::Tf32 => "m16n8k8.row.col.f32.tf32.tf32.f32",
        }
    }

    /// Returns the registers of `a` and `b` per thread.
    const fn n_registers(self) -> [usize; 2] {
        match self {
            Self::HalfDepth8 | Self::HalfDepth8ToHalf => [2, 1],
            Self::Half | Self::HalfToHalf | Self::Bfloat16 | Self::Tf32 => [4, 2],
        }
    }

    /// Returns number and type of the registers of the sum per thread.
    const fn sum(self) -> (usize, PtxType) {
        match self {
            Self::HalfDepth8ToHalf | Self::HalfToHalf => (2, PtxType::U32),
            _ => (4, PtxType::F32),
        }
    }
}

/// An operation on two pairs of halves, each in a 32-bit register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PairOperation {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
}

impl PtxKernel {
    /// Loads `n` (1, 2 or 4) matrices of 8 rows of 16 bytes from shared memory (`ldmatrix`). Thread `8 * i + r` of the warp gives
    /// the address, a multiple of 16, of row `r` of matrix `i`. Thread `t` receives the two 16-bit elements `2 * (t % 4)` and the
    /// next of row `t / 4` of each matrix, or of that column if `transposed`. All threads of the warp take part.
    pub fn load_matrices(
        &mut self,
        n: usize,
        transposed: bool,
        address: &Address,
    ) -> Vec<Register> {
        if !matches!(n, 1 | 2 | 4) {
            self.fail(format!("a load of {n} matrices"));
        }
        if address.space() != Space::Shared {
            self.fail("a load of matrices from other than shared memory".to_owned());
        }
        let registers: Vec<Register> = (0..n).map(|_| self.register(PtxType::U32)).collect();
        let names: Vec<String> = registers.iter().map(Register::to_string).collect();
        let trans = if transposed { ".trans" } else { "" };
        self.push(format!(
            "ldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 {{{}}}, {address};",
            names.join(", ")
        ));
        registers
    }

    /// Returns `a * b + c` of matrices whose elements are spread over the registers of a warp (`mma.sync`, whose documentation
    /// has the positions). All threads of the warp take part.
    pub fn multiply_matrices(
        &mut self,
        product: MatrixProduct,
        a: &[Operand],
        b: &[Operand],
        c: &[Operand],
    ) -> Vec<Register> {
        let (n, ty) = product.sum();
        if [a.len(), b.len(), c.len()] != [product.n_registers()[0], product.n_registers()[1], n] {
            self.fail(format!(
                "{product:?} of {} and {} and {} registers",
                a.len(),
                b.len(),
                c.len()
            ));
        }
        let sums: Vec<Register> = (0..n).map(|_| self.register(ty)).collect();
        let mut lists = vec![
            sums.iter()
                .map(Register::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        ];
        for operands in [a, b, c] {
            let mut names = Vec::with_capacity(operands.len());
            for &operand in operands {
                self.require("multiply_matrices", operand.ty(), |ty| ty.n_bits() == 32);
                names.push(self.in_register(operand).to_string());
            }
            lists.push(names.join(", "));
        }
        self.push(format!(
            "mma.sync.aligned.{} {{{}}};",
            product.suffix(),
            lists.join("}, {")
        ));
        sums
    }

    /// Returns two 16-bit values in one 32-bit register, the first in its low half.
    pub fn pack(&mut self, low: impl Into<Operand>, high: impl Into<Operand>) -> Register {
        let (low, high) = (low.into(), high.into());
        for half in [low, high] {
            self.require("pack", half.ty(), |ty| ty.n_bits() == 16);
        }
        let (low, high) = (self.in_register(low), self.in_register(high));
        let d = self.register(PtxType::U32);
        self.push(format!("mov.b32 {d}, {{{low}, {high}}};"));
        d
    }

    /// Returns two numbers of single precision, rounded to halves or to bfloat16, in one 32-bit register, the first in its low half.
    /// From `sm_80` on.
    pub fn round_pair(
        &mut self,
        to_bfloat16: bool,
        low: impl Into<Operand>,
        high: impl Into<Operand>,
    ) -> Register {
        let pair = [high.into(), low.into()];
        for x in pair {
            self.require("round_pair", x.ty(), |ty| ty == PtxType::F32);
        }
        let mnemonic = if to_bfloat16 {
            "cvt.rn.bf16x2.f32"
        } else {
            "cvt.rn.f16x2.f32"
        };
        self.compute(PtxType::U32, mnemonic, &pair)
    }

    /// Returns the low and the high half of a 32-bit value, as values of a 16-bit type.
    pub fn unpack(&mut self, ty: PtxType, pair: impl Into<Operand>) -> [Register; 2] {
        let pair = pair.into();
        self.require("unpack", pair.ty(), |ty| ty.n_bits() == 32);
        self.require("unpack", ty, |ty| ty.n_bits() == 16);
        let pair = self.in_register(pair);
        let halves = [self.register(ty), self.register(ty)];
        self.push(format!("mov.b32 {{{}, {}}}, {pair};", halves[0], halves[1]));
        halves
    }

    /// Applies an operation to each of two halves (`f16x2`).
    pub fn on_pairs(
        &mut self,
        operation: PairOperation,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) -> Register {
        let (a, b) = (a.into(), b.into());
        for pair in [a, b] {
            self.require("on_pairs", pair.ty(), |ty| ty == PtxType::U32);
        }
        let (a, b) = (self.in_register(a), self.in_register(b));
        let mnemonic = match operation {
            PairOperation::Add => "add.rn.f16x2",
            PairOperation::Sub => "sub.rn.f16x2",
            PairOperation::Mul => "mul.rn.f16x2",
        };
        self.compute(PtxType::U32, mnemonic, &[a, b])
    }
}
