// Stores of f32 in groups of four, rounded to 16 bits. In second texts of kernels it takes the place of shaders/lib/singles/store_four.wgsl.
//
// The kernel declares the binding `out` of `Four`, and `params` with `n`, the number of elements of `out`.
//
// import: lib/rounded

/// Stores group i of `out`, rounded; zeros behind the last element.
fn store_four(i: u32, x: vec4<f32>) {
    let kept = select(vec4(0.0), x, 4u * i + vec4(0u, 1u, 2u, 3u) < vec4(params.n));
    out[i] = vec2(rounded_pair(kept.xy), rounded_pair(kept.zw));
}
