// Tiles of products on the matrix units of warpgroups, and their results: parts of tensor_matmul_warpgroup and
// tensor_matmul_tf32_warpgroup.
//
// Each 128 invocations compute 64 rows by TILE_N columns of a workgroup's tile, from factors in workgroup memory. STAGES steps lie
// there at once: two are multiplied, and the others are copied meanwhile. Lines have units of 16 bytes, exchanged so that eight lines lie
// in different banks.
// Bindings: `left`, `right`: the factors, in units of UNIT elements; `c`: [batch, n_slices, m, n] f32, in pairs.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of UNIT where it is contiguous; TILE_N is at most WIDTH, so that
// an invocation's copies are multiples of 8 lines apart; STAGES is at least 3.
// The file that imports these declares UNIT; TILE_K, the depth of a step, of lines of 128 bytes; and Part, half of a unit.
//
// import: lib/product_tiles, lib/stage, lib/warpgroup, lib/plain/finish

// Warpgroups, along m.
override GROUPS: u32 = 2u;
override TILE_N: u32 = 256u;

override WIDTH: u32 = 128u * GROUPS;
override TILE_M: u32 = 64u * GROUPS;
// Parts of units from a line of a block to the next, to the tile of b, and of both tiles.
const STRIDE_A: u32 = 16u;
const STRIDE_B: u32 = 16u;
override BEGIN_B: u32 = 16u * TILE_M;
override STAGE: u32 = 16u * (TILE_M + TILE_N);

@group(0) @binding(0) var<storage, read> left: array<Unit>;
@group(0) @binding(1) var<storage, read> right: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<vec2<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_staged: array<Part, ALL>;

// Returns the place in a stage of the first copy of invocation `i`, of tiles that begin at `begin` there.
fn place_in_blocks(begin: u32, units: u32, i: u32) -> u32 {
    let line = i / units;
    let unit = i % units;
    return begin + 1024u * (unit / 8u) + STRIDE_A * line + 2u * ((unit % 8u) ^ (line % 8u));
}

// Stores the sums of an invocation, whose warpgroup's first row is `own_row` of the tile.
fn store_group_tile(sums: ptr<function, GroupSums>, tile: Tile, own_row: u32, i: u32) {
    let start = (tile.batch * params.n_slices + tile.slice) * params.m * params.n;
    let row = tile.row + own_row + 16u * (i / 32u % 4u) + i % 32u / 4u;
    let column = tile.column + 2u * (i % 4u);
    if IS_FUSED {
        finish_group_columns(sums, 0u, start, row, column);
        if TILE_N > 64u {
            finish_group_columns(sums, 1u, start, row, column + 64u);
        }
        if TILE_N > 128u {
            finish_group_columns(sums, 2u, start, row, column + 128u);
            finish_group_columns(sums, 3u, start, row, column + 192u);
        }
    }
    store_group_columns((*sums)[0], start, row, column);
    if TILE_N > 64u {
        store_group_columns((*sums)[1], start, row, column + 64u);
    }
    if TILE_N > 128u {
        store_group_columns((*sums)[2], start, row, column + 128u);
        store_group_columns((*sums)[3], start, row, column + 192u);
    }
}

// Stores an invocation's sums of 64 columns: those of an even column and the next, every 8 columns, in two rows.
fn store_group_columns(sums: array<vec4<f32>, 8>, start: u32, row: u32, column: u32) {
    let at = start + row * params.n + column;
    let below = at + 8u * params.n;
    let n_columns = params.n - min(params.n, column);
    let n_first = select(0u, n_columns, row < params.m);
    let n_second = select(0u, n_columns, row + 8u < params.m);
    if params.n % 2u == 0u {
        for (var x = 0u; x < 8u; x++) {
            if 8u * x < n_first {
                c[at / 2u + 4u * x] = sums[x].xy;
            }
            if 8u * x < n_second {
                c[below / 2u + 4u * x] = sums[x].zw;
            }
        }
        return;
    }
    for (var x = 0u; x < 8u; x++) {
        store_sum(sums[x].x, at + 8u * x, 8u * x < n_first);
        store_sum(sums[x].y, at + 8u * x + 1u, 8u * x + 1u < n_first);
        store_sum(sums[x].z, below + 8u * x, 8u * x < n_second);
        store_sum(sums[x].w, below + 8u * x + 1u, 8u * x + 1u < n_second);
    }
}

// Applies the epilogue to an invocation's sums of 64 columns, as store_group_columns stores them.
fn finish_group_columns(sums: ptr<function, GroupSums>, group: u32, start: u32, row: u32, first: u32) {
    for (var x = 0u; x < 8u; x++) {
        let column = first + 8u * x;
        let at = start + row * params.n + column;
        let columns = vec4(column, column + 1u, column, column + 1u);
        let places = vec4(at, at + 1u, at + 8u * params.n, at + 8u * params.n + 1u);
        let inside = (columns < vec4(params.n)) & (vec4(row, row, row + 8u, row + 8u) < vec4(params.m));
        (*sums)[group][x] = finished((*sums)[group][x], places, columns, inside);
    }
}

fn store_sum(sum: f32, at: u32, is_inside: bool) {
    if is_inside {
        c[at / 2u][at % 2u] = sum;
    }
}
