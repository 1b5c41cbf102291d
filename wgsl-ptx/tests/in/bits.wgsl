// Functions of bits.
// grid: 1 1 1
// output: 1024
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = select(input[i] >> (i & 31), 0u, i == 40);
    let x = select(bitcast<i32>(input[i]) >> (i & 31), -1, i == 41);
    let at = 16 * i;
    output[at] = countOneBits(a);
    output[at + 1] = countLeadingZeros(a);
    output[at + 2] = countTrailingZeros(a << (i & 15));
    output[at + 3] = firstLeadingBit(a);
    output[at + 4] = bitcast<u32>(firstLeadingBit(x));
    output[at + 5] = firstTrailingBit(a);
    output[at + 6] = bitcast<u32>(firstTrailingBit(x));
    output[at + 7] = reverseBits(a);
    output[at + 8] = extractBits(a, i % 40, i % 37);
    output[at + 9] = bitcast<u32>(extractBits(x, i % 35, (i * 3) % 41));
    output[at + 10] = insertBits(a, input[i + 1], i % 37, (i * 5) % 39);
    output[at + 11] = bitcast<u32>(insertBits(x, 77, 4u, 9u));
    output[at + 12] = bitcast<u32>(countLeadingZeros(x)) + bitcast<u32>(countTrailingZeros(x)) * 64;
    output[at + 13] = extractBits(a, 8u, 8u);
    output[at + 14] = bitcast<u32>(reverseBits(x));
    output[at + 15] = dot(countOneBits(vec2(a, ~a)), vec2(1u, 1u));
}
