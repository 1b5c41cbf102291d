// Part of lz4_parse: matches whose sources are in the page or in the dictionary. Offsets above the position are those of the
// dictionary.
//
// import: lib/bits, lib/dictionary, lz4_parse/stage

// Returns the positions in the dictionary of which the upper bits of the product are those of two positions of the page: larger ones
// than 65,535 if there are none, or if they are not wanted.
fn in_index(words: vec2<u32>, fifths: vec2<u32>, wanted: vec2<bool>) -> vec2<u32> {
    if !DICTIONARY {
        return vec2(NONE);
    }
    let products = words * 2654435761u + (fifths & vec2(255u)) * 2246822519u;
    let buckets = products >> vec2(32 - INDEX_BITS);
    let entries = select(vec2(0u), vec2(dictionary[buckets.x], dictionary[buckets.y]), wanted);
    // An entry is 0, or a position below bits of its product, of which the highest one is set.
    return entries ^ (((products << vec2(14u)) & vec2(0x7fff0000u)) | vec2(0x80000000u));
}

// Returns the candidates of two positions: those of the page, `own`, or those of the dictionary, at `q` in it, where they have more
// equal bytes, of eight, and five at least.
fn candidates_of(page: Page, sought: Sought, own: vec2<u32>, q: vec2<u32>) -> vec2<u32> {
    if !DICTIONARY {
        return own;
    }
    let p = vec2(sought.p, sought.p + 1);
    let offsets = p + params.dictionary_bytes - q;
    let tried = (q <= vec2(0xffffu)) & (offsets <= vec2(0xffffu));
    if !any(tried) {
        return own;
    }
    // The first position is even, so both are in the same word.
    let words = three_words(page, p.x);
    let x = eight_bytes(words, p.x);
    let y = eight_bytes(words, p.y);
    // A position without a candidate in the dictionary reads the last byte of it.
    let from_offsets = select(p + 1, offsets, tried);
    let there = vec2(
        n_equal(x, eight_bytes(dictionary_words(p.x - from_offsets.x), p.x - from_offsets.x)),
        n_equal(y, eight_bytes(dictionary_words(p.y - from_offsets.y), p.y - from_offsets.y)),
    );
    let here = vec2(
        n_equal(x, eight_bytes(three_words(page, p.x - own.x), p.x - own.x)),
        n_equal(y, eight_bytes(three_words(page, p.y - own.y), p.y - own.y)),
    );
    // A candidate of the page has four equal bytes at least.
    return select(own, offsets, tried & (there > select(here, vec2(4u), own == vec2(0u))));
}

// Returns the offset of the candidate at p, as `candidates_of` does for two positions, given that of the page and the product of all five
// bytes.
fn candidate_in_dictionary(page: Page, p: u32, own: u32, product: u32) -> u32 {
    let entry = dictionary[product >> (32 - INDEX_BITS)];
    let q = entry ^ (((product << 14) & 0x7fff0000) | 0x80000000);
    let offset = p + params.dictionary_bytes - q;
    var best = own;
    if q <= 0xffff && offset <= 0xffff {
        let sought = eight_bytes(three_words(page, p), p);
        let there = n_equal(sought, eight_bytes(dictionary_words(p - offset), p - offset));
        let here = n_equal(sought, eight_bytes(three_words(page, p - own), p - own));
        if there > select(here, 4u, own == 0) {
            best = offset;
        }
    }
    return best;
}

// Returns eight bytes from p on, of three words from that with byte p on.
fn eight_bytes(words: vec3<u32>, p: u32) -> vec2<u32> {
    let s = (p & 3) * 8;
    return vec2(funnel(words.x, words.y, s), funnel(words.y, words.z, s));
}

// Returns the number of equal bytes before the first that differs, of eight.
fn n_equal(a: vec2<u32>, b: vec2<u32>) -> u32 {
    let d = a ^ b;
    // countTrailingZeros(0) is 32.
    return select(countTrailingZeros(d.x), 32 + countTrailingZeros(d.y), d.x == 0) >> 3;
}

// Returns the end of the longest match at m, or of the one that has byte m: `limit`, that of the page, or for a match from the
// dictionary the end of that, if it comes first.
fn match_limit(limit: u32, m: u32, offset: u32) -> u32 {
    if DICTIONARY {
        return select(limit, min(limit, offset), offset > m);
    }
    return limit;
}

// Returns the word of the dictionary that has the byte at `source`, which is below 0, and the next two.
fn dictionary_words(source: u32) -> vec3<u32> {
    let i = i32(source) >> 2;
    return vec3(dictionary_word(i), dictionary_word(i + 1), dictionary_word(i + 2));
}

// Returns the word that has the byte `offset` before p, of the page or of the dictionary, and the next two.
fn source_words(page: Page, p: u32, offset: u32) -> vec3<u32> {
    if DICTIONARY && !AHEAD {
        // Both are loaded; in place of the one that is not wanted, the first word of the page or the last one of the dictionary.
        let is_before = p < offset;
        let words = three_words(page, select(p - offset, 0u, is_before));
        return select(words, dictionary_words(select(NONE, p - offset, is_before)), is_before);
    }
    if DICTIONARY && p < offset {
        return dictionary_words(p - offset);
    }
    return three_words(page, p - offset);
}
