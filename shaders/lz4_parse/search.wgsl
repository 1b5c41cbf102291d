// Part of lz4_parse: the hash table, and a match candidate for each position.
//
// A bucket is one word: the newest position in its upper half, the one before it in its lower half, each with TAG_BITS of
// the hash. Positions are stored inverted within a window of 64, so that atomicMax keeps the first of a window.
//
// import: lib/bits, lz4_parse/dictionary, lz4_parse/stage

fn clear_buckets() {
    for (var i = lane; i < BUCKETS; i += WIDTH) {
        atomicStore(&sh_words[i], 0u);
    }
}

// Candidates of a lane's two positions.
struct Found {
    // True where the bytes at the candidate are the ones sought.
    agree: vec2<bool>,
    // Distances from the positions back to their candidates.
    offsets: vec2<u32>,
}

// Returns true if the bytes at p are the ones sought: four, and where five are hashed the lowest byte of `fifth`.
fn agrees(page: Page, p: u32, word: u32, fifth: u32) -> bool {
    let words = two_words(page, p);
    let s = (p & 3) * 8;
    return ((funnel(words.x, words.y, s) ^ word) | (((words.y >> s) ^ fifth) & FIFTH_MASK)) == 0;
}

// Decodes the positions in the upper halves of entries and compares their bytes. Idle lanes load from a neighbour's cache
// line, so the access stays coalesced.
fn look_up(page: Page, entries: vec2<u32>, sought: Sought, tried: vec2<bool>) -> Found {
    let decoded = (entries >> vec2(ENTRY_SHIFT)) ^ vec2(63u);
    let q = select(select(vec2(sought.p), decoded, tried), decoded, STAGED);
    let x = agrees(page, q.x, sought.words.x, sought.fifths.x);
    let y = agrees(page, q.y, sought.words.y, sought.fifths.y);
    return Found(tried & vec2(x, y), vec2(sought.p, sought.p + 1) - q);
}

// The bytes at p and at p + 1.
struct Sought {
    p: u32,
    words: vec2<u32>,
    // The byte after each word, in the lowest byte.
    fifths: vec2<u32>,
}

// The place of a lane's positions in their words, the same in all rounds of the search.
struct Position {
    // Shift of its first position in a word, and of its second.
    shifts: vec2<u32>,
    is_odd: bool,
    // Index of the word that positions without an insertion write to.
    idle: u32,
}

// State of a lane between two rounds of the search.
struct Search {
    // The lane's first position, which is even, and its entry without tag.
    p: u32,
    entry: u32,
    // Index of its candidates.
    at: u32,
    // Prefetched words: the one before the positions and the two from them on.
    loaded: vec3<u32>,
    // Two bits per round: set for positions that have a candidate.
    bits: u32,
    weight: u32,
}

// Returns the word before p and the two from it on; 0 before the page.
fn words_around(page: Page, p: u32) -> vec3<u32> {
    let words = three_words(page, max(p, 4u) - 4);
    return select(words, vec3(0u, words.xy), p < 4);
}

// Inserts and looks up two positions per lane. With `is_edge`, some positions may be too close to the end of the page or
// have none before them; `is_last` says that no round follows, so that nothing is prefetched.
fn search_round(page: Page, state: ptr<function, Search>, is_edge: bool, is_last: bool) {
    let shift = (lane & 1) * 16;
    let own = Position(vec2(shift, shift + 8), shift != 0, select(lane, STAGE_END + lane, STAGED));
    let p = (*state).p;
    let before = (*state).loaded.x;
    let low = (*state).loaded.y;
    let high = (*state).loaded.z;
    let words = vec2(funnel(low, high, own.shifts.x), funnel(low, high, own.shifts.y));
    let previous = select((before >> 24) | (low << 8), (low >> 8) | (high << 24), own.is_odd);
    // The next round's words are prefetched one iteration ahead, to hide latency.
    if !is_edge || !is_last {
        (*state).loaded = three_words(page, p + (2 * WIDTH - 4));
    }
    var run = vec2(words.x == previous, words.y == words.x);
    var inserted = !run;
    var searchable = vec2(true);
    if is_edge {
        let last = page.n - 12;
        searchable = vec2(p <= last, p < last);
        run &= searchable & vec2(p > 0, true);
        inserted = searchable & !run;
    }
    let fifths = vec2(high >> own.shifts.x, high >> own.shifts.y);
    let in_dictionary = in_index(words, fifths, searchable);
    let products = words * 2654435761u + (fifths & vec2(FIFTH_MASK)) * 2246822519u;
    let buckets = products >> vec2(32 - BUCKET_BITS);
    // The lowest bit of the first position in its entry is 1, so the subtraction borrows from no other bit.
    let entries = vec2((*state).entry, (*state).entry - (1u << ENTRY_SHIFT)) | (products & vec2(TAG_MASK << 16));
    var seen = vec2(0u);
    for (var window = 0u; window < WIDTH / 32; window++) {
        let mine = WIDTH == 32 || (lane >> 5) == window;
        if mine {
            seen = vec2(atomicLoad(&sh_words[buckets.x]), atomicLoad(&sh_words[buckets.y]));
        }
        workgroupBarrier();
        if mine {
            // A lane without an insertion writes to a word of its own, which costs less than a branch: 0 to a bucket, which
            // changes nothing, or anything to the words after the staged page.
            var moved = entries | (seen >> vec2(16u));
            if !STAGED {
                moved = select(vec2(0u), moved, inserted);
            }
            let to = select(vec2(own.idle), buckets, inserted);
            atomicMax(&sh_words[to.x], moved.x);
            atomicMax(&sh_words[to.y], moved.y);
        }
        workgroupBarrier();
    }
    // No position of the first window has an earlier one in the table.
    let after_first = !is_edge || p >= 64;
    let sought = Sought(p, words, fifths);
    let older = seen << vec2(16u);
    var offsets: vec2<u32>;
    if TAG_BITS > 0 {
        let is_newer = ((seen ^ products) & vec2(TAG_MASK << 16)) == vec2(0u);
        let is_older = ((older ^ products) & vec2(TAG_MASK << 16)) == vec2(0u);
        var tried = is_newer | is_older;
        if is_edge || !STAGED {
            tried &= inserted & vec2(after_first);
        }
        let found = look_up(page, select(older, seen, is_newer), sought, tried);
        offsets = select(vec2(0u), found.offsets, found.agree);
    } else {
        let tried = inserted & vec2(after_first);
        let newer = look_up(page, seen, sought, tried);
        let found = look_up(page, older, sought, tried & !newer.agree);
        offsets = select(vec2(0u), found.offsets, found.agree);
        offsets = select(offsets, newer.offsets, newer.agree);
    }
    offsets = candidates_of(page, sought, select(offsets, vec2(1u), run), in_dictionary);
    candidates[(*state).at] = offsets.x + offsets.y * 65536;
    if offsets.x != 0 {
        (*state).bits += (*state).weight;
    }
    if offsets.y != 0 {
        (*state).bits += 2 * (*state).weight;
    }
    (*state).weight *= 4u;
    (*state).p += 2 * WIDTH;
    (*state).entry += (2 * WIDTH) << ENTRY_SHIFT;
    (*state).at += WIDTH;
}

// Finds all candidates, and leaves the candidate bits behind them: bits of lane l for 16 rounds in word l of WIDTH.
fn search(page: Page) {
    clear_buckets();
    workgroupBarrier();
    let rounds = (page.n - 12) / (2 * WIDTH) + 1;
    let first = 2 * lane;
    var state = Search(
        first,
        (first ^ 63) << ENTRY_SHIFT,
        page.first_candidate + lane,
        words_around(page, first),
        0u,
        1u,
    );
    var round = 0u;
    for (var group = 0u; group < PAGE_SIZE / (32 * WIDTH); group++) {
        state.bits = 0u;
        state.weight = 1u;
        if STAGED {
            // Two rounds in succession let the assembler overlap them. They are specialised unless one of them may be the first,
            // the last, or past it.
            for (var k = 0u; k < 8; k++) {
                if round - 1 >= max(rounds, 3u) - 3 {
                    for (var j = 0u; j < 2; j++) {
                        if round < rounds {
                            search_round(page, &state, true, round + 1 == rounds);
                        }
                        round++;
                    }
                } else {
                    search_round(page, &state, false, false);
                    search_round(page, &state, false, false);
                    round += 2u;
                }
            }
        } else {
            for (var k = 0u; k < 16; k++) {
                if round >= rounds {
                    break;
                }
                search_round(page, &state, true, round + 1 == rounds);
                round++;
            }
        }
        candidates[page.first_candidate + PAGE_SIZE / 2 + group * WIDTH + lane] = state.bits;
    }
}
