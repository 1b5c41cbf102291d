// Products of 128 invocations of numbers of single precision, which TF32 has.
// grid: 1 1 1
// output: 1024
// floats: 0

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4<f32>>;

alias GroupSums = array<array<vec4<f32>, 8>, 4>;

// Factors of 128 rows and of 64 columns, of 32 terms.
var<workgroup> sh_staged: array<vec2<f32>, 3072>;

fn staged_single(at: u32, n: u32, k: u32) -> f32 {
    let element = sh_staged[at + 16 * n + 2 * ((k / 4) ^ (n % 8)) + k / 2 % 2][k % 2];
    return bitcast<f32>(bitcast<u32>(element) & 0xffffe000);
}

fn multiply_singles(sums: ptr<function, GroupSums>, at_a: u32, at_b: u32, lane: u32, n_columns: u32) {
    for (var k = 0u; k < 32; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            (*sums)[i / 32][i / 4 % 8][i % 4] += staged_single(at_a, row, k) * staged_single(at_b, column, k);
        }
    }
}

fn await_products(n_pending: u32) {
}

// Returns the sums of the columns that are alike modulo 8, each weighted by its place.
fn weighted(sums: array<vec4<f32>, 8>) -> vec4<f32> {
    var all = vec4<f32>();
    for (var c = 0u; c < 8u; c++) {
        all += f32(c + 1u) * sums[c];
    }
    return all;
}

@compute @workgroup_size(256) fn main(@builtin(local_invocation_index) i: u32) {
    for (var own = 0u; own < 12u; own++) {
        let word = input[(37u * own + i) % 256u];
        // The last bits are not read.
        let bits = bitcast<vec2<u32>>(vec2<f32>(vec2<i32>(vec2(word, word >> 8u) & vec2<u32>(15u)) - 7));
        sh_staged[256u * own + i] = bitcast<vec2<f32>>(bits | vec2<u32>(i));
    }
    workgroupBarrier();
    var sums: GroupSums;
    multiply_singles(&sums, 1024u * (i / 128u), 2048u, i % 128u, 64u);
    await_products(0u);
    output[i] = weighted(sums[0]);
}
