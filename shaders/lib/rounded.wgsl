// Rounding of f32 to types of 16 bits, to nearest, ties to even. A NaN becomes the quiet NaN of its sign.
//
// The kernel declares `TO`, a number as `DType::code` gives it: 1 is f16, 2 is bf16.

// Returns a word with two numbers rounded to f16, the first in its low half. A subnormal f16 is a multiple of 2^-24, as its sum with 0.5 is.
//
// Intrinsic: wgsl-ptx knows this function by its name and text.
fn two_halves(x: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(x);
    let magnitude = bits & vec2(0x7fffffffu);
    let rest = magnitude - 0x38000000u;
    let normal = min((rest + 0xfffu + ((rest >> vec2(13u)) & vec2(1u))) >> vec2(13u), vec2(0x7c00u));
    let subnormal = bitcast<vec2<u32>>(bitcast<vec2<f32>>(magnitude) + 0.5) - 0x3f000000u;
    let number = select(normal, subnormal, magnitude < vec2(0x38800000u));
    let signs = (bits >> vec2(16u)) & vec2(0x8000u);
    let halves = signs | select(number, vec2(0x7e00u), magnitude > vec2(0x7f800000u));
    return halves.x | (halves.y << 16u);
}

/// Returns a word with two numbers rounded to bfloat16, the first in its low half.
fn two_bfloats(x: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(x);
    let number = (bits + 0x7fffu + ((bits >> vec2(16u)) & vec2(1u))) >> vec2(16u);
    let quiet = ((bits >> vec2(16u)) & vec2(0x8000u)) | vec2(0x7fc0u);
    let halves = select(number, quiet, (bits & vec2(0x7fffffffu)) > vec2(0x7f800000u));
    return halves.x | (halves.y << 16u);
}

/// Returns a word with two rounded numbers, the first in its low half.
fn rounded_pair(x: vec2<f32>) -> u32 {
    if TO == 2u {
        return two_bfloats(x);
    }
    return two_halves(x);
}
