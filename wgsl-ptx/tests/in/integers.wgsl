// Integer arithmetic wraps; comparison and min, max, clamp, abs, sign follow the sign.
// grid: 1 1 1
// output: 1024
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = input[2 * i];
    let b = input[2 * i + 1];
    let x = bitcast<i32>(a);
    let y = bitcast<i32>(b);
    let at = 16 * i;
    output[at] = a + b;
    output[at + 1] = a - b;
    output[at + 2] = a * b;
    output[at + 3] = bitcast<u32>(x * y - x);
    output[at + 4] = bitcast<u32>(-x);
    output[at + 5] = bitcast<u32>(abs(x)) ^ abs(a);
    output[at + 6] = bitcast<u32>(sign(x) + 2 * sign(i32(i) - 3));
    output[at + 7] = min(a, b) ^ bitcast<u32>(min(x, y));
    output[at + 8] = max(a, b) ^ bitcast<u32>(max(x, y));
    output[at + 9] = clamp(a, 0x40000000u, 0x80000000u);
    output[at + 10] = bitcast<u32>(clamp(x, -1000000000, 1000000000));
    output[at + 11] = u32(a < b) | (u32(x < y) << 1) | (u32(a >= b) << 2) | (u32(x >= y) << 3) | (u32(a == b) << 4)
        | (u32(x != y) << 5) | (u32(a > b) << 6) | (u32(x <= y) << 7);
    output[at + 12] = (a & b) ^ (a | ~b);
    output[at + 13] = select(a, b, x < 0);
    output[at + 14] = bitcast<u32>(abs(-2147483647 - 1 + i32(i)));
    output[at + 15] = dot(vec3(a, b, 3u), vec3(b, a, 5u));
}
