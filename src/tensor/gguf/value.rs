//! Values of metadata.

use super::source::{Fields, Source};
use crate::memory::reserve;

/// Most arrays inside each other. Other readers accept one.
const MAX_DEPTH: u32 = 4;
/// Number of the type of arrays.
const ARRAY: u32 = 9;
/// Least bytes of a string: its length; of an array: type and length.
const STRING_BYTES: u64 = 8;
const ARRAY_BYTES: u64 = 12;

/// Value of a key.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GgufValue {
    /// An unsigned integer of 8 bits.
    U8(u8),
    /// A signed integer of 8 bits.
    I8(i8),
    /// An unsigned integer of 16 bits.
    U16(u16),
    /// A signed integer of 16 bits.
    I16(i16),
    /// An unsigned integer of 32 bits.
    U32(u32),
    /// A signed integer of 32 bits.
    I32(i32),
    /// A float of 32 bits.
    F32(f32),
    /// A truth value.
    Bool(bool),
    /// A text.
    String(String),
    /// Values of one type.
    Array(GgufArray),
    /// An unsigned integer of 64 bits.
    U64(u64),
    /// A signed integer of 64 bits.
    I64(i64),
    /// A float of 64 bits.
    F64(f64),
}

/// Values of one type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GgufArray {
    /// Unsigned integers of 8 bits.
    U8(Vec<u8>),
    /// Signed integers of 8 bits.
    I8(Vec<i8>),
    /// Unsigned integers of 16 bits.
    U16(Vec<u16>),
    /// Signed integers of 16 bits.
    I16(Vec<i16>),
    /// Unsigned integers of 32 bits.
    U32(Vec<u32>),
    /// Signed integers of 32 bits.
    I32(Vec<i32>),
    /// Floats of 32 bits.
    F32(Vec<f32>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Texts.
    String(Vec<String>),
    /// Arrays, at most four inside each other.
    Array(Vec<Self>),
    /// Unsigned integers of 64 bits.
    U64(Vec<u64>),
    /// Signed integers of 64 bits.
    I64(Vec<i64>),
    /// Floats of 64 bits.
    F64(Vec<f64>),
}

impl GgufValue {
    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the values of an array.
    #[must_use]
    pub const fn as_array(&self) -> Option<&GgufArray> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns a truth value.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer of any type, if it is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::U8(value) => Some(value.into()),
            Self::U16(value) => Some(value.into()),
            Self::U32(value) => Some(value.into()),
            Self::U64(value) => Some(value),
            _ => self.as_i64().and_then(|value| value.try_into().ok()),
        }
    }

    /// Returns an integer of any type, if it fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::U8(value) => Some(value.into()),
            Self::I8(value) => Some(value.into()),
            Self::U16(value) => Some(value.into()),
            Self::I16(value) => Some(value.into()),
            Self::U32(value) => Some(value.into()),
            Self::I32(value) => Some(value.into()),
            Self::U64(value) => value.try_into().ok(),
            Self::I64(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a float of either type.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::F32(value) => Some(value.into()),
            Self::F64(value) => Some(value),
            _ => None,
        }
    }

    /// Reads the number of a type and a value of it.
    pub(super) fn read<S: Source>(fields: &mut Fields<S>) -> Result<Self, S::Error> {
        let at = fields.at();
        Ok(match fields.u32()? {
            0 => Self::U8(u8::from_le_bytes(fields.bytes()?)),
            1 => Self::I8(i8::from_le_bytes(fields.bytes()?)),
            2 => Self::U16(u16::from_le_bytes(fields.bytes()?)),
            3 => Self::I16(i16::from_le_bytes(fields.bytes()?)),
            4 => Self::U32(fields.u32()?),
            5 => Self::I32(i32::from_le_bytes(fields.bytes()?)),
            6 => Self::F32(f32::from_le_bytes(fields.bytes()?)),
            7 => {
                let at = fields.at();
                let [byte] = fields.bytes()?;
                Self::Bool(truth::<S>(byte, at)?)
            }
            8 => Self::String(fields.string()?),
            ARRAY => Self::Array(GgufArray::read(fields, 1)?),
            10 => Self::U64(fields.u64()?),
            11 => Self::I64(i64::from_le_bytes(fields.bytes()?)),
            12 => Self::F64(f64::from_le_bytes(fields.bytes()?)),
            other => return Err(Fields::<S>::invalid("type of a value", other.into(), at)),
        })
    }
}

impl GgufArray {
    /// Returns the number of values.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::String(values) => values.len(),
            Self::Array(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Returns true if there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the number of a type, a number of values, and these. `depth` is 1 for an array that is in no other.
    fn read<S: Source>(fields: &mut Fields<S>, depth: u32) -> Result<Self, S::Error> {
        let at = fields.at();
        let kind = fields.u32()?;
        let least = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 => STRING_BYTES,
            ARRAY if depth < MAX_DEPTH => ARRAY_BYTES,
            ARRAY => {
                let what = "arrays inside each other, deeper than";
                return Err(Fields::<S>::invalid(what, MAX_DEPTH.into(), at));
            }
            10..=12 => 8,
            other => return Err(Fields::<S>::invalid("type of values", other.into(), at)),
        };
        let n = fields.count("length of an array", least)?;
        Ok(match kind {
            0 => Self::U8(fields.numbers(n, u8::from_le_bytes)?),
            1 => Self::I8(fields.numbers(n, i8::from_le_bytes)?),
            2 => Self::U16(fields.numbers(n, u16::from_le_bytes)?),
            3 => Self::I16(fields.numbers(n, i16::from_le_bytes)?),
            4 => Self::U32(fields.numbers(n, u32::from_le_bytes)?),
            5 => Self::I32(fields.numbers(n, i32::from_le_bytes)?),
            6 => Self::F32(fields.numbers(n, f32::from_le_bytes)?),
            7 => Self::Bool(entries(n, || {
                let at = fields.at();
                let [byte] = fields.bytes()?;
                truth::<S>(byte, at)
            })?),
            8 => Self::String(entries(n, || fields.string())?),
            ARRAY => Self::Array(entries(n, || Self::read(fields, depth + 1))?),
            10 => Self::U64(fields.numbers(n, u64::from_le_bytes)?),
            11 => Self::I64(fields.numbers(n, i64::from_le_bytes)?),
            _ => Self::F64(fields.numbers(n, f64::from_le_bytes)?),
        })
    }
}

/// Reads `n` entries, into memory that grows with what was read.
pub(super) fn entries<T, E: From<crate::Error>>(
    n: u64,
    mut read: impl FnMut() -> Result<T, E>,
) -> Result<Vec<T>, E> {
    let mut entries = Vec::new();
    for _ in 0..n {
        let entry = read()?;
        reserve(&mut entries, 1)?;
        entries.push(entry);
    }
    Ok(entries)
}

/// Returns the truth value of a byte, which the format wants to be 0 or 1.
fn truth<S: Source>(byte: u8, at: u64) -> Result<bool, S::Error> {
    match byte {
        0 | 1 => Ok(byte == 1),
        _ => Err(Fields::<S>::invalid("truth value", byte.into(), at)),
    }
}
