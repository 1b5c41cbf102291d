//! Loads, stores and atomic operations.

use std::fmt;

use super::kernel::{PtxKernel, Space, Symbol};
use super::types::{Operand, PtxType, Register};

/// An address: a register or symbol plus a constant offset in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    space: Space,
    base: Base,
    offset: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    Register(Register),
    Symbol(String),
}

impl Address {
    /// Returns the address in a register: of 32 bits in shared and local memory, of 64 elsewhere.
    #[must_use]
    pub const fn new(space: Space, base: Register) -> Self {
        Self {
            space,
            base: Base::Register(base),
            offset: 0,
        }
    }

    /// Returns the address `n_bytes` further on.
    #[must_use]
    pub fn plus(&self, n_bytes: i64) -> Self {
        let mut address = self.clone();
        address.offset = address.offset.wrapping_add(n_bytes);
        address
    }

    /// Returns the state space of the address.
    #[must_use]
    pub const fn space(&self) -> Space {
        self.space
    }
}

impl From<&Symbol> for Address {
    fn from(symbol: &Symbol) -> Self {
        Self {
            space: symbol.space,
            base: Base::Symbol(symbol.name.clone()),
            offset: 0,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        match &self.base {
            Base::Register(register) => write!(f, "{register}")?,
            Base::Symbol(name) => f.write_str(name)?,
        }
        if self.offset != 0 {
            // `-4` is written as `+-4`.
            write!(f, "+{}", self.offset)?;
        }
        f.write_str("]")
    }
}

/// An atomic operation that combines the value in memory with an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomicOperation {
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
    /// Exchange: the operand replaces the value.
    Exchange,
}

impl AtomicOperation {
    const fn mnemonic(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Exchange => "exch",
        }
    }

    /// Returns the type in the mnemonic: untyped bits for bitwise operations, unsigned for sums.
    const fn suffix(self, ty: PtxType) -> &'static str {
        match (self, ty) {
            (Self::And | Self::Or | Self::Xor | Self::Exchange, _) => ty.bits_suffix(),
            (Self::Add, PtxType::S32) => "u32",
            (Self::Add, PtxType::S64) => "u64",
            _ => ty.suffix(),
        }
    }
}

/// Memory ordering of a load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// Weak: no other thread may write the location concurrently.
    Weak,
    /// Relaxed: a single atomic access, in the scope of the threads that share the memory.
    Relaxed,
}

impl Space {
    const fn address_type(self) -> PtxType {
        match self {
            Self::Shared | Self::Local => PtxType::U32,
            _ => PtxType::U64,
        }
    }

    /// Returns the widest scope that can share the state space.
    const fn scope(self) -> &'static str {
        match self {
            Self::Shared => "cta",
            _ => "gpu",
        }
    }
}

impl PtxKernel {
    /// Returns the address of a parameter, variable or table in a register: of 32 bits in shared and local memory, of 64
    /// elsewhere.
    pub fn address_of(&mut self, address: &Address) -> Register {
        let start = match &address.base {
            Base::Register(register) => *register,
            Base::Symbol(name) => {
                let ty = address.space.address_type();
                let d = self.register(ty);
                self.push(format!("mov.{} {d}, {name};", ty.suffix()));
                d
            }
        };
        if address.offset == 0 {
            return start;
        }
        self.add(start, Operand::integer(start.ty(), address.offset))
    }

    /// Returns the address of element `index`, a `U32` or `S32`, of an array at `address` with elements of `stride` bytes.
    pub fn indexed(
        &mut self,
        address: &Address,
        index: impl Into<Operand>,
        stride: u32,
    ) -> Address {
        let index = index.into();
        let start = Address {
            offset: 0,
            ..address.clone()
        };
        let base = self.address_of(&start);
        let stride = Operand::integer(index.ty(), i64::from(stride));
        let register = if base.ty() == PtxType::U64 {
            // Not `mad.wide`: the assembler fuses these two into one instruction, and splits that one into two.
            let distance = self.mul_wide(index, stride);
            self.add(base, distance.bitcast(PtxType::U64))
        } else {
            self.mad(
                index.bitcast(PtxType::U32),
                stride.bitcast(PtxType::U32),
                base,
            )
        };
        Address {
            base: Base::Register(register),
            ..address.clone()
        }
    }

    /// Converts a generic 64-bit address, as kernels receive it, to an address in global memory.
    pub fn to_global(&mut self, address: impl Into<Operand>) -> Register {
        self.compute(PtxType::U64, "cvta.to.global.u64", &[address.into()])
    }

    /// Returns the address of a constant table of the module, in global memory.
    #[must_use]
    pub fn table(&self, name: &str) -> Address {
        Address {
            space: Space::GlobalReadOnly,
            base: Base::Symbol(name.to_owned()),
            offset: 0,
        }
    }

    /// Loads a value; 8-bit types are extended to 32 bits.
    pub fn load(&mut self, ty: PtxType, ordering: Ordering, address: &Address) -> Register {
        let d = self.register(widened(ty));
        let order = order("ld", ordering, address.space);
        self.push(format!("{order}.{} {d}, {address};", memory_suffix(ty)));
        d
    }

    /// Loads a vector of 2 or 4 values; the address is aligned to the size of the vector.
    pub fn load_vector(&mut self, ty: PtxType, n: usize, address: &Address) -> Vec<Register> {
        if !matches!(n, 2 | 4) {
            self.fail(format!("a vector of {n}"));
        }
        let registers: Vec<Register> = (0..n).map(|_| self.register(widened(ty))).collect();
        let names: Vec<String> = registers.iter().map(Register::to_string).collect();
        let order = order("ld", Ordering::Weak, address.space);
        self.push(format!(
            "{order}.v{n}.{} {{{}}}, {address};",
            memory_suffix(ty),
            names.join(", ")
        ));
        registers
    }

    /// Stores a value; for 8-bit types, the lowest bits of a wider register.
    pub fn store(
        &mut self,
        ty: PtxType,
        ordering: Ordering,
        address: &Address,
        value: impl Into<Operand>,
    ) {
        let value = self.stored(ty, value.into());
        let order = order("st", ordering, address.space);
        self.push(format!("{order}.{} {address}, {value};", memory_suffix(ty)));
    }

    /// Stores a vector of 2 or 4 values; the address is aligned to the size of the vector.
    pub fn store_vector(&mut self, ty: PtxType, address: &Address, values: &[Operand]) {
        if !matches!(values.len(), 2 | 4) {
            self.fail(format!("a vector of {}", values.len()));
        }
        let names: Vec<String> = values
            .iter()
            .map(|&value| self.stored(ty, value).to_string())
            .collect();
        let order = order("st", Ordering::Weak, address.space);
        let n = values.len();
        self.push(format!(
            "{order}.v{n}.{} {address}, {{{}}};",
            memory_suffix(ty),
            names.join(", ")
        ));
    }

    fn stored(&mut self, ty: PtxType, value: Operand) -> Operand {
        self.require("store", value.ty(), |given| given == widened(ty));
        if ty.n_bits() == 16 {
            self.in_register(value)
        } else {
            value
        }
    }

    /// Applies an atomic operation to a value in memory and returns the previous value.
    pub fn atomic(
        &mut self,
        operation: AtomicOperation,
        address: &Address,
        value: impl Into<Operand>,
    ) -> Register {
        let value = value.into();
        let mnemonic = atomic_mnemonic("atom", operation, address.space, value.ty());
        let d = self.register(value.ty());
        self.push(format!("{mnemonic} {d}, {address}, {value};"));
        d
    }

    /// Applies an atomic operation whose previous value is not needed (`red`).
    pub fn reduce(
        &mut self,
        operation: AtomicOperation,
        address: &Address,
        value: impl Into<Operand>,
    ) {
        let value = value.into();
        if operation == AtomicOperation::Exchange {
            self.atomic(operation, address, value);
            return;
        }
        let mnemonic = atomic_mnemonic("red", operation, address.space, value.ty());
        self.push(format!("{mnemonic} {address}, {value};"));
    }

    /// Atomic compare-and-swap: stores `value` if memory holds `expected`; returns the previous value.
    pub fn compare_exchange(
        &mut self,
        address: &Address,
        expected: impl Into<Operand>,
        value: impl Into<Operand>,
    ) -> Register {
        let (expected, value) = (expected.into(), value.into());
        self.require_same("compare_exchange", expected, value);
        let d = self.register(value.ty());
        let (space, scope) = (address.space.suffix(), address.space.scope());
        let suffix = value.ty().bits_suffix();
        self.push(format!(
            "atom.relaxed.{scope}.{space}.cas.{suffix} {d}, {address}, {expected}, {value};"
        ));
        d
    }
}

fn atomic_mnemonic(kind: &str, operation: AtomicOperation, space: Space, ty: PtxType) -> String {
    let (scope, space) = (space.scope(), space.suffix());
    format!(
        "{kind}.relaxed.{scope}.{space}.{}.{}",
        operation.mnemonic(),
        operation.suffix(ty)
    )
}

fn order(mnemonic: &str, ordering: Ordering, space: Space) -> String {
    match (ordering, space) {
        (Ordering::Weak, Space::GlobalReadOnly) => format!("{mnemonic}.global.nc"),
        (Ordering::Relaxed, Space::Global | Space::GlobalReadOnly | Space::Shared) => {
            format!("{mnemonic}.relaxed.{}.{}", space.scope(), space.suffix())
        }
        _ => format!("{mnemonic}.{}", space.suffix()),
    }
}

/// Returns the type of the register that holds a value of a memory type.
const fn widened(ty: PtxType) -> PtxType {
    match ty {
        PtxType::U8 => PtxType::U32,
        PtxType::S8 => PtxType::S32,
        other => other,
    }
}

const fn memory_suffix(ty: PtxType) -> &'static str {
    match ty {
        PtxType::U8 | PtxType::S8 => ty.suffix(),
        other => other.bits_suffix(),
    }
}
