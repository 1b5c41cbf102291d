// The `merge` of shaders/lib, which PTX replaces, beside the same body under a name that it does not know.
// grid: 2 1 1
// output: 512
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> sh_merged: array<atomic<u32>, 2>;
var<workgroup> sh_merged_in_words: array<atomic<u32>, 2>;

fn merge(round: ptr<function, u32>, bits: u32) -> u32 {
    let now = *round;
    *round = now ^ 1u;
    if bits != 0 {
        atomicOr(&sh_merged[now], bits);
    }
    atomicStore(&sh_merged[now ^ 1u], 0u);
    return workgroupUniformLoad(&sh_merged[now]);
}

fn merge_in_words(round: ptr<function, u32>, bits: u32) -> u32 {
    let now = *round;
    *round = now ^ 1u;
    if bits != 0 {
        atomicOr(&sh_merged_in_words[now], bits);
    }
    atomicStore(&sh_merged_in_words[now ^ 1u], 0u);
    return workgroupUniformLoad(&sh_merged_in_words[now]);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let at = 8 * (32 * group.x + i);
    var round = 0u;
    var round_in_words = 0u;
    for (var k = 0u; k < 4; k++) {
        // One bit of a lane, any bits of a few lanes, none.
        let bits = select(select(0u, input[i + k], i % (k + 5) == group.x), 1u << i, k == 0 && i != 9 + group.x);
        output[at + 2 * k] = merge(&round, bits);
        output[at + 2 * k + 1] = merge_in_words(&round_in_words, bits);
    }
}
