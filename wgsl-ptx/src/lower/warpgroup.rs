//! Lowers the intrinsics of products of warpgroups.

use naga::AddressSpace;

use super::Lowering;
use super::place::{At, Place};
use super::value::Value;
use crate::build::{Address, Comparison, GroupProduct, Operand, Register, SharedMatrix};
use crate::intrinsics::Intrinsic;
use crate::{Bounds, Result};

/// The only architecture with products of warpgroups, and the invocations of a warpgroup.
const GROUPS_SM: u32 = 90;
const GROUP: u32 = 128;
/// Calls have 64 terms, in products of 16, or 32 of single precision, in products of 8.
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
        functions.iter().any(|(handle, _)| {
            let intrinsic = self.intrinsic_of(handle);
            intrinsic.is_some_and(Intrinsic::multiplies_in_groups)
        })
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
            Value::Leaves(adds),
        ] = arguments
        else {
            return Ok(None);
        };
        let constants = [a_by_k, b_by_k, adds].map(|leaves| leaves[0].constant());
        let [Some(a_by_k), Some(b_by_k), Some(adds)] = constants else {
            return Ok(None);
        };
        let (Some(sums), Some(staged)) = (self.group_sums(sums, n_columns)?, self.staged()) else {
            return Ok(None);
        };
        let product = self.group_product();
        let a = self.factor(&staged, at_a[0], a_by_k != 0);
        let b = self.factor(&staged, at_b[0], b_by_k != 0);
        self.converge();
        self.kernel.begin_products();
        for step in 0..PRODUCTS {
            let [a, b] = [a, b].map(|factor| self.terms_of(factor, step));
            let adds = adds != 0 || step > 0;
            self.kernel.multiply_shared(product, a, b, &sums, adds);
        }
        self.kernel.commit_products();
        Ok(Some(Value::Leaves(Vec::new())))
    }

    /// Lowers `multiply_singles` likewise.
    pub(super) fn multiply_singles(&mut self, arguments: &[Value]) -> Result<Option<Value>> {
        let [
            Value::Pointer(sums),
            Value::Leaves(at_a),
            Value::Leaves(at_b),
            _,
            Value::Leaves(n_columns),
        ] = arguments
        else {
            return Ok(None);
        };
        let (Some(sums), Some(staged)) = (self.group_sums(sums, n_columns)?, self.staged()) else {
            return Ok(None);
        };
        // The eight terms of a product are as many bytes of a line as 16 halves.
        let [a, b] = [at_a, at_b].map(|at| self.factor(&staged, at[0], true));
        self.converge();
        self.kernel.begin_products();
        for step in 0..PRODUCTS {
            let [a, b] = [a, b].map(|factor| self.terms_of(factor, step));
            self.kernel
                .multiply_shared(GroupProduct::Tf32, a, b, &sums, true);
        }
        self.kernel.commit_products();
        Ok(Some(Value::Leaves(Vec::new())))
    }

    /// Lowers `multiply_left` likewise.
    pub(super) fn multiply_left(&mut self, arguments: &[Value]) -> Result<Option<Value>> {
        let [
            Value::Pointer(sums),
            Value::Leaves(left),
            _,
            Value::Leaves(at_b),
            _,
            Value::Leaves(n_columns),
            Value::Leaves(b_by_k),
        ] = arguments
        else {
            return Ok(None);
        };
        let Some(b_by_k) = b_by_k[0].constant() else {
            return Ok(None);
        };
        let (Some(sums), Some(staged)) = (self.group_sums(sums, n_columns)?, self.staged()) else {
            return Ok(None);
        };
        let product = self.group_product();
        let b = self.factor(&staged, at_b[0], b_by_k != 0);
        self.converge();
        self.kernel.begin_products();
        for (words, step) in left.chunks_exact(4).zip(0..PRODUCTS) {
            let words = [words[0], words[1], words[2], words[3]];
            let b = self.terms_of(b, step);
            self.kernel
                .multiply_registers(product, words, b, &sums, true);
        }
        self.kernel.commit_products();
        Ok(Some(Value::Leaves(Vec::new())))
    }

    /// Returns the registers of the sums of columns, if their number is a constant and the sums are in registers.
    fn group_sums(&self, sums: &Place, n_columns: &[Operand]) -> Result<Option<Vec<Register>>> {
        let At::Registers {
            variable,
            leaf,
            choices,
        } = &sums.at
        else {
            return Ok(None);
        };
        match n_columns[0].constant() {
            Some(n) if choices.is_empty() => self
                .registers_of(*variable, *leaf, n as usize / 2)
                .map(Some),
            _ => Ok(None),
        }
    }

    const fn group_product(&self) -> GroupProduct {
        if self.options.halves_as_bfloat16 {
            GroupProduct::Bfloat16
        } else {
            GroupProduct::Half
        }
    }

    /// Returns the factor at an element of `sh_staged`, and the distance in bytes to its next 16 terms: they are 32 bytes of a line, or two
    /// blocks of lines.
    fn factor(&mut self, staged: &Address, at: Operand, by_k: bool) -> (SharedMatrix, u32) {
        let start = self.kernel.indexed(staged, at, ELEMENT);
        let next = if by_k { 32 } else { 2 * BLOCK };
        let matrix = self.kernel.shared_matrix(&start, by_k, BLOCK, BLOCKS);
        (matrix, next)
    }

    /// Returns the 16 terms of a factor that a step of a call multiplies.
    fn terms_of(&mut self, (matrix, next): (SharedMatrix, u32), step: u32) -> SharedMatrix {
        match step {
            0 => matrix,
            _ => self.kernel.matrix_plus(matrix, step * next),
        }
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

    pub(super) fn begin_turn(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(group)] = arguments else {
            return None;
        };
        self.converge();
        let waits = self.kernel.compare(Comparison::Ne, group[0], 0u32);
        self.kernel.await_group(group[0], waits);
        Some(Value::Leaves(Vec::new()))
    }

    pub(super) fn end_turn(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(group)] = arguments else {
            return None;
        };
        self.converge();
        let next = self.sum(group[0], 1u32.into());
        let n_groups = self.n_invocations() / GROUP;
        let signals = self.kernel.compare(Comparison::Lt, next, n_groups);
        self.kernel.signal_group(next, signals);
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
