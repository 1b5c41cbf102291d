// Cooperative matrices of single precision as factors, rounded to TF32: in both orders, from workgroup memory and from storage.
// grid: 1 1 1
// output: 1024
// floats: 0
// needs: tf32
enable wgpu_cooperative_matrix;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

alias Left = coop_mat16x16<f32, A>;
alias Right = coop_mat16x16<f32, B>;
alias Sum = coop_mat16x16<f32, C>;

var<workgroup> fine: array<vec2<f32>, 160>;
var<workgroup> whole: array<f32, 320>;

// A number of magnitude 1 to 2, with all bits of its significand.
fn fine_number(bits: u32) -> f32 {
    return bitcast<f32>((bits & 0x80000000) | 0x3f800000 | (bits & 0x7fffff));
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var at = i; at < 160; at += 32) {
        fine[at] = vec2(fine_number(input[2 * at % 256]), fine_number(input[(2 * at + 1) % 256]));
    }
    for (var at = i; at < 320; at += 32) {
        whole[at] = f32(i32(input[at % 256] >> 29) - 3);
    }
    workgroupBarrier();

    // Rows and columns of 20 scalars apart: both factors along the terms of the sums, then both across.
    let along = coopMultiplyAdd(coopLoadT<Left>(&fine[0], 10), coopLoad<Right>(&whole[0], 20), Sum());
    coopStoreT(along, &output[0], 16);
    let across = coopMultiplyAdd(coopLoad<Left>(&whole[4], 20), coopLoadT<Right>(&fine[2], 10), Sum());
    coopStoreT(across, &output[256], 16);
    storageBarrier();

    // From storage, and added to another sum.
    var sum = coopLoadT<Sum>(&output[256], 16);
    sum = coopMultiplyAdd(coopLoadT<Left>(&output[0], 16), coopLoad<Right>(&whole[0], 20), sum);
    coopStoreT(sum, &output[512], 16);
    workgroupBarrier();

    // Each row of the product is one number.
    let numbers = array<u32, 16>(
        0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff, 0xffffffff, 0x7f800001, 0x7f7fffff, 0x7f7fe000,
        0x3f801000, 0x3f800fff, 0xbf801000, 0x00000000, 0x80000000, 0x3fffffff, 0x00800000, 0xc0400fff,
    );
    for (var at = i; at < 256; at += 32) {
        whole[at] = select(0.0, bitcast<f32>(numbers[at / 16]), at % 16 == 0);
    }
    for (var at = i; at < 128; at += 32) {
        fine[at] = vec2(select(0.0, 1.0, at < 8));
    }
    workgroupBarrier();
    let special = coopMultiplyAdd(coopLoadT<Left>(&whole[0], 16), coopLoadT<Right>(&fine[0], 8), Sum());
    coopStoreT(special, &output[768], 16);
}
