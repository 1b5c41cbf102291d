// Packing into words and back; dot products of packed bytes.
// grid: 1 1 1
// output: 2048
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = input[i];
    let b = input[i + 64];
    let f = vec4(f32(i) / 64.0 - 0.3, 0.31, -0.73, f32(i % 5) - 2.0);
    let at = 32 * i;
    output[at] = pack4x8snorm(f);
    output[at + 1] = pack4x8unorm(f);
    output[at + 2] = pack2x16snorm(f.xy);
    output[at + 3] = pack2x16unorm(f.zw);
    output[at + 4] = pack2x16float(f.xy * 100.0);
    let s = unpack4x8snorm(a);
    let u = unpack4x8unorm(a);
    output[at + 5] = pack4x8snorm(s) ^ pack4x8unorm(u);
    output[at + 6] = u32(round(s.x * 1270.0) + 2000.0) + u32(round(u.w * 2550.0));
    output[at + 7] = pack2x16snorm(unpack2x16snorm(a)) ^ pack2x16unorm(unpack2x16unorm(b));
    output[at + 8] = pack2x16float(unpack2x16float(a & 0x7bff7bffu));
    let i8 = unpack4xI8(a);
    let u8 = unpack4xU8(b);
    output[at + 9] = bitcast<u32>(i8.x + i8.y * 3 + i8.z * 5 + i8.w * 7);
    output[at + 10] = u8.x + u8.y * 3 + u8.z * 5 + u8.w * 7;
    output[at + 11] = pack4xI8(i8 * 3);
    output[at + 12] = pack4xU8(u8 * 3);
    output[at + 13] = pack4xI8Clamp(i8 * 3);
    output[at + 14] = pack4xU8Clamp(u8 * 3);
    output[at + 15] = bitcast<u32>(dot4I8Packed(a, b));
    output[at + 16] = dot4U8Packed(a, b);
    for (var k = 17u; k < 32; k++) {
        output[at + k] = k;
    }
}
