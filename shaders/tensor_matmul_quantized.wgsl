// Matrix product with quantized weights: out[m, n] = a[m, k] wᵀ, with w [n, k] in blocks of 256 weights (Q4_K, Q5_K, Q6_K of
// ggml) or 32 (Q8_0) or as f16 or bfloat16, dequantized on the fly into workgroup memory.
//
// A workgroup computes a tile of 32 rows by 64 columns, or 32 with half the invocations; register tiling, 4x4 per invocation. Tiles 32 deep are staged in
// workgroup memory: each invocation dequantizes a 4x4 block of weights, and 64 of them load a block of `a`.
// Bindings: `a`: rows of `pitch_k` f32, of which k are used, from element `a_from` on; `w`: rows of pitch_k / 256 blocks of
// 144, 176 or 210 bytes, without gaps, in words, or of pitch_k / 32 blocks of 34 bytes, or of pitch_k / 2 words, from byte `w_from` on; `out`: rows of `pitch_n` f32,
// of which n are used, from element `c_from` on. With ADD the product is accumulated into `out`.
// Preconditions: no length is 0; k and pitch_k are multiples of 256, for 8 bits of 32, for 16 bits of 4; a_from is a multiple of 4, w_from of
// 2 (6 or 8 bits) or 4.
// Twin: src/tensor/cpu/quantized.rs
//
// import: lib/add4, lib/outer_product, lib/packed_weights

// Invocations of a workgroup: 128 or 64.
override THREADS: u32 = 128u;
// The loads of a block are in flight together, which takes more registers.
override AHEAD: bool = true;
// Groups of four columns of a tile.
override COLS4: u32 = THREADS / 8u;
override ALL_W: u32 = DEPTH * COLS4;

const ROWS: u32 = 32u;
const DEPTH: u32 = 32u;

struct Params {
    m: u32,
    n: u32,
    k: u32,
    // Tiles along n, and in total.
    tiles_n: u32,
    n_tiles: u32,
    pitch_k: u32,
    pitch_n: u32,
    a_from: u32,
    w_from: u32,
    c_from: u32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

// [k][group of 4 rows, or columns]
var<workgroup> sh_a: array<vec4<f32>, 256>;
var<workgroup> sh_w: array<vec4<f32>, ALL_W>;

/// Returns an element of a row of `a`, 0 behind its end. Rows behind the last one are that one, and are not stored.
fn one_of_a_row(row: u32, k: u32) -> f32 {
    let at = params.a_from + min(row, params.m - 1u) * params.pitch_k + min(k, params.k - 1u);
    return select(0.0, a[at >> 2u][at & 3u], k < params.k);
}

fn four_of_a_row(row: u32, k: u32) -> vec4<f32> {
    let at = params.a_from + min(row, params.m - 1u) * params.pitch_k + min(k, params.k - 4u);
    return select(vec4(0.0), a[at >> 2u], vec4(k < params.k));
}

/// Stores four weights of column n of a block.
fn keep_column(to: u32, n: u32, four: vec4<f32>) {
    if n == 0u {
        sh_w[to].x = four.x;
        sh_w[to + COLS4].x = four.y;
        sh_w[to + 2u * COLS4].x = four.z;
        sh_w[to + 3u * COLS4].x = four.w;
    } else if n == 1u {
        sh_w[to].y = four.x;
        sh_w[to + COLS4].y = four.y;
        sh_w[to + 2u * COLS4].y = four.z;
        sh_w[to + 3u * COLS4].y = four.w;
    } else if n == 2u {
        sh_w[to].z = four.x;
        sh_w[to + COLS4].z = four.y;
        sh_w[to + 2u * COLS4].z = four.z;
        sh_w[to + 3u * COLS4].z = four.w;
    } else {
        sh_w[to].w = four.x;
        sh_w[to + COLS4].w = four.y;
        sh_w[to + 2u * COLS4].w = four.z;
        sh_w[to + 3u * COLS4].w = four.w;
    }
}

/// As `stage_tiles`, but a column of weights, then four elements of a column of `a`, at a time.
fn stage_columns(i: u32, first_row: u32, first_col: u32, depth: u32) {
    let k = depth + 4u * (i & 7u);
    let to = 4u * COLS4 * (i & 7u) + (i >> 3u);
    // To 4, which compilers do not know, so that they do not load all columns first.
    let end = min(4u, 3u + params.n);
    for (var n = 0u; n < end; n++) {
        keep_column(to, n, weights(first_col + 4u * (i >> 3u) + n, k));
    }
    if i < 64u {
        let row = first_row + 4u * (i >> 3u);
        for (var n = 0u; n < end; n++) {
            sh_a[32u * (i & 7u) + (i >> 3u) + 8u * n] = vec4(
                one_of_a_row(row, k + n),
                one_of_a_row(row + 1u, k + n),
                one_of_a_row(row + 2u, k + n),
                one_of_a_row(row + 3u, k + n),
            );
        }
    }
}

/// Stages a tile of weights and a tile of `a`, both transposed in registers.
fn stage_tiles(i: u32, first_row: u32, first_col: u32, depth: u32) {
    let k = depth + 4u * (i & 7u);
    let col = first_col + 4u * (i >> 3u);
    let w0 = weights(col, k);
    let w1 = weights(col + 1u, k);
    let w2 = weights(col + 2u, k);
    let w3 = weights(col + 3u, k);
    let to = 4u * COLS4 * (i & 7u) + (i >> 3u);
    sh_w[to] = vec4(w0.x, w1.x, w2.x, w3.x);
    sh_w[to + COLS4] = vec4(w0.y, w1.y, w2.y, w3.y);
    sh_w[to + 2u * COLS4] = vec4(w0.z, w1.z, w2.z, w3.z);
    sh_w[to + 3u * COLS4] = vec4(w0.w, w1.w, w2.w, w3.w);
    if i < 64u {
        let row = first_row + 4u * (i >> 3u);
        let a0 = four_of_a_row(row, k);
        let a1 = four_of_a_row(row + 1u, k);
        let a2 = four_of_a_row(row + 2u, k);
        let a3 = four_of_a_row(row + 3u, k);
        let to_a = 32u * (i & 7u) + (i >> 3u);
        sh_a[to_a] = vec4(a0.x, a1.x, a2.x, a3.x);
        sh_a[to_a + 8u] = vec4(a0.y, a1.y, a2.y, a3.y);
        sh_a[to_a + 16u] = vec4(a0.z, a1.z, a2.z, a3.z);
        sh_a[to_a + 24u] = vec4(a0.w, a1.w, a2.w, a3.w);
    }
}

fn accumulate_tile(at_a: u32, at_w: u32) {
    add_outer_product(sh_a[at_a], sh_w[at_w]);
}

fn store_tile_row(row: u32, col: u32, x: vec4<f32>) {
    if row >= params.m {
        return;
    }
    add4(params.c_from + row * params.pitch_n + col, col, params.n, x);
}

@compute @workgroup_size(THREADS)
fn tensor_matmul_quantized(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_tiles {
        return;
    }
    let first_row = id / params.tiles_n * ROWS;
    let first_col = id % params.tiles_n * 4u * COLS4;
    let lane_n = i % COLS4;
    let lane_m = i / COLS4;
    for (var depth = 0u; depth < params.k; depth += DEPTH) {
        if AHEAD {
            stage_tiles(i, first_row, first_col, depth);
        } else {
            stage_columns(i, first_row, first_col, depth);
        }
        workgroupBarrier();
        if AHEAD {
            for (var step = 0u; step < 8u; step++) {
                let at_a = 32u * step + lane_m;
                let at_w = 4u * COLS4 * step + lane_n;
                accumulate_tile(at_a, at_w);
                accumulate_tile(at_a + 8u, at_w + COLS4);
                accumulate_tile(at_a + 16u, at_w + 2u * COLS4);
                accumulate_tile(at_a + 24u, at_w + 3u * COLS4);
            }
        } else {
            for (var term = 0u; term < min(DEPTH, params.k - depth); term++) {
                accumulate_tile(8u * term + lane_m, COLS4 * term + lane_n);
            }
        }
        workgroupBarrier();
    }
    let row = first_row + 4u * lane_m;
    let col = first_col + 4u * lane_n;
    store_tile_row(row, col, register_tile[0]);
    store_tile_row(row + 1u, col, register_tile[1]);
    store_tile_row(row + 2u, col, register_tile[2]);
    store_tile_row(row + 3u, col, register_tile[3]);
}
