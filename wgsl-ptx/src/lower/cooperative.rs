//! Cooperative matrices of 16 by 16 elements, spread over a warp as the operands of `mma.sync`.
//!
//! With `g = lane / 4` and `t = lane % 4`, word `w` of a lane holds two neighbouring halves:
//!
//! | role | rows | columns |
//! |---|---|---|
//! | A, and C of halves | `g + 8 * (w % 2)` | `2 * t + 8 * (w / 2)` and the next |
//! | B | `2 * t + 8 * (w % 2)` and the next | `g + 8 * (w / 2)` |
//!
//! C of single precision has the elements of the pairs of C in eight registers.
//!
//! naga has checked that control flow is uniform at all of these operations, so that a warp takes part as a whole.

use naga::{
    BinaryOperator, CooperativeData, CooperativeRole, CooperativeSize, Expression, Handle, Scalar,
    ScalarKind, TypeInner, VectorSize,
};

use super::Lowering;
use super::frame::Frame;
use super::place::{At, InMemory};
use super::value::Value;
use crate::build::{
    Address, Comparison, Label, MatrixProduct, Operand, Ordering, PairOperation, PtxType, Register,
    Space, Special,
};
use crate::{Bounds, Result};

/// First architectures with the products of depth 8 and 16.
const DEPTH_8_SM: u32 = 75;
const DEPTH_16_SM: u32 = 80;
/// Bytes of a row of the matrices that `ldmatrix` loads.
const ROW_BYTES: u32 = 16;
const WARP: u32 = 32;
/// A larger constant in an index may rely on wrap-around.
const MAX_PLUS: u64 = 1 << 20;

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
}

/// A rectangle of memory that a matrix is loaded from or stored to.
struct Memory {
    at: InMemory,
    /// Index of the first scalar.
    first: Operand,
    /// Scalars from the start of a row (of a column, if columns are contiguous) to that of the next.
    stride: Operand,
    /// Scalars of the array; `None` without bounds checks.
    n_scalars: Option<Operand>,
    /// Scalars per element of the array, which are aligned to their size.
    per_element: u32,
    is_half: bool,
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
        if !is_half && role != CooperativeRole::C {
            return Err(self.unsupported("a cooperative matrix of f32 as factor: use f16"));
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
        Ok(Some(Matrix { role, is_half }))
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
        if memory.at.address.space() == Space::Shared && matrix.is_half {
            let transposed = (matrix.role == CooperativeRole::B) == data.row_major;
            let address = self.row_address(&memory, data.row_major)?;
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
        for factor in [a, b] {
            self.matrix_of(frame, factor)?;
        }
        let (a, b) = (self.leaves_of(frame, a)?, self.leaves_of(frame, b)?);
        let mut sums = self.leaves_of(frame, c)?;
        let n = sums.len() / 2;
        // The product has 8 columns: the left half of the result, then the right one.
        for (half, sum) in sums.chunks_exact_mut(n).enumerate() {
            let b = &b[2 * half..2 * half + 2];
            let steps = if self.options.sm >= DEPTH_16_SM { 1 } else { 2 };
            for step in 0..steps {
                let (product, a, b) = match (steps, is_half) {
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

    /// Resolves pointer and stride. The pointer is an element of an array, by which accesses are bounded.
    fn matrix_memory(
        &mut self,
        frame: &mut Frame<'_>,
        data: &CooperativeData,
        matrix: Matrix,
    ) -> Result<Memory> {
        let (base, index, plus) = match frame.function.expressions[data.pointer] {
            Expression::Access { base, index } => {
                let (index, plus) = self.index_of_matrix(frame, index)?;
                (base, index, plus)
            }
            Expression::AccessIndex { base, index } => (base, Operand::from(index), 0),
            _ => {
                return Err(
                    self.unsupported("a cooperative matrix from other than an element of an array")
                );
            }
        };
        let array = self.place_of(frame, base)?;
        let elements = match self.inner(&array.ty) {
            TypeInner::Array { .. } => self.elements(&array.ty)?,
            _ => {
                return Err(
                    self.unsupported("a cooperative matrix from other than an element of an array")
                );
            }
        };
        let per_element = match *self.inner(&elements.ty) {
            TypeInner::Scalar(_) => 1,
            TypeInner::Vector {
                size: VectorSize::Bi,
                ..
            } => 2,
            TypeInner::Vector {
                size: VectorSize::Quad,
                ..
            } => 4,
            _ => return Err(self.unsupported("a cooperative matrix in an array of this type")),
        };
        let At::Memory(mut at) = array.at else {
            return Err(self.unsupported("a cooperative matrix in a variable of one invocation"));
        };
        if !matches!(
            at.address.space(),
            Space::Shared | Space::Global | Space::GlobalReadOnly
        ) {
            return Err(self.unsupported("a cooperative matrix in a variable of one invocation"));
        }
        at.address = at.address.plus(plus * i64::from(elements.stride));
        let count = match (self.options.bounds, elements.count, at.buffer) {
            (Bounds::Unchecked, ..) => None,
            (_, Some(count), _) => Some(Operand::from(count)),
            (_, None, Some(buffer)) => Some(self.count_elements(buffer, elements.stride).into()),
            (_, None, None) => return Err(self.error("an array without size outside of a buffer")),
        };
        let stride = self.scalar(frame, data.stride)?.bitcast(PtxType::U32);
        Ok(Memory {
            at,
            first: self.product(index.bitcast(PtxType::U32), per_element.into()),
            stride: self.product(stride, per_element.into()),
            // The scalars of more than 16 GiB are not counted beyond.
            n_scalars: count.map(|count| {
                let most = self.minimum(count, (u32::MAX / per_element).into());
                self.product(most, per_element.into())
            }),
            per_element,
            is_half: matrix.is_half,
        })
    }

    /// Returns the index of a matrix, and, without bounds checks, a constant to add to it: as part of the address it is free.
    fn index_of_matrix(
        &mut self,
        frame: &mut Frame<'_>,
        index: Handle<Expression>,
    ) -> Result<(Operand, i64)> {
        if self.options.bounds == Bounds::Unchecked
            && let Expression::Binary {
                op: BinaryOperator::Add,
                left,
                right,
            } = frame.function.expressions[index]
        {
            let (left, right) = (self.scalar(frame, left)?, self.scalar(frame, right)?);
            if let Some(plus) = right.constant().filter(|&plus| plus < MAX_PLUS) {
                return Ok((left, plus as i64));
            }
        }
        Ok((self.scalar(frame, index)?, 0))
    }

    /// Returns the address of the row that a lane gives to `ldmatrix`.
    fn row_address(&mut self, memory: &Memory, row_major: bool) -> Result<Address> {
        let lane = self.kernel.special(Special::Lane);
        // Lane 8 * i + r has row r of word i's matrix, which begins at row 8 * (i % 2) and column 8 * (i / 2); where columns are
        // contiguous, they are the rows in memory.
        let high = self.kernel.and(lane, 16u32);
        let high = self.kernel.shr(high, 1u32);
        let (row, column) = if row_major {
            (self.kernel.and(lane, 15u32), high)
        } else {
            let row = self.kernel.and(lane, 7u32);
            (self.kernel.add(row, high), self.kernel.and(lane, 8u32))
        };
        let distance = self.kernel.mad(row, memory.stride, column);
        let scalar = self.sum(memory.first, distance.into());
        let bytes = self.product(scalar, 2u32.into());
        let Some(n_scalars) = memory.n_scalars else {
            return Ok(self.kernel.indexed(&memory.at.address, bytes, 1));
        };
        let n_bytes = n_scalars.constant().map_or(0, |n| n.saturating_mul(2));
        let Some(last) = n_bytes.checked_sub(u64::from(ROW_BYTES)) else {
            return Err(self.error("a cooperative matrix in an array that is shorter than a row"));
        };
        let last = Operand::from(u32::try_from(last).unwrap_or(u32::MAX));
        let bytes = self.minimum(bytes, last);
        let address = self.kernel.indexed(&memory.at.address, bytes, 1);
        let address = self.kernel.address_of(&address);
        // A row that is not aligned would stop the device.
        let aligned = self.kernel.and(address, !(ROW_BYTES - 1));
        Ok(Address::new(Space::Shared, aligned))
    }

    /// Returns the indices of the two scalars of word `word`, and whether they are neighbours in memory.
    fn pair(
        &mut self,
        memory: &Memory,
        role: CooperativeRole,
        word: u32,
        row_major: bool,
    ) -> ([Operand; 2], bool) {
        let lane = self.kernel.special(Special::Lane);
        let group = self.kernel.shr(lane, 2u32);
        let thread = self.kernel.and(lane, 3u32);
        let pair = self.kernel.shl(thread, 1u32);
        // The coordinate in which the elements differ, and the other one.
        let (along, across) = if role == CooperativeRole::B {
            (8 * (word % 2), 8 * (word / 2))
        } else {
            (8 * (word / 2), 8 * (word % 2))
        };
        let (along, across) = (
            self.sum(pair.into(), along.into()),
            self.sum(group.into(), across.into()),
        );
        let is_contiguous = (role == CooperativeRole::B) != row_major;
        let (slow, fast, step) = if is_contiguous {
            (across, along, Operand::from(1u32))
        } else {
            (along, across, memory.stride)
        };
        let distance = self.kernel.mad(slow, memory.stride, fast);
        let first = self.sum(memory.first, distance.into());
        ([first, self.sum(first, step)], is_contiguous)
    }

    /// Returns the scalar type in memory.
    const fn scalar_type(memory: &Memory) -> PtxType {
        if memory.is_half {
            PtxType::F16
        } else {
            PtxType::F32
        }
    }

    /// Returns the address of a scalar; for `n` of them, of the first.
    fn scalar_address(&mut self, memory: &Memory, scalar: Operand, n: u32) -> Address {
        let mut scalar = scalar;
        if let Some(n_scalars) = memory.n_scalars {
            let enough = self.larger(n_scalars, n.into());
            let last = self.difference(enough, n.into());
            scalar = self.minimum(scalar, last);
        }
        let stride = Self::scalar_type(memory).n_bits() / 8;
        self.kernel.indexed(&memory.at.address, scalar, stride)
    }

    /// Returns true if a pair is one aligned access: scalars of vectors whose indices are even.
    const fn is_one_access(memory: &Memory, is_contiguous: bool) -> bool {
        is_contiguous && memory.per_element > 1
    }

    fn load_pair(
        &mut self,
        memory: &Memory,
        (scalars, is_contiguous): ([Operand; 2], bool),
    ) -> Result<[Operand; 2]> {
        let ty = Self::scalar_type(memory);
        let results = [self.kernel.register(ty), self.kernel.register(ty)];
        let end = self.skip_if_empty(memory, &results);
        if Self::is_one_access(memory, is_contiguous) {
            let address = self.scalar_address(memory, scalars[0], 2);
            let loaded = self.kernel.load_vector(ty, 2, &address);
            for (&result, loaded) in results.iter().zip(loaded) {
                self.kernel.assign(result, loaded);
            }
        } else {
            for (&result, scalar) in results.iter().zip(scalars) {
                let address = self.scalar_address(memory, scalar, 1);
                let loaded = self.kernel.load(ty, Ordering::Weak, &address);
                self.kernel.assign(result, loaded);
            }
        }
        self.kernel.land(end);
        Ok(results.map(Operand::from))
    }

    fn store_pair(
        &mut self,
        memory: &Memory,
        (scalars, is_contiguous): ([Operand; 2], bool),
        values: [Operand; 2],
    ) {
        let ty = Self::scalar_type(memory);
        let end = self.skip_if_empty(memory, &[]);
        if Self::is_one_access(memory, is_contiguous) {
            let address = self.scalar_address(memory, scalars[0], 2);
            self.kernel.store_vector(ty, &address, &values);
        } else {
            for (value, scalar) in values.into_iter().zip(scalars) {
                let address = self.scalar_address(memory, scalar, 1);
                self.kernel.store(ty, Ordering::Weak, &address, value);
            }
        }
        self.kernel.land(end);
    }

    /// Branches over an access to an empty array to the returned label, after it has cleared its `results`.
    fn skip_if_empty(&mut self, memory: &Memory, results: &[Register]) -> Label {
        let end = self.kernel.label();
        let Some(n_scalars) = memory.n_scalars else {
            return end;
        };
        if n_scalars.constant().is_some_and(|n| n > 0) {
            return end;
        }
        for &result in results {
            self.kernel
                .assign(result, Operand::Constant(result.ty(), 0));
        }
        let exists = self.kernel.compare(Comparison::Ne, n_scalars, 0u32);
        self.kernel.branch_if(exists, false, end);
        end
    }
}
