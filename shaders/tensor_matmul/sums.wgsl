// Part of tensor_matmul: sums of outer products.

// Element 8 * g + r: row r of the invocation, group g of its columns.
var<private> sums: array<vec4<f32>, 32>;

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

/// Adds the outer products for the first `n` k of a step, one after another, which takes the fewest registers.
fn accumulate_each(at_a: u32, at_b: u32, n: u32) {
    for (var k = 0u; k < n; k++) {
        accumulate(at_a + k * TILE_M4, at_b + k * TILE_N4);
    }
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
