// Part of tensor_matmul: stores the sums.
//
// import: lib/plain/finish

fn store_element(at: u32, x: f32) {
    if ADD {
        c[at] += x;
    } else {
        c[at] = x;
    }
}

fn store_row4(is_inner: bool, start: u32, row: u32, col: u32, product: vec4<f32>) {
    let at = start + row * params.pitch_c + col;
    let next = vec4(0u, 1u, 2u, 3u);
    let inside = (col + next < vec4(params.n)) & vec4(row < params.m);
    let x = finished(product, at + next, col + next, inside);
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

fn store_four_rows(is_inner: bool, start: u32, row: u32, col: u32, x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>) {
    store_row4(is_inner, start, row, col, x0);
    store_row4(is_inner, start, row + 1u, col, x1);
    store_row4(is_inner, start, row + 2u, col, x2);
    store_row4(is_inner, start, row + 3u, col, x3);
}

/// Stores the sums of an invocation whose first row and column are these. is_inner: the tile lies in the product.
fn store_products(is_inner: bool, start: u32, row: u32, col: u32) {
    store_four_rows(is_inner, start, row, col, sums[0], sums[1], sums[2], sums[3]);
    if GROUPS_M > 1u { store_four_rows(is_inner, start, row + 4u * LANES_M, col, sums[4], sums[5], sums[6], sums[7]); }
    if GROUPS_N > 1u {
        let col1 = col + 4u * LANES_N;
        store_four_rows(is_inner, start, row, col1, sums[8], sums[9], sums[10], sums[11]);
        if GROUPS_M > 1u { store_four_rows(is_inner, start, row + 4u * LANES_M, col1, sums[12], sums[13], sums[14], sums[15]); }
    }
    if GROUPS_N > 2u {
        let col2 = col + 8u * LANES_N;
        let col3 = col + 12u * LANES_N;
        store_four_rows(is_inner, start, row, col2, sums[16], sums[17], sums[18], sums[19]);
        store_four_rows(is_inner, start, row, col3, sums[24], sums[25], sums[26], sums[27]);
        if GROUPS_M > 1u {
            store_four_rows(is_inner, start, row + 4u * LANES_M, col2, sums[20], sums[21], sums[22], sums[23]);
            store_four_rows(is_inner, start, row + 4u * LANES_M, col3, sums[28], sums[29], sums[30], sums[31]);
        }
    }
}
