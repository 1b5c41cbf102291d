// Batched matrix product of halves on the matrix units of whole warpgroups, summed in single precision: c[m, n] = a[m, k] b[k, n].
//
// Each 128 invocations compute 64 rows by TILE_N columns of a workgroup's tile, from factors in workgroup memory. STAGES steps lie
// there at once: two are multiplied, and the others are copied meanwhile. Lines have units of 16 bytes, exchanged so that eight lines lie
// in different banks.
// Bindings: `left`, `right`: the factors, in units of 8 halves; `c`: [batch, n_slices, m, n] f32, in pairs.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units of 8 halves.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of 8 where it is contiguous; TILE_N is at most WIDTH, so that
// an invocation's copies are multiples of 8 lines apart; STAGES is at least 3.
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/product_tiles, lib/warpgroup, lib/plain/finish
enable f16;

// Warpgroups, along m.
override GROUPS: u32 = 2u;
override TILE_N: u32 = 256u;

override WIDTH: u32 = 128u * GROUPS;
override TILE_M: u32 = 64u * GROUPS;
// Depth of a step.
const TILE_K: u32 = 64u;
// Elements of a unit of 16 bytes.
const UNIT: u32 = 8u;

alias Part = vec4<f16>;

// Vectors of four halves from a line of a block to the next, to the tile of b, and of both tiles.
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

@compute @workgroup_size(WIDTH)
fn tensor_matmul_warpgroup(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_tiles {
        return;
    }
    let tile = product_tile(id);
    let own_row = 64u * (i / 128u);
    let a = left_share(tile, i, place_in_blocks(0u, UNITS_A, i));
    let b = right_share(tile, i, place_in_blocks(BEGIN_B, UNITS_B, i));
    let begin = tile.slice * params.k_slice;
    let end = min(begin + params.k_slice, params.k);
    for (var ahead = 0u; ahead < STAGES - 2u; ahead++) {
        stage_step(a, b, begin + ahead * TILE_K, ahead);
    }
    var sums: GroupSums;
    var stage = 0u;
    var free = STAGES - 2u;
    for (var k = begin; k < end; k += TILE_K) {
        await_staged(STAGES - 3u);
        stage_step(a, b, k + (STAGES - 2u) * TILE_K, free);
        multiply_staged(&sums, stage * STAGE + 16u * own_row, stage * STAGE + BEGIN_B, i % 128u, TILE_N, A_BY_K, B_BY_K, true);
        // The step before has been multiplied: after the next barrier, its stage is free.
        await_products(1u);
        stage = select(stage + 1u, 0u, stage + 1u == STAGES);
        free = select(free + 1u, 0u, free + 1u == STAGES);
    }
    await_products(0u);
    let start = (tile.batch * params.n_slices + tile.slice) * params.m * params.n;
    let row = tile.row + own_row + 16u * (i / 32u % 4u) + i % 32u / 4u;
    let column = tile.column + 2u * (i % 4u);
    if IS_FUSED {
        finish_group_columns(&sums, 0u, start, row, column);
        if TILE_N > 64u {
            finish_group_columns(&sums, 1u, start, row, column + 64u);
        }
        if TILE_N > 128u {
            finish_group_columns(&sums, 2u, start, row, column + 128u);
            finish_group_columns(&sums, 3u, start, row, column + 192u);
        }
    }
    store_group_columns(sums[0], start, row, column);
    if TILE_N > 64u {
        store_group_columns(sums[1], start, row, column + 64u);
    }
    if TILE_N > 128u {
        store_group_columns(sums[2], start, row, column + 128u);
        store_group_columns(sums[3], start, row, column + 192u);
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
