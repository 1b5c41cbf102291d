// Conversion of four 16-bit floats in two words.
//
// import: lib/half

/// Converts those of two words, the low half of each first.
fn four_of_words(low: u32, high: u32, is_bfloat: bool) -> vec4<f32> {
    return vec4(
        half_or_bfloat(low & 0xffffu, is_bfloat),
        half_or_bfloat(low >> 16u, is_bfloat),
        half_or_bfloat(high & 0xffffu, is_bfloat),
        half_or_bfloat(high >> 16u, is_bfloat),
    );
}
