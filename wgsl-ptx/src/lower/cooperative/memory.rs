//! Loads and stores of cooperative matrices: addresses within the bounds of an array.

use naga::{
    BinaryOperator, CooperativeData, CooperativeRole, Expression, Handle, TypeInner, VectorSize,
};

use super::Matrix;
use crate::build::{
    Address, Comparison, Label, Operand, Ordering, PtxType, Register, Space, Special,
};
use crate::lower::Lowering;
use crate::lower::frame::Frame;
use crate::lower::place::{At, InMemory};
use crate::{Bounds, Result};

/// Bytes of a row of the matrices that `ldmatrix` loads.
const ROW_BYTES: u32 = 16;
/// A larger constant in an index may rely on wrap-around.
const MAX_PLUS: u64 = 1 << 20;

/// A rectangle of memory that a matrix is loaded from or stored to.
pub(super) struct Memory {
    pub(super) at: InMemory,
    /// Index of the first scalar.
    pub(super) first: Operand,
    /// Scalars from the start of a row (of a column, if columns are contiguous) to that of the next.
    pub(super) stride: Operand,
    /// Scalars of the array; `None` without bounds checks.
    pub(super) n_scalars: Option<Operand>,
    /// Scalars per element of the array, which are aligned to their size.
    per_element: u32,
    is_half: bool,
}

impl Lowering<'_> {
    /// Resolves pointer and stride. The pointer is an element of an array, by which accesses are bounded.
    pub(super) fn matrix_memory(
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

    /// Returns the address of the row that a lane gives to `ldmatrix`, 8 * `step` scalars further on.
    pub(super) fn row_address(
        &mut self,
        memory: &Memory,
        row_major: bool,
        step: u32,
    ) -> Result<Address> {
        let scalar_bytes = Self::scalar_type(memory).n_bits() / 8;
        let lane = self.kernel.special(Special::Lane);
        // Lane 8 * i + r has row r of word i's matrix, which begins at row 8 * (i % 2) and column 8 * (i / 2), or 4 * (i / 2) of single
        // precision; where columns are contiguous, they are the rows in memory.
        let high = self.kernel.and(lane, 16u32);
        let high = self.kernel.shr(high, 1u32);
        let (row, column) = if row_major {
            (self.kernel.and(lane, 15u32), high)
        } else {
            let row = self.kernel.and(lane, 7u32);
            (self.kernel.add(row, high), self.kernel.and(lane, 8u32))
        };
        let column = if memory.is_half {
            column
        } else {
            self.kernel.shr(column, 1u32)
        };
        let distance = self.kernel.mad(row, memory.stride, column);
        let scalar = self.sum(memory.first, distance.into());
        let Some(n_scalars) = memory.n_scalars else {
            let bytes = self.product(scalar, scalar_bytes.into());
            let address = self.kernel.indexed(&memory.at.address, bytes, 1);
            return Ok(address.plus(i64::from(8 * step * scalar_bytes)));
        };
        let scalar = self.sum(scalar, (8 * step).into());
        let bytes = self.product(scalar, scalar_bytes.into());
        let n_bytes = n_scalars
            .constant()
            .map_or(0, |n| n.saturating_mul(scalar_bytes.into()));
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
    pub(super) fn pair(
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
    pub(super) fn scalar_address(&mut self, memory: &Memory, scalar: Operand, n: u32) -> Address {
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

    pub(super) fn load_pair(
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

    pub(super) fn store_pair(
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
    pub(super) fn skip_if_empty(&mut self, memory: &Memory, results: &[Register]) -> Label {
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
        self.kernel.branch_together_if(exists, false, end);
        end
    }
}
