// Integers of 64 bits.
// grid: 1 1 1
// output: 1024
// needs: int64
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn split(v: u64, at: u32) {
    output[at] = u32(v);
    output[at + 1] = u32(v >> 32);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = (u64(input[i]) << 32) | u64(input[i + 1]);
    let b = (u64(input[i + 2]) << (i & 31)) | 1lu;
    let x = i64(a);
    let y = i64(b);
    let at = 32 * i;
    split(a + b, at);
    split(a - b, at + 2);
    split(a * b, at + 4);
    split(a / b, at + 6);
    split(a % b, at + 8);
    split(u64(x / y), at + 10);
    split(u64(x % y), at + 12);
    split(a << (i & 63), at + 14);
    split(a >> (i & 63), at + 16);
    split(u64(x >> (i & 63)), at + 18);
    split(min(a, b) ^ u64(max(x, y)), at + 20);
    split(u64(abs(x)) & ~b, at + 22);
    split(u64(f32(i) * 1e9), at + 24);
    split(select(a, b, x < y), at + 26);
    split(u64(i64(-5) * i64(i)), at + 28);
    output[at + 30] = u32(a < b) + 2 * u32(x < y) + 4 * u32(a == a);
    output[at + 31] = bitcast<u32>(f32(i));
}
