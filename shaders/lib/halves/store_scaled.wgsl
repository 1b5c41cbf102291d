// Stores of normalised columns, rounded to 16 bits. In second texts of kernels it takes the place of shaders/lib/singles/store_scaled.wgsl.
//
// The kernel declares `override HAS_WEIGHT` and `HAS_BIAS`, and the bindings `weight` and `bias`.
//
// import: lib/rounded

fn store_scaled(at: u32, end: u32, col: u32, normal: vec2<f32>) {
    if at >= end {
        return;
    }
    var x = normal;
    if HAS_WEIGHT {
        x *= vec2(weight[col], weight[col + 1u]);
    }
    if HAS_BIAS {
        x += vec2(bias[col], bias[col + 1u]);
    }
    out[at / 2u] = rounded_pair(x);
}

fn store_scaled4(row_start: u32, col: u32, normal: vec4<f32>) {
    let at = row_start + col;
    let end = row_start + params.cols;
    store_scaled(at, end, col, normal.xy);
    store_scaled(at + 2u * WIDTH, end, col + 2u * WIDTH, normal.zw);
}
