// Part of tensor_matmul: blocks of 4x4 elements, from the factors to workgroup memory.

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

/// Stores the fetched blocks of `a` and of `b` in workgroup memory.
fn stage_blocks(loads: vec2<bool>, to: vec2<u32>) {
    if loads.x {
        if BOTH {
            stage_block(A_BY_K, to.x, TILE_M4, block_a[0], block_a[1], block_a[2], block_a[3]);
        } else {
            stage_block(A_BY_K, to.x, TILE_M4, block[0], block[1], block[2], block[3]);
        }
    }
    if loads.y { stage_block(B_BY_K, to.y, TILE_N4, block[0], block[1], block[2], block[3]); }
}

/// Returns an element of `a` or `b`.
fn one_of_factor(from_a: bool, at: u32) -> f32 {
    if from_a {
        return a[at >> 2u][at & 3u];
    }
    return b[at >> 2u][at & 3u];
}

/// Loads a block and stores it in a tile, four elements at a time, so that no more are in registers. Those behind the end of k, which
/// no invocation reads, stay as they are.
fn stage_by_fours(from_a: bool, to: u32, at: u32, x: u32, k: u32, k_end: u32) {
    let pitch = select(params.pitch_b, params.pitch_a, from_a);
    let tile_pitch = select(TILE_N4, TILE_M4, from_a);
    let x_end = select(params.n, params.m, from_a);
    // To an end that compilers do not know, so that they do not load all elements first.
    for (var own = k; own < min(k + 4u, k_end); own++) {
        let place = to + (own - k) * tile_pitch;
        if x >= x_end {
            sh_tiles[place] = vec4(0.0);
        } else if select(B_BY_K, A_BY_K, from_a) {
            // Rows of `a`, or columns of `b`, behind the last one are that one, and are not stored.
            let last = x_end - 1u - x;
            let first = at + own - k;
            sh_tiles[place] = vec4(
                one_of_factor(from_a, first),
                one_of_factor(from_a, first + min(1u, last) * pitch),
                one_of_factor(from_a, first + min(2u, last) * pitch),
                one_of_factor(from_a, first + min(3u, last) * pitch),
            );
        } else {
            sh_tiles[place] = load4(from_a, at + (own - k) * pitch, vec4(x, x + 1u, x + 2u, x + 3u) < vec4(x_end));
        }
    }
}
