// Factors of groups of 32 weights in blocks of Q4_K and Q5_K: a scale and a minimum of 6 bits each, in 12 of the first 16 bytes.
//
// import: lib/half

/// The bits of two neighbouring groups' factors. Those of groups below 4 lie together; of others, four bits lie in the last word.
struct FactorPlaces {
    shift: u32,
    mask: u32,
    last_shift: u32,
    last_mask: u32,
}

/// Returns the places of groups `group`, which is even, and `group` + 1.
fn factor_places(group: u32) -> FactorPlaces {
    let shift = 8u * (group & 2u);
    if group < 4u {
        return FactorPlaces(shift, 0x3f3fu, shift, 0u);
    }
    return FactorPlaces(shift + 2u, 0x3030u, shift, 0x0f0fu);
}

/// Returns scale and minimum of two groups of a block that begins with `head`.
fn factors_at(head: vec4<u32>, places: FactorPlaces) -> vec4<f32> {
    let last = vec2(head.w >> places.last_shift, head.w >> (places.last_shift + 4u));
    let bytes = ((head.yz >> vec2(places.shift)) & vec2(places.mask)) | (last & vec2(places.last_mask));
    let scale = half(head.x & 0xffffu);
    let minimum = half(head.x >> 16u);
    return vec4(scale, minimum, scale, minimum) * vec4<f32>(vec4(bytes & vec2(0xffu), bytes >> vec2(8u)));
}
