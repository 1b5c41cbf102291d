// Stores of four adjacent elements, bounded by the end of their row.
//
// The kernel declares `out`, a storage array of f32.

/// Stores the components of x at `at` and after it, as far as their columns, from `col` on, are below `end`.
fn store4(at: u32, col: u32, end: u32, x: vec4<f32>) {
    if col < end { out[at] = x.x; }
    if col + 1u < end { out[at + 1u] = x.y; }
    if col + 2u < end { out[at + 2u] = x.z; }
    if col + 3u < end { out[at + 3u] = x.w; }
}
