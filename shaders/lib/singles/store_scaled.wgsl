// Stores of normalised columns. shaders/lib/halves/store_scaled.wgsl takes its place in second texts of kernels.
//
// The kernel declares `override HAS_WEIGHT` and `HAS_BIAS`, and the bindings `weight` and `bias`.

fn store_scaled(at: u32, end: u32, col: u32, normal: f32) {
    if at >= end {
        return;
    }
    var x = normal;
    if HAS_WEIGHT {
        x *= weight[col];
    }
    if HAS_BIAS {
        x += bias[col];
    }
    out[at] = x;
}

/// Stores four elements of a row, the first of which is in column `col`, times the weights and plus the biases of their columns; nothing behind
/// its end.
fn store_scaled4(row_start: u32, col: u32, normal: vec4<f32>) {
    let at = row_start + col;
    let end = row_start + params.cols;
    store_scaled(at, end, col, normal.x);
    store_scaled(at + WIDTH, end, col + WIDTH, normal.y);
    store_scaled(at + 2u * WIDTH, end, col + 2u * WIDTH, normal.z);
    store_scaled(at + 3u * WIDTH, end, col + 3u * WIDTH, normal.w);
}
