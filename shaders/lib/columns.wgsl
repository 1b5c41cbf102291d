// Strided columns: a lane takes four elements of a row, WIDTH apart, so that the loads of neighbouring lanes coalesce.
//
// The kernel declares `override WIDTH`, the lanes of a row.

/// Returns the columns of a lane's four elements, the first of which is `col`.
fn columns(col: u32) -> vec4<u32> {
    return col + vec4(0u, 1u, 2u, 3u) * WIDTH;
}
