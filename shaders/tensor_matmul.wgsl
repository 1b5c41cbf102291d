// Batched matrix product: c[m, n] = a[m, k] b[k, n].
//
// A workgroup computes a tile of 32, 64 or 128 rows and columns; register tiling, 4 or 8 rows by 4 or 8 columns per
// invocation. Tiles of `a` and `b`, 16 deep, are staged in workgroup memory while the next ones are prefetched into
// registers: each invocation loads one 4x4 block of either. A long k is split into slices over workgroups (split-k), which
// tensor_reduce_columns sums up.
// Bindings: `a`, `b`: f32, a whole number of vec4; `c`: [batch, slices, m, pitch_c] f32 from offset_c on, of each row the
// first n.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`; their elements stride 1.
// With A_ALIGNED (B_ALIGNED), offset, pitch, batch stride and row length are multiples of 4.
// Preconditions: nothing is 0 but strides and offsets; k_slice is a multiple of 16; slices * k_slice >= k.
// Twin: src/tensor/cpu/matmul.rs

// Invocations of a workgroup along n and m, and groups of 4 rows and columns per invocation: 1 or 2. There must be as many
// invocations as a tile has rows plus columns: 16, 16, 2, 2 or 8, 16, 1, 2 or 8, 8, 1, 1.
override LANES_N: u32 = 16u;
override LANES_M: u32 = 16u;
override GROUPS_M: u32 = 2u;
override GROUPS_N: u32 = 2u;
// 1: single-buffered tiles in workgroup memory, two barriers per step; 2: double-buffered, one barrier.
override STAGES: u32 = 1u;
// Elements along k are contiguous in memory.
override A_BY_K: bool = true;
override B_BY_K: bool = false;
override A_ALIGNED: bool = true;
override B_ALIGNED: bool = true;
// Accumulates into `c`.
override ADD: bool = false;

override THREADS: u32 = LANES_M * LANES_N;
/// Groups of 4 rows, or columns, of a tile.
override TILE_M4: u32 = LANES_M * GROUPS_M;
override TILE_N4: u32 = LANES_N * GROUPS_N;
override TILE_A: u32 = 16u * TILE_M4;
override TILE_B: u32 = 16u * TILE_N4;
override ALL_A: u32 = STAGES * TILE_A;
override ALL_B: u32 = STAGES * TILE_B;

struct Params {
    m: u32,
    n: u32,
    k: u32,
    k_slice: u32,
    slices: u32,
    // Tiles along m and n.
    tiles_m: u32,
    tiles_n: u32,
    // Tiles of all slices and products.
    n_tiles: u32,
    offset_a: u32,
    offset_b: u32,
    pitch_a: u32,
    pitch_b: u32,
    // Strides from one product to the next.
    batch_a: u32,
    batch_b: u32,
    // First element of the result, and its row pitch.
    offset_c: u32,
    pitch_c: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

// [stage][k][group of 4 rows or columns]
var<workgroup> sh_a: array<vec4<f32>, ALL_A>;
var<workgroup> sh_b: array<vec4<f32>, ALL_B>;

// Element r: row r of the invocation, first group of columns; element 8 + r: its second group.
var<private> sums: array<vec4<f32>, 16>;

// The prefetched block: four values along the tile for each of four k.
var<private> block: array<vec4<f32>, 4>;

/// Returns four contiguous elements; 0 where `inside` is false.
fn load4(from_a: bool, at: u32, inside: vec4<bool>) -> vec4<f32> {
    var x = vec4(0.0);
    if from_a {
        if A_ALIGNED {
            if inside.x { x = a[at >> 2u]; }
        } else {
            if inside.x { x.x = a[at >> 2u][at & 3u]; }
            if inside.y { x.y = a[(at + 1u) >> 2u][(at + 1u) & 3u]; }
            if inside.z { x.z = a[(at + 2u) >> 2u][(at + 2u) & 3u]; }
            if inside.w { x.w = a[(at + 3u) >> 2u][(at + 3u) & 3u]; }
        }
    } else {
        if B_ALIGNED {
            if inside.x { x = b[at >> 2u]; }
        } else {
            if inside.x { x.x = b[at >> 2u][at & 3u]; }
            if inside.y { x.y = b[(at + 1u) >> 2u][(at + 1u) & 3u]; }
            if inside.z { x.z = b[(at + 2u) >> 2u][(at + 2u) & 3u]; }
            if inside.w { x.w = b[(at + 3u) >> 2u][(at + 3u) & 3u]; }
        }
    }
    return x;
}

/// Prefetches the block at index `at`, which is column (of `a`: row) `x` and depth `k` of the matrix. A transposed operand is
/// transposed in registers, so that both tiles in workgroup memory have the same layout.
fn prefetch_block(from_a: bool, at: u32, x: u32, k: u32, k_end: u32) {
    let by_k = select(B_BY_K, A_BY_K, from_a);
    let pitch = select(params.pitch_b, params.pitch_a, from_a);
    let x_end = select(params.n, params.m, from_a);
    let row = select(k, x, by_k);
    let col = select(x, k, by_k);
    let row_end = select(k_end, x_end, by_k);
    let inside = vec4(col, col + 1u, col + 2u, col + 3u) < vec4(select(x_end, k_end, by_k));
    let r0 = load4(from_a, at, inside & vec4(row < row_end));
    let r1 = load4(from_a, at + pitch, inside & vec4(row + 1u < row_end));
    let r2 = load4(from_a, at + 2u * pitch, inside & vec4(row + 2u < row_end));
    let r3 = load4(from_a, at + 3u * pitch, inside & vec4(row + 3u < row_end));
    if by_k {
        block[0] = vec4(r0.x, r1.x, r2.x, r3.x);
        block[1] = vec4(r0.y, r1.y, r2.y, r3.y);
        block[2] = vec4(r0.z, r1.z, r2.z, r3.z);
        block[3] = vec4(r0.w, r1.w, r2.w, r3.w);
    } else {
        block[0] = r0;
        block[1] = r1;
        block[2] = r2;
        block[3] = r3;
    }
}

/// Adds the outer product for one k: a column of the tile of `a` times a row of the tile of `b`.
fn accumulate(at_a: u32, at_b: u32) {
    let a0 = sh_a[at_a];
    let b0 = sh_b[at_b];
    sums[0] += a0.x * b0;
    sums[1] += a0.y * b0;
    sums[2] += a0.z * b0;
    sums[3] += a0.w * b0;
    if GROUPS_N == 2u {
        let b1 = sh_b[at_b + LANES_N];
        sums[8] += a0.x * b1;
        sums[9] += a0.y * b1;
        sums[10] += a0.z * b1;
        sums[11] += a0.w * b1;
    }
    if GROUPS_M == 2u {
        let a1 = sh_a[at_a + LANES_M];
        sums[4] += a1.x * b0;
        sums[5] += a1.y * b0;
        sums[6] += a1.z * b0;
        sums[7] += a1.w * b0;
        if GROUPS_N == 2u {
            let b1 = sh_b[at_b + LANES_N];
            sums[12] += a1.x * b1;
            sums[13] += a1.y * b1;
            sums[14] += a1.z * b1;
            sums[15] += a1.w * b1;
        }
    }
}

fn store_element(at: u32, x: f32) {
    if ADD {
        c[at] += x;
    } else {
        c[at] = x;
    }
}

fn store_row4(start: u32, row: u32, col: u32, x: vec4<f32>) {
    if row >= params.m {
        return;
    }
    let at = start + row * params.pitch_c + col;
    if col < params.n { store_element(at, x.x); }
    if col + 1u < params.n { store_element(at + 1u, x.y); }
    if col + 2u < params.n { store_element(at + 2u, x.z); }
    if col + 3u < params.n { store_element(at + 3u, x.w); }
}

fn store_block(start: u32, row: u32, col: u32, x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>) {
    store_row4(start, row, col, x0);
    store_row4(start, row + 1u, col, x1);
    store_row4(start, row + 2u, col, x2);
    store_row4(start, row + 3u, col, x3);
}

/// Returns the coordinates of tile `id`: along m, along n, and its slice and product. Tiles are ordered in bands of eight
/// along m, so that workgroups that run at the same time share cache lines.
fn tile_of(id: u32) -> vec3<u32> {
    let per_product = params.tiles_m * params.tiles_n;
    let z = id / per_product;
    let in_product = id - z * per_product;
    let band = in_product / (8u * params.tiles_n);
    let in_band = in_product - band * 8u * params.tiles_n;
    let height = min(8u, params.tiles_m - 8u * band);
    let column = in_band / height;
    return vec3(8u * band + in_band - column * height, column, z);
}

@compute @workgroup_size(THREADS)
fn tensor_matmul(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_tiles {
        return;
    }
    let tile = tile_of(id);
    let product = tile.z / params.slices;
    let k_begin = (tile.z - product * params.slices) * params.k_slice;
    let k_end = min(k_begin + params.k_slice, params.k);
    let first_row = 4u * TILE_M4 * tile.x;
    let first_col = 4u * TILE_N4 * tile.y;

    // The block that this invocation loads: eight neighbours load blocks that are adjacent in workgroup memory.
    let loads_a = i < 4u * TILE_M4;
    let q = select(i - 4u * TILE_M4, i, loads_a);
    let block_x = 8u * (q / 32u) + q % 8u;
    let block_k = 4u * (q / 8u % 4u);
    let x = 4u * block_x + select(first_col, first_row, loads_a);
    let start = select(params.offset_b + product * params.batch_b, params.offset_a + product * params.batch_a, loads_a);
    let along_k = select(select(params.pitch_b, 1u, B_BY_K), select(params.pitch_a, 1u, A_BY_K), loads_a);
    let along_x = select(select(1u, params.pitch_b, B_BY_K), select(1u, params.pitch_a, A_BY_K), loads_a);
    var at = start + x * along_x + (k_begin + block_k) * along_k;

    let lane_n = i % LANES_N;
    let lane_m = i / LANES_N;
    var stage = 0u;
    if loads_a {
        prefetch_block(true, at, x, k_begin + block_k, k_end);
    } else {
        prefetch_block(false, at, x, k_begin + block_k, k_end);
    }
    for (var k = k_begin; k < k_end; k += 16u) {
        if loads_a {
            let to = stage * TILE_A + block_k * TILE_M4 + block_x;
            sh_a[to] = block[0];
            sh_a[to + TILE_M4] = block[1];
            sh_a[to + 2u * TILE_M4] = block[2];
            sh_a[to + 3u * TILE_M4] = block[3];
        } else {
            let to = stage * TILE_B + block_k * TILE_N4 + block_x;
            sh_b[to] = block[0];
            sh_b[to + TILE_N4] = block[1];
            sh_b[to + 2u * TILE_N4] = block[2];
            sh_b[to + 3u * TILE_N4] = block[3];
        }
        workgroupBarrier();
        if k + 16u < k_end {
            let next = k + 16u + block_k;
            at += 16u * along_k;
            if loads_a {
                prefetch_block(true, at, x, next, k_end);
            } else {
                prefetch_block(false, at, x, next, k_end);
            }
        }
        var at_a = stage * TILE_A + lane_m;
        var at_b = stage * TILE_B + lane_n;
        for (var step = 0u; step < 4u; step++) {
            accumulate(at_a, at_b);
            accumulate(at_a + TILE_M4, at_b + TILE_N4);
            accumulate(at_a + 2u * TILE_M4, at_b + 2u * TILE_N4);
            accumulate(at_a + 3u * TILE_M4, at_b + 3u * TILE_N4);
            at_a += 4u * TILE_M4;
            at_b += 4u * TILE_N4;
        }
        if STAGES == 2u {
            stage = 1u - stage;
        } else {
            workgroupBarrier();
        }
    }

    let row = first_row + 4u * lane_m;
    let col = first_col + 4u * lane_n;
    let to = params.offset_c + tile.z * params.m * params.pitch_c;
    store_block(to, row, col, sums[0], sums[1], sums[2], sums[3]);
    if GROUPS_N == 2u {
        store_block(to, row, col + 4u * LANES_N, sums[8], sums[9], sums[10], sums[11]);
    }
    if GROUPS_M == 2u {
        store_block(to, row + 4u * LANES_M, col, sums[4], sums[5], sums[6], sums[7]);
        if GROUPS_N == 2u {
            store_block(to, row + 4u * LANES_M, col + 4u * LANES_N, sums[12], sums[13], sums[14], sums[15]);
        }
    }
}
