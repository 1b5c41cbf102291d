//! Types, registers and operands.

use std::fmt;

/// A fundamental PTX type. 8-bit types exist in memory only: registers have 16 bits or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PtxType {
    /// A predicate: the result of a comparison.
    Pred,
    /// Unsigned, 8 bits, in memory only.
    U8,
    /// Signed, 8 bits, in memory only.
    S8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    S16,
    /// Half precision.
    F16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    S32,
    /// Single precision.
    F32,
    /// Unsigned, 64 bits; addresses of global memory.
    U64,
    /// Signed, 64 bits.
    S64,
    /// Double precision.
    F64,
}

impl PtxType {
    /// Returns the suffix in instructions, without the dot.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Pred => "pred",
            Self::U8 => "u8",
            Self::S8 => "s8",
            Self::U16 => "u16",
            Self::S16 => "s16",
            Self::F16 => "f16",
            Self::U32 => "u32",
            Self::S32 => "s32",
            Self::F32 => "f32",
            Self::U64 => "u64",
            Self::S64 => "s64",
            Self::F64 => "f64",
        }
    }

    /// Returns the suffix of untyped instructions: `b32` for all 32-bit types.
    #[must_use]
    pub const fn bits_suffix(self) -> &'static str {
        match self.n_bits() {
            1 => "pred",
            8 => "b8",
            16 => "b16",
            32 => "b32",
            _ => "b64",
        }
    }

    /// Returns the size in bits; 1 for predicates.
    #[must_use]
    pub const fn n_bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 | Self::F16 => 16,
            Self::U32 | Self::S32 | Self::F32 => 32,
            Self::U64 | Self::S64 | Self::F64 => 64,
        }
    }

    /// Returns true for floating-point types.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Returns true for signed integers.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Returns true for integers, signed or not.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::Pred) && !self.is_float()
    }

    /// Returns the unsigned integer type of the same size.
    #[must_use]
    pub const fn unsigned(self) -> Self {
        match self {
            Self::Pred => Self::Pred,
            Self::U8 | Self::S8 => Self::U8,
            Self::U16 | Self::S16 | Self::F16 => Self::U16,
            Self::U32 | Self::S32 | Self::F32 => Self::U32,
            Self::U64 | Self::S64 | Self::F64 => Self::U64,
        }
    }

    /// Returns the prefix of registers that can hold the type.
    pub(super) const fn class(self) -> Class {
        match self.n_bits() {
            1 => Class::Predicate,
            32 => Class::Word,
            64 => Class::Double,
            _ => Class::Half,
        }
    }
}

/// Register declarations are untyped: any instruction of the same size accepts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Predicate,
    Half,
    Word,
    Double,
}

impl Class {
    pub(super) const ALL: [Self; 4] = [Self::Predicate, Self::Half, Self::Word, Self::Double];

    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Predicate => "%p",
            Self::Half => "%h",
            Self::Word => "%r",
            Self::Double => "%rd",
        }
    }

    pub(super) const fn declaration(self) -> &'static str {
        match self {
            Self::Predicate => ".pred",
            Self::Half => ".b16",
            Self::Word => ".b32",
            Self::Double => ".b64",
        }
    }
}

/// A virtual register of a kernel, with its type. Cheap to copy; their number is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register {
    pub(super) ty: PtxType,
    pub(super) index: u32,
}

impl Register {
    /// Returns the type.
    #[must_use]
    pub const fn ty(self) -> PtxType {
        self.ty
    }

    /// Reinterprets the bits as another type of the same size; a type of another size has no effect.
    #[must_use]
    pub const fn bitcast(self, ty: PtxType) -> Self {
        let same_size = self.ty.n_bits() == ty.n_bits();
        Self {
            ty: if same_size { ty } else { self.ty },
            index: self.index,
        }
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ty.class().prefix(), self.index)
    }
}

/// An operand of an instruction: a register or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A constant: its type, and its bits, right-aligned.
    Constant(PtxType, u64),
}

impl Operand {
    /// Returns the type.
    #[must_use]
    pub const fn ty(self) -> PtxType {
        match self {
            Self::Register(register) => register.ty,
            Self::Constant(ty, _) => ty,
        }
    }

    /// Returns the bits of a constant.
    #[must_use]
    pub const fn constant(self) -> Option<u64> {
        match self {
            Self::Constant(_, bits) => Some(bits),
            Self::Register(_) => None,
        }
    }

    /// Reinterprets the bits as another type of the same size.
    #[must_use]
    pub const fn bitcast(self, ty: PtxType) -> Self {
        match self {
            Self::Register(register) => Self::Register(register.bitcast(ty)),
            Self::Constant(_, bits) => Self::Constant(ty, bits),
        }
    }

    /// Creates a constant of an integer type: `value` modulo its size.
    #[must_use]
    pub const fn integer(ty: PtxType, value: i64) -> Self {
        let bits = value as u64;
        Self::Constant(
            ty,
            match ty.n_bits() {
                1 => (bits != 0) as u64,
                64 => bits,
                n => bits & ((1 << n) - 1),
            },
        )
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Register(register) => register.fmt(f),
            Self::Constant(PtxType::F32, bits) => write!(f, "0f{bits:08X}"),
            Self::Constant(PtxType::F64, bits) => write!(f, "0d{bits:016X}"),
            Self::Constant(PtxType::F16, bits) => write!(f, "0x{bits:04X}"),
            Self::Constant(PtxType::S64, bits) if bits == 1 << 63 => {
                f.write_str("0x8000000000000000")
            }
            Self::Constant(PtxType::S64, bits) => write!(f, "{}", bits as i64),
            Self::Constant(PtxType::S32, bits) => write!(f, "{}", bits as u32 as i32),
            Self::Constant(PtxType::S16, bits) => write!(f, "{}", bits as u16 as i16),
            Self::Constant(PtxType::S8, bits) => write!(f, "{}", bits as u8 as i8),
            Self::Constant(_, bits) => write!(f, "{bits}"),
        }
    }
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<&Operand> for Operand {
    fn from(operand: &Operand) -> Self {
        *operand
    }
}

macro_rules! constants {
    ($($rust:ty => $ty:ident, |$v:ident| $bits:expr;)*) => {
        $(impl From<$rust> for Operand {
            fn from($v: $rust) -> Self {
                Self::Constant(PtxType::$ty, $bits)
            }
        })*
    };
}

constants! {
    bool => Pred, |v| u64::from(v);
    u16 => U16, |v| u64::from(v);
    u32 => U32, |v| u64::from(v);
    i32 => S32, |v| u64::from(v as u32);
    u64 => U64, |v| v;
    i64 => S64, |v| v as u64;
    f32 => F32, |v| u64::from(v.to_bits());
    f64 => F64, |v| v.to_bits();
}
