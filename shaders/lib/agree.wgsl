// Reduces a code over the workgroup.
//
// Intrinsic: wgsl-ptx knows `agree` by its name and this text, and makes one warp reduction of it. src/gpu/wgpu/spirv/subgroups.rs makes
// one reduction of a subgroup.
// The kernel declares `sh_words`, an array of `atomic<u32>` in workgroup memory, and AGREED, the index of a word in it that
// is at most round << 8 before a call.

// Returns the largest code that an invocation of the workgroup passes, from 0 to 255. `round` counts the calls, so that
// the word needs no clearing between them. Synchronises the workgroup.
fn agree(round: ptr<function, u32>, code: u32) -> u32 {
    *round += 1u;
    if code != 0 {
        atomicMax(&sh_words[AGREED], (*round << 8) | code);
    }
    let all = workgroupUniformLoad(&sh_words[AGREED]);
    return select(0u, all & 255, (all >> 8) == *round);
}
