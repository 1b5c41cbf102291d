// Stores of strided columns, rounded to 16 bits. In second texts of kernels it takes the place of shaders/lib/singles/store_columns.wgsl.
//
// import: lib/rounded

fn store_columns(row_start: u32, col: u32, x: vec4<f32>) {
    if col < params.cols { out[(row_start + col) / 2u] = rounded_pair(x.xy); }
    if col + 2u * WIDTH < params.cols { out[(row_start + col) / 2u + WIDTH] = rounded_pair(x.zw); }
}
