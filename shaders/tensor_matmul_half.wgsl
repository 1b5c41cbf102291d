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
// import: lib/stage
enable f16;
enable wgpu_cooperative_matrix;

// Subgroups of a workgroup along m and n.
override SUBGROUPS_M: u32 = 2u;
override SUBGROUPS_N: u32 = 2u;
// Matrices of a subgroup along m and n, at most 4.
override MATRICES_M: u32 = 4u;
override MATRICES_N: u32 = 4u;
override STAGES: u32 = 2u;
// Depth of a step: 32 or 64.
override TILE_K: u32 = 32u;
// Elements along k are contiguous in memory.
override A_BY_K: bool = true;
override B_BY_K: bool = false;

override WIDTH: u32 = 32u * SUBGROUPS_M * SUBGROUPS_N;
override TILE_M: u32 = 16u * MATRICES_M * SUBGROUPS_M;
override TILE_N: u32 = 16u * MATRICES_N * SUBGROUPS_N;
// Rows of tiles whose workgroups run together, so that they share columns of b in the cache.
const BAND: u32 = 8u;

// Units of a row of a tile, and its rows.
override UNITS_A: u32 = select(TILE_M, TILE_K, A_BY_K) / 8u;
override UNITS_B: u32 = select(TILE_N, TILE_K, B_BY_K) / 8u;
override ROWS_A: u32 = select(TILE_K, TILE_M, A_BY_K);
override ROWS_B: u32 = select(TILE_K, TILE_N, B_BY_K);
// Vectors of four halves from a row of a tile to the next.
override STRIDE_A: u32 = 2u * UNITS_A + 2u;
override STRIDE_B: u32 = 2u * UNITS_B + 2u;
override STAGE: u32 = ROWS_A * STRIDE_A + ROWS_B * STRIDE_B;
override ALL: u32 = STAGES * STAGE;
// Units that an invocation copies in a step.
override OWN_A: u32 = ROWS_A * UNITS_A / WIDTH;
override OWN_B: u32 = ROWS_B * UNITS_B / WIDTH;
// Lines from a copy of an invocation to its next.
override LINES_A: u32 = WIDTH / UNITS_A;
override LINES_B: u32 = WIDTH / UNITS_B;
override EDGE: u32 = 256u * SUBGROUPS_M * SUBGROUPS_N;

struct Params {
    m: u32,
    n: u32,
    k: u32,
    // Tiles along m and n, and of all slices of k of all products.
    tiles_m: u32,
    tiles_n: u32,
    n_tiles: u32,
    offset_a: u32,
    offset_b: u32,
    pitch_a: u32,
    pitch_b: u32,
    // Strides from one product to the next.
    batch_a: u32,
    batch_b: u32,
    // Length, a multiple of TILE_K, and number of the slices of k that different workgroups sum.
    k_slice: u32,
    n_slices: u32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(0) var<storage, read> left: array<Halves>;
@group(0) @binding(1) var<storage, read> right: array<Halves>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_staged: array<vec4<f16>, ALL>;
// A matrix of each subgroup, on its way to the edge of the result.
var<workgroup> sh_edge: array<f32, EDGE>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;

alias Sums = array<array<Sum, 4>, 4>;

// Product, slice of k, first row and first column of a workgroup's tile.
struct Tile {
    batch: u32,
    slice: u32,
    row: u32,
    column: u32,
}

fn half_tile(id: u32) -> Tile {
    let per_product = params.tiles_m * params.tiles_n;
    let slice = id / per_product;
    let batch = slice / params.n_slices;
    let place = id % per_product;
    let band = place / (BAND * params.tiles_n);
    let n_in_band = min(BAND, params.tiles_m - band * BAND);
    let in_band = place % (BAND * params.tiles_n);
    return Tile(batch, slice % params.n_slices, TILE_M * (band * BAND + in_band % n_in_band), TILE_N * (in_band / n_in_band));
}

// An invocation's share of the copies from a factor: the units OWN * WIDTH + i of each step's tile.
struct Share {
    // Unit in storage at the start of k, and place in `sh_staged` within a stage, of the first copy.
    place: u32,
    to: u32,
    // Units in storage from a copy to the next, and from a step to the next.
    next: u32,
    step: u32,
    // Line and unit of a line of the first copy: of the tile where k is contiguous, else of k.
    line: u32,
    unit: u32,
    // Lines and units that the factor has from the start of the tile on.
    lines: u32,
    units: u32,
}

// Returns the number of a share's copies that begin inside of the factor in the step at `k`.
fn n_inside(share: Share, by_k: bool, k: u32, lines_of_copy: u32) -> u32 {
    let line = share.line + select(k, 0u, by_k);
    let unit = share.unit + select(0u, k / 8u, by_k);
    let lines = share.lines - min(share.lines, line);
    return select(0u, (lines + lines_of_copy - 1u) / lines_of_copy, unit < share.units);
}

// Lines of a factor's tiles in workgroup memory.
struct Lines {
    // They are along k.
    by_k: bool,
    units: u32,
    // Vectors from a line to the next, and from the start of a stage to the first.
    stride: u32,
    begin: u32,
}

// Returns the share of invocation `i` in a factor that begins at unit `first`, of which the tile starts at row or column `at` of `n`.
fn share_of(lines: Lines, i: u32, first: u32, pitch: u32, at: u32, n: u32) -> Share {
    let line = i / lines.units;
    let unit = i % lines.units;
    return Share(
        first + line * pitch + unit + select(at / 8u, at * pitch, lines.by_k),
        lines.begin + line * lines.stride + 2u * unit,
        WIDTH / lines.units * pitch,
        select(TILE_K * pitch, TILE_K / 8u, lines.by_k),
        line,
        unit,
        select(params.k, n - at, lines.by_k),
        (select(n - at, params.k, lines.by_k) + 7u) / 8u,
    );
}

// Starts the copies of the step at `k`, TILE_K * n.
fn stage_step(a: Share, b: Share, k: u32, stage: u32) {
    let inside_a = n_inside(a, A_BY_K, k, LINES_A);
    let place_a = a.place + k / TILE_K * a.step;
    let to_a = stage * STAGE + a.to;
    for (var own = 0u; own < OWN_A; own++) {
        stage_left(to_a + own * LINES_A * STRIDE_A, place_a + own * a.next, own < inside_a);
    }
    let inside_b = n_inside(b, B_BY_K, k, LINES_B);
    let place_b = b.place + k / TILE_K * b.step;
    let to_b = stage * STAGE + b.to;
    for (var own = 0u; own < OWN_B; own++) {
        stage_right(to_b + own * LINES_B * STRIDE_B, place_b + own * b.next, own < inside_b);
    }
    end_stage();
}

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

// Stores a matrix of which a part is outside of the result, through workgroup memory.
fn store_edge(sum: Sum, start: u32, row: u32, column: u32, subgroup: u32, lane: u32) {
    let own_edge = 256u * subgroup;
    coopStoreT(sum, &sh_edge[own_edge], 16u);
    workgroupBarrier();
    for (var own = lane; own < 256u; own += 32u) {
        let y = row + own / 16u;
        let x = column + own % 16u;
        if y < params.m && x < params.n {
            c[start + y * params.n + x] = sh_edge[own_edge + own];
        }
    }
    workgroupBarrier();
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
    let tile = half_tile(id);
    let subgroup = i / 32u;
    let own_row = 16u * MATRICES_M * (subgroup / SUBGROUPS_N);
    let own_column = 16u * MATRICES_N * (subgroup % SUBGROUPS_N);
    // Offsets of the subgroup's parts of a stage, and strides of 16 terms of k, in vectors.
    let begin_a = select(own_row / 4u, own_row * STRIDE_A, A_BY_K);
    let begin_b = ROWS_A * STRIDE_A + select(own_column / 4u, own_column * STRIDE_B, B_BY_K);
    let next_a = select(16u * STRIDE_A, 4u, A_BY_K);
    let next_b = select(16u * STRIDE_B, 4u, B_BY_K);

    let lines_a = Lines(A_BY_K, UNITS_A, STRIDE_A, 0u);
    let lines_b = Lines(B_BY_K, UNITS_B, STRIDE_B, ROWS_A * STRIDE_A);
    let first_a = params.offset_a + tile.batch * params.batch_a;
    let first_b = params.offset_b + tile.batch * params.batch_b;
    let a = share_of(lines_a, i, first_a, params.pitch_a, tile.row, params.m);
    let b = share_of(lines_b, i, first_b, params.pitch_b, tile.column, params.n);
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
    let start = (tile.batch * params.n_slices + tile.slice) * params.m * params.n;
    let row = tile.row + own_row;
    let column = tile.column + own_column;
    let stride = params.n;
    if tile.row + TILE_M <= params.m && tile.column + TILE_N <= params.n {
        for (var y = 0u; y < MATRICES_M; y++) {
            for (var x = 0u; x < MATRICES_N; x++) {
                let to = start + (row + 16u * y) * stride + column + 16u * x;
                coopStoreT(sums[y][x], &c[to], stride);
            }
        }
    } else {
        for (var y = 0u; y < MATRICES_M; y++) {
            for (var x = 0u; x < MATRICES_N; x++) {
                store_edge(sums[y][x], start, row + 16u * y, column + 16u * x, subgroup, i % 32u);
            }
        }
    }
}
