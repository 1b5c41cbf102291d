// Stores of f32 in groups of four. shaders/lib/halves/store_four.wgsl takes its place in second texts of kernels.
//
// The kernel declares the binding `out` of `Four`.

/// Stores group i of `out`.
fn store_four(i: u32, x: vec4<f32>) {
    out[i] = x;
}
