// Bit operations on words that hold bytes.
//
// Intrinsic: `funnel`. The crate wgsl-ptx and src/gpu/wgpu/spirv/mod.rs know it by its name and this text.

// Returns the low word of the 64-bit pair (a, b), a being the low half, shifted right by s bits; s = 0, 8, 16 or 24.
fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

// Returns a mask of the first n bytes of a word; of all for n from 4 on.
fn first_bits(n: u32) -> u32 {
    return select((1u << (8 * (n & 3))) - 1, 0xffffffffu, n >= 4);
}
