// Batched matrix product of halves on the matrix units of whole warpgroups, summed in single precision: c[m, n] = a[m, k] b[k, n].
//
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/product_tiles, lib/stage_step, lib/warpgroup, lib/warpgroup_halves, lib/group_tiles
enable f16;

// Depth of a step.
const TILE_K: u32 = 64u;
// Elements of a unit of 16 bytes.
const UNIT: u32 = 8u;

alias Part = vec4<f16>;

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
    store_group_tile(&sums, tile, own_row, i);
}
