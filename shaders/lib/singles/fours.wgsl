// Elements of f32 in groups of four. shaders/lib/halves/fours.wgsl takes its place in second texts of kernels.
//
// The kernel declares the bindings `a` and `b` of `Four`. Single elements are read there: a group passed by value is loaded whole, and compilers
// choose its element by selections.

/// Element type of the bindings: a group of four elements.
alias Four = vec4<f32>;

/// Returns the elements of a group.
fn four_of(group: Four) -> vec4<f32> {
    return group;
}

/// Returns element `at` of `a`.
fn element_a(at: u32) -> f32 {
    return a[at >> 2u][at & 3u];
}

/// Returns element `at` of `b`.
fn element_b(at: u32) -> f32 {
    return b[at >> 2u][at & 3u];
}
