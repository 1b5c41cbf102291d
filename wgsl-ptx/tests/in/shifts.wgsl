// Shift amounts count modulo 32.
// grid: 1 1 1
// output: 512
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = input[i];
    let x = bitcast<i32>(a);
    let at = 8 * i;
    output[at] = a << (i & 31);
    output[at + 1] = a >> (i & 31);
    output[at + 2] = bitcast<u32>(x >> (i & 31));
    output[at + 3] = bitcast<u32>(x << (i & 31));
    output[at + 4] = (a << 5) ^ (a >> 27);
    output[at + 5] = bitcast<u32>(x >> 31) ^ bitcast<u32>(x << 31);
    output[at + 6] = dot(vec2(a, a) << vec2(i & 31, 3u), vec2(1u, 1u));
    output[at + 7] = (a << ((i & 3) * 8)) ^ (a >> ((i & 7) * 4)) ^ (a << ((i & 1) * 8)) ^ (a >> ((i & 15) * 2))
        ^ (1u << ((i * 7) & 31));
}
