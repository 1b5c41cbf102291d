// Functions with the names of intrinsics that are none: `funnel` and `agree` have other bodies, and the counter of `vote` is
// read outside of it.
// grid: 1 1 1
// output: 160
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const AGREED: u32 = 3;
var<workgroup> sh_words: array<atomic<u32>, 8>;
var<workgroup> sh_votes: atomic<u32>;

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

fn vote(votes: ptr<function, u32>, yes: bool) -> bool {
    if yes {
        atomicAdd(&sh_votes, 1u);
    }
    let before = *votes;
    *votes = workgroupUniformLoad(&sh_votes);
    return *votes != before;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 5 * i;
    output[at] = funnel(input[i], input[i + 1], i);
    var round = 0u;
    output[at + 1] = agree(&round, select(0u, i * 5, i % 7 == 3));
    output[at + 2] = agree(&round, 0u) + round;
    var votes = 0u;
    output[at + 3] = select(0u, 1u, vote(&votes, i % 3 == 0)) + select(0u, 2u, vote(&votes, false));
    output[at + 4] = atomicLoad(&sh_votes) + votes;
}
