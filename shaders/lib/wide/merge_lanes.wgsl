// Bits of all invocations of a workgroup of 64, in two halves. In place of lib/narrow/merge_lanes.

// The bits of both halves of the current call, and zeros for the next one; workgroup memory starts at zero.
var<workgroup> sh_halves: array<atomic<u32>, 4>;

// Returns the bitwise OR of the bits that the invocations of each half pass. `round` points to the parity of the number of calls so
// far, so that the words need no clearing between them. Synchronises the workgroup.
fn merge_lanes(round: ptr<function, u32>, bits: u32, half: u32) -> vec2<u32> {
    let now = 2 * *round;
    *round = *round ^ 1u;
    if bits != 0 {
        atomicOr(&sh_halves[now + half], bits);
    }
    atomicStore(&sh_halves[(now ^ 2u) + half], 0u);
    return vec2(workgroupUniformLoad(&sh_halves[now]), workgroupUniformLoad(&sh_halves[now + 1]));
}

fn no_lanes() -> vec2<u32> {
    return vec2(0u);
}

fn lanes_of_half(bits: vec2<u32>, half: u32) -> u32 {
    return select(bits.x, bits.y, half == 1);
}

fn are_all_set(bits: vec2<u32>) -> bool {
    return (bits.x & bits.y) == 0xffffffff;
}
