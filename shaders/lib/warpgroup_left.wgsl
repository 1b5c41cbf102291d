// Products of 128 invocations whose left factor is in registers: the rounded sums of other products.
//
// Intrinsics: wgsl-ptx knows these functions by their names and texts. The file that imports them declares `sh_left`, an array of u32 in
// workgroup memory with 2,048 elements for each 128 invocations from element `at_left` on.
//
// import: lib/warpgroup_halves

// Terms of two rows, 64 of them, in pairs.
alias GroupLeft = array<vec4<u32>, 4>;

// Rounds the sums of 64 columns, which become the terms of a left factor.
fn group_left(sums: array<vec4<f32>, 8>) -> GroupLeft {
    var left: GroupLeft;
    for (var i = 0u; i < 8; i++) {
        left[i / 2][2 * (i % 2)] = pack2x16float(sums[i].xy);
        left[i / 2][2 * (i % 2) + 1] = pack2x16float(sums[i].zw);
    }
    return left;
}

// Adds the products of 64 rows and `n_columns` columns over 64 terms.
fn multiply_left(sums: ptr<function, GroupSums>, left: GroupLeft, at_left: u32, at_b: u32, lane: u32, n_columns: u32, b_by_k: bool) {
    for (var i = 0u; i < 16; i++) {
        sh_left[at_left + 128 * i + lane] = left[i / 4][i % 4];
    }
    workgroupBarrier();
    for (var k = 0u; k < 64; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let word = 4 * (k / 16) + 2 * (k / 8 % 2) + i / 2 % 2;
            let pair = unpack2x16float(sh_left[at_left + 128 * word + lane / 4 * 4 + k % 8 / 2]);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            let b = staged_half(at_b, b_by_k, column, k);
            (*sums)[i / 32][i / 4 % 8][i % 4] += pair[k % 2] * f32(b);
        }
    }
    workgroupBarrier();
}

// Lets the products of warpgroups begin in the order of their numbers: each calls both once between two barriers of the workgroup.
fn begin_turn(group: u32) {
}

fn end_turn(group: u32) {
}
