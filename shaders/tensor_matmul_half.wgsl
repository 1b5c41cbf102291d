// Batched matrix product of halves on matrix units, summed in single precision: c[m, n] = a[m, k] b[k, n].
//
// A subgroup of 32 computes up to 64 rows by 64 columns as matrices in registers. Tiles of `a` and `b` are staged in workgroup memory,
// STAGES in turn; the next ones are copied while the matrix units multiply, and the next matrices are loaded from there. Rows are padded by
// 16 bytes, so that eight of them lie in different banks.
// Bindings: `left`, `right`: the factors, in units of 8 halves; `c`: [batch, n_slices, m, n] f32.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units of 8 halves.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of 8 where it is contiguous; subgroups of 32.
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/product_tiles, lib/stage_step, lib/staged_tiles
enable f16;
enable wgpu_cooperative_matrix;

// Elements of a unit of 16 bytes.
const UNIT: u32 = 8u;
// Vectors of four halves, by which rows in workgroup memory are padded.
const PAD_A: u32 = 2u;
const PAD_B: u32 = 2u;

@group(0) @binding(0) var<storage, read> left: array<Unit>;
@group(0) @binding(1) var<storage, read> right: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

alias Part = vec4<f16>;

var<workgroup> sh_staged: array<Part, ALL>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;

// Matrices of 16 columns of a, and of 16 rows of b.
struct Factors {
    rows: array<Left, 4>,
    columns: array<Right, 4>,
}

// Loads the factors of 16 terms of k, from vectors `at_a` and `at_b` of `sh_staged` on.
fn load_factors(at_a: u32, at_b: u32) -> Factors {
    var factors: Factors;
    for (var y = 0u; y < MATRICES_M; y++) {
        if A_BY_K {
            let at = at_a + 16u * y * STRIDE_A;
            factors.rows[y] = coopLoadT<Left>(&sh_staged[at], STRIDE_A);
        } else {
            factors.rows[y] = coopLoad<Left>(&sh_staged[at_a + 4u * y], STRIDE_A);
        }
    }
    for (var x = 0u; x < MATRICES_N; x++) {
        if B_BY_K {
            factors.columns[x] = coopLoad<Right>(&sh_staged[at_b + 16u * x * STRIDE_B], STRIDE_B);
        } else {
            factors.columns[x] = coopLoadT<Right>(&sh_staged[at_b + 4u * x], STRIDE_B);
        }
    }
    return factors;
}

// Adds the products of factors.
fn multiply(sums: ptr<function, Sums>, factors: Factors) {
    for (var y = 0u; y < MATRICES_M; y++) {
        for (var x = 0u; x < MATRICES_N; x++) {
            (*sums)[y][x] = coopMultiplyAdd(factors.rows[y], factors.columns[x], (*sums)[y][x]);
        }
    }
}

@compute @workgroup_size(WIDTH)
fn tensor_matmul_half(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_tiles {
        return;
    }
    let tile = product_tile(id);
    let subgroup = i / 32u;
    let own_row = 16u * MATRICES_M * (subgroup / SUBGROUPS_N);
    let own_column = 16u * MATRICES_N * (subgroup % SUBGROUPS_N);
    // Offsets of the subgroup's parts of a stage, and strides of 16 terms of k, in vectors.
    let begin_a = select(own_row / 4u, own_row * STRIDE_A, A_BY_K);
    let begin_b = ROWS_A * STRIDE_A + select(own_column / 4u, own_column * STRIDE_B, B_BY_K);
    let next_a = select(16u * STRIDE_A, 4u, A_BY_K);
    let next_b = select(16u * STRIDE_B, 4u, B_BY_K);

    let a = left_share(tile, i, place_in_stage(0u, UNITS_A, STRIDE_A, i));
    let b = right_share(tile, i, place_in_stage(ROWS_A * STRIDE_A, UNITS_B, STRIDE_B, i));
    let begin = tile.slice * params.k_slice;
    let end = min(begin + params.k_slice, params.k);
    for (var ahead = 0u; ahead < STAGES - 1u; ahead++) {
        stage_step(a, b, begin + ahead * TILE_K, ahead);
    }
    await_staged(STAGES - 2u);
    var sums: Sums;
    var first = load_factors(begin_a, begin_b);
    var stage = 0u;
    for (var k = begin; k < end; k += TILE_K) {
        let free = select(stage - 1u, STAGES - 1u, stage == 0u);
        let next = select(stage + 1u, 0u, stage + 1u == STAGES);
        let at_a = stage * STAGE + begin_a;
        let at_b = stage * STAGE + begin_b;
        // Factors are loaded while those before them are multiplied.
        var last = load_factors(at_a + next_a, at_b + next_b);
        multiply(&sums, first);
        stage_step(a, b, k + (STAGES - 1u) * TILE_K, free);
        if TILE_K == 64u {
            let third = load_factors(at_a + 2u * next_a, at_b + 2u * next_b);
            multiply(&sums, last);
            last = load_factors(at_a + 3u * next_a, at_b + 3u * next_b);
            multiply(&sums, third);
        }
        await_staged(STAGES - 2u);
        first = load_factors(next * STAGE + begin_a, next * STAGE + begin_b);
        multiply(&sums, last);
        stage = next;
    }
    store_tile(&sums, tile, own_row, own_column, i);
}
