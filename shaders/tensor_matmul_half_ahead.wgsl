// Batched matrix product of halves on matrix units, summed in single precision: c[m, n] = a[m, k] b[k, n]. For engines without
// asynchronous copies, and with little workgroup memory: tensor_matmul_half is for the others.
//
// A subgroup of 32 computes 64 rows by 64 columns as matrices in registers. Steps of 16 terms lie in workgroup memory, two in turn; the four after
// them are on their way to registers. While the factors of a step are multiplied, those of the next are loaded from workgroup memory, whose place the
// step after that takes: one barrier a step. Compilers keep matrices in registers only where no index is computed, so there are no loops over them.
// Rows are padded by 16 bytes, so that eight of them lie in different banks.
// Bindings: `left`, `right`: the factors, in units of 4 halves; `c`: [batch, n_slices, m, n] f32.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units of 4 halves.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of 4 where it is contiguous; subgroups of 32. If WHOLE, m, n and the
// slices of k are multiples of TILE_M, TILE_N and 64.
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/product_tiles, lib/edge_tiles
enable f16;
enable wgpu_cooperative_matrix;

// Elements of a unit of 8 bytes.
const UNIT: u32 = 4u;
const TILE_K: u32 = 16u;
// Vectors of four halves, by which rows in workgroup memory are padded.
const PAD: u32 = 2u;

// All tiles are inside of the result, and their steps inside of k.
override WHOLE: bool = false;
// Subgroups of a workgroup along m and n.
override SUBGROUPS_M: u32 = 2u;
override SUBGROUPS_N: u32 = 2u;

override WIDTH: u32 = 32u * SUBGROUPS_M * SUBGROUPS_N;
override TILE_M: u32 = 64u * SUBGROUPS_M;
override TILE_N: u32 = 64u * SUBGROUPS_N;
// Units from a row of a tile to the next, and of a step.
override STRIDE_A: u32 = UNITS_A + PAD;
override STRIDE_B: u32 = UNITS_B + PAD;
override STAGE: u32 = ROWS_A * STRIDE_A + ROWS_B * STRIDE_B;

alias Unit = vec4<f16>;

@group(0) @binding(0) var<storage, read> left: array<Unit>;
@group(0) @binding(1) var<storage, read> right: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_staged: array<Unit, ALL>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;

alias Sums = array<array<Sum, 4>, 4>;

// Matrices of 16 columns of a, and of 16 rows of b.
struct Factors {
    rows: array<Left, 4>,
    columns: array<Right, 4>,
}

// An invocation's units of a step, OWN_A and OWN_B of them, at most 4.
struct Step {
    a: array<Unit, 4>,
    b: array<Unit, 4>,
}

fn rows_at(at: u32) -> Left {
    if A_BY_K {
        return coopLoadT<Left>(&sh_staged[at], STRIDE_A);
    }
    return coopLoad<Left>(&sh_staged[at], STRIDE_A);
}

fn columns_at(at: u32) -> Right {
    if B_BY_K {
        return coopLoad<Right>(&sh_staged[at], STRIDE_B);
    }
    return coopLoadT<Right>(&sh_staged[at], STRIDE_B);
}

// Loads the factors of a step, from units `at_a` and `at_b` of `sh_staged` on.
fn factors_at(at_a: u32, at_b: u32) -> Factors {
    let next_a = select(4u, 16u * STRIDE_A, A_BY_K);
    let next_b = select(4u, 16u * STRIDE_B, B_BY_K);
    var factors: Factors;
    factors.rows[0] = rows_at(at_a);
    factors.rows[1] = rows_at(at_a + next_a);
    factors.rows[2] = rows_at(at_a + 2u * next_a);
    factors.rows[3] = rows_at(at_a + 3u * next_a);
    factors.columns[0] = columns_at(at_b);
    factors.columns[1] = columns_at(at_b + next_b);
    factors.columns[2] = columns_at(at_b + 2u * next_b);
    factors.columns[3] = columns_at(at_b + 3u * next_b);
    return factors;
}

// Adds the products of factors.
fn multiply_factors(sums: ptr<function, Sums>, factors: Factors) {
    (*sums)[0][0] = coopMultiplyAdd(factors.rows[0], factors.columns[0], (*sums)[0][0]);
    (*sums)[1][0] = coopMultiplyAdd(factors.rows[1], factors.columns[0], (*sums)[1][0]);
    (*sums)[2][0] = coopMultiplyAdd(factors.rows[2], factors.columns[0], (*sums)[2][0]);
    (*sums)[3][0] = coopMultiplyAdd(factors.rows[3], factors.columns[0], (*sums)[3][0]);
    (*sums)[0][1] = coopMultiplyAdd(factors.rows[0], factors.columns[1], (*sums)[0][1]);
    (*sums)[1][1] = coopMultiplyAdd(factors.rows[1], factors.columns[1], (*sums)[1][1]);
    (*sums)[2][1] = coopMultiplyAdd(factors.rows[2], factors.columns[1], (*sums)[2][1]);
    (*sums)[3][1] = coopMultiplyAdd(factors.rows[3], factors.columns[1], (*sums)[3][1]);
    (*sums)[0][2] = coopMultiplyAdd(factors.rows[0], factors.columns[2], (*sums)[0][2]);
    (*sums)[1][2] = coopMultiplyAdd(factors.rows[1], factors.columns[2], (*sums)[1][2]);
    (*sums)[2][2] = coopMultiplyAdd(factors.rows[2], factors.columns[2], (*sums)[2][2]);
    (*sums)[3][2] = coopMultiplyAdd(factors.rows[3], factors.columns[2], (*sums)[3][2]);
    (*sums)[0][3] = coopMultiplyAdd(factors.rows[0], factors.columns[3], (*sums)[0][3]);
    (*sums)[1][3] = coopMultiplyAdd(factors.rows[1], factors.columns[3], (*sums)[1][3]);
    (*sums)[2][3] = coopMultiplyAdd(factors.rows[2], factors.columns[3], (*sums)[2][3]);
    (*sums)[3][3] = coopMultiplyAdd(factors.rows[3], factors.columns[3], (*sums)[3][3]);
}

// Returns a unit of a factor, or zeros instead of one that is outside of it.
fn left_unit(place: u32, inside: bool) -> Unit {
    if WHOLE {
        return left[place];
    }
    let unit = left[min(place, arrayLength(&left) - 1u)];
    return select(Unit(), unit, inside);
}

fn right_unit(place: u32, inside: bool) -> Unit {
    if WHOLE {
        return right[place];
    }
    let unit = right[min(place, arrayLength(&right) - 1u)];
    return select(Unit(), unit, inside);
}

// Loads an invocation's units of the step at `k`.
fn load_step(a: Share, b: Share, k: u32) -> Step {
    let inside_a = n_inside(a, A_BY_K, k, LINES_A);
    let inside_b = n_inside(b, B_BY_K, k, LINES_B);
    // Under WHOLE, steps after the last one load the last one again.
    let at = select(k, min(k, params.k - TILE_K), WHOLE) / TILE_K;
    let place_a = a.place + at * a.step;
    let place_b = b.place + at * b.step;
    var step: Step;
    for (var own = 0u; own < OWN_A; own++) {
        step.a[own] = left_unit(place_a + own * a.next, own < inside_a);
    }
    for (var own = 0u; own < OWN_B; own++) {
        step.b[own] = right_unit(place_b + own * b.next, own < inside_b);
    }
    return step;
}

// Copies an invocation's units to a stage.
fn stage_units(a: Share, b: Share, step: Step, stage: u32) {
    for (var own = 0u; own < OWN_A; own++) {
        sh_staged[stage * STAGE + a.to + own * LINES_A * STRIDE_A] = step.a[own];
    }
    for (var own = 0u; own < OWN_B; own++) {
        sh_staged[stage * STAGE + b.to + own * LINES_B * STRIDE_B] = step.b[own];
    }
}

// Places of a subgroup's factors in a stage.
struct Places {
    a: u32,
    b: u32,
}

// Multiplies the factors of the step at `k`, which come from `stage`, and loads those of the next one. The units in `step`, of the second step after
// it, take its place, and those of the sixth theirs.
fn turn(sums: ptr<function, Sums>, factors: ptr<function, Factors>, step: ptr<function, Step>, a: Share, b: Share, places: Places, k: u32, stage: u32) {
    let other = (1u - stage) * STAGE;
    let next = factors_at(other + places.a, other + places.b);
    multiply_factors(sums, *factors);
    stage_units(a, b, *step, stage);
    *step = load_step(a, b, k + 6u * TILE_K);
    *factors = next;
    workgroupBarrier();
}

@compute @workgroup_size(WIDTH)
fn tensor_matmul_half_ahead(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_tiles {
        return;
    }
    let tile = product_tile(id);
    let subgroup = i / 32u;
    let own_row = 64u * (subgroup / SUBGROUPS_N);
    let own_column = 64u * (subgroup % SUBGROUPS_N);
    let places = Places(
        select(own_row / UNIT, own_row * STRIDE_A, A_BY_K),
        ROWS_A * STRIDE_A + select(own_column / UNIT, own_column * STRIDE_B, B_BY_K),
    );
    let a = left_share(tile, i, i / UNITS_A * STRIDE_A + i % UNITS_A);
    let b = right_share(tile, i, ROWS_A * STRIDE_A + i / UNITS_B * STRIDE_B + i % UNITS_B);
    let begin = tile.slice * params.k_slice;
    let end = min(begin + params.k_slice, params.k);

    var first = load_step(a, b, begin);
    var second = load_step(a, b, begin + TILE_K);
    var third = load_step(a, b, begin + 2u * TILE_K);
    var fourth = load_step(a, b, begin + 3u * TILE_K);
    stage_units(a, b, first, 0u);
    first = load_step(a, b, begin + 4u * TILE_K);
    stage_units(a, b, second, 1u);
    second = load_step(a, b, begin + 5u * TILE_K);
    workgroupBarrier();
    var factors = factors_at(places.a, places.b);
    workgroupBarrier();
    var sums: Sums;
    for (var k = begin; k < end; k += 4u * TILE_K) {
        turn(&sums, &factors, &third, a, b, places, k, 0u);
        turn(&sums, &factors, &fourth, a, b, places, k + TILE_K, 1u);
        turn(&sums, &factors, &first, a, b, places, k + 2u * TILE_K, 0u);
        turn(&sums, &factors, &second, a, b, places, k + 3u * TILE_K, 1u);
    }
    // NVIDIA's driver for Vulkan stores matrices to wrong places of an array of f32 in storage.
    let to = edge_of(tile, own_row, own_column, i);
    store_edge(sums[0][0], to, 0u, 0u);
    store_edge(sums[0][1], to, 0u, 1u);
    store_edge(sums[0][2], to, 0u, 2u);
    store_edge(sums[0][3], to, 0u, 3u);
    store_edge(sums[1][0], to, 1u, 0u);
    store_edge(sums[1][1], to, 1u, 1u);
    store_edge(sums[1][2], to, 1u, 2u);
    store_edge(sums[1][3], to, 1u, 3u);
    store_edge(sums[2][0], to, 2u, 0u);
    store_edge(sums[2][1], to, 2u, 1u);
    store_edge(sums[2][2], to, 2u, 2u);
    store_edge(sums[2][3], to, 2u, 3u);
    store_edge(sums[3][0], to, 3u, 0u);
    store_edge(sums[3][1], to, 3u, 1u);
    store_edge(sums[3][2], to, 3u, 2u);
    store_edge(sums[3][3], to, 3u, 3u);
}
