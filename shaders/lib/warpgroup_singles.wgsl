// Products of 128 invocations, of numbers of single precision in workgroup memory, of which the last 13 bits do not count.
//
// Intrinsic: wgsl-ptx knows `multiply_singles` by its name and text. The file that imports it declares `sh_staged`, an array of vec2<f32> in
// workgroup memory, in which factors begin at multiples of 128 elements.
//
// import: lib/warpgroup

fn staged_single(at: u32, n: u32, k: u32) -> f32 {
    let element = sh_staged[at + 16 * n + 2 * ((k / 4) ^ (n % 8)) + k / 2 % 2][k % 2];
    return bitcast<f32>(bitcast<u32>(element) & 0xffffe000);
}

// Adds the products of 64 rows and `n_columns` columns over 32 terms.
fn multiply_singles(sums: ptr<function, GroupSums>, at_a: u32, at_b: u32, lane: u32, n_columns: u32) {
    for (var k = 0u; k < 32; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            (*sums)[i / 32][i / 4 % 8][i % 4] += staged_single(at_a, row, k) * staged_single(at_b, column, k);
        }
    }
}
