// Equal values in a workgroup of 32 invocations.
//
// Intrinsic: wgsl-ptx and src/gpu/wgpu/spirv/subgroups.rs know `peers` by its name and this text, and make a ballot of each of the 12
// bits, without workgroup memory.
// So only `peers` may name `sh_values`.

var<workgroup> sh_values: array<u32, 32>;

// Returns the invocations that pass a value with the same low 12 bits, one bit each. `lane` is the index of the invocation. Synchronises
// the workgroup.
fn peers(lane: u32, value: u32) -> u32 {
    sh_values[lane] = value & 0xfff;
    workgroupBarrier();
    var lanes = 0u;
    for (var i = 0u; i < 32; i++) {
        lanes |= select(0u, 1u << i, sh_values[i] == (value & 0xfff));
    }
    workgroupBarrier();
    return lanes;
}
