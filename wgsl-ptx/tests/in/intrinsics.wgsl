// Functions of shaders/lib that PTX replaces, beside the same bodies under names that it does not know.
// grid: 1 1 1
// output: 384
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

fn half(bits: u32) -> f32 {
    let scaled = bitcast<f32>(((bits & 0x7fff) << 13) + 0x70000000);
    let magnitude = select(scaled * 0x1p-112, (scaled - 0x1p97) * 0x1p-111, (bits & 0x7c00) == 0);
    return bitcast<f32>(bitcast<u32>(magnitude) | ((bits & 0x8000) << 16));
}

fn half_in_words(bits: u32) -> f32 {
    let scaled = bitcast<f32>(((bits & 0x7fff) << 13) + 0x70000000);
    let magnitude = select(scaled * 0x1p-112, (scaled - 0x1p97) * 0x1p-111, (bits & 0x7c00) == 0);
    return bitcast<f32>(bitcast<u32>(magnitude) | ((bits & 0x8000) << 16));
}

fn two_halves(x: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(x);
    let magnitude = bits & vec2(0x7fffffffu);
    let rest = magnitude - 0x38000000u;
    let normal = min((rest + 0xfffu + ((rest >> vec2(13u)) & vec2(1u))) >> vec2(13u), vec2(0x7c00u));
    let subnormal = bitcast<vec2<u32>>(bitcast<vec2<f32>>(magnitude) + 0.5) - 0x3f000000u;
    let number = select(normal, subnormal, magnitude < vec2(0x38800000u));
    let signs = (bits >> vec2(16u)) & vec2(0x8000u);
    let halves = signs | select(number, vec2(0x7e00u), magnitude > vec2(0x7f800000u));
    return halves.x | (halves.y << 16u);
}

fn two_halves_in_words(x: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(x);
    let magnitude = bits & vec2(0x7fffffffu);
    let rest = magnitude - 0x38000000u;
    let normal = min((rest + 0xfffu + ((rest >> vec2(13u)) & vec2(1u))) >> vec2(13u), vec2(0x7c00u));
    let subnormal = bitcast<vec2<u32>>(bitcast<vec2<f32>>(magnitude) + 0.5) - 0x3f000000u;
    let number = select(normal, subnormal, magnitude < vec2(0x38800000u));
    let signs = (bits >> vec2(16u)) & vec2(0x8000u);
    let halves = signs | select(number, vec2(0x7e00u), magnitude > vec2(0x7f800000u));
    return halves.x | (halves.y << 16u);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 12 * i;
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
    // Subnormal numbers first; the last is infinite.
    let bits = select((a & 0x83ff) | (i / 4 << 12), 0xfc00, i == 31);
    output[at + 8] = bitcast<u32>(half(bits));
    output[at + 9] = bitcast<u32>(half_in_words(bits));
    // Numbers around the subnormal halves, ties, numbers beyond the largest half, and NaN of both signs.
    let magnitude = (0x33000000u + (i << 23u)) | (a & 0x7ff000u);
    let pair = vec2(bitcast<f32>(magnitude), bitcast<f32>(select(b | 0x80000000u, 0xff800001u + i, i % 3 == 0)));
    output[at + 10] = two_halves(pair);
    output[at + 11] = two_halves_in_words(pair);
}
