// Bitwise OR over the workgroup.
//
// Intrinsic: wgsl-ptx knows `merge` by its name and this text, and makes one warp reduction of it, without workgroup memory.
// So only `merge` may name `sh_merged`, and only calls of `merge` may use its pointer.

// The bits of the current call, and zero for the next one; workgroup memory starts at zero.
var<workgroup> sh_merged: array<atomic<u32>, 2>;

// Returns the bitwise OR of the bits that the invocations of the workgroup pass. `round` points to the parity of the number
// of calls so far, so that the words need no clearing between them. Synchronises the workgroup.
fn merge(round: ptr<function, u32>, bits: u32) -> u32 {
    let now = *round;
    *round = now ^ 1u;
    if bits != 0 {
        atomicOr(&sh_merged[now], bits);
    }
    atomicStore(&sh_merged[now ^ 1u], 0u);
    return workgroupUniformLoad(&sh_merged[now]);
}
