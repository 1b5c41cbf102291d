//! Factors of single precision, which matrix units take as TF32.
//!
//! With `g = lane / 4` and `t = lane % 4`, register `r` of a lane holds one element:
//!
//! | role | row | column |
//! |---|---|---|
//! | A | `g + 8 * (r % 2)` | `t + 4 * (r / 2)` |
//! | B | `t + 4 * (r % 2) + 8 * (r / 4)` | `g + 8 * (r / 2 % 2)` |
//!
//! So the registers of each half of the terms, of which a product sums eight, are neighbours.

use naga::{CooperativeRole, Expression, Handle};

use super::memory::Memory;
use crate::build::{Address, MatrixProduct, Operand, Ordering, PtxType, Space, Special};
use crate::lower::Lowering;
use crate::lower::frame::Frame;
use crate::lower::value::Value;
use crate::{Bounds, Result};

/// The first architecture with products of TF32.
const TF32_SM: u32 = 80;
/// Sign and exponent of a number of single precision.
const POWER: u32 = 0xff80_0000;
/// Half of a unit in the last place of TF32, for a number from 1 to 2.
const HALF_UNIT: f32 = 1.0 / 2048.0;
const N_REGISTERS: u32 = 8;

impl Lowering<'_> {
    /// Returns an error if factors may not be of single precision.
    pub(super) fn check_single_factor(&self) -> Result<()> {
        if !self.options.floats_as_tf32 {
            return Err(self.error(
                "a cooperative matrix of f32 as factor: use f16, or the option floats_as_tf32, which rounds",
            ));
        }
        if self.options.sm < TF32_SM {
            return Err(
                self.error("cooperative matrices of f32 as factors need compute capability 8.0")
            );
        }
        Ok(())
    }

    /// Returns the elements of a factor, rounded to TF32.
    pub(super) fn load_singles(
        &mut self,
        memory: &Memory,
        role: CooperativeRole,
        row_major: bool,
    ) -> Result<Vec<Operand>> {
        let is_along_k = (role == CooperativeRole::B) != row_major;
        let mut elements = Vec::with_capacity(N_REGISTERS as usize);
        if memory.at.address.space() == Space::Shared && is_along_k {
            for step in 0..2 {
                // Rows of four numbers: one for each of the four lanes that share a row of the factor.
                let address = self.row_address(memory, row_major, step)?;
                self.converge();
                let words = self.kernel.load_matrices(4, false, &address);
                elements.extend(words.into_iter().map(Operand::from));
            }
        } else {
            let addresses = self.addresses_of_singles(memory, role, row_major);
            let results: Vec<_> = addresses
                .iter()
                .map(|_| self.kernel.register(PtxType::F32))
                .collect();
            let end = self.skip_if_empty(memory, &results);
            for (&result, address) in results.iter().zip(&addresses) {
                let loaded = self.kernel.load(PtxType::F32, Ordering::Weak, address);
                self.kernel.assign(result, loaded);
            }
            self.kernel.land(end);
            elements.extend(results.into_iter().map(Operand::from));
        }
        Ok(elements
            .into_iter()
            .map(|element| self.rounded_to_tf32(element))
            .collect())
    }

    /// Stores the elements of a factor.
    pub(super) fn store_singles(
        &mut self,
        memory: &Memory,
        role: CooperativeRole,
        row_major: bool,
        elements: &[Operand],
    ) {
        let addresses = self.addresses_of_singles(memory, role, row_major);
        let end = self.skip_if_empty(memory, &[]);
        for (&element, address) in elements.iter().zip(&addresses) {
            self.kernel
                .store(PtxType::F32, Ordering::Weak, address, element);
        }
        self.kernel.land(end);
    }

    /// Returns `a * b + c`.
    pub(super) fn multiply_add_singles(
        &mut self,
        frame: &mut Frame<'_>,
        [a, b, c]: [Handle<Expression>; 3],
    ) -> Result<Value> {
        let (a, b) = (self.leaves_of(frame, a)?, self.leaves_of(frame, b)?);
        let mut sums = self.leaves_of(frame, c)?;
        let n = sums.len() / 2;
        self.converge();
        for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
            // The product has 8 columns: the left half of the result, then the right one.
            for (b, sum) in b.chunks_exact(2).zip(sums.chunks_exact_mut(n)) {
                let result = self
                    .kernel
                    .multiply_matrices(MatrixProduct::Tf32, a, b, sum);
                for (sum, result) in sum.iter_mut().zip(result) {
                    *sum = result.into();
                }
            }
        }
        Ok(Value::Leaves(sums))
    }

    /// Returns the addresses of a lane's elements, in the order of its registers.
    fn addresses_of_singles(
        &mut self,
        memory: &Memory,
        role: CooperativeRole,
        row_major: bool,
    ) -> Vec<Address> {
        let is_along_k = (role == CooperativeRole::B) != row_major;
        let lane = self.kernel.special(Special::Lane);
        let group = self.kernel.shr(lane, 2u32);
        let thread = self.kernel.and(lane, 3u32);
        let (slow, fast) = if is_along_k {
            (group, thread)
        } else {
            (thread, group)
        };
        let distance = self.kernel.mad(slow, memory.stride, fast);
        let first = self.sum(memory.first, distance.into());
        let places = (0..N_REGISTERS).map(|register| {
            let [term, line] = match role {
                CooperativeRole::B => [
                    4 * (register % 2) + 8 * (register / 4),
                    8 * (register / 2 % 2),
                ],
                _ => [4 * (register / 2), 8 * (register % 2)],
            };
            if is_along_k {
                (line, term)
            } else {
                (term, line)
            }
        });
        places
            .map(|(slow, fast)| {
                let rows = self.product(memory.stride, slow.into());
                let plus = self.sum(rows, fast.into());
                match plus.constant() {
                    // As part of the address, a constant is free.
                    Some(plus) if self.options.bounds == Bounds::Unchecked => {
                        self.scalar_address(memory, first, 1).plus(4 * plus as i64)
                    }
                    _ => {
                        let scalar = self.sum(first, plus);
                        self.scalar_address(memory, scalar, 1)
                    }
                }
            })
            .collect()
    }

    /// Rounds to nearest, ties away from zero, as far as matrix units see: they ignore the 13 low bits of what this returns. Half
    /// a unit in the last place is added, as a number, so that infinities and NaN stay what they are; an addition to the bits would turn
    /// some NaN into zero. Numbers below the normal ones are cut off instead.
    fn rounded_to_tf32(&mut self, x: Operand) -> Operand {
        let power = self.kernel.and(x.bitcast(PtxType::U32), POWER);
        let x = x.bitcast(PtxType::F32);
        let power = Operand::from(power).bitcast(PtxType::F32);
        self.kernel.mad(power, HALF_UNIT, x).into()
    }
}
