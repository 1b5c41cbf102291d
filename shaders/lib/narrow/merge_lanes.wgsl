// Bits of all invocations of a workgroup of 32.
//
// import: lib/merge

// Returns the bitwise OR of the bits that the invocations pass; `half` is 0. `round` is that of `merge`. Synchronises the workgroup.
fn merge_lanes(round: ptr<function, u32>, bits: u32, half: u32) -> u32 {
    return merge(round, bits);
}

fn no_lanes() -> u32 {
    return 0u;
}

fn lanes_of_half(bits: u32, half: u32) -> u32 {
    return bits;
}

// Returns true if all bits are set.
fn are_all_set(bits: u32) -> bool {
    return bits == 0xffffffff;
}
