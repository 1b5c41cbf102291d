// Elements of f32 in groups of four. shaders/lib/halves/fours.wgsl takes its place in second texts of kernels.
//
// The kernel declares bindings of `Four`.

/// Element type of the bindings: a group of four elements.
alias Four = vec4<f32>;

/// Returns the elements of a group.
fn four_of(group: Four) -> vec4<f32> {
    return group;
}

/// Returns an element of a group.
fn one_of(group: Four, i: u32) -> f32 {
    return group[i];
}
