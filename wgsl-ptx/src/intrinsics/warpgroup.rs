//! Intrinsics of products of warpgroups.

/// Multiplies 64 rows of `a` and `n_columns` columns of `b`, over 64 terms, for the sums of 128 invocations. `lane` is an
/// invocation's index among them, a multiple of 128 less than its local index; all 128 call it together. `n_columns`, a multiple
/// of 8 up to 256, `a_by_k` and `b_by_k` are constants.
///
/// With [`PtxOptions::is_exact`](crate::PtxOptions::is_exact) and `sm` 90, and without bounds checks, it becomes four products of a
/// warpgroup (`wgmma`), which are one group of products that runs on: before [`AWAIT_PRODUCTS`] has waited for the group, the source
/// neither accesses these sums nor writes these elements of `sh_staged`. `lane` is not read then. The products are added to the sums, or,
/// unless `adds`, a constant, take their place.
///
/// The source declares `alias GroupSums = array<array<vec4<f32>, 8>, 4>`, `sh_staged` as for [`STAGE_LEFT`](super::STAGE_LEFT), and [`STAGED_HALF`].
/// `at_a` and `at_b` are multiples of 128 elements.
pub const MULTIPLY_STAGED: &str = "fn multiply_staged(sums: ptr<function, GroupSums>, at_a: u32, at_b: u32, lane: u32, n_columns: u32, a_by_k: bool, b_by_k: bool, adds: bool) {
    if !adds {
        *sums = GroupSums();
    }
    for (var k = 0u; k < 64; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            let a = staged_half(at_a, a_by_k, row, k);
            let b = staged_half(at_b, b_by_k, column, k);
            (*sums)[i / 32][i / 4 % 8][i % 4] += f32(a) * f32(b);
        }
    }
}";

/// Returns element `k` of row or column `n` of a factor at element `at` of `sh_staged`. Factors are blocks of eight lines of 64
/// halves; unit `u` of eight halves of line `r` of a block lies at unit `u ^ r`. If `by_k`, the lines are rows or columns, and block `i`
/// has those from `8 * i` on; else they are terms, and block `8 * i + j` has rows or columns from `64 * i` on of terms from `8 * j` on.
/// No intrinsic, but part of [`MULTIPLY_STAGED`].
pub const STAGED_HALF: &str = "fn staged_half(at: u32, by_k: bool, n: u32, k: u32) -> f16 {
    let line = select(k, n, by_k);
    let along = select(n % 64, k, by_k);
    let block = select(n / 64 * 8 + k / 8, n / 8, by_k);
    let unit = (along / 8) ^ (line % 8);
    return sh_staged[at + 128 * block + 16 * (line % 8) + 2 * unit + along / 4 % 2][along % 4];
}";

/// Multiplies 64 rows of `a` and `n_columns` columns of `b`, over 32 terms, and adds the products to the sums of 128 invocations; the factors
/// are of single precision, of which the last 13 bits do not count. See [`MULTIPLY_STAGED`]; beside its conditions,
/// [`PtxOptions::floats_as_tf32`](crate::PtxOptions::floats_as_tf32) is needed.
///
/// The source declares `sh_staged`, an array of `vec2<f32>` in workgroup memory, and [`STAGED_SINGLE`]. `at_a` and `at_b` are multiples of
/// 128 elements.
pub const MULTIPLY_SINGLES: &str = "fn multiply_singles(sums: ptr<function, GroupSums>, at_a: u32, at_b: u32, lane: u32, n_columns: u32) {
    for (var k = 0u; k < 32; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            (*sums)[i / 32][i / 4 % 8][i % 4] += staged_single(at_a, row, k) * staged_single(at_b, column, k);
        }
    }
}";

/// Returns element `k` of row or column `n` of a factor at element `at` of `sh_staged`, without its last 13 bits. Lines have 32 elements along
/// the terms; unit `u` of four elements of line `n` lies at unit `u ^ (n % 8)`. No intrinsic, but part of [`MULTIPLY_SINGLES`].
pub const STAGED_SINGLE: &str = "fn staged_single(at: u32, n: u32, k: u32) -> f32 {
    let element = sh_staged[at + 16 * n + 2 * ((k / 4) ^ (n % 8)) + k / 2 % 2][k % 2];
    return bitcast<f32>(bitcast<u32>(element) & 0xffffe000);
}";

/// Rounds the sums of 64 columns to halves, or to bfloat16 with [`PtxOptions::halves_as_bfloat16`](crate::PtxOptions::halves_as_bfloat16):
/// they become a left factor whose terms these columns are. Becomes 16 conversions under the conditions of [`MULTIPLY_STAGED`].
///
/// The source declares `alias GroupLeft = array<vec4<u32>, 4>`.
pub const GROUP_LEFT: &str = "fn group_left(sums: array<vec4<f32>, 8>) -> GroupLeft {
    var left: GroupLeft;
    for (var i = 0u; i < 8; i++) {
        left[i / 2][2 * (i % 2)] = pack2x16float(sums[i].xy);
        left[i / 2][2 * (i % 2) + 1] = pack2x16float(sums[i].zw);
    }
    return left;
}";

/// Adds the products of 64 rows of `left`, from [`GROUP_LEFT`], and `n_columns` columns of `b`, over 64 terms. See [`MULTIPLY_STAGED`];
/// `left` does not change before [`AWAIT_PRODUCTS`] has waited for the group, and the workgroup calls it in uniform control flow.
///
/// The source declares `sh_left`, an array of `u32` in workgroup memory, which no other function may name, with 2,048 elements for each 128
/// invocations from element `at_left` on.
pub const MULTIPLY_LEFT: &str = "fn multiply_left(sums: ptr<function, GroupSums>, left: GroupLeft, at_left: u32, at_b: u32, lane: u32, n_columns: u32, b_by_k: bool) {
    for (var i = 0u; i < 16; i++) {
        sh_left[at_left + 128 * i + lane] = left[i / 4][i % 4];
    }
    workgroupBarrier();
    for (var k = 0u; k < 64; k++) {
        for (var i = 0u; i < n_columns / 2; i++) {
            let word = 4 * (k / 16) + 2 * (k / 8 % 2) + i / 2 % 2;
            let pair = unpack2x16float(sh_left[at_left + 128 * word + lane / 4 * 4 + k % 8 / 2]);
            let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            let b = staged_half(at_b, b_by_k, column, k);
            (*sums)[i / 32][i / 4 % 8][i % 4] += pair[k % 2] * f32(b);
        }
    }
    workgroupBarrier();
}";

/// Waits until at most `n_pending`, a constant, of the calls of [`MULTIPLY_STAGED`] and [`MULTIPLY_LEFT`] of the 128 invocations, the last
/// ones, are incomplete.
pub const AWAIT_PRODUCTS: &str = "fn await_products(n_pending: u32) {
}";

/// Waits until the warpgroup before this one, number `group` of the workgroup's, has called [`END_TURN`], so that the products of one run while
/// another computes with its own. Under the conditions of [`MULTIPLY_STAGED`] it becomes a barrier of the two; the portable bodies are
/// empty, since results do not depend on the order. Each warpgroup calls both functions once, in this order, between two barriers of the
/// workgroup.
pub const BEGIN_TURN: &str = "fn begin_turn(group: u32) {
}";

/// Lets the next warpgroup pass its [`BEGIN_TURN`].
pub const END_TURN: &str = "fn end_turn(group: u32) {
}";
