// Parts of kernels that multiply matrices on matrix units, with tiles of the factors in workgroup memory: tensor_matmul_half and
// tensor_matmul_tf32.
//
// The file that imports these declares the bindings `left` and `right`, arrays of Unit, `c` and `params`, `sh_staged`, ALL parts of units, and
// the constants UNIT, the elements of a unit of 16 bytes, and PAD_A and PAD_B, the parts of units by which rows of tiles are padded in
// workgroup memory.
//
// import: lib/plain/finish, lib/edge_tiles

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

alias Sums = array<array<Sum, 4>, 4>;

// Returns the place in a stage of the first copy of invocation `i`, of tiles that begin at `begin` there.
fn place_in_stage(begin: u32, units: u32, stride: u32, i: u32) -> u32 {
    return begin + i / units * stride + 2u * (i % units);
}

// Stores a subgroup's matrices, whose first row and column are `own_row` and `own_column` of the tile.
fn store_tile(sums: ptr<function, Sums>, tile: Tile, own_row: u32, own_column: u32, i: u32) {
    let edge = edge_of(tile, own_row, own_column, i);
    let stride = params.n;
    if !IS_FUSED && tile.row + TILE_M <= params.m && tile.column + TILE_N <= params.n {
        for (var y = 0u; y < MATRICES_M; y++) {
            for (var x = 0u; x < MATRICES_N; x++) {
                let to = edge.start + (edge.row + 16u * y) * stride + edge.column + 16u * x;
                coopStoreT((*sums)[y][x], &c[to], stride);
            }
        }
    } else {
        for (var y = 0u; y < MATRICES_M; y++) {
            for (var x = 0u; x < MATRICES_N; x++) {
                store_edge((*sums)[y][x], edge, y, x);
            }
        }
    }
}
