// Part of tensor_attention_many: blocks of queries, keys and values on their way to workgroup memory.
//
// import: lib/attention_heads

// Prefetched elements: a block of queries or keys, four rows for each of four columns; or four vectors of values.
var<private> block: array<vec4<f32>, 4>;

fn transpose(r0: vec4<f32>, r1: vec4<f32>, r2: vec4<f32>, r3: vec4<f32>) {
    block[0] = vec4(r0.x, r1.x, r2.x, r3.x);
    block[1] = vec4(r0.y, r1.y, r2.y, r3.y);
    block[2] = vec4(r0.z, r1.z, r2.z, r3.z);
    block[3] = vec4(r0.w, r1.w, r2.w, r3.w);
}

/// Prefetches four columns of four queries, and transposes them.
fn prefetch_queries(row: u32, at: u32, col: u32) {
    let r0 = of_query(row, at, col);
    let r1 = of_query(row + 1u, at + params.q.w, col);
    let r2 = of_query(row + 2u, at + 2u * params.q.w, col);
    let r3 = of_query(row + 3u, at + 3u * params.q.w, col);
    transpose(r0, r1, r2, r3);
}

/// Prefetches four columns of four keys that are LANES_N apart, and transposes them.
fn prefetch_keys(row: u32, at: u32, col: u32) {
    let step = LANES_N * params.k.w;
    let r0 = of_key(row, at, col);
    let r1 = of_key(row + LANES_N, at + step, col);
    let r2 = of_key(row + 2u * LANES_N, at + 2u * step, col);
    let r3 = of_key(row + 3u * LANES_N, at + 3u * step, col);
    transpose(r0, r1, r2, r3);
}

fn prefetch_rows(loads_q: bool, row: u32, at: u32, col: u32) {
    if KEPT == 0u {
        if loads_q {
            prefetch_queries(row, at, col);
            return;
        }
    }
    prefetch_keys(row, at, col);
}

fn store_rows(loads_q: bool, to: u32) {
    if KEPT == 0u {
        if loads_q {
            sh_q[to] = block[0];
            sh_q[to + TILE_M4] = block[1];
            sh_q[to + 2u * TILE_M4] = block[2];
            sh_q[to + 3u * TILE_M4] = block[3];
            return;
        }
    }
    sh_k[to] = block[0];
    sh_k[to + TILE_N4] = block[1];
    sh_k[to + 2u * TILE_N4] = block[2];
    sh_k[to + 3u * TILE_N4] = block[3];
}

/// Returns four columns of a value; 0 from `end` on.
fn of_value(key: u32, end: u32, at: u32, col: u32) -> vec4<f32> {
    if key < end && col < params.dim {
        return four_of_v(at, col);
    }
    return vec4(0.0);
}

/// Prefetches four columns of the value of `key` and of later ones.
fn prefetch_values(start_v: u32, key: u32, end: u32, col: u32) {
    let at = start_v + key * params.v.w + col;
    let more = 128u / TILE_D4;
    let step = more * params.v.w;
    block[0] = of_value(key, end, at, col);
    if VALUES_EACH >= 2u {
        block[1] = of_value(key + more, end, at + step, col);
    }
    if VALUES_EACH == 4u {
        block[2] = of_value(key + 2u * more, end, at + 2u * step, col);
        block[3] = of_value(key + 3u * more, end, at + 3u * step, col);
    }
}

fn store_values(i: u32) {
    sh_k[i] = block[0];
    if VALUES_EACH >= 2u {
        sh_k[i + 128u] = block[1];
    }
    if VALUES_EACH == 4u {
        sh_k[i + 256u] = block[2];
        sh_k[i + 384u] = block[3];
    }
}

/// Stores all columns of the queries in workgroup memory.
fn keep_queries(i: u32, query: u32, start_q: u32) {
    for (var n = i; n < KEPT / 4u; n += 128u) {
        let row = query + 4u * (n % TILE_M4);
        let col = 4u * (n / TILE_M4);
        prefetch_queries(row, start_q + row * params.q.w + col, col);
        let to = TILE_M4 * col + n % TILE_M4;
        sh_q[to] = block[0];
        sh_q[to + TILE_M4] = block[1];
        sh_q[to + 2u * TILE_M4] = block[2];
        sh_q[to + 3u * TILE_M4] = block[3];
    }
}
