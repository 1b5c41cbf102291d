// Cooperative matrices: row- and column-major, from workgroup memory and storage, of halves and single precision.
// grid: 2 1 1
// output: 1536
// floats: 0
// needs: cooperative
enable f16;
enable wgpu_cooperative_matrix;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;
alias HalfSum = coop_mat16x16<f16, C>;

var<workgroup> a: array<vec4<f16>, 128>;
var<workgroup> b: array<f16, 512>;
var<workgroup> sums: array<f16, 256>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    for (var at = i; at < 512; at += 32) {
        let bits = input[at % 256] >> (at / 64);
        b[at] = f16(i32(bits & 7) - 3 + i32(group.x));
    }
    for (var at = i; at < 128; at += 32) {
        let bits = input[at];
        a[at] = vec4(f16(bits & 3), f16((bits >> 2) & 3), -f16((bits >> 4) & 3), f16((bits >> 6) & 1));
    }
    workgroupBarrier();

    // Rows and columns of 24 scalars apart: six vectors of four.
    var whole = Sum();
    whole = coopMultiplyAdd(coopLoadT<Left>(&a[2], 6), coopLoadT<Right>(&b[8], 24), whole);
    whole = coopMultiplyAdd(coopLoad<Left>(&a[0], 4), coopLoad<Right>(&b[16], 16), whole);
    coopStoreT(whole, &output[768 * group.x], 16);

    var halves: array<HalfSum, 2>;
    for (var k = 0u; k < 2; k++) {
        halves[k] = coopMultiplyAdd(coopLoadT<Left>(&a[4 * k], 4), coopLoad<Right>(&b[8 * k], 16), halves[k]);
    }
    let sum = (halves[0] + halves[1] * f16(2)) - coopLoad<HalfSum>(&b[0], 16);
    coopStore(sum, &sums[0], 16);
    workgroupBarrier();
    for (var at = i; at < 256; at += 32) {
        output[768 * group.x + 256 + at] = f32(sums[at]);
    }
    storageBarrier();

    // The accumulator comes from storage, column by column.
    let before = coopLoad<Sum>(&output[768 * group.x], 16);
    let after = coopMultiplyAdd(coopLoadT<Left>(&b[0], 16), coopLoadT<Right>(&b[0], 16), before * 0.5);
    coopStore(after, &output[768 * group.x + 512], 16);
}
