// Detection of NaN.

/// Returns true for each component that is NaN, by its bits: compilers may assume that comparisons see none.
fn is_nan(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4(0x7fffffffu)) > vec4(0x7f800000u);
}
