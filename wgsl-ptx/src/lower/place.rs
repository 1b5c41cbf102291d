//! Places that pointers point to: registers or memory.

use naga::proc::TypeResolution;

use super::Lowering;
use super::budget::MAX_LOCAL_BYTES;
use crate::Result;
use crate::build::{Address, Operand, Register};

/// A variable in registers, one per leaf.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) registers: Vec<Register>,
    /// The value of a loop counter while its loop is unrolled; its register is unused then.
    pub(super) known: Option<Operand>,
}

/// A variable or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) ty: TypeResolution,
    pub(super) at: At,
}

#[derive(Debug, Clone)]
pub(super) enum At {
    Registers {
        variable: usize,
        /// Index of the first leaf if every choice is 0.
        leaf: usize,
        choices: Vec<Choice>,
    },
    Memory(InMemory),
}

#[derive(Debug, Clone)]
pub(super) struct InMemory {
    pub(super) address: Address,
    /// Alignment of the address: a power of two that divides it.
    pub(super) align: u32,
    /// The storage buffer that contains it.
    pub(super) buffer: Option<usize>,
    /// Predicate: false if the buffer is too short to contain any element.
    pub(super) exists: Option<Register>,
}

/// An element of a small array in registers, selected by a dynamic index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) index: Operand,
    pub(super) count: u32,
    /// Number of leaves per element.
    pub(super) stride: usize,
}

impl Place {
    pub(super) fn in_memory(ty: TypeResolution, address: Address, align: u32) -> Self {
        let memory = InMemory {
            address,
            align,
            buffer: None,
            exists: None,
        };
        Self {
            ty,
            at: At::Memory(memory),
        }
    }
}

/// Returns the largest power of two up to 16 that divides n.
pub(super) fn alignment(n: u32) -> u32 {
    1 << n.trailing_zeros().min(4)
}

impl Lowering<'_> {
    /// Creates an uninitialised variable in registers.
    pub(super) fn register_place(&mut self, ty: &TypeResolution) -> Result<Place> {
        let leaves = self.leaves(ty)?;
        let registers = leaves
            .iter()
            .map(|leaf| self.kernel.register(leaf.ty))
            .collect();
        self.variables.push(Variable {
            registers,
            known: None,
        });
        Ok(Place {
            ty: ty.clone(),
            at: At::Registers {
                variable: self.variables.len() - 1,
                leaf: 0,
                choices: Vec::new(),
            },
        })
    }

    /// Creates an uninitialised variable in local memory.
    pub(super) fn local_place(&mut self, ty: &TypeResolution) -> Result<Place> {
        let n_bytes = self.size(ty)?.max(1);
        if n_bytes > MAX_LOCAL_BYTES {
            return Err(self.error(format_args!(
                "a value of {n_bytes} bytes in local memory, more than the limit of {MAX_LOCAL_BYTES} (MAX_LOCAL_BYTES): use a storage buffer"
            )));
        }
        self.spend(1)?;
        let name = format!("local_{}", self.n_locals);
        self.n_locals += 1;
        let symbol = self.kernel.local(&name, n_bytes, 16);
        Ok(Place::in_memory(ty.clone(), Address::from(&symbol), 16))
    }

    /// Returns the registers of a place without choices.
    pub(super) fn registers_of(
        &self,
        variable: usize,
        leaf: usize,
        n: usize,
    ) -> Result<Vec<Register>> {
        let all = self.variables.get(variable).map(|v| v.registers.as_slice());
        let part = all.and_then(|registers| registers.get(leaf..leaf + n));
        part.map(<[Register]>::to_vec)
            .ok_or_else(|| self.error("an access leaves its variable"))
    }
}
