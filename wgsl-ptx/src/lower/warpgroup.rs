//! Lowers the intrinsics of products of warpgroups.

use naga::AddressSpace;

use super::Lowering;
use super::place::At;
use super::value::Value;
use crate::build::{Address, GroupProduct};
use crate::intrinsics::Intrinsic;
use crate::{Bounds, Result};

/// The only architecture with products of warpgroups, and the invocations of a warpgroup.
const GROUPS_SM: u32 = 90;
const GROUP: u32 = 128;
/// Calls have 64 terms, in products of 16.
const PRODUCTS: u32 = 4;
/// Bytes of a block of eight lines, and of eight blocks.
const BLOCK: u32 = 1024;
const BLOCKS: u32 = 8 * BLOCK;
/// Blocks begin at such multiples.
pub(super) const BLOCK_ALIGN: u32 = BLOCK;
/// Bytes of an element of `sh_staged`.
const ELEMENT: u32 = 8;

impl Lowering<'_> {
    /// Returns true if products of staged factors become products of warpgroups.
    pub(super) fn can_multiply_in_groups(&self) -> bool {
        self.options.is_exact
            && self.options.sm == GROUPS_SM
            && self.options.bounds == Bounds::Unchecked
            && self.n_invocations().is_multiple_of(GROUP)
    }

    /// Returns true if the source has products of warpgroups.
    pub(super) fn multiplies_in_groups(&self) -> bool {
        let functions = &self.module.functions;
        functions
            .iter()
            .any(|(handle, _)| self.intrinsic_of(handle) == Some(Intrinsic::MultiplyStaged))
    }

    /// Lowers `multiply_staged`; returns `None` if an argument is no constant or the sums are not in registers.
    pub(super) fn multiply_staged(&mut self, arguments: &[Value]) -> Result<Option<Value>> {
        let [
            Value::Pointer(sums),
            Value::Leaves(at_a),
            Value::Leaves(at_b),
            _,
            Value::Leaves(n_columns),
            Value::Leaves(a_by_k),
            Value::Leaves(b_by_k),
        ] = arguments
        else {
            return Ok(None);
        };
        let constants = [n_columns, a_by_k, b_by_k].map(|leaves| leaves[0].constant());
        let [Some(n_columns), Some(a_by_k), Some(b_by_k)] = constants else {
            return Ok(None);
        };
        let At::Registers {
            variable,
            leaf,
            choices,
        } = &sums.at
        else {
            return Ok(None);
        };
        let Some(staged) = self.staged().filter(|_| choices.is_empty()) else {
            return Ok(None);
        };
        let sums = self.registers_of(*variable, *leaf, n_columns as usize / 2)?;
        let a = self.kernel.indexed(&staged, at_a[0], ELEMENT);
        let b = self.kernel.indexed(&staged, at_b[0], ELEMENT);
        let product = if self.options.halves_as_bfloat16 {
            GroupProduct::Bfloat16
        } else {
            GroupProduct::Half
        };
        // 16 terms are 32 bytes of a line, or two blocks of lines.
        let [a, b] = [(a, a_by_k != 0), (b, b_by_k != 0)].map(|(start, by_k)| {
            let next = if by_k { 32 } else { 2 * BLOCK };
            let matrix = self.kernel.shared_matrix(&start, by_k, BLOCK, BLOCKS);
            (matrix, next)
        });
        self.converge();
        self.kernel.begin_products();
        for step in 0..PRODUCTS {
            let [a, b] = [a, b].map(|(matrix, next)| match step {
                0 => matrix,
                _ => self.kernel.matrix_plus(matrix, step * next),
            });
            self.kernel.multiply_shared(product, a, b, &sums);
        }
        self.kernel.commit_products();
        Ok(Some(Value::Leaves(Vec::new())))
    }

    pub(super) fn await_products(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(n_pending)] = arguments else {
            return None;
        };
        // Waiting for all products is right for every number.
        let n_pending = n_pending[0].constant().unwrap_or(0);
        self.converge();
        self.kernel.await_products(n_pending as u32);
        Some(Value::Leaves(Vec::new()))
    }

    /// Returns the start of `sh_staged`, if it is in workgroup memory.
    fn staged(&self) -> Option<Address> {
        let mut variables = self.module.global_variables.iter();
        let (handle, _) = variables.find(|(_, variable)| {
            variable.space == AddressSpace::WorkGroup
                && variable.name.as_deref() == Some("sh_staged")
        })?;
        match &self.globals.places.get(&handle)?.at {
            At::Memory(memory) => Some(memory.address.clone()),
            At::Registers { .. } => None,
        }
    }
}
