// Asynchronous copies of the tiles of factors: a part of kernels that multiply matrices on matrix units.
//
// The file that imports these declares what lib/product_tiles and lib/stage ask for.
//
// import: lib/stage

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
