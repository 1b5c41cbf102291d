// Stores of four adjacent elements, or additions to them.
//
// The kernel declares `out`, a storage array of f32.
//
// import: lib/store4

// Elements are added to those of `out`.
override ADD: bool = false;

/// Stores the components of x, or adds them, at `at` and after it, as far as their columns, from `col` on, are below `end`.
fn add4(at: u32, col: u32, end: u32, x: vec4<f32>) {
    var y = x;
    if ADD {
        if col < end { y.x += out[at]; }
        if col + 1u < end { y.y += out[at + 1u]; }
        if col + 2u < end { y.z += out[at + 2u]; }
        if col + 3u < end { y.w += out[at + 3u]; }
    }
    store4(at, col, end, y);
}
