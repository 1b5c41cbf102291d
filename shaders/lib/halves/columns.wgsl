// Strided columns of rows of 16-bit floats: a lane takes two words of a row, WIDTH apart, with two elements each. In second texts of kernels it
// takes the place of shaders/lib/singles/columns.wgsl. Rows start at words and are whole words.
//
// The kernel declares `override WIDTH`, the lanes of a row, the binding `a` of `Stored`, and `params` with `cols`, the length of a row.
//
// import: lib/four_halves, lib/sixteen_bits

alias Stored = u32;

fn first_column(lane: u32) -> u32 {
    return 2u * lane;
}

fn columns(col: u32) -> vec4<u32> {
    return col + vec4(0u, 1u, 2u * WIDTH, 2u * WIDTH + 1u);
}

fn load_clamped(row_start: u32, col: u32) -> vec4<f32> {
    let at = (row_start + min(vec2(col, col + 2u * WIDTH), vec2(params.cols - 2u))) / 2u;
    return four_of_words(a[at.x], a[at.y], is_of_bfloat16());
}
