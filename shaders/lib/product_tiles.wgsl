// Tiles of products, and each invocation's share of the tiles of factors: parts of kernels that multiply matrices on matrix units.
//
// The file that imports these declares the binding `params`; the constants UNIT, the elements of a unit that is copied at once, WIDTH, the invocations of a
// workgroup, TILE_M, TILE_N and TILE_K; STRIDE_A and STRIDE_B, the parts of units from a line to the next in workgroup memory; and STAGE, the
// parts of units of a step.

override STAGES: u32 = 2u;
// Elements along k are contiguous in memory.
override A_BY_K: bool = true;
override B_BY_K: bool = false;

// Units of a line of a tile, and its lines.
override UNITS_A: u32 = select(TILE_M, TILE_K, A_BY_K) / UNIT;
override UNITS_B: u32 = select(TILE_N, TILE_K, B_BY_K) / UNIT;
override ROWS_A: u32 = select(TILE_K, TILE_M, A_BY_K);
override ROWS_B: u32 = select(TILE_K, TILE_N, B_BY_K);
// Parts of units of all steps.
override ALL: u32 = STAGES * STAGE;
// Units that an invocation copies in a step.
override OWN_A: u32 = ROWS_A * UNITS_A / WIDTH;
override OWN_B: u32 = ROWS_B * UNITS_B / WIDTH;
// Lines from a copy of an invocation to its next.
override LINES_A: u32 = WIDTH / UNITS_A;
override LINES_B: u32 = WIDTH / UNITS_B;

// Rows of tiles whose workgroups run together, so that they share columns of b in the cache.
const BAND: u32 = 8u;

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

// Returns the share of invocation `i` in a factor that begins at unit `first`, and of which the tile has `units` in a line and starts at
// row or column `at` of `n`. Its first copy goes to `to` in a stage.
fn share_of(by_k: bool, units: u32, to: u32, i: u32, first: u32, pitch: u32, at: u32, n: u32) -> Share {
    let line = i / units;
    let unit = i % units;
    return Share(
        first + line * pitch + unit + select(at / UNIT, at * pitch, by_k),
        to,
        WIDTH / units * pitch,
        select(TILE_K * pitch, TILE_K / UNIT, by_k),
        line,
        unit,
        select(params.k, n - at, by_k),
        (select(n - at, params.k, by_k) + (UNIT - 1u)) / UNIT,
    );
}

// Returns the shares of invocation `i` in the factors of a tile, whose first copies go to `to`.
fn left_share(tile: Tile, i: u32, to: u32) -> Share {
    let first = params.offset_a + tile.batch * params.batch_a;
    return share_of(A_BY_K, UNITS_A, to, i, first, params.pitch_a, tile.row, params.m);
}

fn right_share(tile: Tile, i: u32, to: u32) -> Share {
    let first = params.offset_b + tile.batch * params.batch_b;
    return share_of(B_BY_K, UNITS_B, to, i, first, params.pitch_b, tile.column, params.n);
}
