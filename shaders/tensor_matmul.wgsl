// Batched matrix product: c[m, n] = a[m, k] b[k, n].
//
// A workgroup computes a tile of the product; register tiling, 4 or 8 rows by 4, 8 or 16 columns per invocation. Tiles of `a`
// and `b` are staged in workgroup memory while the next ones are prefetched into registers, in blocks of 4x4. A long k is
// split into slices over workgroups (split-k), which tensor_reduce_columns sums up.
// Bindings: `a`, `b`: f32, a whole number of vec4; `c`: [batch, slices, m, pitch_c] f32 from offset_c on, of each row the
// first n. In a second text, of which shaders/lib/fused/finish.wgsl has the bindings, an epilogue; there, one slice and pitch_c of n.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`; their elements stride 1.
// With A_ALIGNED (B_ALIGNED), offset, pitch, batch stride and row length are multiples of 4.
// Preconditions: nothing is 0 but strides and offsets; k_slice is a multiple of DEPTH; slices * k_slice >= k.
// Twin: src/tensor/cpu/matmul.rs
//
// import: tensor_matmul/blocks, tensor_matmul/sums, tensor_matmul/results

// Invocations along n and m, and groups of 4 rows and columns per invocation: 1 or 2 of rows, 1, 2 or 4 of columns. There
// must be at least as many invocations as either tile has blocks in a step.
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
// Blocks of the next step are loaded before the products of this one are summed up, which takes more registers.
override AHEAD: bool = true;
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
/// The smallest tiles, also for devices with the fewest registers: an invocation keeps the numbers of the one block that it loads.
override KEEPS_ONE: bool = GROUPS_M * GROUPS_N == 1u && !BOTH;
/// Registers suffice for four elements of a block. Precondition: STAGES is 1.
override BY_FOURS: bool = KEEPS_ONE && !AHEAD;
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

/// Returns the number of a block of `b`: .y, but .x if KEEPS_ONE.
fn of_b(numbers: vec2<u32>) -> u32 {
    return select(numbers.y, numbers.x, KEEPS_ONE);
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

    // The blocks of `a` and of `b` that this invocation loads: eight neighbours load blocks that are adjacent in workgroup
    // memory.
    let loads = vec2((i < BLOCKS_A), (i >= THREADS - BLOCKS_B));
    let q = vec2(i, i - (THREADS - BLOCKS_B));
    let block_x = 8u * (q / (2u * DEPTH)) + q % 8u;
    var block_k = 4u * (q / 8u % (DEPTH / 4u));
    var x = vec2(first_row, first_col) + 4u * block_x;
    let by_k = vec2(A_BY_K, B_BY_K);
    let pitch = vec2(params.pitch_a, params.pitch_b);
    var along_k = select(pitch, vec2(1u), by_k);
    let along_x = select(vec2(1u), pitch, by_k);
    let start = vec2(params.offset_a, params.offset_b) + product * vec2(params.batch_a, params.batch_b);
    var at = start + x * along_x + (k_begin + block_k) * along_k;
    var to = block_k * vec2(TILE_M4, TILE_N4) + block_x + vec2(0u, ALL_A);
    if KEEPS_ONE && loads.y {
        block_k.x = block_k.y;
        x.x = x.y;
        along_k.x = along_k.y;
        at.x = at.y;
        to.x = to.y;
    }

    // A subgroup of 32 has 8 by 4 invocations, so that its loads from workgroup memory touch few vectors.
    let lane = i % LANES;
    let lane_n = lane % 8u + 8u * (lane / 32u % (LANES_N / 8u));
    let lane_m = lane / 8u % 4u + 4u * (lane / 32u / (LANES_N / 8u));
    let from_a = 16u * (i / LANES) * TILE_M4 + lane_m;
    let from_b = ALL_A + 16u * (i / LANES) * TILE_N4 + lane_n;

    var stage = 0u;
    // Here and below without a function for both blocks, which makes the assembler of CUDA load workgroup memory later.
    if loads.x && !BY_FOURS {
        if BOTH {
            block_a = block_at(true, at.x, x.x, k_begin + block_k.x, k_end);
        } else {
            block = block_at(true, at.x, x.x, k_begin + block_k.x, k_end);
        }
    }
    if loads.y && !BY_FOURS { block = block_at(false, of_b(at), of_b(x), k_begin + of_b(block_k), k_end); }
    for (var k = k_begin; k < k_end; k += DEPTH) {
        if BY_FOURS {
            if loads.x { stage_by_fours(true, to.x, at.x, x.x, k + block_k.x, k_end); }
            if loads.y { stage_by_fours(false, to.x, at.x, x.x, k + block_k.x, k_end); }
            at.x += DEPTH * along_k.x;
        } else {
            stage_blocks(loads, vec2(to.x, of_b(to)) + stage * vec2(TILE_A, TILE_B));
        }
        workgroupBarrier();
        let next = k + DEPTH;
        if next < k_end && !BY_FOURS {
            at += DEPTH * along_k;
            if loads.x {
                if BOTH {
                    block_a = block_at(true, at.x, x.x, next + block_k.x, k_end);
                } else {
                    block = block_at(true, at.x, x.x, next + block_k.x, k_end);
                }
            }
            if loads.y { block = block_at(false, of_b(at), of_b(x), next + of_b(block_k), k_end); }
        }
        if BY_FOURS {
            accumulate_each(from_a, from_b, min(DEPTH, k_end - k));
        } else {
            accumulate_all(stage * TILE_A + from_a, stage * TILE_B + from_b);
        }
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

    let start_c = params.offset_c + tile.z * params.m * params.pitch_c;
    // One way to store them takes fewer registers than two.
    store_products(is_inner && !BY_FOURS, start_c, first_row + 4u * lane_m, first_col + 4u * lane_n);
}
