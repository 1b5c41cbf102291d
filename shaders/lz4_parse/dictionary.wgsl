// Part of lz4_parse: matches whose sources are in the page or in the dictionary. Offsets above the position are those of the
// dictionary.
//
// import: lib/bits, lib/dictionary, lz4_parse/stage

const DICTIONARY: bool = true;

// Returns the candidates of two positions: those of the page, `own`, or those of the dictionary where it has more equal bytes,
// of eight.
fn candidates_of(page: Page, sought: Sought, own: vec2<u32>, searchable: vec2<bool>) -> vec2<u32> {
    let products = sought.words * 2654435761u + (sought.fifths & vec2(255u)) * 2246822519u;
    let buckets = products >> vec2(32 - INDEX_BITS);
    var entries = vec2(0u);
    if searchable.x {
        entries.x = dictionary[buckets.x];
    }
    if searchable.y {
        entries.y = dictionary[buckets.y];
    }
    let p = vec2(sought.p, sought.p + 1);
    // An entry is a position below bits of its product, or 0.
    let q = entries ^ (((products << vec2(14u)) & vec2(0x7fff0000u)) | vec2(0x80000000u));
    let offsets = p + params.dictionary_bytes - q;
    let tried = (q <= vec2(0xffffu)) & (offsets <= vec2(0xffffu));
    var chosen = own;
    if tried.x {
        chosen.x = longer(page, p.x, own.x, offsets.x);
    }
    if tried.y {
        chosen.y = longer(page, p.y, own.y, offsets.y);
    }
    return chosen;
}

// Returns the offset of the candidate in the dictionary if it has more equal bytes than the page's, of eight, and five at least;
// else that of the page.
fn longer(page: Page, p: u32, own: u32, offset: u32) -> u32 {
    let sought = eight_bytes(three_words(page, p), p);
    // A candidate of the page has four equal bytes at least.
    var n_own = 4u;
    if own != 0 {
        n_own = n_equal(sought, eight_bytes(three_words(page, p - own), p - own));
    }
    let n = n_equal(sought, eight_bytes(source_words(page, p, offset), p - offset));
    return select(own, offset, n > n_own);
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
    return select(limit, min(limit, offset), offset > m);
}

// Returns the word that has the byte `offset` before p, of the page or of the dictionary, and the next two.
fn source_words(page: Page, p: u32, offset: u32) -> vec3<u32> {
    if p < offset {
        let i = i32(p - offset) >> 2;
        return vec3(dictionary_word(i), dictionary_word(i + 1), dictionary_word(i + 2));
    }
    return three_words(page, p - offset);
}
