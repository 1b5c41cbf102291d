// Strided columns of rows of f32: a lane takes four elements of a row, WIDTH apart, so that the loads of neighbouring lanes coalesce.
// shaders/lib/halves/columns.wgsl takes its place in second texts of kernels.
//
// The kernel declares `override WIDTH`, the lanes of a row, the binding `a` of `Stored`, and `params` with `cols`, the length of a row.

/// Element type of the bindings `a` and `out`.
alias Stored = f32;

/// Returns the first column of a lane.
fn first_column(lane: u32) -> u32 {
    return lane;
}

/// Returns the columns of a lane's four elements, the first of which is `col`.
fn columns(col: u32) -> vec4<u32> {
    return col + vec4(0u, 1u, 2u, 3u) * WIDTH;
}

/// Returns four elements of a row; columns are clamped to its end.
fn load_clamped(row_start: u32, col: u32) -> vec4<f32> {
    let at = row_start + min(columns(col), vec4(params.cols - 1u));
    return vec4(a[at.x], a[at.y], a[at.z], a[at.w]);
}
