// Parts of kernels that multiply matrices on matrix units, with tiles of the factors in workgroup memory: tensor_matmul_half and
// tensor_matmul_tf32.
//
// The file that imports these declares the bindings `left` and `right`, arrays of Unit, `c` and `params`, `sh_staged`, ALL parts of units, and
// the constants UNIT, the elements of a unit of 16 bytes, and PAD_A and PAD_B, the parts of units by which rows of tiles are padded in
// workgroup memory.
//
// import: lib/plain/finish

// Subgroups of a workgroup along m and n.
override SUBGROUPS_M: u32 = 2u;
override SUBGROUPS_N: u32 = 2u;
// Matrices of a subgroup along m and n, at most 4.
override MATRICES_M: u32 = 4u;
override MATRICES_N: u32 = 4u;
// Depth of a step.
override TILE_K: u32 = 32u;

override WIDTH: u32 = 32u * SUBGROUPS_M * SUBGROUPS_N;
override TILE_M: u32 = 16u * MATRICES_M * SUBGROUPS_M;
override TILE_N: u32 = 16u * MATRICES_N * SUBGROUPS_N;

// Parts of units from a row of a tile to the next.
override STRIDE_A: u32 = 2u * UNITS_A + PAD_A;
override STRIDE_B: u32 = 2u * UNITS_B + PAD_B;
override STAGE: u32 = ROWS_A * STRIDE_A + ROWS_B * STRIDE_B;
override EDGE: u32 = 256u * SUBGROUPS_M * SUBGROUPS_N;

// A matrix of each subgroup, on its way to the edge of the result.
var<workgroup> sh_edge: array<f32, EDGE>;

alias Sum = coop_mat16x16<f32, C>;

alias Sums = array<array<Sum, 4>, 4>;

// Returns the place in a stage of the first copy of invocation `i`, of tiles that begin at `begin` there.
fn place_in_stage(begin: u32, units: u32, stride: u32, i: u32) -> u32 {
    return begin + i / units * stride + 2u * (i % units);
}

// Stores a matrix of which a part is outside of the result, or which has an epilogue, through workgroup memory.
fn store_edge(sum: Sum, start: u32, row: u32, column: u32, subgroup: u32, lane: u32) {
    let own_edge = 256u * subgroup;
    coopStoreT(sum, &sh_edge[own_edge], 16u);
    workgroupBarrier();
    for (var own = lane; own < 256u; own += 32u) {
        let y = row + own / 16u;
        let x = column + own % 16u;
        if y < params.m && x < params.n {
            let to = start + y * params.n + x;
            c[to] = finished(vec4(sh_edge[own_edge + own]), vec4(to), vec4(x), vec4(true)).x;
        }
    }
    workgroupBarrier();
}

// Stores a subgroup's matrices, whose first row and column are `own_row` and `own_column` of the tile.
fn store_tile(sums: ptr<function, Sums>, tile: Tile, own_row: u32, own_column: u32, subgroup: u32, lane: u32) {
    let start = (tile.batch * params.n_slices + tile.slice) * params.m * params.n;
    let row = tile.row + own_row;
    let column = tile.column + own_column;
    let stride = params.n;
    if !IS_FUSED && tile.row + TILE_M <= params.m && tile.column + TILE_N <= params.n {
        for (var y = 0u; y < MATRICES_M; y++) {
            for (var x = 0u; x < MATRICES_N; x++) {
                let to = start + (row + 16u * y) * stride + column + 16u * x;
                coopStoreT((*sums)[y][x], &c[to], stride);
            }
        }
    } else {
        for (var y = 0u; y < MATRICES_M; y++) {
            for (var x = 0u; x < MATRICES_N; x++) {
                store_edge((*sums)[y][x], start, row + 16u * y, column + 16u * x, subgroup, lane);
            }
        }
    }
}
