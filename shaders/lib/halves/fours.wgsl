// 16-bit floats in groups of four. In second texts of kernels it takes the place of shaders/lib/singles/fours.wgsl.
//
// The kernel declares bindings of `Four`.
//
// import: lib/four_halves, lib/sixteen_bits

alias Four = vec2<u32>;

fn four_of(group: Four) -> vec4<f32> {
    return four_of_words(group.x, group.y, is_of_bfloat16());
}

fn one_of(group: Four, i: u32) -> f32 {
    return half_or_bfloat((group[i >> 1u] >> ((i & 1u) << 4u)) & 0xffffu, is_of_bfloat16());
}
