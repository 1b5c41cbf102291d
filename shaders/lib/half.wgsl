// Conversion of 16-bit floats.

// Converts an f16. unpack2x16float needs a feature that not every adapter of wgpu has. The exponent grows by 224 and the number shrinks by
// 2^112 in all, so that infinity and NaN stay what they are, and no number is subnormal on the way: that of exponent 0 is 2^97 and its
// fraction.
//
// Intrinsic: wgsl-ptx knows this function by its name and text.
fn half(bits: u32) -> f32 {
    let scaled = bitcast<f32>(((bits & 0x7fff) << 13) + 0x70000000);
    let magnitude = select(scaled * 0x1p-112, (scaled - 0x1p97) * 0x1p-111, (bits & 0x7c00) == 0);
    return bitcast<f32>(bitcast<u32>(magnitude) | ((bits & 0x8000) << 16));
}

/// Converts a bfloat16, or an f16.
fn half_or_bfloat(bits: u32, is_bfloat: bool) -> f32 {
    if is_bfloat {
        return bitcast<f32>(bits << 16u);
    }
    return half(bits);
}
