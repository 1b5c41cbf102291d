// Parts of kernels that multiply matrices on matrix units, with tiles of the factors in workgroup memory: tensor_matmul_half and
// tensor_matmul_tf32.
//
// The file that imports these declares the bindings `left` and `right`, arrays of Unit, `c` and `params`, `sh_staged`, ALL parts of units, and
// the constants UNIT, the elements of a unit of 16 bytes, and PAD_A and PAD_B, the parts of units by which rows of tiles are padded in
// workgroup memory.
//
// import: lib/stage

// Subgroups of a workgroup along m and n.
override SUBGROUPS_M: u32 = 2u;
override SUBGROUPS_N: u32 = 2u;
// Matrices of a subgroup along m and n, at most 4.
override MATRICES_M: u32 = 4u;
override MATRICES_N: u32 = 4u;
override STAGES: u32 = 2u;
// Depth of a step.
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
override UNITS_A: u32 = select(TILE_M, TILE_K, A_BY_K) / UNIT;
override UNITS_B: u32 = select(TILE_N, TILE_K, B_BY_K) / UNIT;
override ROWS_A: u32 = select(TILE_K, TILE_M, A_BY_K);
override ROWS_B: u32 = select(TILE_K, TILE_N, B_BY_K);
// Parts of units from a row of a tile to the next.
override STRIDE_A: u32 = 2u * UNITS_A + PAD_A;
override STRIDE_B: u32 = 2u * UNITS_B + PAD_B;
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

// A matrix of each subgroup, on its way to the edge of the result.
var<workgroup> sh_edge: array<f32, EDGE>;

alias Sum = coop_mat16x16<f32, C>;

alias Sums = array<array<Sum, 4>, 4>;

// Product, slice of k, first row and first column of a workgroup's tile.
struct Tile {
    batch: u32,
    slice: u32,
    row: u32,
    column: u32,
}

fn product_tile(id: u32) -> Tile {
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
    let unit = share.unit + select(0u, k / UNIT, by_k);
    let lines = share.lines - min(share.lines, line);
    return select(0u, (lines + lines_of_copy - 1u) / lines_of_copy, unit < share.units);
}

// Lines of a factor's tiles in workgroup memory.
struct Lines {
    // They are along k.
    by_k: bool,
    units: u32,
    // Parts of units from a line to the next, and from the start of a stage to the first.
    stride: u32,
    begin: u32,
}

// Returns the share of invocation `i` in a factor that begins at unit `first`, of which the tile starts at row or column `at` of `n`.
fn share_of(lines: Lines, i: u32, first: u32, pitch: u32, at: u32, n: u32) -> Share {
    let line = i / lines.units;
    let unit = i % lines.units;
    return Share(
        first + line * pitch + unit + select(at / UNIT, at * pitch, lines.by_k),
        lines.begin + line * lines.stride + 2u * unit,
        WIDTH / lines.units * pitch,
        select(TILE_K * pitch, TILE_K / UNIT, lines.by_k),
        line,
        unit,
        select(params.k, n - at, lines.by_k),
        (select(n - at, params.k, lines.by_k) + (UNIT - 1u)) / UNIT,
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
