// Matrix product with quantized weights: out[m, n] = a[m, k] wᵀ, with w [n, k] in blocks of 256 weights (Q4_K, Q5_K, Q6_K of
// ggml) or 32 (Q8_0) or as f16 or bfloat16, dequantized on the fly into workgroup memory.
//
// A workgroup computes a tile of 32 rows by 64 columns; register tiling, 4x4 per invocation. Tiles 32 deep are staged in
// workgroup memory: each invocation dequantizes a 4x4 block of weights, and half of them load a block of `a`.
// Bindings: `a`: rows of `pitch_k` f32, of which k are used, from element `a_from` on; `w`: rows of pitch_k / 256 blocks of
// 144, 176 or 210 bytes, without gaps, in words, or of pitch_k / 32 blocks of 34 bytes, or of pitch_k / 2 words, from byte `w_from` on; `out`: rows of `pitch_n` f32,
// of which n are used, from element `c_from` on. With ADD the product is accumulated into `out`.
// Preconditions: no length is 0; k and pitch_k are multiples of 256, for 8 bits of 32, for 16 bits of 4; a_from is a multiple of 4, w_from of
// 2 (6 or 8 bits) or 4.
// Twin: src/tensor/cpu/quantized.rs
//
// import: lib/half, lib/outer_product, lib/store4

// Bits per weight: 4, 5, 6, 8 or 16.
override BITS: u32 = 4u;
override ADD: bool = false;
// Weights of 16 bits are bfloat16 instead of f16.
override BFLOAT: bool = false;

const ROWS: u32 = 32u;
const COLS: u32 = 64u;
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
var<workgroup> sh_w: array<vec4<f32>, 512>;

/// Returns four bytes from an even byte on.
fn bytes_at(at: u32) -> u32 {
    let first = w[at >> 2u];
    let second = w[(at >> 2u) + 1u];
    return select(first, (first >> 16u) | (second << 16u), (at & 2u) != 0u);
}

fn four_numbers(bytes: u32) -> vec4<f32> {
    return vec4<f32>(vec4(bytes & 0xffu, (bytes >> 8u) & 0xffu, (bytes >> 16u) & 0xffu, bytes >> 24u));
}

/// Returns scale and minimum of a group of 32 weights: 6 bits each, packed in 12 bytes.
fn scale_and_minimum(words: vec3<u32>, group: u32) -> vec2<f32> {
    let shift = 8u * (group & 3u);
    let x = words.x >> shift;
    let y = words.y >> shift;
    let z = words.z >> shift;
    let high = vec2((z & 15u) | ((x >> 2u) & 48u), ((z >> 4u) & 15u) | ((y >> 2u) & 48u));
    return vec2<f32>(select(high, vec2(x & 63u, y & 63u), group < 4u));
}

/// Returns four weights of 4 or 5 bits, from weight `at` on; `block` is the word index of their block.
fn unpack_small(block: u32, at: u32) -> vec4<f32> {
    let group = at >> 5u;
    let quad = (at & 31u) >> 2u;
    let halves = vec2(half(w[block] & 0xffffu), half(w[block] >> 16u));
    let scales = scale_and_minimum(vec3(w[block + 1u], w[block + 2u], w[block + 3u]), group);
    // Two groups share bytes; the fifth bits come before them.
    let bytes = w[block + select(4u, 12u, BITS == 5u) + 8u * (group >> 1u) + quad];
    var values = (bytes >> (4u * (group & 1u))) & 0x0f0f0f0fu;
    if BITS == 5u {
        values |= ((w[block + 4u + quad] >> group) & 0x01010101u) << 4u;
    }
    return halves.x * scales.x * four_numbers(values) - halves.y * scales.y;
}

/// Returns four weights of 6 bits, from weight `at` on; `block` is the byte index of their block.
fn unpack_large(block: u32, at: u32) -> vec4<f32> {
    let side = at >> 7u;
    let quarter = (at >> 5u) & 3u;
    let l = at & 31u;
    let low = bytes_at(block + 64u * side + 32u * (quarter & 1u) + l) >> (4u * (quarter >> 1u));
    let high = bytes_at(block + 128u + 32u * side + l) >> (2u * quarter);
    let values = (low & 0x0f0f0f0fu) | ((high & 0x03030303u) << 4u);
    // One signed byte per 16 weights.
    let place = block + 192u + 8u * side + 2u * quarter + (l >> 4u);
    let scale = bitcast<i32>(w[place >> 2u] << (24u - 8u * (place & 3u))) >> 24u;
    let factor = half(bytes_at(block + 208u) & 0xffffu);
    return factor * f32(scale) * (four_numbers(values) - 32.0);
}

/// Returns four weights of 8 bits, from weight `at` on; `block` is the byte index of their block.
fn unpack_signed(block: u32, at: u32) -> vec4<f32> {
    // The values plus 128.
    let values = bytes_at(block + 2u + at) ^ 0x80808080u;
    return half(bytes_at(block) & 0xffffu) * (four_numbers(values) - 128.0);
}

/// Returns four weights of a column, from `k` on; 0 behind its end. Columns behind the last one are that one, and are not stored:
/// without a branch, the loads of all columns are in flight together.
fn weights(any_col: u32, k: u32) -> vec4<f32> {
    let col = min(any_col, params.n - 1u);
    if BITS == 16u {
        // Other types have whole tiles along k.
        let at = (params.w_from >> 2u) + ((col * params.pitch_k + min(k, params.k - 4u)) >> 1u);
        let low = w[at];
        let high = w[at + 1u];
        let four = vec4(
            half_or_bfloat(low & 0xffffu, BFLOAT),
            half_or_bfloat(low >> 16u, BFLOAT),
            half_or_bfloat(high & 0xffffu, BFLOAT),
            half_or_bfloat(high >> 16u, BFLOAT),
        );
        return select(vec4(0.0), four, vec4(k < params.k));
    }
    if BITS == 8u {
        return unpack_signed(params.w_from + 34u * (col * (params.pitch_k >> 5u) + (k >> 5u)), k & 31u);
    }
    let block = col * (params.pitch_k >> 8u) + (k >> 8u);
    if BITS == 6u {
        return unpack_large(params.w_from + 210u * block, k & 255u);
    }
    return unpack_small((params.w_from >> 2u) + select(36u, 44u, BITS == 5u) * block, k & 255u);
}

fn four_of_a_row(row: u32, k: u32) -> vec4<f32> {
    let at = params.a_from + min(row, params.m - 1u) * params.pitch_k + min(k, params.k - 4u);
    return select(vec4(0.0), a[at >> 2u], vec4(k < params.k));
}

/// Stages a tile of weights and a tile of `a`, both transposed in registers.
fn stage_tiles(i: u32, first_row: u32, first_col: u32, depth: u32) {
    let k = depth + 4u * (i & 7u);
    let col = first_col + 4u * (i >> 3u);
    let w0 = weights(col, k);
    let w1 = weights(col + 1u, k);
    let w2 = weights(col + 2u, k);
    let w3 = weights(col + 3u, k);
    let to = 64u * (i & 7u) + (i >> 3u);
    sh_w[to] = vec4(w0.x, w1.x, w2.x, w3.x);
    sh_w[to + 16u] = vec4(w0.y, w1.y, w2.y, w3.y);
    sh_w[to + 32u] = vec4(w0.z, w1.z, w2.z, w3.z);
    sh_w[to + 48u] = vec4(w0.w, w1.w, w2.w, w3.w);
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
    let at = params.c_from + row * params.pitch_n + col;
    var y = x;
    if ADD {
        if col < params.n { y.x += out[at]; }
        if col + 1u < params.n { y.y += out[at + 1u]; }
        if col + 2u < params.n { y.z += out[at + 2u]; }
        if col + 3u < params.n { y.w += out[at + 3u]; }
    }
    store4(at, col, params.n, y);
}

@compute @workgroup_size(128)
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
    let first_col = id % params.tiles_n * COLS;
    let lane_n = i & 15u;
    let lane_m = i >> 4u;
    for (var depth = 0u; depth < params.k; depth += DEPTH) {
        stage_tiles(i, first_row, first_col, depth);
        workgroupBarrier();
        for (var step = 0u; step < 8u; step++) {
            let at_a = 32u * step + lane_m;
            let at_w = 64u * step + lane_n;
            accumulate_tile(at_a, at_w);
            accumulate_tile(at_a + 8u, at_w + 16u);
            accumulate_tile(at_a + 16u, at_w + 32u);
            accumulate_tile(at_a + 24u, at_w + 48u);
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
