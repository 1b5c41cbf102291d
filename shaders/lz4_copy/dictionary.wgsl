// Part of lz4_copy: matches whose sources are in the page or in the dictionary, or begin in the dictionary and end in the page.
//
// import: lib/dictionary

const DICTIONARY: bool = true;

// Returns the word before the one at byte p of the page.
fn word_before(page: ptr<function, Page>, p: u32) -> u32 {
    if p < 4 {
        return dictionary_word(-1);
    }
    return pages[(*page).first + (p >> 2) - 1];
}

// Words that a lane loads for its two matches. Those of the page and those of the dictionary have variables of their own, 0 where
// nothing is loaded, since a load to the same one would wait for the other load.
struct Loaded {
    of_page: vec4<u32>,
    of_dictionary: vec4<u32>,
}

// Loads two words from byte `source` on, of the page in .xy or, below 0, of the dictionary in .zw. Loads nothing if they are not
// needed.
fn load_source(page: ptr<function, Page>, source: u32, is_needed: bool) -> vec4<u32> {
    let i = i32(source) >> 2;
    let at = i + i32((*page).first);
    var loaded = vec4(0u);
    if is_needed & (i >= 0) {
        loaded.x = pages[at];
    }
    if is_needed & (i >= -1) {
        loaded.y = pages[at + 1];
    }
    if is_needed & (i < 0) {
        loaded.z = dictionary_word(i);
    }
    if is_needed & (i < -1) {
        loaded.w = dictionary_word(i + 1);
    }
    return loaded;
}

// Loads two words for each match.
fn load_matches(page: ptr<function, Page>, word: ptr<function, Word>) -> Loaded {
    let before = load_source(page, (*word).from_before, (*word).n_before > 0);
    // The match's first byte may lie up to three bytes behind `from_after`.
    let after = load_source(page, (*word).from_after, (*word).n_literal < 4);
    return Loaded(vec4(before.xy, after.xy), vec4(before.zw, after.zw));
}

// Returns the words of the matches.
fn match_words(loaded: Loaded) -> vec4<u32> {
    return loaded.of_page | loaded.of_dictionary;
}
