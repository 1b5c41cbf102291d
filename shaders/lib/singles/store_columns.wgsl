// Stores of strided columns. shaders/lib/halves/store_columns.wgsl takes its place in second texts of kernels.

/// Stores four elements of a row, the first of which is in column `col`; nothing behind its end.
fn store_columns(row_start: u32, col: u32, x: vec4<f32>) {
    if col < params.cols { out[row_start + col] = x.x; }
    if col + WIDTH < params.cols { out[row_start + col + WIDTH] = x.y; }
    if col + 2u * WIDTH < params.cols { out[row_start + col + 2u * WIDTH] = x.z; }
    if col + 3u * WIDTH < params.cols { out[row_start + col + 3u * WIDTH] = x.w; }
}
