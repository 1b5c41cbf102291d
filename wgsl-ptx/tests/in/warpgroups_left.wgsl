// Products of 128 invocations whose left factor is made of the sums of another product.
// grid: 1 1 1
// output: 1536
// floats: 0
// needs: float16
enable f16;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4<f32>>;

alias GroupSums = array<array<vec4<f32>, 8>, 4>;
alias GroupLeft = array<vec4<u32>, 4>;

// Factors of 64 rows and of 64 columns, of 64 terms.
var<workgroup> sh_staged: array<vec4<f16>, 2048>;
var<workgroup> sh_left: array<u32, 2048>;

fn staged_half(at: u32, by_k: bool, n: u32, k: u32) -> f16 {
    let line = select(k, n, by_k);
    let along = select(n % 64, k, by_k);
    let block = select(n / 64 * 8 + k / 8, n / 8, by_k);
    let unit = (along / 8) ^ (line % 8);
    return sh_staged[at + 128 * block + 16 * (line % 8) + 2 * unit + along / 4 % 2][along % 4];
}

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

fn group_left(sums: array<vec4<f32>, 8>) -> GroupLeft {
    var left: GroupLeft;
    for (var i = 0u; i < 8; i++) {
        left[i / 2][2 * (i % 2)] = pack2x16float(sums[i].xy);
        left[i / 2][2 * (i % 2) + 1] = pack2x16float(sums[i].zw);
    }
    return left;
}

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

@compute @workgroup_size(128) fn main(@builtin(local_invocation_index) i: u32) {
    for (var own = 0u; own < 16u; own++) {
        let word = input[(37u * own + i) % 256u];
        let bytes = vec4(word, word >> 8u, word >> 16u, word >> 24u) & vec4<u32>(3u);
        sh_staged[128u * own + i] = vec4<f16>(vec4<i32>(bytes) - 1);
    }
    workgroupBarrier();
    var sums: GroupSums;
    multiply_staged(&sums, 0u, 1024u, i, 64u, true, true, false);
    await_products(0u);
    let left = group_left(sums[0]);
    var across: GroupSums;
    var along: GroupSums;
    multiply_left(&across, left, 0u, 1024u, i, 64u, false);
    multiply_left(&along, left, 0u, 1024u, i, 32u, true);
    await_products(1u);
    output[i] = weighted(across[0]);
    await_products(0u);
    output[128u + i] = weighted(along[0]);
    output[256u + i] = weighted(sums[0]);
}
