//! Conversions between f32 and the types of 16 bits; the twin of `shaders/tensor_cast.wgsl`.

use super::parallel::{SHARE, for_shares};
use crate::ops::DType;
use crate::tensor::check_len;
use crate::{Error, Result};

/// Returns the bits of a number rounded to IEEE binary16: to nearest, ties to even. Magnitudes of 65,520 and more become
/// infinite; NaN stays NaN.
#[must_use]
pub const fn f16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let half = match magnitude {
        0x7f80_0001.. => 0x7e00,
        0x477f_f000.. => 0x7c00,
        // Normal numbers, from 2^-14 on: adjusts the exponent's bias and rounds 13 bits of the fraction away.
        0x3880_0000.. => {
            let rest = magnitude - 0x3800_0000;
            (rest + 0xfff + (rest >> 13 & 1)) >> 13
        }
        // Subnormal numbers: adding 1/2 rounds to a multiple of 2^-24, which is in the lowest bits of the sum.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
    };
    sign | half as u16
}

/// Returns the number with these bits of IEEE binary16.
#[must_use]
pub const fn f16_value(bits: u16) -> f32 {
    let sign = (bits as u32 >> 15) << 31;
    let (exponent, fraction) = ((bits >> 10 & 31) as u32, (bits & 1023) as u32);
    let magnitude = match exponent {
        0 => (fraction as f32 / (1 << 24) as f32).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(magnitude | sign)
}

/// Returns the bits of a number rounded to bfloat16: to nearest, ties to even. NaN stays NaN.
#[must_use]
pub const fn bf16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    match bits & 0x7fff_ffff {
        0x7f80_0001.. => (bits >> 16 & 0x8000) as u16 | 0x7fc0,
        // A fraction that overflows carries to the exponent, up to infinity.
        _ => ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16,
    }
}

/// Returns the number with these bits of bfloat16.
#[must_use]
pub const fn bf16_value(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// Rounds numbers to the bits of a type of 16 bits, as [`f16_bits`] and [`bf16_bits`] do.
///
/// # Errors
/// [`InvalidArgument`](Error::InvalidArgument) for [`DType::F32`]; [`LengthMismatch`](Error::LengthMismatch).
pub fn to_bits(dtype: DType, values: &[f32], out: &mut [u16]) -> Result<()> {
    check_len("result", out.len(), values.len() as u64)?;
    match dtype {
        DType::F16 => convert(values, out, f16_bits),
        DType::BF16 => convert(values, out, bf16_bits),
        DType::F32 => return Err(not_half(dtype)),
    }
    Ok(())
}

/// Converts the bits of a type of 16 bits to numbers, as [`f16_value`] and [`bf16_value`] do.
///
/// # Errors
/// [`InvalidArgument`](Error::InvalidArgument) for [`DType::F32`]; [`LengthMismatch`](Error::LengthMismatch).
pub fn from_bits(dtype: DType, bits: &[u16], out: &mut [f32]) -> Result<()> {
    check_len("result", out.len(), bits.len() as u64)?;
    match dtype {
        DType::F16 => convert(bits, out, f16_value),
        DType::BF16 => convert(bits, out, bf16_value),
        DType::F32 => return Err(not_half(dtype)),
    }
    Ok(())
}

/// Converts the little-endian bytes of elements of a type to numbers.
///
/// # Errors
/// [`LengthMismatch`](Error::LengthMismatch), in bytes.
pub(crate) fn from_le_bytes(dtype: DType, bytes: &[u8], out: &mut [f32]) -> Result<()> {
    let n_bytes = size_of_val(out) / 4 * dtype.n_bytes();
    check_len("bytes", bytes.len(), n_bytes as u64)?;
    let (halves, _) = bytes.as_chunks();
    match dtype {
        DType::F32 => convert(bytes.as_chunks().0, out, f32::from_le_bytes),
        DType::F16 => convert(halves, out, |half| f16_value(u16::from_le_bytes(half))),
        DType::BF16 => convert(halves, out, |half| bf16_value(u16::from_le_bytes(half))),
    }
    Ok(())
}

fn convert<A: Copy + Sync, B: Send>(from: &[A], out: &mut [B], of: impl Fn(A) -> B + Sync) {
    for_shares(out, SHARE, |start, out| {
        for (out, &one) in out.iter_mut().zip(&from[start..]) {
            *out = of(one);
        }
    });
}

/// Returns the error for bits of a type that does not have 16.
pub(crate) fn not_half(dtype: DType) -> Error {
    Error::InvalidArgument {
        name: "dtype",
        value: format!("{dtype:?}"),
        expected: "a type of 16 bits: F16 or BF16",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conversions to and from a type, and its infinity.
    type Conversions = (fn(f32) -> u16, fn(u16) -> f32, u16);

    const TYPES: [Conversions; 2] = [
        (f16_bits, f16_value, 0x7c00),
        (bf16_bits, bf16_value, 0x7f80),
    ];

    #[test]
    fn halves_round_trip() {
        for (rounded, value_of, _) in TYPES {
            for bits in 0..=u16::MAX {
                let value = value_of(bits);
                if value.is_nan() {
                    assert!(value_of(rounded(value)).is_nan());
                } else {
                    assert_eq!(rounded(value), bits, "{value}");
                }
            }
        }
    }

    #[test]
    fn numbers_between_halves_are_rounded_to_even() {
        for (rounded, value_of, infinity) in TYPES {
            for bits in 0..infinity - 1 {
                let [low, high] = [bits, bits + 1].map(|bits| f64::from(value_of(bits)));
                let middle = f64::midpoint(low, high) as f32;
                assert_eq!(rounded(middle), bits + bits % 2, "{middle}");
                assert_eq!(rounded(middle.next_up()), bits + 1, "{middle}");
                assert_eq!(rounded(-middle.next_down()), bits | 0x8000, "{middle}");
            }
            assert_eq!(rounded(f32::INFINITY), infinity);
            assert_eq!(rounded(-f32::MAX), infinity | 0x8000);
        }
        assert_eq!(f16_bits(65_519.996), 0x7bff);
        assert_eq!(f16_bits(65_520.0), 0x7c00);
    }

    #[test]
    fn wrong_types_and_lengths_are_typed_errors() {
        let code = |result: Result<()>| result.map_err(|error| error.code());
        let wrong = Err("INVALID_ARGUMENT");
        assert_eq!(code(to_bits(DType::F32, &[1.0], &mut [0])), wrong);
        assert_eq!(code(from_bits(DType::F32, &[1], &mut [0.0])), wrong);
        let wrong = Err("LENGTH_MISMATCH");
        assert_eq!(code(to_bits(DType::F16, &[1.0], &mut [0; 2])), wrong);
        assert_eq!(code(from_bits(DType::BF16, &[1], &mut [])), wrong);
    }
}
