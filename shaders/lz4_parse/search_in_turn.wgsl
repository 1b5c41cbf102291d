// Part of lz4_parse: the search without AHEAD, which finds what `search` finds. A lane looks up its positions in turn, from words that it
// loads and hashes again, so that few values live at a time.
//
// import: lib/bits, lz4_parse/dictionary, lz4_parse/search, lz4_parse/stage

// The buckets and the entries of a lane's two positions.
struct Insertion {
    // Index of the bucket; for a position without an insertion, of another one for each lane, into which nothing is inserted.
    to: vec2<u32>,
    // Entry, 0 without an insertion.
    entries: vec2<u32>,
    // Bits 0 and 1: positions with an insertion. Bits 2 and 3: positions that continue a run of one byte.
    kinds: u32,
}

// Returns the product of which the upper bits are the hash of a word and, where `mask` says so, of the byte after it.
fn hash(word: u32, fifth: u32, mask: u32) -> u32 {
    return word * 2654435761u + (fifth & mask) * 2246822519u;
}

// Returns the insertion of the lane whose first position is p.
fn insertion_at(page: Page, p: u32) -> Insertion {
    let around = words_around(page, p);
    let s = (p & 2) * 8;
    let words = vec2(funnel(around.y, around.z, s), funnel(around.y, around.z, s + 8));
    let previous = select((around.x >> 24) | (around.y << 8), (around.y >> 8) | (around.z << 24), s != 0);
    let last = page.n - 12;
    let searchable = vec2(p <= last, p < last);
    let run = vec2(words.x == previous, words.y == words.x) & searchable & vec2(p > 0, true);
    let inserted = searchable & !run;
    let products = vec2(hash(words.x, around.z >> s, FIFTH_MASK), hash(words.y, around.z >> (s + 8), FIFTH_MASK));
    let positions = vec2(p ^ 63, (p ^ 63) - 1);
    let entries = (positions << vec2(ENTRY_SHIFT)) | (products & vec2(TAG_MASK << 16));
    let kinds = select(vec2(0u), vec2(1u, 2u), inserted) | select(vec2(0u), vec2(4u, 8u), run);
    return Insertion(
        select(vec2(lane), products >> vec2(32 - BUCKET_BITS), inserted),
        select(vec2(0u), entries, inserted),
        kinds.x | kinds.y,
    );
}

// Inserts the positions of all lanes, and returns the buckets of this lane's as they were before.
fn insert(insertion: Insertion) -> vec2<u32> {
    var seen = vec2(0u);
    for (var window = 0u; window < WIDTH / 32; window++) {
        let mine = WIDTH == 32 || (lane >> 5) == window;
        if mine {
            seen = vec2(atomicLoad(&sh_words[insertion.to.x]), atomicLoad(&sh_words[insertion.to.y]));
        }
        workgroupBarrier();
        if mine {
            let moved = select(vec2(0u), insertion.entries | (seen >> vec2(16u)), insertion.entries != vec2(0u));
            atomicMax(&sh_words[insertion.to.x], moved.x);
            atomicMax(&sh_words[insertion.to.y], moved.y);
        }
        workgroupBarrier();
    }
    return seen;
}

// Returns the distance from p back to the position of an entry if the bytes there are the ones sought, else 0.
fn distance_to(page: Page, p: u32, entry: u32, word: u32, fifth: u32) -> u32 {
    let q = (entry >> ENTRY_SHIFT) ^ 63;
    return select(0u, p - q, agrees(page, q, word, fifth));
}

// Returns the offset of the candidate at p in the page, 0 for none, given the bucket as it was before the insertion.
fn candidate_in_page(page: Page, p: u32, seen: u32, word: u32, fifth: u32) -> u32 {
    let older = seen << 16;
    if TAG_BITS > 0 {
        let product = hash(word, fifth, FIFTH_MASK);
        let is_newer = ((seen ^ product) & (TAG_MASK << 16)) == 0;
        let is_older = ((older ^ product) & (TAG_MASK << 16)) == 0;
        let distance = distance_to(page, p, select(older, seen, is_newer), word, fifth);
        return select(0u, distance, is_newer | is_older);
    }
    let newer = distance_to(page, p, seen, word, fifth);
    return select(newer, distance_to(page, p, older, word, fifth), newer == 0);
}

// Returns the offset of the candidate at p, 0 for none. `kind` as in Insertion, of this position.
fn candidate_of(page: Page, p: u32, seen: u32, kind: u32) -> u32 {
    let around = two_words(page, p);
    let s = (p & 3) * 8;
    let word = funnel(around.x, around.y, s);
    let fifth = around.y >> s;
    var offset = (kind >> 2) & 1;
    // No position of the first window has an earlier one in the table.
    if (kind & 1) != 0 && p >= 64 {
        offset = candidate_in_page(page, p, seen, word, fifth);
    }
    if DICTIONARY && (kind & 5) != 0 {
        offset = candidate_in_dictionary(page, p, offset, hash(word, fifth, 255u));
    }
    return offset;
}

// Finds all candidates, and leaves the candidate bits as `search` does.
fn search_in_turn(page: Page) {
    clear_buckets();
    workgroupBarrier();
    let rounds = (page.n - 12) / (2 * WIDTH) + 1;
    var bits = 0u;
    for (var round = 0u; round < rounds; round++) {
        let p = 2 * (round * WIDTH + lane);
        let insertion = insertion_at(page, p);
        let seen = insert(insertion);
        var found = 0u;
        // Compilers do not know that these are two, so they do not look up both at once.
        for (var i = 0u; i < min(2u, 1 + params.n_pages); i++) {
            let offset = candidate_of(page, p + i, select(seen.x, seen.y, i != 0), insertion.kinds >> i);
            found |= offset << (16 * i);
        }
        candidates[page.first_candidate + (p >> 1)] = found;
        let pair = select(0u, 1u, (found & 0xffff) != 0) + select(0u, 2u, (found >> 16) != 0);
        bits |= pair << (2 * (round & 15));
        if (round & 15) == 15 || round + 1 == rounds {
            candidates[page.first_candidate + PAGE_SIZE / 2 + (round >> 4) * WIDTH + lane] = bits;
            bits = 0u;
        }
    }
}
