// Matrix product with packed weights: c[m, n] = a[m, k] wᵀ, with w [n, k] in blocks of 256 weights (Q4_K, Q5_K, Q6_K of
// ggml) or as numbers of 16 bits, which are unpacked on the way to workgroup memory and nowhere else.
//
// A workgroup makes a tile of 32 rows by 64 columns, an invocation 4 by 4 of it. 32 of k at a time pass through workgroup
// memory: each invocation unpacks a block of 4 by 4 weights, half of them load one of `a`.
// Bindings: `a`: rows of `pitch_k` f32, of which k count, from element `a_from` on; `w`: rows of pitch_k / 256 blocks of 144,
// 176 or 210 bytes, without gaps, in words, or of pitch_k / 2 words, from byte `w_from` on; `c`: rows of `pitch_n` f32, of
// which n count, from element `c_from` on. With ADD the product is added to what is there.
// Preconditions: no length is 0; k and pitch_k are multiples of 256, for 16 bits of 4; a_from is a multiple of 4, w_from of
// 2, for 6 bits alone, else of 4.
// Twin: src/tensor/cpu/quantized.rs

// Bits of a weight: 4, 5, 6 or 16.
override BITS: u32 = 4u;
override ADD: bool = false;

const ROWS: u32 = 32u;
const COLS: u32 = 64u;
const DEPTH: u32 = 32u;

struct Params {
    m: u32,
    n: u32,
    k: u32,
    // Tiles along n, and in all.
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
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

// [k][group of 4 rows, or columns]
var<workgroup> tile_a: array<vec4<f32>, 256>;
var<workgroup> tile_w: array<vec4<f32>, 512>;

var<private> sums: array<vec4<f32>, 4>;

/// Four bytes from a byte on, which is even.
fn bytes_at(at: u32) -> u32 {
    let first = w[at >> 2u];
    if (at & 2u) == 0u {
        return first;
    }
    return (first >> 16u) | (w[(at >> 2u) + 1u] << 16u);
}

fn four_numbers(bytes: u32) -> vec4<f32> {
    return vec4<f32>(vec4(bytes & 0xffu, (bytes >> 8u) & 0xffu, (bytes >> 16u) & 0xffu, bytes >> 24u));
}

/// A number of 16 bits. WGSL's own needs what not every adapter of wgpu has.
fn half(bits: u32) -> f32 {
    let exponent = bits & 0x7c00u;
    let bias = select(0x38000000u, 0x70000000u, exponent == 0x7c00u);
    let normal = bitcast<f32>(((bits & 0x7fffu) << 13u) + bias);
    let magnitude = select(normal, f32(bits & 0x3ffu) * 5.9604645e-8, exponent == 0u);
    return select(magnitude, -magnitude, (bits & 0x8000u) != 0u);
}

/// Scale and minimum of a group of 32 weights: 6 bits each, of 12 bytes.
fn scale_and_minimum(words: vec3<u32>, group: u32) -> vec2<f32> {
    let shift = 8u * (group & 3u);
    let x = words.x >> shift;
    let y = words.y >> shift;
    let z = words.z >> shift;
    if group < 4u {
        return vec2(f32(x & 63u), f32(y & 63u));
    }
    return vec2(f32((z & 15u) | ((x >> 2u) & 48u)), f32(((z >> 4u) & 15u) | ((y >> 2u) & 48u)));
}

/// Weights of 4 or 5 bits, four from `at` of the block at a word on.
fn unpack_small(block: u32, at: u32) -> vec4<f32> {
    let group = at >> 5u;
    let quad = (at & 31u) >> 2u;
    let halves = vec2(half(w[block] & 0xffffu), half(w[block] >> 16u));
    let scales = scale_and_minimum(vec3(w[block + 1u], w[block + 2u], w[block + 3u]), group);
    // Two groups share bytes; those of the fifth bits come first.
    let bytes = w[block + select(4u, 12u, BITS == 5u) + 8u * (group >> 1u) + quad];
    var values = (bytes >> (4u * (group & 1u))) & 0x0f0f0f0fu;
    if BITS == 5u {
        values |= ((w[block + 4u + quad] >> group) & 0x01010101u) << 4u;
    }
    return halves.x * scales.x * four_numbers(values) - halves.y * scales.y;
}

/// Weights of 6 bits, four from `at` of the block at a byte on.
fn unpack_large(block: u32, at: u32) -> vec4<f32> {
    let side = at >> 7u;
    let quarter = (at >> 5u) & 3u;
    let l = at & 31u;
    let low = bytes_at(block + 64u * side + 32u * (quarter & 1u) + l) >> (4u * (quarter >> 1u));
    let high = bytes_at(block + 128u + 32u * side + l) >> (2u * quarter);
    let values = (low & 0x0f0f0f0fu) | ((high & 0x03030303u) << 4u);
    // A signed byte for each 16 weights.
    let place = block + 192u + 8u * side + 2u * quarter + (l >> 4u);
    let scale = bitcast<i32>(w[place >> 2u] << (24u - 8u * (place & 3u))) >> 24u;
    let factor = half(bytes_at(block + 208u) & 0xffffu);
    return factor * f32(scale) * (four_numbers(values) - 32.0);
}

/// Four weights of a column, from `k` on; 0 behind the last ones.
fn weights(col: u32, k: u32) -> vec4<f32> {
    if col >= params.n || k >= params.k {
        return vec4(0.0);
    }
    if BITS == 16u {
        let at = (params.w_from >> 2u) + ((col * params.pitch_k + k) >> 1u);
        let low = w[at];
        let high = w[at + 1u];
        return vec4(half(low & 0xffffu), half(low >> 16u), half(high & 0xffffu), half(high >> 16u));
    }
    let block = col * (params.pitch_k >> 8u) + (k >> 8u);
    if BITS == 6u {
        return unpack_large(params.w_from + 210u * block, k & 255u);
    }
    return unpack_small((params.w_from >> 2u) + select(36u, 44u, BITS == 5u) * block, k & 255u);
}

fn of_a(row: u32, k: u32) -> vec4<f32> {
    if row >= params.m || k >= params.k {
        return vec4(0.0);
    }
    return a[(params.a_from + row * params.pitch_k + k) >> 2u];
}

fn load(i: u32, first_row: u32, first_col: u32, depth: u32) {
    let k = depth + 4u * (i & 7u);
    let col = first_col + 4u * (i >> 3u);
    let w0 = weights(col, k);
    let w1 = weights(col + 1u, k);
    let w2 = weights(col + 2u, k);
    let w3 = weights(col + 3u, k);
    let to = 64u * (i & 7u) + (i >> 3u);
    tile_w[to] = vec4(w0.x, w1.x, w2.x, w3.x);
    tile_w[to + 16u] = vec4(w0.y, w1.y, w2.y, w3.y);
    tile_w[to + 32u] = vec4(w0.z, w1.z, w2.z, w3.z);
    tile_w[to + 48u] = vec4(w0.w, w1.w, w2.w, w3.w);
    if i < 64u {
        let row = first_row + 4u * (i >> 3u);
        let a0 = of_a(row, k);
        let a1 = of_a(row + 1u, k);
        let a2 = of_a(row + 2u, k);
        let a3 = of_a(row + 3u, k);
        let to_a = 32u * (i & 7u) + (i >> 3u);
        tile_a[to_a] = vec4(a0.x, a1.x, a2.x, a3.x);
        tile_a[to_a + 8u] = vec4(a0.y, a1.y, a2.y, a3.y);
        tile_a[to_a + 16u] = vec4(a0.z, a1.z, a2.z, a3.z);
        tile_a[to_a + 24u] = vec4(a0.w, a1.w, a2.w, a3.w);
    }
}

fn multiply(at_a: u32, at_w: u32) {
    let x = tile_a[at_a];
    let y = tile_w[at_w];
    sums[0] += x.x * y;
    sums[1] += x.y * y;
    sums[2] += x.z * y;
    sums[3] += x.w * y;
}

fn write_four(row: u32, col: u32, x: vec4<f32>) {
    if row >= params.m {
        return;
    }
    let at = params.c_from + row * params.pitch_n + col;
    var y = x;
    if ADD {
        if col < params.n { y.x += c[at]; }
        if col + 1u < params.n { y.y += c[at + 1u]; }
        if col + 2u < params.n { y.z += c[at + 2u]; }
        if col + 3u < params.n { y.w += c[at + 3u]; }
    }
    if col < params.n { c[at] = y.x; }
    if col + 1u < params.n { c[at + 1u] = y.y; }
    if col + 2u < params.n { c[at + 2u] = y.z; }
    if col + 3u < params.n { c[at + 3u] = y.w; }
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
        load(i, first_row, first_col, depth);
        workgroupBarrier();
        for (var step = 0u; step < 8u; step++) {
            let at_a = 32u * step + lane_m;
            let at_w = 64u * step + lane_n;
            multiply(at_a, at_w);
            multiply(at_a + 8u, at_w + 16u);
            multiply(at_a + 16u, at_w + 32u);
            multiply(at_a + 24u, at_w + 48u);
        }
        workgroupBarrier();
    }
    let row = first_row + 4u * lane_m;
    let col = first_col + 4u * lane_n;
    write_four(row, col, sums[0]);
    write_four(row + 1u, col, sums[1]);
    write_four(row + 2u, col, sums[2]);
    write_four(row + 3u, col, sums[3]);
}
