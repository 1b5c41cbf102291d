// Batched matrix product of halves on matrix units, summed in single precision: c[m, n] = a[m, k] b[k, n]. For engines without
// asynchronous copies, and with little workgroup memory: tensor_matmul_half is for the others.
//
// A subgroup of 32 computes 64 rows by 64 columns as matrices in registers. Steps of 16 terms lie in workgroup memory, two in turn; the two after
// them are on their way to registers. While the factors of a step are multiplied, those of the next are loaded from workgroup memory, whose place the
// step after that takes: one barrier a step. Compilers keep matrices in registers only where no index is computed, so there are no loops over them.
// Rows are padded by 16 bytes, so that eight of them lie in different banks.
// Bindings: `left`, `right`: the factors, in units of 4 halves; `c`: [batch, n_slices, m, n] f32.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units of 4 halves.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of 4 where it is contiguous; subgroups of 32. If WHOLE, m, n and the
// slices of k are multiples of TILE_M, TILE_N and 32.
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
// Units from a matrix of b to the next.
override NEXT_B: u32 = select(4u, 16u * STRIDE_B, B_BY_K);

alias Unit = vec4<f16>;

@group(0) @binding(0) var<storage, read> left: array<Unit>;
@group(0) @binding(1) var<storage, read> right: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_staged: array<Unit, ALL>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;

// Matrices of 16 columns of a, of 16 rows of b, and of 16 columns of the result.
alias Rows = array<Left, 4>;
alias Columns = array<Right, 4>;
alias Column = array<Sum, 4>;

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

// Loads the matrices of a, or of b, of a step, from unit `at` of `sh_staged` on.
fn all_rows_at(at: u32) -> Rows {
    let next = select(4u, 16u * STRIDE_A, A_BY_K);
    var rows: Rows;
    rows[0] = rows_at(at);
    rows[1] = rows_at(at + next);
    rows[2] = rows_at(at + 2u * next);
    rows[3] = rows_at(at + 3u * next);
    return rows;
}

fn all_columns_at(at: u32) -> Columns {
    var columns: Columns;
    columns[0] = columns_at(at);
    columns[1] = columns_at(at + NEXT_B);
    columns[2] = columns_at(at + 2u * NEXT_B);
    columns[3] = columns_at(at + 3u * NEXT_B);
    return columns;
}

// Returns a column of sums with the products of all matrices of a with one of b added.
fn multiply_column(sums: Column, rows: Rows, column: Right) -> Column {
    var next: Column;
    next[0] = coopMultiplyAdd(rows[0], column, sums[0]);
    next[1] = coopMultiplyAdd(rows[1], column, sums[1]);
    next[2] = coopMultiplyAdd(rows[2], column, sums[2]);
    next[3] = coopMultiplyAdd(rows[3], column, sums[3]);
    return next;
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

// The factors that a turn multiplies, and all sums, a column of matrices after the other.
struct Work {
    rows: Rows,
    columns: Columns,
    first: Column,
    second: Column,
    third: Column,
    fourth: Column,
}

// Multiplies the factors of the step at `k`, which come from `stage`, and loads those of the next one. The units in `step`, of the second step after
// it, take its place, and those of the fourth theirs.
fn turn(work: ptr<function, Work>, step: ptr<function, Step>, a: Share, b: Share, places: Places, k: u32, stage: u32) {
    let other = (1u - stage) * STAGE;
    let at = other + places.b;
    let next = all_rows_at(other + places.a);
    (*work).first = multiply_column((*work).first, (*work).rows, (*work).columns[0]);
    stage_units(a, b, *step, stage);
    *step = load_step(a, b, k + 4u * TILE_K);
    (*work).columns[0] = columns_at(at);
    (*work).second = multiply_column((*work).second, (*work).rows, (*work).columns[1]);
    (*work).columns[1] = columns_at(at + NEXT_B);
    (*work).third = multiply_column((*work).third, (*work).rows, (*work).columns[2]);
    (*work).columns[2] = columns_at(at + 2u * NEXT_B);
    (*work).fourth = multiply_column((*work).fourth, (*work).rows, (*work).columns[3]);
    (*work).columns[3] = columns_at(at + 3u * NEXT_B);
    (*work).rows = next;
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

    var even = load_step(a, b, begin);
    var odd = load_step(a, b, begin + TILE_K);
    stage_units(a, b, even, 0u);
    even = load_step(a, b, begin + 2u * TILE_K);
    stage_units(a, b, odd, 1u);
    odd = load_step(a, b, begin + 3u * TILE_K);
    workgroupBarrier();
    var work: Work;
    work.rows = all_rows_at(places.a);
    work.columns = all_columns_at(places.b);
    workgroupBarrier();
    for (var k = begin; k < end; k += 2u * TILE_K) {
        turn(&work, &even, a, b, places, k, 0u);
        turn(&work, &odd, a, b, places, k + TILE_K, 1u);
    }
    // NVIDIA's driver for Vulkan stores matrices to wrong places of an array of f32 in storage.
    let to = edge_of(tile, own_row, own_column, i);
    store_edge(work.first[0], to, 0u, 0u);
    store_edge(work.second[0], to, 0u, 1u);
    store_edge(work.third[0], to, 0u, 2u);
    store_edge(work.fourth[0], to, 0u, 3u);
    store_edge(work.first[1], to, 1u, 0u);
    store_edge(work.second[1], to, 1u, 1u);
    store_edge(work.third[1], to, 1u, 2u);
    store_edge(work.fourth[1], to, 1u, 3u);
    store_edge(work.first[2], to, 2u, 0u);
    store_edge(work.second[2], to, 2u, 1u);
    store_edge(work.third[2], to, 2u, 2u);
    store_edge(work.fourth[2], to, 2u, 3u);
    store_edge(work.first[3], to, 3u, 0u);
    store_edge(work.second[3], to, 3u, 1u);
    store_edge(work.third[3], to, 3u, 2u);
    store_edge(work.fourth[3], to, 3u, 3u);
}
