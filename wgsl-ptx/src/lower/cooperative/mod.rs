//! Cooperative matrices of 16 by 16 elements, spread over a warp as the operands of `mma.sync`.
//!
//! With `g = lane / 4` and `t = lane % 4`, word `w` of a lane holds two neighbouring halves:
//!
//! | role | rows | columns |
//! |---|---|---|
//! | A, and C of halves | `g + 8 * (w % 2)` | `2 * t + 8 * (w / 2)` and the next |
//! | B | `2 * t + 8 * (w % 2)` and the next | `g + 8 * (w / 2)` |
//!
//! C of single precision has the elements of the pairs of C in eight registers. Factors of single precision: see `singles`.
//!
//! naga has checked that control flow is uniform at all of these operations, so that a warp takes part as a whole.

mod elements;
mod memory;
mod singles;

use naga::{
    BinaryOperator, CooperativeData, CooperativeRole, CooperativeSize, Expression, Handle, Scalar,
    ScalarKind, TypeInner,
};

use super::Lowering;
use super::frame::Frame;
use super::value::Value;
use crate::Result;
use crate::build::{MatrixProduct, Operand, PairOperation, PtxType, Space};

/// First architectures with the products of depth 8 and 16.
const DEPTH_8_SM: u32 = 75;
const DEPTH_16_SM: u32 = 80;
const WARP: u32 = 32;

/// A supported matrix type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Matrix {
    role: CooperativeRole,
    /// Elements are halves, two in a register.
    is_half: bool,
}

impl Matrix {
    /// Returns number and type of the registers of a lane.
    pub(super) const fn registers(self) -> (usize, PtxType) {
        if self.is_half {
            (4, PtxType::U32)
        } else {
            (8, PtxType::F32)
        }
    }

    /// Returns true for a factor of single precision.
    fn is_single_factor(self) -> bool {
        !self.is_half && self.role != CooperativeRole::C
    }
}

impl Lowering<'_> {
    /// Returns the kind of a cooperative matrix; `None` for other types.
    pub(super) fn matrix(&self, ty: &TypeInner) -> Result<Option<Matrix>> {
        let TypeInner::CooperativeMatrix {
            columns,
            rows,
            scalar,
            role,
        } = *ty
        else {
            return Ok(None);
        };
        if (columns, rows) != (CooperativeSize::Sixteen, CooperativeSize::Sixteen) {
            return Err(self.unsupported("a cooperative matrix of other than 16x16 elements"));
        }
        let is_half = scalar
            == Scalar {
                kind: ScalarKind::Float,
                width: 2,
            };
        let matrix = Matrix { role, is_half };
        if matrix.is_single_factor() {
            self.check_single_factor()?;
        }
        if self.options.sm < DEPTH_8_SM {
            return Err(self.error("cooperative matrices need compute capability 7.5"));
        }
        if !self.n_invocations().is_multiple_of(WARP) {
            return Err(self.error(format_args!(
                "cooperative matrices need whole subgroups: make the workgroup's {} invocations a multiple of {WARP}",
                self.n_invocations()
            )));
        }
        Ok(Some(matrix))
    }

    fn matrix_of(&self, frame: &Frame<'_>, expression: Handle<Expression>) -> Result<Matrix> {
        let matrix = self.matrix(self.inner(frame.ty(expression)))?;
        matrix.ok_or_else(|| self.error("a value where a cooperative matrix is needed"))
    }

    /// Loads the matrix `result`.
    pub(super) fn load_matrix(
        &mut self,
        frame: &mut Frame<'_>,
        result: Handle<Expression>,
        data: &CooperativeData,
    ) -> Result<Value> {
        let matrix = self.matrix_of(frame, result)?;
        let memory = self.matrix_memory(frame, data, matrix)?;
        if matrix.is_single_factor() {
            let leaves = self.load_singles(&memory, matrix.role, data.row_major)?;
            return Ok(Value::Leaves(leaves));
        }
        if memory.at.address.space() == Space::Shared && matrix.is_half {
            let transposed = (matrix.role == CooperativeRole::B) == data.row_major;
            let address = self.row_address(&memory, data.row_major, 0)?;
            self.converge();
            let words = self.kernel.load_matrices(4, transposed, &address);
            return Ok(Value::Leaves(
                words.into_iter().map(Operand::from).collect(),
            ));
        }
        let (n, ty) = matrix.registers();
        let mut leaves = Vec::with_capacity(n);
        for word in 0..4 {
            let pair = self.pair(&memory, matrix.role, word, data.row_major);
            let [low, high] = self.load_pair(&memory, pair)?;
            if ty == PtxType::F32 {
                leaves.extend([low, high]);
            } else {
                leaves.push(self.kernel.pack(low, high).into());
            }
        }
        Ok(Value::Leaves(leaves))
    }

    /// Stores the matrix `target`.
    pub(super) fn store_matrix(
        &mut self,
        frame: &mut Frame<'_>,
        target: Handle<Expression>,
        data: &CooperativeData,
    ) -> Result<()> {
        let matrix = self.matrix_of(frame, target)?;
        let leaves = self.leaves_of(frame, target)?;
        let memory = self.matrix_memory(frame, data, matrix)?;
        if matrix.is_single_factor() {
            self.store_singles(&memory, matrix.role, data.row_major, &leaves);
            return Ok(());
        }
        for word in 0..4 {
            let pair = self.pair(&memory, matrix.role, word, data.row_major);
            let values = if matrix.is_half {
                self.kernel
                    .unpack(PtxType::F16, leaves[word as usize])
                    .map(Operand::from)
            } else {
                [leaves[2 * word as usize], leaves[2 * word as usize + 1]]
            };
            self.store_pair(&memory, pair, values);
        }
        Ok(())
    }

    /// Returns `a * b + c`.
    pub(super) fn multiply_add_matrices(
        &mut self,
        frame: &mut Frame<'_>,
        [a, b, c]: [Handle<Expression>; 3],
    ) -> Result<Value> {
        let is_half = self.matrix_of(frame, c)?.is_half;
        let factors = [self.matrix_of(frame, a)?, self.matrix_of(frame, b)?];
        if factors.iter().any(|factor| !factor.is_half) {
            if is_half || factors[0].is_half != factors[1].is_half {
                return Err(self.unsupported("a product of matrices of f16 and f32"));
            }
            return self.multiply_add_singles(frame, [a, b, c]);
        }
        let is_bfloat16 = self.options.halves_as_bfloat16;
        if is_bfloat16 && (is_half || self.options.sm < DEPTH_16_SM) {
            return Err(self.unsupported(
                "a product of matrices of bfloat16 with another sum than f32, or below sm_80",
            ));
        }
        let (a, b) = (self.leaves_of(frame, a)?, self.leaves_of(frame, b)?);
        let mut sums = self.leaves_of(frame, c)?;
        let n = sums.len() / 2;
        self.converge();
        // The product has 8 columns: the left half of the result, then the right one.
        for (half, sum) in sums.chunks_exact_mut(n).enumerate() {
            let b = &b[2 * half..2 * half + 2];
            let steps = if self.options.sm >= DEPTH_16_SM { 1 } else { 2 };
            for step in 0..steps {
                let (product, a, b) = match (steps, is_half) {
                    (1, false) if is_bfloat16 => (MatrixProduct::Bfloat16, &a[..], b),
                    (1, false) => (MatrixProduct::Half, &a[..], b),
                    (1, true) => (MatrixProduct::HalfToHalf, &a[..], b),
                    (_, false) => (
                        MatrixProduct::HalfDepth8,
                        &a[2 * step..][..2],
                        &b[step..][..1],
                    ),
                    (_, true) => (
                        MatrixProduct::HalfDepth8ToHalf,
                        &a[2 * step..][..2],
                        &b[step..][..1],
                    ),
                };
                let result = self.kernel.multiply_matrices(product, a, b, sum);
                for (sum, result) in sum.iter_mut().zip(result) {
                    *sum = result.into();
                }
            }
        }
        Ok(Value::Leaves(sums))
    }

    /// Returns the sum or difference of two matrices, or the product of a matrix and a scalar; `None` if no operand is a matrix.
    pub(super) fn binary_of_matrices(
        &mut self,
        frame: &mut Frame<'_>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Option<Value>> {
        let kinds = [
            self.matrix(self.inner(frame.ty(left)))?,
            self.matrix(self.inner(frame.ty(right)))?,
        ];
        let Some(matrix) = kinds[0].or(kinds[1]) else {
            return Ok(None);
        };
        if matrix.is_single_factor() {
            return Err(
                self.unsupported("arithmetic on cooperative matrices of f32 that are factors")
            );
        }
        let operation = match op {
            BinaryOperator::Add => PairOperation::Add,
            BinaryOperator::Subtract => PairOperation::Sub,
            BinaryOperator::Multiply => PairOperation::Mul,
            _ => return Err(self.unsupported("this operator on cooperative matrices")),
        };
        let mut operands = [self.leaves_of(frame, left)?, self.leaves_of(frame, right)?];
        let (n, _) = matrix.registers();
        for (leaves, kind) in operands.iter_mut().zip(kinds) {
            if kind.is_none()
                && let Some(&scalar) = leaves.first()
            {
                let scalar = if matrix.is_half {
                    self.kernel.pack(scalar, scalar).into()
                } else {
                    scalar
                };
                *leaves = vec![scalar; n];
            }
        }
        let [left, right] = operands;
        let mut results = Vec::with_capacity(n);
        for (a, b) in left.into_iter().zip(right) {
            results.push(if matrix.is_half {
                self.kernel.on_pairs(operation, a, b).into()
            } else {
                self.binary_scalar(op, a, b)?
            });
        }
        Ok(Some(Value::Leaves(results)))
    }
}
