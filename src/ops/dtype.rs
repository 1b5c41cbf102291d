//! [`DType`]: types of the elements of tensors.

/// Type of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// 32-bit floats (IEEE binary32).
    F32,
    /// 16-bit floats (IEEE binary16): 11 significant bits, magnitudes up to 65,504.
    F16,
    /// 16-bit floats with the exponent of `F32` (bfloat16): 8 significant bits.
    BF16,
}

impl DType {
    /// Returns the number of bytes of an element.
    #[must_use]
    pub const fn n_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
        }
    }

    /// Returns the type of the result of an operation on elements of two types: their type if they are equal, else
    /// [`F32`](Self::F32), which has the values of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::F16, Self::F16) => Self::F16,
            (Self::BF16, Self::BF16) => Self::BF16,
            _ => Self::F32,
        }
    }

    /// Returns true for the types of 16 bits.
    #[must_use]
    pub const fn is_half(self) -> bool {
        self.n_bytes() == 2
    }

    /// Returns the number of elements of a 32-bit word.
    #[cfg(gpu_engine)]
    pub(crate) const fn per_word(self) -> u64 {
        4 / self.n_bytes() as u64
    }

    /// Returns the number of the type in kernels.
    #[cfg(gpu_engine)]
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::BF16 => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DType::{BF16, F16, F32};

    #[test]
    fn mixed_types_are_wide() {
        for dtype in [F32, F16, BF16] {
            assert_eq!(dtype.with(dtype), dtype);
            assert_eq!((dtype.with(F32), F32.with(dtype)), (F32, F32));
        }
        assert_eq!((F16.with(BF16), BF16.with(F16)), (F32, F32));
    }
}
