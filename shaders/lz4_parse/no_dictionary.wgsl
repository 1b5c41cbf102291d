// Part of lz4_parse: matches whose sources are in the page.
//
// import: lz4_parse/stage

const DICTIONARY: bool = false;

// Returns no positions.
fn in_index(words: vec2<u32>, fifths: vec2<u32>, wanted: vec2<bool>) -> vec2<u32> {
    return vec2(NONE);
}

// Returns the candidates of two positions: those of the page, `own`.
fn candidates_of(page: Page, sought: Sought, own: vec2<u32>, q: vec2<u32>) -> vec2<u32> {
    return own;
}

// Returns the end of the longest match at m, or of the one that has byte m: `limit`, that of the page.
fn match_limit(limit: u32, m: u32, offset: u32) -> u32 {
    return limit;
}

// Returns the word that has the byte `offset` before p, and the next two.
fn source_words(page: Page, p: u32, offset: u32) -> vec3<u32> {
    return three_words(page, p - offset);
}
