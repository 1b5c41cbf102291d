// Convolution of an image with a kernel, without padding: out[y, x] = sum of input[y + r, x + s] * kernel[r, s].
//
// A workgroup computes tiles of 64 columns of `out`; an invocation four adjacent ones in each of two rows, ROWS apart. The
// kernel is split into pieces of up to PIECE by PIECE; each piece and its window of `input` are staged in workgroup memory. A
// large kernel takes several launches, each with a part of it; all but the first accumulate into `out`.
// Bindings: `input`: [in_rows, in_cols]; `kernel`: [kernel_rows, kernel_cols]; `out`: [in_rows - kernel_rows + 1,
// in_cols - kernel_cols + 1]; f32. Each starts at an element of its binding, and has a row pitch.
// Preconditions: nothing is 0; the kernel is not larger than the image in either direction.
// Twin: src/tensor/cpu/convolve.rs
//
// import: lib/store4

// Invocations of a workgroup.
override THREADS: u32 = 256u;
/// Rows and columns of a piece: 16 or 8.
override PIECE: u32 = 16u;
/// Rows of invocations; a tile has twice as many.
override ROWS: u32 = THREADS / 16u;
/// The window of the image: 64 + PIECE - 1 columns, rounded up to vec4s, and 2 * ROWS + PIECE - 1 rows.
override WINDOW_COLS4: u32 = 16u + PIECE / 4u;
override WINDOW_ROWS: u32 = 2u * ROWS + PIECE - 1u;
override WINDOW: u32 = WINDOW_ROWS * WINDOW_COLS4;
/// vec4s of weights in a row of a piece, and in a piece.
override PIECE4: u32 = PIECE / 4u;
override ALL_WEIGHTS: u32 = PIECE * PIECE4;

struct Params {
    in_rows: u32,
    in_cols: u32,
    kernel_rows: u32,
    kernel_cols: u32,
    out_rows: u32,
    out_cols: u32,
    // Workgroups along x, and in total.
    groups_x: u32,
    n_groups: u32,
    in_from: u32,
    in_pitch: u32,
    kernel_from: u32,
    kernel_pitch: u32,
    out_from: u32,
    out_pitch: u32,
    // Other than 0: accumulate into `out`.
    add: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> kernel: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_window: array<vec4<f32>, WINDOW>;
// Rows of PIECE4 vec4s.
var<workgroup> sh_weights: array<vec4<f32>, ALL_WEIGHTS>;

var<private> low: vec4<f32>;
var<private> high: vec4<f32>;

/// Returns an element of the image; indices are clamped to its ends.
fn pixel(row: u32, col: u32) -> f32 {
    return input[params.in_from + min(row, params.in_rows - 1u) * params.in_pitch + min(col, params.in_cols - 1u)];
}

fn weight(row: u32, col: u32) -> f32 {
    if row < params.kernel_rows && col < params.kernel_cols {
        return kernel[params.kernel_from + row * params.kernel_pitch + col];
    }
    return 0.0;
}

/// Stages `n_rows` rows of `n_cols4` vec4s of the image, from a row and column on, and a piece of the kernel.
fn stage_window(i: u32, row: u32, col: u32, n_rows: u32, n_cols4: u32, kernel_row: u32, kernel_col: u32) {
    if i < ALL_WEIGHTS {
        let r = kernel_row + i / PIECE4;
        let s = kernel_col + 4u * (i % PIECE4);
        sh_weights[i] = vec4(weight(r, s), weight(r, s + 1u), weight(r, s + 2u), weight(r, s + 3u));
    }
    for (var at = i; at < n_rows * WINDOW_COLS4; at += THREADS) {
        let r = at / WINDOW_COLS4;
        let s = at - r * WINDOW_COLS4;
        if s < n_cols4 {
            let from_col = col + 4u * s;
            sh_window[at] = vec4(
                pixel(row + r, from_col),
                pixel(row + r, from_col + 1u),
                pixel(row + r, from_col + 2u),
                pixel(row + r, from_col + 3u),
            );
        }
    }
}

/// Adds the products of `n` weights, up to four of a row, and of eight pixels from the first weight's on. The other weights
/// must not enter as 0: pixels may be NaN or infinite.
fn add_four(sum: vec4<f32>, w: vec4<f32>, n: u32, left: vec4<f32>, right: vec4<f32>) -> vec4<f32> {
    var s = sum + w.x * left;
    if n > 1u {
        s += w.y * vec4(left.yzw, right.x);
    }
    if n > 2u {
        s += w.z * vec4(left.zw, right.xy);
    }
    if n > 3u {
        s += w.w * vec4(left.w, right.xyz);
    }
    return s;
}

/// Adds a piece of the kernel to the two rows of sums.
fn add_piece(at: u32, n_rows: u32, n_cols: u32) {
    for (var r = 0u; r < n_rows; r++) {
        let row_low = at + r * WINDOW_COLS4;
        let row_high = row_low + ROWS * WINDOW_COLS4;
        var left_low = sh_window[row_low];
        var left_high = sh_window[row_high];
        for (var s = 0u; 4u * s < n_cols; s++) {
            let w = sh_weights[PIECE4 * r + s];
            let n = n_cols - 4u * s;
            // A single weight needs no pixels to the right, which may lie outside the window.
            let next = s + select(0u, 1u, n > 1u);
            let right_low = sh_window[row_low + next];
            let right_high = sh_window[row_high + next];
            low = add_four(low, w, n, left_low, right_low);
            high = add_four(high, w, n, left_high, right_high);
            left_low = right_low;
            left_high = right_high;
        }
    }
}

/// Returns four sums of earlier launches.
fn previous_sums(row: u32, col: u32) -> vec4<f32> {
    var x = vec4(0.0);
    let at = params.out_from + row * params.out_pitch + col;
    if row < params.out_rows {
        if col < params.out_cols { x.x = out[at]; }
        if col + 1u < params.out_cols { x.y = out[at + 1u]; }
        if col + 2u < params.out_cols { x.z = out[at + 2u]; }
        if col + 3u < params.out_cols { x.w = out[at + 3u]; }
    }
    return x;
}

fn store_pixels(row: u32, col: u32, x: vec4<f32>) {
    if row >= params.out_rows {
        return;
    }
    store4(params.out_from + row * params.out_pitch + col, col, params.out_cols, x);
}

@compute @workgroup_size(THREADS)
fn tensor_convolve2d(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    let group_row = id / params.groups_x;
    let first_row = 2u * ROWS * group_row;
    let first_col = 64u * (id - group_row * params.groups_x);
    let lane_col = i % 16u;
    let lane_row = i / 16u;
    if params.add > 0u {
        low = previous_sums(first_row + lane_row, first_col + 4u * lane_col);
        high = previous_sums(first_row + lane_row + ROWS, first_col + 4u * lane_col);
    }
    for (var r = 0u; r < params.kernel_rows; r += PIECE) {
        let n_rows = min(PIECE, params.kernel_rows - r);
        for (var s = 0u; s < params.kernel_cols; s += PIECE) {
            let n_cols = min(PIECE, params.kernel_cols - s);
            workgroupBarrier();
            stage_window(i, first_row + r, first_col + s, 2u * ROWS - 1u + n_rows, (63u + n_cols + 3u) / 4u, r, s);
            workgroupBarrier();
            add_piece(lane_row * WINDOW_COLS4 + lane_col, n_rows, n_cols);
        }
    }
    store_pixels(first_row + lane_row, first_col + 4u * lane_col, low);
    store_pixels(first_row + lane_row + ROWS, first_col + 4u * lane_col, high);
}
