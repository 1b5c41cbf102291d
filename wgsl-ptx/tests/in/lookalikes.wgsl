// Functions with the names of intrinsics that are none: `funnel` and `agree` have other bodies, and the words of `merge` are
// read outside of it.
// grid: 1 1 1
// output: 160
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const AGREED: u32 = 3;
var<workgroup> sh_words: array<atomic<u32>, 8>;
var<workgroup> sh_merged: array<atomic<u32>, 2>;

fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a << s) | ((b >> 1) >> (31 - s));
}

fn agree(round: ptr<function, u32>, code: u32) -> u32 {
    *round += 1u;
    if code != 0 {
        atomicMax(&sh_words[AGREED], (*round << 8) | code);
    }
    let all = workgroupUniformLoad(&sh_words[AGREED]);
    return select(0u, 255 - (all & 255), (all >> 8) == *round);
}

fn merge(round: ptr<function, u32>, bits: u32) -> u32 {
    let now = *round;
    *round = now ^ 1u;
    if bits != 0 {
        atomicOr(&sh_merged[now], bits);
    }
    atomicStore(&sh_merged[now ^ 1u], 0u);
    return workgroupUniformLoad(&sh_merged[now]);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 5 * i;
    output[at] = funnel(input[i], input[i + 1], i);
    var round = 0u;
    output[at + 1] = agree(&round, select(0u, i * 5, i % 7 == 3));
    output[at + 2] = agree(&round, 0u) + round;
    var parity = 0u;
    output[at + 3] = merge(&parity, i * 3) + merge(&parity, 0u);
    let before = atomicLoad(&sh_merged[0]);
    workgroupBarrier();
    output[at + 4] = before + merge(&parity, select(0u, 64u, i == 7)) + parity;
}
