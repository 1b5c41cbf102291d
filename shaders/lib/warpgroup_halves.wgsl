// Products of 128 invocations, of halves in workgroup memory.
//
// Intrinsic: wgsl-ptx knows `multiply_staged` by its name and text. The file that imports it declares `sh_staged`, an array of vec4<f16> in
// workgroup memory, in which factors begin at multiples of 128 elements.
//
// import: lib/warpgroup

fn staged_half(at: u32, by_k: bool, n: u32, k: u32) -> f16 {
    let line = select(k, n, by_k);
    let along = select(n % 64, k, by_k);
    let block = select(n / 64 * 8 + k / 8, n / 8, by_k);
    let unit = (along / 8) ^ (line % 8);
    return sh_staged[at + 128 * block + 16 * (line % 8) + 2 * unit + along / 4 % 2][along % 4];
}

// Multiplies 64 rows and `n_columns` columns over 64 terms; unless `adds`, the products take the place of the sums.
fn multiply_staged(sums: ptr<function, GroupSums>, at_a: u32, at_b: u32, lane: u32, n_columns: u32, a_by_k: bool, b_by_k: bool, adds: bool) {
    if !adds {
        *sums = GroupSums();
    }
    for (var k = 0u; k < 64; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            let a = staged_half(at_a, a_by_k, row, k);
            let b = staged_half(at_b, b_by_k, column, k);
            (*sums)[i / 32][i / 4 % 8][i % 4] += f32(a) * f32(b);
        }
    }
}
