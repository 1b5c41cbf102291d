// Batched matrix product of halves on matrix units, summed in single precision: c[m, n] = a[m, k] b[k, n]. For engines without
// asynchronous copies, and with little workgroup memory: tensor_matmul_half is for the others.
//
// A subgroup of 32 computes 64 rows by 64 columns as matrices in registers. Steps of 16 terms lie in workgroup memory, two in turn; the two after
// them are on their way to registers. While the factors of a step are multiplied, those of the next are loaded from workgroup memory, whose place the
// step after that takes: one barrier a step. Compilers schedule this well only without loops and arrays, so each matrix and each unit has a line.
// Rows are padded by 16 bytes, so that eight of them lie in different banks.
// Bindings: `left`, `right`: the factors, in units of 4 halves; `c`: [batch, n_slices, m, n] f32, in vectors of 4.
// Rows of `a` (its columns, unless A_BY_K) and of `b` (its columns, if B_BY_K) have stride `pitch`, their elements stride 1.
// Offsets, pitches and batch strides are in units of 4 halves.
// Preconditions: no length is 0; the factors have whole units; k is a multiple of 4 where it is contiguous; k_slice is a multiple of 32; subgroups of
// 32. If WHOLE, k is a multiple of k_slice.
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/product_tiles
enable f16;
enable wgpu_cooperative_matrix;

// Elements of a unit of 8 bytes.
const UNIT: u32 = 4u;
const TILE_K: u32 = 16u;
// Vectors of four halves, by which rows in workgroup memory are padded.
const PAD: u32 = 2u;

// All slices are inside of k.
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
// Units from a matrix of a factor to the next.
override NEXT_A: u32 = select(4u, 16u * STRIDE_A, A_BY_K);
override NEXT_B: u32 = select(4u, 16u * STRIDE_B, B_BY_K);
// Vectors of a matrix of each subgroup.
override EDGE: u32 = 64u * SUBGROUPS_M * SUBGROUPS_N;

alias Unit = vec4<f16>;

@group(0) @binding(0) var<storage, read> left: array<Unit>;
@group(0) @binding(1) var<storage, read> right: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_staged: array<Unit, ALL>;
// A matrix of each subgroup, on its way to the result.
var<workgroup> sh_edge: array<vec4<f32>, EDGE>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;

// An invocation's units of a step, OWN_A and OWN_B of them.
struct Step {
    a0: Unit,
    a1: Unit,
    a2: Unit,
    a3: Unit,
    b0: Unit,
    b1: Unit,
    b2: Unit,
    b3: Unit,
}

// Units in storage where an invocation's share of the next step that it loads begins, and that step's first term.
struct Next {
    a: u32,
    b: u32,
    k: u32,
}

// Units in storage from an invocation's first copy of a step to the others.
struct Distances {
    first: u32,
    second: u32,
    third: u32,
}

// Returns the place of a share's first copy. Lines and units outside of the result are replaced by the last ones inside, whose products are not stored.
fn place_inside(share: Share, by_k: bool, pitch: u32) -> u32 {
    let line = select(0u, share.line - min(share.line, share.lines - 1u), by_k);
    let unit = select(share.unit - min(share.unit, share.units - 1u), 0u, by_k);
    return share.place - line * pitch - unit;
}

// Returns the distance of the copy that is `lines` lines after the first one, with lines limited in the same way.
fn distance(share: Share, by_k: bool, pitch: u32, lines: u32) -> u32 {
    let last = share.lines - 1u;
    let inside = min(share.line + lines, last) - min(share.line, last);
    return select(lines, inside, by_k) * pitch;
}

fn distances(share: Share, by_k: bool, pitch: u32, lines: u32) -> Distances {
    return Distances(
        distance(share, by_k, pitch, lines),
        distance(share, by_k, pitch, 2u * lines),
        distance(share, by_k, pitch, 3u * lines),
    );
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

// Returns a unit of a factor, or zeros instead of one that is outside of k.
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

// Loads an invocation's units of the next step of the slice that ends at `end`, and moves on. Under WHOLE, the last step is loaded again instead of
// those after it.
fn load_step(a: Share, b: Share, to_a: Distances, to_b: Distances, next: ptr<function, Next>, end: u32) -> Step {
    let inside_a = n_inside(a, A_BY_K, (*next).k, LINES_A);
    let inside_b = n_inside(b, B_BY_K, (*next).k, LINES_B);
    let at = *next;
    var step: Step;
    step.a0 = left_unit(at.a, inside_a > 0u);
    if OWN_A > 1u {
        step.a1 = left_unit(at.a + to_a.first, inside_a > 1u);
    }
    if OWN_A > 2u {
        step.a2 = left_unit(at.a + to_a.second, inside_a > 2u);
        step.a3 = left_unit(at.a + to_a.third, inside_a > 3u);
    }
    step.b0 = right_unit(at.b, inside_b > 0u);
    if OWN_B > 1u {
        step.b1 = right_unit(at.b + to_b.first, inside_b > 1u);
    }
    if OWN_B > 2u {
        step.b2 = right_unit(at.b + to_b.second, inside_b > 2u);
        step.b3 = right_unit(at.b + to_b.third, inside_b > 3u);
    }
    (*next).k += TILE_K;
    let goes_on = !WHOLE || (*next).k < end;
    (*next).a += select(0u, a.step, goes_on);
    (*next).b += select(0u, b.step, goes_on);
    return step;
}

// Copies an invocation's units to a stage.
fn stage_units(a: Share, b: Share, step: Step, stage: u32) {
    let to_a = stage * STAGE + a.to;
    let to_b = stage * STAGE + b.to;
    sh_staged[to_a] = step.a0;
    if OWN_A > 1u {
        sh_staged[to_a + LINES_A * STRIDE_A] = step.a1;
    }
    if OWN_A > 2u {
        sh_staged[to_a + 2u * LINES_A * STRIDE_A] = step.a2;
        sh_staged[to_a + 3u * LINES_A * STRIDE_A] = step.a3;
    }
    sh_staged[to_b] = step.b0;
    if OWN_B > 1u {
        sh_staged[to_b + LINES_B * STRIDE_B] = step.b1;
    }
    if OWN_B > 2u {
        sh_staged[to_b + 2u * LINES_B * STRIDE_B] = step.b2;
        sh_staged[to_b + 3u * LINES_B * STRIDE_B] = step.b3;
    }
}

// Places of a subgroup's factors in a stage.
struct Places {
    a: u32,
    b: u32,
}

// The part of the result that a subgroup stores: place of the product in `c`, first row and column there, and subgroup and lane of the invocation.
struct Edge {
    start: u32,
    row: u32,
    column: u32,
    subgroup: u32,
    lane: u32,
}

// Stores a matrix, the one at row `y` and column `x` of the subgroup's, of a tile inside of the result, whose rows begin at vectors. NVIDIA's driver
// for Vulkan stores matrices to wrong places of an array of f32 in storage, and vectors faster than elements.
fn store_matrix(sum: Sum, edge: Edge, y: u32, x: u32) {
    let own = 64u * edge.subgroup + edge.lane;
    let row = edge.row + 16u * y + edge.lane / 4u;
    let to = (edge.start + row * params.n + edge.column + 16u * x) / 4u + edge.lane % 4u;
    coopStoreT(sum, &sh_edge[64u * edge.subgroup], 4u);
    workgroupBarrier();
    let upper = sh_edge[own];
    let lower = sh_edge[own + 32u];
    workgroupBarrier();
    c[to] = upper;
    c[to + 2u * params.n] = lower;
}

// Stores elements of the vector at `own` of such a matrix alone, which SPIR-V can do, without those outside of the result.
fn store_elements(edge: Edge, y: u32, x: u32, own: u32) {
    let vector = sh_edge[64u * edge.subgroup + own];
    let row = edge.row + 16u * y + own / 4u;
    let column = edge.column + 16u * x + own % 4u * 4u;
    let to = edge.start + row * params.n + column;
    if row < params.m {
        for (var j = 0u; j < 4u && column + j < params.n; j++) {
            c[(to + j) / 4u][(to + j) % 4u] = vector[j];
        }
    }
}

// Stores the part of a matrix that is inside of the result.
fn store_part(sum: Sum, edge: Edge, y: u32, x: u32) {
    coopStoreT(sum, &sh_edge[64u * edge.subgroup], 4u);
    workgroupBarrier();
    store_elements(edge, y, x, edge.lane);
    store_elements(edge, y, x, edge.lane + 32u);
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
    let end = begin + params.k_slice;

    let to_a = distances(a, A_BY_K, params.pitch_a, LINES_A);
    let to_b = distances(b, B_BY_K, params.pitch_b, LINES_B);
    var next = Next(
        place_inside(a, A_BY_K, params.pitch_a) + begin / TILE_K * a.step,
        place_inside(b, B_BY_K, params.pitch_b) + begin / TILE_K * b.step,
        begin,
    );
    var even = load_step(a, b, to_a, to_b, &next, end);
    var odd = load_step(a, b, to_a, to_b, &next, end);
    stage_units(a, b, even, 0u);
    even = load_step(a, b, to_a, to_b, &next, end);
    stage_units(a, b, odd, 1u);
    odd = load_step(a, b, to_a, to_b, &next, end);
    workgroupBarrier();
    // Factors of a step: `r` of a, and `c` of b.
    var r0 = rows_at(places.a);
    var r1 = rows_at(places.a + NEXT_A);
    var r2 = rows_at(places.a + 2u * NEXT_A);
    var r3 = rows_at(places.a + 3u * NEXT_A);
    var c0 = columns_at(places.b);
    var c1 = columns_at(places.b + NEXT_B);
    var c2 = columns_at(places.b + 2u * NEXT_B);
    var c3 = columns_at(places.b + 3u * NEXT_B);
    workgroupBarrier();
    // Sums at rows and columns.
    var s00: Sum;
    var s01: Sum;
    var s02: Sum;
    var s03: Sum;
    var s10: Sum;
    var s11: Sum;
    var s12: Sum;
    var s13: Sum;
    var s20: Sum;
    var s21: Sum;
    var s22: Sum;
    var s23: Sum;
    var s30: Sum;
    var s31: Sum;
    var s32: Sum;
    var s33: Sum;
    // A turn multiplies the factors of a step, and loads those of the next one. The units of the second step after it take its place, and those of the
    // fourth theirs.
    for (var k = 0u; k < params.k_slice; k += 2u * TILE_K) {
        let odd_r0 = rows_at(STAGE + places.a);
        let odd_r1 = rows_at(STAGE + places.a + NEXT_A);
        let odd_r2 = rows_at(STAGE + places.a + 2u * NEXT_A);
        let odd_r3 = rows_at(STAGE + places.a + 3u * NEXT_A);
        s00 = coopMultiplyAdd(r0, c0, s00);
        s10 = coopMultiplyAdd(r1, c0, s10);
        s20 = coopMultiplyAdd(r2, c0, s20);
        s30 = coopMultiplyAdd(r3, c0, s30);
        stage_units(a, b, even, 0u);
        even = load_step(a, b, to_a, to_b, &next, end);
        c0 = columns_at(STAGE + places.b);
        s01 = coopMultiplyAdd(r0, c1, s01);
        s11 = coopMultiplyAdd(r1, c1, s11);
        s21 = coopMultiplyAdd(r2, c1, s21);
        s31 = coopMultiplyAdd(r3, c1, s31);
        c1 = columns_at(STAGE + places.b + NEXT_B);
        s02 = coopMultiplyAdd(r0, c2, s02);
        s12 = coopMultiplyAdd(r1, c2, s12);
        s22 = coopMultiplyAdd(r2, c2, s22);
        s32 = coopMultiplyAdd(r3, c2, s32);
        c2 = columns_at(STAGE + places.b + 2u * NEXT_B);
        s03 = coopMultiplyAdd(r0, c3, s03);
        s13 = coopMultiplyAdd(r1, c3, s13);
        s23 = coopMultiplyAdd(r2, c3, s23);
        s33 = coopMultiplyAdd(r3, c3, s33);
        c3 = columns_at(STAGE + places.b + 3u * NEXT_B);
        r0 = odd_r0;
        r1 = odd_r1;
        r2 = odd_r2;
        r3 = odd_r3;
        workgroupBarrier();

        let even_r0 = rows_at(places.a);
        let even_r1 = rows_at(places.a + NEXT_A);
        let even_r2 = rows_at(places.a + 2u * NEXT_A);
        let even_r3 = rows_at(places.a + 3u * NEXT_A);
        s00 = coopMultiplyAdd(r0, c0, s00);
        s10 = coopMultiplyAdd(r1, c0, s10);
        s20 = coopMultiplyAdd(r2, c0, s20);
        s30 = coopMultiplyAdd(r3, c0, s30);
        stage_units(a, b, odd, 1u);
        odd = load_step(a, b, to_a, to_b, &next, end);
        c0 = columns_at(places.b);
        s01 = coopMultiplyAdd(r0, c1, s01);
        s11 = coopMultiplyAdd(r1, c1, s11);
        s21 = coopMultiplyAdd(r2, c1, s21);
        s31 = coopMultiplyAdd(r3, c1, s31);
        c1 = columns_at(places.b + NEXT_B);
        s02 = coopMultiplyAdd(r0, c2, s02);
        s12 = coopMultiplyAdd(r1, c2, s12);
        s22 = coopMultiplyAdd(r2, c2, s22);
        s32 = coopMultiplyAdd(r3, c2, s32);
        c2 = columns_at(places.b + 2u * NEXT_B);
        s03 = coopMultiplyAdd(r0, c3, s03);
        s13 = coopMultiplyAdd(r1, c3, s13);
        s23 = coopMultiplyAdd(r2, c3, s23);
        s33 = coopMultiplyAdd(r3, c3, s33);
        c3 = columns_at(places.b + 3u * NEXT_B);
        r0 = even_r0;
        r1 = even_r1;
        r2 = even_r2;
        r3 = even_r3;
        workgroupBarrier();
    }
    let start = (tile.batch * params.n_slices + tile.slice) * params.m * params.n;
    let edge = Edge(start, tile.row + own_row, tile.column + own_column, subgroup, i % 32u);
    let is_inside = tile.row + TILE_M <= params.m && tile.column + TILE_N <= params.n;
    if is_inside && params.n % 4u == 0u {
        store_matrix(s00, edge, 0u, 0u);
        store_matrix(s01, edge, 0u, 1u);
        store_matrix(s02, edge, 0u, 2u);
        store_matrix(s03, edge, 0u, 3u);
        store_matrix(s10, edge, 1u, 0u);
        store_matrix(s11, edge, 1u, 1u);
        store_matrix(s12, edge, 1u, 2u);
        store_matrix(s13, edge, 1u, 3u);
        store_matrix(s20, edge, 2u, 0u);
        store_matrix(s21, edge, 2u, 1u);
        store_matrix(s22, edge, 2u, 2u);
        store_matrix(s23, edge, 2u, 3u);
        store_matrix(s30, edge, 3u, 0u);
        store_matrix(s31, edge, 3u, 1u);
        store_matrix(s32, edge, 3u, 2u);
        store_matrix(s33, edge, 3u, 3u);
    } else {
        store_part(s00, edge, 0u, 0u);
        store_part(s01, edge, 0u, 1u);
        store_part(s02, edge, 0u, 2u);
        store_part(s03, edge, 0u, 3u);
        store_part(s10, edge, 1u, 0u);
        store_part(s11, edge, 1u, 1u);
        store_part(s12, edge, 1u, 2u);
        store_part(s13, edge, 1u, 3u);
        store_part(s20, edge, 2u, 0u);
        store_part(s21, edge, 2u, 1u);
        store_part(s22, edge, 2u, 2u);
        store_part(s23, edge, 2u, 3u);
        store_part(s30, edge, 3u, 0u);
        store_part(s31, edge, 3u, 1u);
        store_part(s32, edge, 3u, 2u);
        store_part(s33, edge, 3u, 3u);
    }
}
