//! Values of expressions.

use naga::proc::TypeResolution;

use super::Lowering;
use super::budget::MAX_TABLE_BYTES;
use super::place::Place;
use crate::Result;
use crate::build::{Operand, PtxType};

/// Most scalars of a value in registers; larger ones stay in memory.
pub(super) const MAX_LEAVES: usize = 128;

/// The value of an expression.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// The scalars of its type, in order.
    Leaves(Vec<Operand>),
    /// A large value, at a place that is not written any more.
    Stored(Place),
    /// A pointer.
    Pointer(Place),
}

impl From<Operand> for Value {
    fn from(operand: Operand) -> Self {
        Self::Leaves(vec![operand])
    }
}

impl Lowering<'_> {
    /// Returns the scalars of a value; loads them if it is large.
    pub(super) fn scalars_of(&mut self, value: Value) -> Result<Vec<Operand>> {
        match value {
            Value::Leaves(leaves) => Ok(leaves),
            Value::Stored(place) => self.load_leaves(&place),
            Value::Pointer(_) => Err(self.unsupported("a pointer as a value")),
        }
    }

    /// Returns the zero value of a type.
    pub(super) fn zero(&mut self, ty: &TypeResolution) -> Result<Value> {
        if self.n_leaves(ty)? <= MAX_LEAVES {
            let leaves = self.leaves(ty)?;
            let zeros = leaves.iter().map(|leaf| Operand::Constant(leaf.ty, 0));
            return Ok(Value::Leaves(zeros.collect()));
        }
        let place = self.local_place(ty)?;
        self.clear(&place)?;
        Ok(Value::Stored(place))
    }

    /// Makes a value from its scalars; a large one goes to memory.
    pub(super) fn value_of(&mut self, ty: &TypeResolution, leaves: Vec<Operand>) -> Result<Value> {
        if leaves.len() <= MAX_LEAVES {
            return Ok(Value::Leaves(leaves));
        }
        if let Some(place) = self.constant_place(ty, &leaves)? {
            return Ok(Value::Stored(place));
        }
        let place = self.local_place(ty)?;
        self.store_leaves(&place, &leaves)?;
        Ok(Value::Stored(place))
    }

    /// Returns a read-only table of these scalars, if all are constants.
    pub(super) fn constant_place(
        &mut self,
        ty: &TypeResolution,
        leaves: &[Operand],
    ) -> Result<Option<Place>> {
        let n_bytes = self.size(ty)? as usize;
        if n_bytes > MAX_TABLE_BYTES {
            return Err(self.error(format_args!(
                "a constant of {n_bytes} bytes, more than the limit of {MAX_TABLE_BYTES} (MAX_TABLE_BYTES): use a storage buffer"
            )));
        }
        // Deduplicated against the existing tables.
        self.spend(n_bytes / 16 + self.tables.len())?;
        let mut bytes = vec![0; n_bytes];
        for (leaf, operand) in self.leaves(ty)?.iter().zip(leaves) {
            let Some(bits) = operand.constant() else {
                return Ok(None);
            };
            let n = if leaf.ty == PtxType::Pred {
                1
            } else {
                leaf.ty.n_bits() as usize / 8
            };
            let at = leaf.offset as usize;
            if let Some(target) = bytes.get_mut(at..at + n) {
                target.copy_from_slice(&bits.to_le_bytes()[..n]);
            }
        }
        let index = match self.tables.iter().position(|table| *table == bytes) {
            Some(index) => index,
            None => {
                self.tables.push(bytes);
                self.tables.len() - 1
            }
        };
        let address = self.kernel.table(&table_name(index));
        Ok(Some(Place::in_memory(ty.clone(), address, 16)))
    }
}

/// Returns the name of a constant table in the module.
pub(super) fn table_name(index: usize) -> String {
    format!("table_{index}")
}
