// Functions of shaders/lib that PTX replaces, beside the same bodies under names that it does not know.
// grid: 1 1 1
// output: 256
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const AGREED: u32 = 3;
var<workgroup> sh_words: array<atomic<u32>, 8>;

fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

fn funnel_in_words(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

fn agree(round: ptr<function, u32>, code: u32) -> u32 {
    *round += 1u;
    if code != 0 {
        atomicMax(&sh_words[AGREED], (*round << 8) | code);
    }
    let all = workgroupUniformLoad(&sh_words[AGREED]);
    return select(0u, all & 255, (all >> 8) == *round);
}

fn agree_in_words(round: ptr<function, u32>, code: u32) -> u32 {
    *round += 1u;
    if code != 0 {
        atomicMax(&sh_words[AGREED], (*round << 8) | code);
    }
    let all = workgroupUniformLoad(&sh_words[AGREED]);
    return select(0u, all & 255, (all >> 8) == *round);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 8 * i;
    let a = input[i];
    let b = input[i + 1];
    output[at] = funnel(a, b, i);
    output[at + 1] = funnel_in_words(a, b, i);
    var round = 0u;
    output[at + 2] = agree(&round, select(0u, i * 5, i % 7 == 3));
    output[at + 3] = agree_in_words(&round, select(0u, i * 5, i % 7 == 3));
    output[at + 4] = agree(&round, 0u);
    output[at + 5] = agree_in_words(&round, 0u) + round;
    output[at + 6] = agree(&round, i);
    output[at + 7] = atomicLoad(&sh_words[AGREED]) + round;
}
