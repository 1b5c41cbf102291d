// Part of lz4_copy: words of the page, and of the dictionary before it.
//
// import: lib/dictionary

// Words that a lane loads for its two matches. Those of the page and those of the dictionary have variables of their own, 0 where
// nothing is loaded, since a load to the same one would wait for the other load.
struct Loaded {
    of_page: vec4<u32>,
    of_dictionary: vec4<u32>,
}

// Loads two words for each match.
fn load_matches(page: ptr<function, Page>, word: ptr<function, Word>) -> Loaded {
    if DICTIONARY && !AHEAD {
        let before = load_either(page, (*word).from_before, (*word).n_before > 0);
        return Loaded(vec4(before, load_either(page, (*word).from_after, (*word).n_literal < 4)), vec4(0u));
    }
    if DICTIONARY {
        let before = load_source(page, (*word).from_before, (*word).n_before > 0);
        let after = load_source(page, (*word).from_after, (*word).n_literal < 4);
        return Loaded(vec4(before.xy, after.xy), vec4(before.zw, after.zw));
    }
    var loaded = vec4(0u);
    if (*word).n_before > 0 {
        let i = (*page).first + ((*word).from_before >> 2);
        loaded.x = pages[i];
        loaded.y = pages[i + 1];
    }
    if (*word).n_literal < 4 {
        // The match's first byte may lie up to three bytes behind `from_after`, which may lie before `pages`.
        let i = i32((*page).first) + (i32((*word).from_after) >> 2);
        loaded.z = pages[max(i, 0)];
        loaded.w = pages[i + 1];
    }
    return Loaded(loaded, vec4(0u));
}

// Returns word i of the page or, below 0, of the dictionary before it.
fn word_of_either(page: ptr<function, Page>, i: i32) -> u32 {
    if i < 0 {
        return dictionary_word(i);
    }
    return pages[i32((*page).first) + i];
}

// Loads two words from byte `source` on, if they are needed.
fn load_either(page: ptr<function, Page>, source: u32, is_needed: bool) -> vec2<u32> {
    var loaded = vec2(0u);
    if is_needed {
        let i = i32(source) >> 2;
        loaded = vec2(word_of_either(page, i), word_of_either(page, i + 1));
    }
    return loaded;
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

// Returns the word before the one at byte p of the page.
fn word_before(page: ptr<function, Page>, p: u32) -> u32 {
    if DICTIONARY && p < 4 {
        return dictionary_word(-1);
    }
    return pages[max((*page).first + (p >> 2), 1u) - 1];
}
