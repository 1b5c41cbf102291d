// Batched matrix product of f32 on matrix units, which take the factors as TF32: c[m, n] = a[m, k] b[k, n].
//
// A subgroup of 32 computes up to 64 rows by 64 columns as matrices in registers. Tiles of `a` and `b` are staged in workgroup memory,
// STAGES in turn. While a column of matrices is multiplied, the next one is loaded, and the matrices of `a` for the next 16 terms. Rows are
// padded, so that eight of them, of 16 bytes, lie in different banks; where k is not contiguous, four of them, of eight elements.
// Bindings: `left`, `right`: the factors, in units of 4 elements; `c`: [batch, n_slices, m, n] f32.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units of 4 elements.
// Elements are rounded to nearest when they are loaded as matrices; NaN and infinities stay what they are.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of 4 where it is contiguous; STAGES > 2; subgroups of 32.
// Twin: src/tensor/cpu/matmul.rs, of rounded elements
//
// import: lib/product_tiles, lib/stage_step, lib/staged_tiles
enable wgpu_cooperative_matrix;

// Elements of a unit of 16 bytes.
const UNIT: u32 = 4u;
// Vectors of two elements, by which rows in workgroup memory are padded.
override PAD_A: u32 = select(4u, 2u, A_BY_K);
override PAD_B: u32 = select(4u, 2u, B_BY_K);

@group(0) @binding(0) var<storage, read> left: array<Unit>;
@group(0) @binding(1) var<storage, read> right: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

alias Part = vec2<f32>;

var<workgroup> sh_staged: array<Part, ALL>;

alias Left = coop_mat16x16<f32, A>;
alias Right = coop_mat16x16<f32, B>;

// Matrices of 16 terms of k: those of a, and the first of b.
struct Next {
    rows: array<Left, 4>,
    column: Right,
}

// Loads matrix `y` of a subgroup's rows, from vector `at_a` of `sh_staged` on.
fn load_rows(at_a: u32, y: u32) -> Left {
    if A_BY_K {
        return coopLoadT<Left>(&sh_staged[at_a + 16u * y * STRIDE_A], STRIDE_A);
    }
    return coopLoad<Left>(&sh_staged[at_a + 8u * y], STRIDE_A);
}

// Loads matrix `x` of a subgroup's columns, from vector `at_b` of `sh_staged` on.
fn load_column(at_b: u32, x: u32) -> Right {
    if B_BY_K {
        return coopLoad<Right>(&sh_staged[at_b + 16u * x * STRIDE_B], STRIDE_B);
    }
    return coopLoadT<Right>(&sh_staged[at_b + 8u * x], STRIDE_B);
}

// Adds the products of 16 terms of k. `next` has their first matrices, the others of b begin at vector `at_b`; then `next` has those of
// the next 16 terms, which begin at `next_a` and `next_b`.
fn multiply_terms(sums: ptr<function, Sums>, next: ptr<function, Next>, at_b: u32, next_a: u32, next_b: u32) {
    let rows = (*next).rows;
    for (var x = 0u; x < MATRICES_N; x++) {
        let column = (*next).column;
        if x + 1u < MATRICES_N {
            (*next).column = load_column(at_b, x + 1u);
        } else {
            (*next).column = load_column(next_b, 0u);
        }
        for (var y = 0u; y < MATRICES_M; y++) {
            (*sums)[y][x] = coopMultiplyAdd(rows[y], column, (*sums)[y][x]);
            // Loads are spread over the columns.
            if y * MATRICES_N / MATRICES_M == x {
                (*next).rows[y] = load_rows(next_a, y);
            }
        }
    }
}

@compute @workgroup_size(WIDTH)
fn tensor_matmul_tf32(
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
    let begin_a = select(own_row / 2u, own_row * STRIDE_A, A_BY_K);
    let begin_b = ROWS_A * STRIDE_A + select(own_column / 2u, own_column * STRIDE_B, B_BY_K);
    let terms_a = select(16u * STRIDE_A, 8u, A_BY_K);
    let terms_b = select(16u * STRIDE_B, 8u, B_BY_K);

    let a = left_share(tile, i, place_in_stage(0u, UNITS_A, STRIDE_A, i));
    let b = right_share(tile, i, place_in_stage(ROWS_A * STRIDE_A, UNITS_B, STRIDE_B, i));
    let begin = tile.slice * params.k_slice;
    let end = min(begin + params.k_slice, params.k);
    for (var ahead = 0u; ahead < STAGES - 1u; ahead++) {
        stage_step(a, b, begin + ahead * TILE_K, ahead);
    }
    await_staged(STAGES - 2u);
    var sums: Sums;
    var next: Next;
    for (var y = 0u; y < MATRICES_M; y++) {
        next.rows[y] = load_rows(begin_a, y);
    }
    next.column = load_column(begin_b, 0u);
    var stage = 0u;
    for (var k = begin; k < end; k += TILE_K) {
        // The stage that every subgroup has read, once all have arrived at the barrier in `await_staged`.
        let free = select(stage - 1u, STAGES - 1u, stage == 0u);
        let next_stage = select(stage + 1u, 0u, stage + 1u == STAGES);
        let at_a = stage * STAGE + begin_a;
        let at_b = stage * STAGE + begin_b;
        if TILE_K == 32u {
            multiply_terms(&sums, &next, at_b, at_a + terms_a, at_b + terms_b);
        }
        await_staged(STAGES - 3u);
        stage_step(a, b, k + (STAGES - 1u) * TILE_K, free);
        let last_b = at_b + (TILE_K / 16u - 1u) * terms_b;
        multiply_terms(&sums, &next, last_b, next_stage * STAGE + begin_a, next_stage * STAGE + begin_b);
        stage = next_stage;
    }
    store_tile(&sums, tile, own_row, own_column, i);
}
