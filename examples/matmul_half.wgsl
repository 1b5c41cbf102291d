// The product of matrices of halves, summed in single precision, on matrix units.
//
// A workgroup computes a tile of TILE_M x TILE_N, each of its subgroups of 32 a part of 64x64. Steps of TILE_K are staged in
// workgroup memory, two in turn, while the next one is on its way to registers: one barrier a step. Rows in workgroup memory are
// padded by eight halves, so that eight of them lie in different banks.
//
// a  m x k halves, row by row; m is a multiple of TILE_M and k of TILE_K
// b  k x n halves, row by row; n is a multiple of TILE_N
// c  m x n floats, row by row
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    m: u32,
    n: u32,
    k: u32,
}

// What an invocation loads at once.
struct Halves {
    first: vec4<f16>,
    second: vec4<f16>,
}

@group(0) @binding(0) var<storage, read> a: array<Halves>;
@group(0) @binding(1) var<storage, read> b: array<Halves>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

const SUBGROUPS_M: u32 = 2;
const SUBGROUPS_N: u32 = 2;
const WIDTH: u32 = 32 * SUBGROUPS_M * SUBGROUPS_N;
const TILE_M: u32 = 64 * SUBGROUPS_M;
const TILE_N: u32 = 64 * SUBGROUPS_N;
const TILE_K: u32 = 32;
// Rows of tiles whose workgroups run together, so that they share columns of b in the cache.
const BAND: u32 = 8;

// Vectors from a row of a tile to the next.
const STRIDE_A: u32 = TILE_K / 4 + 2;
const STRIDE_B: u32 = TILE_N / 4 + 2;
const TILE_A: u32 = TILE_M * STRIDE_A;
const TILE_B: u32 = TILE_K * STRIDE_B;
var<workgroup> sh_a: array<vec4<f16>, 2 * TILE_A>;
var<workgroup> sh_b: array<vec4<f16>, 2 * TILE_B>;

// Elements of a row of a tile in storage, and elements that an invocation moves.
const ROW_A: u32 = TILE_K / 8;
const ROW_B: u32 = TILE_N / 8;
const OWN_A: u32 = TILE_M * ROW_A / WIDTH;
const OWN_B: u32 = TILE_K * ROW_B / WIDTH;

// The elements of a step that an invocation moves from storage to workgroup memory.
struct Step {
    a: array<Halves, OWN_A>,
    b: array<Halves, OWN_B>,
}

fn load_step(step: ptr<function, Step>, row: u32, column: u32, k: u32, i: u32) {
    for (var own = 0u; own < OWN_A; own++) {
        let at = own * WIDTH + i;
        (*step).a[own] = a[(row + at / ROW_A) * (params.k / 8) + k / 8 + at % ROW_A];
    }
    for (var own = 0u; own < OWN_B; own++) {
        let at = own * WIDTH + i;
        (*step).b[own] = b[(k + at / ROW_B) * (params.n / 8) + column / 8 + at % ROW_B];
    }
}

fn stage_step(step: ptr<function, Step>, turn: u32, i: u32) {
    for (var own = 0u; own < OWN_A; own++) {
        let at = own * WIDTH + i;
        let to = turn * TILE_A + at / ROW_A * STRIDE_A + 2 * (at % ROW_A);
        sh_a[to] = (*step).a[own].first;
        sh_a[to + 1] = (*step).a[own].second;
    }
    for (var own = 0u; own < OWN_B; own++) {
        let at = own * WIDTH + i;
        let to = turn * TILE_B + at / ROW_B * STRIDE_B + 2 * (at % ROW_B);
        sh_b[to] = (*step).b[own].first;
        sh_b[to + 1] = (*step).b[own].second;
    }
}

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;

alias Sums = array<array<Sum, 4>, 4>;

// Adds the product of 16 columns of a, from vector `left` of `sh_a` on, and 16 rows of b, from vector `right` of `sh_b` on.
fn multiply(sums: ptr<function, Sums>, left: u32, right: u32) {
    var rows: array<Left, 4>;
    for (var y = 0u; y < 4; y++) {
        rows[y] = coopLoadT<Left>(&sh_a[left + 16 * y * STRIDE_A], STRIDE_A);
    }
    for (var x = 0u; x < 4; x++) {
        let columns = coopLoadT<Right>(&sh_b[right + 4 * x], STRIDE_B);
        for (var y = 0u; y < 4; y++) {
            (*sums)[y][x] = coopMultiplyAdd(rows[y], columns, (*sums)[y][x]);
        }
    }
}

@compute @workgroup_size(WIDTH)
fn matmul_half(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let n_rows = params.m / TILE_M;
    let n_columns = params.n / TILE_N;
    let band = workgroup.x / (BAND * n_columns);
    let n_in_band = min(BAND, n_rows - band * BAND);
    let in_band = workgroup.x % (BAND * n_columns);
    let row = TILE_M * (band * BAND + in_band % n_in_band);
    let column = TILE_N * (in_band / n_in_band);
    let subgroup = i / 32;
    let own_row = 64 * (subgroup / SUBGROUPS_N);
    let own_column = 64 * (subgroup % SUBGROUPS_N);

    var step: Step;
    load_step(&step, row, column, 0u, i);
    stage_step(&step, 0u, i);
    workgroupBarrier();
    var sums: Sums;
    var turn = 0u;
    for (var k = 0u; k < params.k; k += TILE_K) {
        // The last step loads itself again.
        load_step(&step, row, column, min(k + TILE_K, params.k - TILE_K), i);
        let left = turn * TILE_A + own_row * STRIDE_A;
        let right = turn * TILE_B + own_column / 4;
        multiply(&sums, left, right);
        multiply(&sums, left + 4, right + 16 * STRIDE_B);
        turn ^= 1u;
        stage_step(&step, turn, i);
        workgroupBarrier();
    }
    let stride = params.n / 4;
    for (var y = 0u; y < 4; y++) {
        for (var x = 0u; x < 4; x++) {
            let to = (row + own_row + 16 * y) * stride + (column + own_column) / 4 + 4 * x;
            coopStoreT(sums[y][x], &c[to], stride);
        }
    }
}
