// Part of tensor_attention: slices of queries and keys in workgroup memory, and their products.
//
// import: lib/attention_heads, lib/outer_product

/// Stages DEPTH columns of queries and keys: at most one 4x4 block per invocation, transposed in registers.
fn load_slices(i: u32, query: u32, key: u32, start_q: u32, start_k: u32, depth: u32) {
    let block = i / DEPTH4;
    let column4 = i % DEPTH4;
    let col = depth + 4u * column4;
    if i < KEY_LOADERS {
        let row = key + 4u * block;
        let at = start_k + row * params.k.w + col;
        let r0 = of_key(row, at, col);
        let r1 = of_key(row + 1u, at + params.k.w, col);
        let r2 = of_key(row + 2u, at + 2u * params.k.w, col);
        let r3 = of_key(row + 3u, at + 3u * params.k.w, col);
        let to = 64u * column4 + block;
        sh_k[to] = vec4(r0.x, r1.x, r2.x, r3.x);
        sh_k[to + 16u] = vec4(r0.y, r1.y, r2.y, r3.y);
        sh_k[to + 32u] = vec4(r0.z, r1.z, r2.z, r3.z);
        sh_k[to + 48u] = vec4(r0.w, r1.w, r2.w, r3.w);
    } else if i < KEY_LOADERS + QUERIES4 * DEPTH4 {
        let row = query + 4u * (block - 16u);
        let at = start_q + row * params.q.w + col;
        let r0 = of_query(row, at, col);
        let r1 = of_query(row + 1u, at + params.q.w, col);
        let r2 = of_query(row + 2u, at + 2u * params.q.w, col);
        let r3 = of_query(row + 3u, at + 3u * params.q.w, col);
        let to = 4u * QUERIES4 * column4 + block - 16u;
        sh_q[to] = vec4(r0.x, r1.x, r2.x, r3.x);
        sh_q[to + QUERIES4] = vec4(r0.y, r1.y, r2.y, r3.y);
        sh_q[to + 2u * QUERIES4] = vec4(r0.z, r1.z, r2.z, r3.z);
        sh_q[to + 3u * QUERIES4] = vec4(r0.w, r1.w, r2.w, r3.w);
    }
}

/// Returns an element of a key or a query.
fn one_of_row(from_k: bool, at: u32) -> f32 {
    if from_k {
        return bitcast<f32>(k[at >> 2u][at & 3u]);
    }
    return bitcast<f32>(q[at >> 2u][at & 3u]);
}

/// Returns a column of a block of four rows; a row behind the last one is that one.
fn column_of(from_k: bool, row: u32, at: u32) -> vec4<f32> {
    let pitch = select(params.q.w, params.k.w, from_k);
    let last = select(params.n_q, params.n_k, from_k) - 1u - row;
    return vec4(
        one_of_row(from_k, at),
        one_of_row(from_k, at + min(1u, last) * pitch),
        one_of_row(from_k, at + min(2u, last) * pitch),
        one_of_row(from_k, at + min(3u, last) * pitch),
    );
}

/// As `load_slices`, but a column of a block at a time. Columns behind the last one, which no invocation reads, stay as they are;
/// blocks without rows are 0.
fn load_slices_by_fours(i: u32, query: u32, key: u32, start_q: u32, start_k: u32, depth: u32) {
    let block = i / DEPTH4;
    let first = 4u * (i % DEPTH4);
    let end = min(first + 4u, params.dim - depth);
    if i < KEY_LOADERS {
        let row = key + 4u * block;
        if row >= params.n_k {
            for (var col = first; col < end; col++) { sh_k[16u * col + block] = vec4(0.0); }
            return;
        }
        let at = start_k + row * params.k.w + depth;
        for (var col = first; col < end; col++) {
            sh_k[16u * col + block] = column_of(true, row, at + col);
        }
    } else if i < KEY_LOADERS + QUERIES4 * DEPTH4 {
        let row = query + 4u * (block - 16u);
        if row >= params.n_q {
            for (var col = first; col < end; col++) { sh_q[QUERIES4 * col + block - 16u] = vec4(0.0); }
            return;
        }
        let at = start_q + row * params.q.w + depth;
        for (var col = first; col < end; col++) {
            sh_q[QUERIES4 * col + block - 16u] = column_of(false, row, at + col);
        }
    }
}

/// Adds the products of one column to the scores.
fn add_scores(at_q: u32, at_k: u32, lane_m: u32) {
    var x = sh_q[at_q];
    if FEWEST {
        // The second invocation of a group of four takes its last two queries.
        x = select(x, x.zwxy, lane_m % 2u == 1u);
    }
    add_outer_product(x, sh_k[at_k]);
}

/// Adds the products of the staged columns, the first `n` of which are not behind the end, to the scores.
fn add_all_scores(lane_n: u32, lane_m: u32, n: u32) {
    if FEWEST {
        for (var column = 0u; column < min(DEPTH, n); column++) {
            add_scores(QUERIES4 * column + lane_m / 2u, 16u * column + lane_n, lane_m);
        }
        return;
    }
    for (var step = 0u; step < DEPTH4; step++) {
        let at_q = 4u * QUERIES4 * step + lane_m;
        let at_k = 64u * step + lane_n;
        add_scores(at_q, at_k, lane_m);
        add_scores(at_q + QUERIES4, at_k + 16u, lane_m);
        add_scores(at_q + 2u * QUERIES4, at_k + 32u, lane_m);
        add_scores(at_q + 3u * QUERIES4, at_k + 48u, lane_m);
    }
}
