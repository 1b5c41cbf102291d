// 16-bit floats in groups of four. In second texts of kernels it takes the place of shaders/lib/singles/fours.wgsl.
//
// The kernel declares the bindings `a` and `b` of `Four`.
//
// import: lib/four_halves, lib/sixteen_bits

alias Four = vec2<u32>;

fn four_of(group: Four) -> vec4<f32> {
    return four_of_words(group.x, group.y, is_of_bfloat16());
}

fn element_a(at: u32) -> f32 {
    return element_of(a[at >> 2u][(at >> 1u) & 1u], at);
}

fn element_b(at: u32) -> f32 {
    return element_of(b[at >> 2u][(at >> 1u) & 1u], at);
}

/// Returns the element `at` of a binding, which is in `word`.
fn element_of(word: u32, at: u32) -> f32 {
    return half_or_bfloat((word >> ((at & 1u) << 4u)) & 0xffffu, is_of_bfloat16());
}
