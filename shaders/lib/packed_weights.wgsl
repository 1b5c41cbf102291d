// Packed weights as numbers: rows of pitch_k / 256 blocks of 144, 176 or 210 bytes (Q4_K, Q5_K, Q6_K of ggml), of pitch_k / 32 blocks of 34
// bytes (Q8_0), or of pitch_k / 2 words (f16 or bfloat16), from byte `w_from` on.
//
// The file that imports these declares the binding `w`, words, and `params` with `n`, `k`, `pitch_k` and `w_from`.
//
// import: lib/half, lib/four_halves

// Bits per weight: 4, 5, 6, 8 or 16.
override BITS: u32 = 4u;
// Weights of 16 bits are bfloat16 instead of f16.
override BFLOAT: bool = false;

/// Returns four bytes from an even byte on.
fn bytes_at(at: u32) -> u32 {
    let first = w[at >> 2u];
    let second = w[(at >> 2u) + 1u];
    return select(first, (first >> 16u) | (second << 16u), (at & 2u) != 0u);
}

fn four_numbers(bytes: u32) -> vec4<f32> {
    return vec4<f32>(vec4(bytes & 0xffu, (bytes >> 8u) & 0xffu, (bytes >> 16u) & 0xffu, bytes >> 24u));
}

/// Returns scale and minimum of a group of 32 weights: 6 bits each, packed in 12 bytes.
fn scale_and_minimum(words: vec3<u32>, group: u32) -> vec2<f32> {
    let shift = 8u * (group & 3u);
    let x = words.x >> shift;
    let y = words.y >> shift;
    let z = words.z >> shift;
    let high = vec2((z & 15u) | ((x >> 2u) & 48u), ((z >> 4u) & 15u) | ((y >> 2u) & 48u));
    return vec2<f32>(select(high, vec2(x & 63u, y & 63u), group < 4u));
}

/// Returns four weights of 4 or 5 bits, from weight `at` on; `block` is the word index of their block.
fn unpack_small(block: u32, at: u32) -> vec4<f32> {
    let group = at >> 5u;
    let quad = (at & 31u) >> 2u;
    let halves = vec2(half(w[block] & 0xffffu), half(w[block] >> 16u));
    let scales = scale_and_minimum(vec3(w[block + 1u], w[block + 2u], w[block + 3u]), group);
    // Two groups share bytes; the fifth bits come before them.
    let bytes = w[block + select(4u, 12u, BITS == 5u) + 8u * (group >> 1u) + quad];
    var values = (bytes >> (4u * (group & 1u))) & 0x0f0f0f0fu;
    if BITS == 5u {
        values |= ((w[block + 4u + quad] >> group) & 0x01010101u) << 4u;
    }
    return halves.x * scales.x * four_numbers(values) - halves.y * scales.y;
}

/// Returns four weights of 6 bits, from weight `at` on; `block` is the byte index of their block.
fn unpack_large(block: u32, at: u32) -> vec4<f32> {
    let side = at >> 7u;
    let quarter = (at >> 5u) & 3u;
    let l = at & 31u;
    let low = bytes_at(block + 64u * side + 32u * (quarter & 1u) + l) >> (4u * (quarter >> 1u));
    let high = bytes_at(block + 128u + 32u * side + l) >> (2u * quarter);
    let values = (low & 0x0f0f0f0fu) | ((high & 0x03030303u) << 4u);
    // One signed byte per 16 weights.
    let place = block + 192u + 8u * side + 2u * quarter + (l >> 4u);
    let scale = bitcast<i32>(w[place >> 2u] << (24u - 8u * (place & 3u))) >> 24u;
    let factor = half(bytes_at(block + 208u) & 0xffffu);
    return factor * f32(scale) * (four_numbers(values) - 32.0);
}

/// Returns four weights of 8 bits, from weight `at` on; `block` is the byte index of their block.
fn unpack_signed(block: u32, at: u32) -> vec4<f32> {
    // The values plus 128.
    let values = bytes_at(block + 2u + at) ^ 0x80808080u;
    return half(bytes_at(block) & 0xffffu) * (four_numbers(values) - 128.0);
}

/// Returns four weights of a column, from `k` on; 0 behind its end. Columns behind the last one are that one, and are not stored:
/// without a branch, the loads of all columns are in flight together.
fn weights(any_col: u32, k: u32) -> vec4<f32> {
    let col = min(any_col, params.n - 1u);
    if BITS == 16u {
        // Other types have whole tiles along k.
        let at = (params.w_from >> 2u) + ((col * params.pitch_k + min(k, params.k - 4u)) >> 1u);
        let four = four_of_words(w[at], w[at + 1u], BFLOAT);
        return select(vec4(0.0), four, vec4(k < params.k));
    }
    if BITS == 8u {
        return unpack_signed(params.w_from + 34u * (col * (params.pitch_k >> 5u) + (k >> 5u)), k & 31u);
    }
    let block = col * (params.pitch_k >> 8u) + (k >> 8u);
    if BITS == 6u {
        return unpack_large(params.w_from + 210u * block, k & 255u);
    }
    return unpack_small((params.w_from >> 2u) + select(36u, 44u, BITS == 5u) * block, k & 255u);
}
