// Batched matrix product: c[m, n] = a[m, k] b[k, n].
//
// A workgroup computes a tile of the product; register tiling, 4 or 8 rows by 4, 8 or 16 columns per invocation. Tiles of `a`
// and `b` are staged in workgroup memory while the next ones are prefetched into registers, in blocks of 4x4. A long k is
// split into slices over workgroups (split-k), which tensor_reduce_columns sums up.
// Bindings: `a`, `b`: f32, a whole number of vec4; `c`: [batch, slices, m, pitch_c] f32 from offset_c on, of each row the
// first n.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`; their elements stride 1.
// With A_ALIGNED (B_ALIGNED), offset, pitch, batch stride and row length are multiples of 4.
// Preconditions: nothing is 0 but strides and offsets; k_slice is a multiple of DEPTH; slices * k_slice >= k.
// Twin: src/tensor/cpu/matmul.rs

// Invocations along n and m, and groups of 4 rows and columns per invocation: 1 or 2 of rows, 1, 2 or 4 of columns. The
// invocations must be at least as many as the blocks of either tile, and divide those of both.
override LANES_N: u32 = 16u;
override LANES_M: u32 = 16u;
override GROUPS_M: u32 = 2u;
override GROUPS_N: u32 = 2u;
// 2: two groups of invocations compute one tile, each with half of the terms of a step.
override GROUPS_K: u32 = 1u;
// 1: single-buffered tiles in workgroup memory, two barriers per step; 2: double-buffered, one barrier.
override STAGES: u32 = 1u;
// Elements along k are contiguous in memory.
override A_BY_K: bool = true;
override B_BY_K: bool = false;
override A_ALIGNED: bool = true;
override B_ALIGNED: bool = true;
// Accumulates into `c`.
override ADD: bool = false;

/// Invocations of a group.
override LANES: u32 = LANES_M * LANES_N;
override THREADS: u32 = LANES * GROUPS_K;
/// Terms of a step.
override DEPTH: u32 = 16u * GROUPS_K;
/// Groups of 4 rows, or columns, of a tile.
override TILE_M4: u32 = LANES_M * GROUPS_M;
override TILE_N4: u32 = LANES_N * GROUPS_N;
/// Blocks of 4x4 that a step loads: the first invocations load those of `a`, the last ones those of `b`.
override BLOCKS_A: u32 = TILE_M4 * DEPTH / 4u;
override BLOCKS_B: u32 = TILE_N4 * DEPTH / 4u;
/// Some invocations load a block of each.
override BOTH: bool = BLOCKS_A + BLOCKS_B > THREADS;
override TILE_A: u32 = DEPTH * TILE_M4;
override TILE_B: u32 = DEPTH * TILE_N4;
override ALL_A: u32 = STAGES * TILE_A;
override ALL: u32 = ALL_A + STAGES * TILE_B;

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

// Tiles of `a`, [stage][k][group of 4 rows]; from ALL_A on those of `b`, [stage][k][group of 4 columns].
var<workgroup> sh_tiles: array<vec4<f32>, ALL>;

// Element 8 * g + r: row r of the invocation, group g of its columns.
var<private> sums: array<vec4<f32>, 32>;

// The block fetched last: four values along the tile for each of four k. The one of `a`, if the same invocation has one of `b`.
var<private> block: array<vec4<f32>, 4>;
var<private> block_a: array<vec4<f32>, 4>;

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

/// Returns the block at index `at`, which is column (of `a`: row) `x` and depth `k` of the matrix.
fn block_at(from_a: bool, at: u32, x: u32, k: u32, k_end: u32) -> array<vec4<f32>, 4> {
    let by_k = select(B_BY_K, A_BY_K, from_a);
    let pitch = select(params.pitch_b, params.pitch_a, from_a);
    let x_end = select(params.n, params.m, from_a);
    let row = select(k, x, by_k);
    let col = select(x, k, by_k);
    let row_end = select(k_end, x_end, by_k);
    let inside = vec4(col, col + 1u, col + 2u, col + 3u) < vec4(select(x_end, k_end, by_k));
    return array(
        load4(from_a, at, inside & vec4(row < row_end)),
        load4(from_a, at + pitch, inside & vec4(row + 1u < row_end)),
        load4(from_a, at + 2u * pitch, inside & vec4(row + 2u < row_end)),
        load4(from_a, at + 3u * pitch, inside & vec4(row + 3u < row_end)),
    );
}

/// Stores a block in a tile of `pitch` groups of 4. That of a transposed operand is transposed, so that both tiles have the
/// same layout; only here, since the elements have arrived by now.
fn stage_block(by_k: bool, to: u32, pitch: u32, r0: vec4<f32>, r1: vec4<f32>, r2: vec4<f32>, r3: vec4<f32>) {
    if by_k {
        sh_tiles[to] = vec4(r0.x, r1.x, r2.x, r3.x);
        sh_tiles[to + pitch] = vec4(r0.y, r1.y, r2.y, r3.y);
        sh_tiles[to + 2u * pitch] = vec4(r0.z, r1.z, r2.z, r3.z);
        sh_tiles[to + 3u * pitch] = vec4(r0.w, r1.w, r2.w, r3.w);
    } else {
        sh_tiles[to] = r0;
        sh_tiles[to + pitch] = r1;
        sh_tiles[to + 2u * pitch] = r2;
        sh_tiles[to + 3u * pitch] = r3;
    }
}

/// Adds the outer product for one k: a column of the tile of `a` times a row of the tile of `b`.
fn accumulate(at_a: u32, at_b: u32) {
    let a0 = sh_tiles[at_a];
    let b0 = sh_tiles[at_b];
    var b1: vec4<f32>;
    var b2: vec4<f32>;
    var b3: vec4<f32>;
    if GROUPS_N > 1u { b1 = sh_tiles[at_b + LANES_N]; }
    if GROUPS_N > 2u {
        b2 = sh_tiles[at_b + 2u * LANES_N];
        b3 = sh_tiles[at_b + 3u * LANES_N];
    }
    sums[0] += a0.x * b0;
    if GROUPS_N > 1u { sums[8] += a0.x * b1; }
    if GROUPS_N > 2u {
        sums[16] += a0.x * b2;
        sums[24] += a0.x * b3;
    }
    sums[1] += a0.y * b0;
    if GROUPS_N > 1u { sums[9] += a0.y * b1; }
    if GROUPS_N > 2u {
        sums[17] += a0.y * b2;
        sums[25] += a0.y * b3;
    }
    sums[2] += a0.z * b0;
    if GROUPS_N > 1u { sums[10] += a0.z * b1; }
    if GROUPS_N > 2u {
        sums[18] += a0.z * b2;
        sums[26] += a0.z * b3;
    }
    sums[3] += a0.w * b0;
    if GROUPS_N > 1u { sums[11] += a0.w * b1; }
    if GROUPS_N > 2u {
        sums[19] += a0.w * b2;
        sums[27] += a0.w * b3;
    }
    if GROUPS_M > 1u {
        let a1 = sh_tiles[at_a + LANES_M];
        sums[4] += a1.x * b0;
        if GROUPS_N > 1u { sums[12] += a1.x * b1; }
        if GROUPS_N > 2u {
            sums[20] += a1.x * b2;
            sums[28] += a1.x * b3;
        }
        sums[5] += a1.y * b0;
        if GROUPS_N > 1u { sums[13] += a1.y * b1; }
        if GROUPS_N > 2u {
            sums[21] += a1.y * b2;
            sums[29] += a1.y * b3;
        }
        sums[6] += a1.z * b0;
        if GROUPS_N > 1u { sums[14] += a1.z * b1; }
        if GROUPS_N > 2u {
            sums[22] += a1.z * b2;
            sums[30] += a1.z * b3;
        }
        sums[7] += a1.w * b0;
        if GROUPS_N > 1u { sums[15] += a1.w * b1; }
        if GROUPS_N > 2u {
            sums[23] += a1.w * b2;
            sums[31] += a1.w * b3;
        }
    }
}

/// Adds the outer products for the 16 k of a group. Not a loop, so that compilers load ahead.
fn accumulate_all(at_a: u32, at_b: u32) {
    accumulate(at_a, at_b);
    accumulate(at_a + 1u * TILE_M4, at_b + 1u * TILE_N4);
    accumulate(at_a + 2u * TILE_M4, at_b + 2u * TILE_N4);
    accumulate(at_a + 3u * TILE_M4, at_b + 3u * TILE_N4);
    accumulate(at_a + 4u * TILE_M4, at_b + 4u * TILE_N4);
    accumulate(at_a + 5u * TILE_M4, at_b + 5u * TILE_N4);
    accumulate(at_a + 6u * TILE_M4, at_b + 6u * TILE_N4);
    accumulate(at_a + 7u * TILE_M4, at_b + 7u * TILE_N4);
    accumulate(at_a + 8u * TILE_M4, at_b + 8u * TILE_N4);
    accumulate(at_a + 9u * TILE_M4, at_b + 9u * TILE_N4);
    accumulate(at_a + 10u * TILE_M4, at_b + 10u * TILE_N4);
    accumulate(at_a + 11u * TILE_M4, at_b + 11u * TILE_N4);
    accumulate(at_a + 12u * TILE_M4, at_b + 12u * TILE_N4);
    accumulate(at_a + 13u * TILE_M4, at_b + 13u * TILE_N4);
    accumulate(at_a + 14u * TILE_M4, at_b + 14u * TILE_N4);
    accumulate(at_a + 15u * TILE_M4, at_b + 15u * TILE_N4);
}

/// Adds four rows of the sums of the second group of invocations to those of the first, by way of workgroup memory.
/// Precondition: GROUPS_N is at most 2.
fn add_first_rows(lane: u32, is_second: bool) {
    workgroupBarrier();
    if is_second {
        sh_tiles[lane] = sums[0];
        sh_tiles[lane + 1u * LANES] = sums[1];
        sh_tiles[lane + 2u * LANES] = sums[2];
        sh_tiles[lane + 3u * LANES] = sums[3];
        if GROUPS_N > 1u {
            sh_tiles[lane + 4u * LANES] = sums[8];
            sh_tiles[lane + 5u * LANES] = sums[9];
            sh_tiles[lane + 6u * LANES] = sums[10];
            sh_tiles[lane + 7u * LANES] = sums[11];
        }
    }
    workgroupBarrier();
    if !is_second {
        sums[0] += sh_tiles[lane];
        sums[1] += sh_tiles[lane + 1u * LANES];
        sums[2] += sh_tiles[lane + 2u * LANES];
        sums[3] += sh_tiles[lane + 3u * LANES];
        if GROUPS_N > 1u {
            sums[8] += sh_tiles[lane + 4u * LANES];
            sums[9] += sh_tiles[lane + 5u * LANES];
            sums[10] += sh_tiles[lane + 6u * LANES];
            sums[11] += sh_tiles[lane + 7u * LANES];
        }
    }
}

/// As add_first_rows, for the other four rows.
fn add_last_rows(lane: u32, is_second: bool) {
    workgroupBarrier();
    if is_second {
        sh_tiles[lane] = sums[4];
        sh_tiles[lane + 1u * LANES] = sums[5];
        sh_tiles[lane + 2u * LANES] = sums[6];
        sh_tiles[lane + 3u * LANES] = sums[7];
        if GROUPS_N > 1u {
            sh_tiles[lane + 4u * LANES] = sums[12];
            sh_tiles[lane + 5u * LANES] = sums[13];
            sh_tiles[lane + 6u * LANES] = sums[14];
            sh_tiles[lane + 7u * LANES] = sums[15];
        }
    }
    workgroupBarrier();
    if !is_second {
        sums[4] += sh_tiles[lane];
        sums[5] += sh_tiles[lane + 1u * LANES];
        sums[6] += sh_tiles[lane + 2u * LANES];
        sums[7] += sh_tiles[lane + 3u * LANES];
        if GROUPS_N > 1u {
            sums[12] += sh_tiles[lane + 4u * LANES];
            sums[13] += sh_tiles[lane + 5u * LANES];
            sums[14] += sh_tiles[lane + 6u * LANES];
            sums[15] += sh_tiles[lane + 7u * LANES];
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

fn store_row4(is_inner: bool, start: u32, row: u32, col: u32, x: vec4<f32>) {
    let at = start + row * params.pitch_c + col;
    if is_inner {
        store_element(at, x.x);
        store_element(at + 1u, x.y);
        store_element(at + 2u, x.z);
        store_element(at + 3u, x.w);
        return;
    }
    if row >= params.m {
        return;
    }
    if col < params.n { store_element(at, x.x); }
    if col + 1u < params.n { store_element(at + 1u, x.y); }
    if col + 2u < params.n { store_element(at + 2u, x.z); }
    if col + 3u < params.n { store_element(at + 3u, x.w); }
}

fn store_rows(is_inner: bool, start: u32, row: u32, col: u32, x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>) {
    store_row4(is_inner, start, row, col, x0);
    store_row4(is_inner, start, row + 1u, col, x1);
    store_row4(is_inner, start, row + 2u, col, x2);
    store_row4(is_inner, start, row + 3u, col, x3);
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
    let is_inner = first_row + 4u * TILE_M4 <= params.m && first_col + 4u * TILE_N4 <= params.n;

    // The blocks that this invocation loads: eight neighbours load blocks that are adjacent in workgroup memory.
    let loads_a = i < BLOCKS_A;
    let loads_b = i >= THREADS - BLOCKS_B;
    let q = i - (THREADS - BLOCKS_B);
    let block_x_a = 8u * (i / (2u * DEPTH)) + i % 8u;
    let block_x_b = 8u * (q / (2u * DEPTH)) + q % 8u;
    let block_k_a = 4u * (i / 8u % (DEPTH / 4u));
    let block_k_b = 4u * (q / 8u % (DEPTH / 4u));
    let x_a = first_row + 4u * block_x_a;
    let x_b = first_col + 4u * block_x_b;
    let along_a = select(params.pitch_a, 1u, A_BY_K);
    let along_b = select(params.pitch_b, 1u, B_BY_K);
    var at_a = params.offset_a + product * params.batch_a + x_a * select(1u, params.pitch_a, A_BY_K)
        + (k_begin + block_k_a) * along_a;
    var at_b = params.offset_b + product * params.batch_b + x_b * select(1u, params.pitch_b, B_BY_K)
        + (k_begin + block_k_b) * along_b;
    let to_a = block_k_a * TILE_M4 + block_x_a;
    let to_b = ALL_A + block_k_b * TILE_N4 + block_x_b;

    // A subgroup of 32 has 8 by 4 invocations, so that its loads from workgroup memory touch few vectors.
    let lane = i % LANES;
    let lane_n = lane % 8u + 8u * (lane / 32u % (LANES_N / 8u));
    let lane_m = lane / 8u % 4u + 4u * (lane / 32u / (LANES_N / 8u));
    let from_a = 16u * (i / LANES) * TILE_M4 + lane_m;
    let from_b = ALL_A + 16u * (i / LANES) * TILE_N4 + lane_n;

    var stage = 0u;
    if loads_a {
        if BOTH {
            block_a = block_at(true, at_a, x_a, k_begin + block_k_a, k_end);
        } else {
            block = block_at(true, at_a, x_a, k_begin + block_k_a, k_end);
        }
    }
    if loads_b {
        block = block_at(false, at_b, x_b, k_begin + block_k_b, k_end);
    }
    for (var k = k_begin; k < k_end; k += DEPTH) {
        if loads_a {
            let to = stage * TILE_A + to_a;
            if BOTH {
                stage_block(A_BY_K, to, TILE_M4, block_a[0], block_a[1], block_a[2], block_a[3]);
            } else {
                stage_block(A_BY_K, to, TILE_M4, block[0], block[1], block[2], block[3]);
            }
        }
        if loads_b {
            stage_block(B_BY_K, stage * TILE_B + to_b, TILE_N4, block[0], block[1], block[2], block[3]);
        }
        workgroupBarrier();
        let next = k + DEPTH;
        if next < k_end {
            at_a += DEPTH * along_a;
            at_b += DEPTH * along_b;
            if loads_a {
                if BOTH {
                    block_a = block_at(true, at_a, x_a, next + block_k_a, k_end);
                } else {
                    block = block_at(true, at_a, x_a, next + block_k_a, k_end);
                }
            }
            if loads_b {
                block = block_at(false, at_b, x_b, next + block_k_b, k_end);
            }
        }
        accumulate_all(stage * TILE_A + from_a, stage * TILE_B + from_b);
        if STAGES == 2u {
            stage = 1u - stage;
        } else {
            workgroupBarrier();
        }
    }
    if GROUPS_K == 2u {
        let is_second = i >= LANES;
        add_first_rows(lane, is_second);
        if GROUPS_M > 1u { add_last_rows(lane, is_second); }
        if is_second {
            return;
        }
    }

    let row = first_row + 4u * lane_m;
    let col = first_col + 4u * lane_n;
    let to = params.offset_c + tile.z * params.m * params.pitch_c;
    store_rows(is_inner, to, row, col, sums[0], sums[1], sums[2], sums[3]);
    if GROUPS_M > 1u { store_rows(is_inner, to, row + 4u * LANES_M, col, sums[4], sums[5], sums[6], sums[7]); }
    if GROUPS_N > 1u {
        let col1 = col + 4u * LANES_N;
        store_rows(is_inner, to, row, col1, sums[8], sums[9], sums[10], sums[11]);
        if GROUPS_M > 1u { store_rows(is_inner, to, row + 4u * LANES_M, col1, sums[12], sums[13], sums[14], sums[15]); }
    }
    if GROUPS_N > 2u {
        let col2 = col + 8u * LANES_N;
        let col3 = col + 12u * LANES_N;
        store_rows(is_inner, to, row, col2, sums[16], sums[17], sums[18], sums[19]);
        store_rows(is_inner, to, row, col3, sums[24], sums[25], sums[26], sums[27]);
        if GROUPS_M > 1u {
            store_rows(is_inner, to, row + 4u * LANES_M, col2, sums[20], sums[21], sums[22], sums[23]);
            store_rows(is_inner, to, row + 4u * LANES_M, col3, sums[28], sums[29], sums[30], sums[31]);
        }
    }
}
