// Matrices of a product that are stored through workgroup memory: a part of kernels that multiply matrices on matrix units.
//
// The file that imports this declares the bindings `c` and `params`, and the constants SUBGROUPS_M and SUBGROUPS_N, the subgroups of a workgroup.
//
// import: lib/product_tiles, lib/plain/finish

override EDGE: u32 = 256u * SUBGROUPS_M * SUBGROUPS_N;

// A matrix of each subgroup, on its way to the result.
var<workgroup> sh_edge: array<f32, EDGE>;

alias Sum = coop_mat16x16<f32, C>;

// The part of a tile that a subgroup stores: the place of the product in `c`, its first row and column there, and the subgroup and lane of
// the invocation.
struct Edge {
    start: u32,
    row: u32,
    column: u32,
    subgroup: u32,
    lane: u32,
}

fn edge_of(tile: Tile, own_row: u32, own_column: u32, i: u32) -> Edge {
    let start = (tile.batch * params.n_slices + tile.slice) * params.m * params.n;
    return Edge(start, tile.row + own_row, tile.column + own_column, i / 32u, i % 32u);
}

// Stores a matrix, the one at row `y` and column `x` of the subgroup's, without the part that is outside of the result, and with an epilogue
// if there is one.
fn store_edge(sum: Sum, edge: Edge, y: u32, x: u32) {
    let own_edge = 256u * edge.subgroup;
    coopStoreT(sum, &sh_edge[own_edge], 16u);
    workgroupBarrier();
    for (var own = edge.lane; own < 256u; own += 32u) {
        let row = edge.row + 16u * y + own / 16u;
        let column = edge.column + 16u * x + own % 16u;
        if row < params.m && column < params.n {
            let to = edge.start + row * params.n + column;
            c[to] = finished(vec4(sh_edge[own_edge + own]), vec4(to), vec4(column), vec4(true)).x;
        }
    }
    workgroupBarrier();
}
