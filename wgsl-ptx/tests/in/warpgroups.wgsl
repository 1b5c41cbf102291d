// Products of 128 invocations, of factors in workgroup memory in each order.
// grid: 1 1 1
// output: 4096
// floats: 0
// needs: float16
enable f16;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4<f32>>;

alias GroupSums = array<array<vec4<f32>, 8>, 4>;

// Factors of 128 rows and of 64 columns, of 64 terms.
var<workgroup> sh_staged: array<vec4<f16>, 3072>;

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

fn await_products(n_pending: u32) {
}

fn begin_turn(group: u32) {
}

fn end_turn(group: u32) {
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
        let bytes = vec4(word, word >> 8u, word >> 16u, word >> 24u) & vec4<u32>(7u);
        sh_staged[256u * own + i] = vec4<f16>(vec4<i32>(bytes) - 3);
    }
    workgroupBarrier();
    let at_a = 1024u * (i / 128u);
    var lines: GroupSums;
    var along_a: GroupSums;
    var along_b: GroupSums;
    var twice: GroupSums;
    lines[0][1] = vec4(1.0);
    begin_turn(i / 128u);
    multiply_staged(&lines, at_a, 2048u, i % 128u, 64u, true, true, false);
    multiply_staged(&along_a, at_a, 2048u, i % 128u, 64u, true, false, true);
    multiply_staged(&along_b, at_a, 2048u, i % 128u, 64u, false, true, true);
    multiply_staged(&twice, at_a, 2048u, i % 128u, 64u, false, false, true);
    multiply_staged(&twice, at_a, 2048u, i % 128u, 32u, true, true, true);
    end_turn(i / 128u);
    await_products(3u);
    output[i] = weighted(lines[0]);
    await_products(0u);
    output[256u + i] = weighted(along_a[0]);
    output[512u + i] = weighted(along_b[0]);
    output[768u + i] = weighted(twice[0]);
}
