// Division and remainder by values and by constants: by zero, and of the least integer by -1, as WGSL says.
// grid: 1 1 1
// output: 2048
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = select(input[i], i * 85u, i < 32u);
    let b = select(input[i + 64u] >> (i & 31u), i & 7u, (i & 1u) == 0u);
    let x = select(bitcast<i32>(a), -2147483647 - 1, i % 8u == 5u);
    let y = select(bitcast<i32>(b) - 2, -1, i % 4u == 1u);
    let at = 32u * i;
    output[at] = a / b;
    output[at + 1u] = a % b;
    output[at + 2u] = bitcast<u32>(x / y);
    output[at + 3u] = bitcast<u32>(x % y);
    output[at + 4u] = a / 3u;
    output[at + 5u] = a / 7u;
    output[at + 6u] = a / 10u;
    output[at + 7u] = a / 255u;
    output[at + 8u] = a / 641u;
    output[at + 9u] = a / 0xfffffffeu;
    output[at + 10u] = a / 64u;
    output[at + 11u] = a % 7u;
    output[at + 12u] = a % 64u;
    output[at + 13u] = a % 1000003u;
    output[at + 14u] = bitcast<u32>(x / 3);
    output[at + 15u] = bitcast<u32>(x / -7);
    output[at + 16u] = bitcast<u32>(x / 8);
    output[at + 17u] = bitcast<u32>(x / -16);
    output[at + 18u] = bitcast<u32>(x % 8);
    output[at + 19u] = bitcast<u32>(x % -10);
    output[at + 20u] = bitcast<u32>(x / 1000);
    output[at + 21u] = bitcast<u32>(x % 641);
    output[at + 22u] = bitcast<u32>(x / 2147483647);
    output[at + 23u] = bitcast<u32>(x / 1);
    output[at + 24u] = a / 1u;
    output[at + 25u] = 1000000u / b;
    output[at + 26u] = a / 5u + a / 6u + a / 9u + a / 11u + a / 12u + a / 13u;
    output[at + 27u] = a / 19u + a / 21u + a / 25u + a / 37u + a / 101u + a / 125u;
    output[at + 28u] = bitcast<u32>(x / 5 + x / 6 + x / 7 + x / 9 + x / 11 + x / 25 + x / 125 + x / 2);
    output[at + 29u] = bitcast<u32>((vec2(x, y) / vec2(3, y - y)).y);
    output[at + 30u] = a / 0x80000001u;
    output[at + 31u] = bitcast<u32>(x % -1);
}
