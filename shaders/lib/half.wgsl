// Conversion of 16-bit floats.

/// Converts an f16. unpack2x16float needs a feature that not every adapter of wgpu has.
fn half(bits: u32) -> f32 {
    let exponent = bits & 0x7c00u;
    let bias = select(0x38000000u, 0x70000000u, exponent == 0x7c00u);
    let normal = bitcast<f32>(((bits & 0x7fffu) << 13u) + bias);
    let magnitude = select(normal, f32(bits & 0x3ffu) * 5.9604645e-8, exponent == 0u);
    return select(magnitude, -magnitude, (bits & 0x8000u) != 0u);
}

/// Converts a bfloat16, or an f16.
fn half_or_bfloat(bits: u32, is_bfloat: bool) -> f32 {
    if is_bfloat {
        return bitcast<f32>(bits << 16u);
    }
    return half(bits);
}
