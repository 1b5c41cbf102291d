// Numbers of few bits as floats, without a conversion: they become the lowest bits of the fraction of a float with a fixed exponent.
//
// The kernel declares `params` with `exponent`, the bits of the float 2^23. They are a parameter because NVIDIA's compilers need two
// instructions for `(x & constant) | constant`, and one where the second operand is in a register.

// Exponents are constants, since a device has too few registers for them.
override FEW_REGISTERS: bool = false;

// Exponents of floats whose fractions have the values at bits 0, 4, 8 and 12.
var<private> exponents: vec4<u32>;

/// Sets the exponents.
fn set_exponents() {
    exponents = vec4(params.exponent) - (vec4(0u, 4u, 8u, 12u) << vec4(23u));
}

fn exponent_at(place: u32) -> u32 {
    if FEW_REGISTERS {
        return (150u - place) << 23u;
    }
    return exponents[place >> 2u];
}

/// Returns the values in `n_bits` bits of words from bit `place` on, less `offset`.
fn values_at(words: vec4<u32>, place: u32, n_bits: u32, offset: f32) -> vec4<f32> {
    let mask = ((1u << n_bits) - 1u) << place;
    let bits = (words & vec4(mask)) | vec4(exponent_at(place));
    return bitcast<vec4<f32>>(bits) - (f32(1u << (23u - place)) + offset);
}
