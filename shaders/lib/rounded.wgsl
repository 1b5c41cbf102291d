// Rounding of f32 to types of 16 bits, to nearest, ties to even. A NaN becomes the quiet NaN of its sign.
//
// The kernel declares `TO`, a number as `DType::code` gives it: 1 is f16, 2 is bf16.

/// Returns the 16 bits of the rounded f32.
fn rounded(bits: u32) -> u32 {
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = bits & 0x7fffffffu;
    if TO == 2u {
        if magnitude > 0x7f800000u {
            return sign | 0x7fc0u;
        }
        return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    }
    if magnitude > 0x7f800000u {
        return sign | 0x7e00u;
    }
    if magnitude >= 0x477ff000u {
        return sign | 0x7c00u;
    }
    if magnitude >= 0x38800000u {
        let rest = magnitude - 0x38000000u;
        return sign | ((rest + 0xfffu + ((rest >> 13u) & 1u)) >> 13u);
    }
    // A subnormal f16, a multiple of 2^-24. Shifts of more than 25 give 0, as 25 does.
    let exponent = magnitude >> 23u;
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let shift = min(126u - exponent, 25u);
    let odd = (significand >> shift) & 1u;
    return sign | ((significand + (1u << (shift - 1u)) - 1u + odd) >> shift);
}

/// Returns a word with two rounded numbers, the first in its low half.
fn rounded_pair(x: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(x);
    return rounded(bits.x) | (rounded(bits.y) << 16u);
}
