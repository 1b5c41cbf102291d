// Loads of four or eight elements of 16 bits of a row of queries, keys or values.
//
// Elements lie in pairs, the first in the low half of a word. The kernel declares the types FROM, of keys and values, and FROM_Q, of
// queries, as `DType::code` numbers them: 0 is f32, 1 is f16, 2 is bf16. If ALIGNED, rows of keys and values start at multiples of 16
// bytes and end there, and rows of queries at multiples of four elements.
//
// import: lib/attention_heads, lib/four_halves

struct Eight {
    first: vec4<f32>,
    second: vec4<f32>,
}

/// Returns the indices of two adjacent elements, those behind the end of the row replaced by the index of its last one.
fn two_inside(at: u32, col: u32) -> vec2<u32> {
    return vec2(inside(at, col, params.dim), inside(at + 1u, col + 1u, params.dim));
}

/// Returns the bits of the elements at two indices, given the words they are in; 0 in columns behind the end of the row, from `col` on.
fn pair_of_words(words: vec2<u32>, at: vec2<u32>, col: u32) -> u32 {
    let halves = (words >> ((at & vec2(1u)) << vec2(4u))) & vec2(0xffffu);
    let kept = select(vec2(0u), halves, vec2(col, col + 1u) < vec2(params.dim));
    return kept.x | (kept.y << 16u);
}

// The bits of two adjacent elements of 16 bits, as they lie in a word; those behind the end of the row are 0.

fn pair_of_q(at: u32, col: u32) -> u32 {
    let p = two_inside(at, col);
    return pair_of_words(vec2(q[p.x >> 3u][(p.x >> 1u) & 3u], q[p.y >> 3u][(p.y >> 1u) & 3u]), p, col);
}

fn pair_of_k(at: u32, col: u32) -> u32 {
    let p = two_inside(at, col);
    return pair_of_words(vec2(k[p.x >> 3u][(p.x >> 1u) & 3u], k[p.y >> 3u][(p.y >> 1u) & 3u]), p, col);
}

fn pair_of_v(at: u32, col: u32) -> u32 {
    let p = two_inside(at, col);
    return pair_of_words(vec2(v[p.x >> 3u][(p.x >> 1u) & 3u], v[p.y >> 3u][(p.y >> 1u) & 3u]), p, col);
}

/// Returns eight elements of a key or a value.
fn eight_of_words(words: vec4<u32>) -> Eight {
    return Eight(four_of_words(words.x, words.y, FROM == 2u), four_of_words(words.z, words.w, FROM == 2u));
}

fn eight_of_k(at: u32, col: u32) -> Eight {
    if ALIGNED {
        return eight_of_words(k[at >> 3u]);
    }
    return eight_of_words(vec4(
        pair_of_k(at, col),
        pair_of_k(at + 2u, col + 2u),
        pair_of_k(at + 4u, col + 4u),
        pair_of_k(at + 6u, col + 6u),
    ));
}

fn eight_of_v(at: u32, col: u32) -> Eight {
    if ALIGNED {
        return eight_of_words(v[at >> 3u]);
    }
    return eight_of_words(vec4(
        pair_of_v(at, col),
        pair_of_v(at + 2u, col + 2u),
        pair_of_v(at + 4u, col + 4u),
        pair_of_v(at + 6u, col + 6u),
    ));
}

/// Returns four elements of a key or a value, the first at `at`, of eight adjacent ones.
fn four_of_eight(words: vec4<u32>, at: u32) -> vec4<f32> {
    let pair = select(words.xy, words.zw, (at & 4u) != 0u);
    return four_of_words(pair.x, pair.y, FROM == 2u);
}

fn four_halves_of_k(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return four_of_eight(k[at >> 3u], at);
    }
    return four_of_words(pair_of_k(at, col), pair_of_k(at + 2u, col + 2u), FROM == 2u);
}

fn four_halves_of_v(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return four_of_eight(v[at >> 3u], at);
    }
    return four_of_words(pair_of_v(at, col), pair_of_v(at + 2u, col + 2u), FROM == 2u);
}

/// Returns four elements of a query of any type; 0 for those behind the end of the row and for rows that are none.
fn of_any_query(row: u32, at: u32, col: u32) -> vec4<f32> {
    if FROM_Q == 0u {
        return of_query(row, at, col);
    } else if row < params.n_q && col < params.dim {
        return four_of_words(pair_of_q(at, col), pair_of_q(at + 2u, col + 2u), FROM_Q == 2u);
    }
    return vec4(0.0);
}

/// Returns eight elements of a key of 16 bits, likewise.
fn halves_of_key(row: u32, at: u32, col: u32) -> Eight {
    if row < params.n_k && col < params.dim {
        return eight_of_k(at, col);
    }
    return Eight();
}
