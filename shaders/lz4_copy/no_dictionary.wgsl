// Part of lz4_copy: matches whose sources are in the page.

const DICTIONARY: bool = false;

// Returns the word of the page before the one at byte p.
fn word_before(page: ptr<function, Page>, p: u32) -> u32 {
    return pages[max((*page).first + (p >> 2), 1u) - 1];
}

// Words that a lane loads for its two matches.
alias Loaded = vec4<u32>;

// Loads two words for each match.
fn load_matches(page: ptr<function, Page>, word: ptr<function, Word>) -> Loaded {
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
    return loaded;
}

// Returns the words of the matches.
fn match_words(loaded: Loaded) -> vec4<u32> {
    return loaded;
}
