// Writes pages from the sequences that lz4_tokens.wgsl found and checked.
//
// A workgroup is WIDTH invocations: LANES per page, WIDTH / LANES pages at once. The lanes of a page write a row of adjacent
// words, one each, then the next row. A word has up to three parts: the end of one match, literals, and the begin of the
// next match. A lane whose matches come from its own row waits for the lanes that write them. With AHEAD, loads are issued one to
// three rows ahead: entries, then literals, then matches.
//
// packed     the blocks; up to 32 bytes behind them may be read, and are not used
// table      one pair per page, checked by lz4_tokens.wgsl
// sequences  the entries that lz4_tokens.wgsl describes; the entry behind those of a page may be read, and is not used
// pages      PAGE_SIZE bytes each, n_bytes in total, rounded up to whole words; up to 32 bytes behind them may be read
// status     one word per page: UNFINISHED | number of entries << 8, which becomes 0. A page with another status, or without
//            entries, is filled with zeros
// dictionary as lib/dictionary.wgsl says; any words without one
//
// Twin: src/lz4/decode.rs
//
// import: lib/bits, lib/narrow/merge_lanes, lib/pages/length, lz4_copy/load

override PAGE_SIZE: u32 = 4096;
// Invocations of a workgroup: those of a subgroup, 32 or 64.
override WIDTH: u32 = 32;
override LANES: u32 = 8;
// True if rows are prepared while those before them are written, which takes more registers.
override AHEAD: bool = true;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;
// Bytes of a row.
override ROW: u32 = 4 * LANES;
override ROW_MASK: u32 = 0xffffffffu >> (32 - LANES);
// Room for the entries of a page.
override ENTRIES: u32 = PAGE_SIZE / 4 + select(0u, 8u, DICTIONARY);

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_packed_words: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> packed: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sequences: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> pages: array<u32>;
@group(0) @binding(4) var<storage, read_write> status: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
@group(0) @binding(6) var<storage, read> dictionary: array<u32>;
// The binding of lengths, where each page has its own.
const LENGTHS: u32 = 7;

// A page, as one of its lanes sees it.
struct Page {
    lane: u32,
    // The 32 lanes of the workgroup that it belongs to, and the first lane of the page in them.
    half: u32,
    first_lane: u32,
    // First word in `pages`, and length in bytes, which is 0 for a page that is not copied.
    first: u32,
    n: u32,
    // First word of its block in `packed`, and mask of a place in the block plus four.
    block: i32,
    place_mask: u32,
    // First entry whose match begins in the row to look at next or behind it, and the end of the entries.
    entry: u32,
    end: u32,
    // First word of entry `entry + lane`.
    candidate: u32,
}

// A lane's word of a row.
struct Word {
    // Entry of the first match that begins behind the word's first byte, and the entry before it.
    own: vec2<u32>,
    before: vec2<u32>,
    // Bytes of the match before, and of it and the literals; the match after gives the rest.
    n_before: u32,
    n_literal: u32,
    // Bytes of the page from which the two matches are copied: those that would go to the word's first byte.
    from_before: u32,
    from_after: u32,
    // Periods of the matches in bytes, if they repeat bytes of the word itself; else 0: that of the match before, and that of the match
    // after << 2.
    periods: u32,
    // Lanes of the row, one per bit, that must have written their words.
    needs: u32,
    // Two words of the block that hold the literals, and the number of bits before them.
    literals: vec2<u32>,
    literal_shift: u32,
}

// Returns the next four bytes of a sequence of bytes with a period of 1 to 3, the last four of which are given.
fn continued(last: u32, period: u32) -> u32 {
    let repeated = last >> (32 - 8 * period);
    let twice = repeated | (repeated << (8 * period));
    return select(twice, twice | (twice << 16), period == 1);
}

// Returns the bits of the lanes that write bytes first..=last of the page, four at most, as far as they are in the row that
// begins at byte `row`.
fn writers(first: u32, last: u32, row: u32) -> u32 {
    let begin = i32(first - row) >> 2;
    let end = i32(last - row) >> 2;
    return select(0u, 1u << (u32(begin) & 31), begin >= 0) | select(0u, 1u << (u32(end) & 31), end >= 0);
}

// Loads the first word of entry `entry + lane`.
fn load_candidate(page: ptr<function, Page>) {
    (*page).candidate = sequences[min((*page).entry + (*page).lane, (*page).end)].x;
}

// Finds the entries of a lane's word in the row at byte `row`, and, with AHEAD, loads the candidates for the row after it. Synchronises
// the workgroup; `round` is that of `merge_lanes`.
//
// Matches have at least four bytes, so at most one begins in the four bytes before a word, or at it.
fn find_entries(page: ptr<function, Page>, word: ptr<function, Word>, row: u32, round: ptr<function, u32>) {
    if !AHEAD {
        load_candidate(page);
    }
    // The first word that begins at the candidate's match or behind it.
    let place = (((*page).candidate & 0xffff) + 4 - row) >> 2;
    let is_in_row = (*page).entry + (*page).lane < (*page).end && place < LANES;
    let own_bit = select(0u, 1u << ((place + (*page).first_lane) & 31), is_in_row);
    let begins = (lanes_of_half(merge_lanes(round, own_bit, (*page).half), (*page).half) >> (*page).first_lane) & ROW_MASK;
    let k = (*page).entry + countOneBits(begins & ((2u << (*page).lane) - 1));
    (*page).entry += countOneBits(begins);
    (*word).own = sequences[k];
    (*word).before = sequences[max(k, 1u) - 1];
    if AHEAD {
        load_candidate(page);
    }
}

// Finds the sources of the matches of the word at byte p of the page. A word that is not inside the page has no matches,
// whatever its entries say.
fn find_matches(word: ptr<function, Word>, p: u32, row: u32, is_inside: bool) {
    let begin = ((*word).own.x & 0xffff) + 1;
    let literals = begin - ((*word).own.x >> 16);
    (*word).n_literal = select(4u, min(begin - p, 4u), is_inside);
    (*word).n_before = select(0u, u32(clamp(i32(literals - p), 0, 4)), is_inside);
    let has_before = (*word).n_before > 0;
    let has_after = (*word).n_literal < 4;
    var distance = (*word).before.y & 0xffff;
    let offset = (*word).own.y & 0xffff;
    (*word).needs = 0u;
    (*word).periods = 0u;
    if (has_before && distance < ROW) || (has_after && offset < ROW) {
        let last_word = writers(p - 4, p - 4, row);
        if has_before && distance < ROW {
            // A multiple of the offset leads to the bytes before the match, which most often are in an earlier row.
            var copied = p - ((*word).before.x & 0xffff) - 1;
            if DICTIONARY {
                // A match that begins the page has 65,535 for its begin, less 1.
                copied &= 0xffff;
            }
            distance *= u32((f32(copied) + 0.5) / f32(distance)) + 1;
            let is_periodic = distance < 4;
            (*word).periods = select(0u, (*word).before.y & 0xffff, is_periodic);
            (*word).needs = select(writers(p - distance, p - distance + (*word).n_before - 1, row), last_word, is_periodic);
        }
        if has_after && offset < ROW {
            let is_periodic = offset < 4;
            (*word).periods |= select(0u, offset << 2, is_periodic);
            let needs = select(writers(p + (*word).n_literal - offset, p + 3 - offset, row), last_word, is_periodic);
            // A match that repeats earlier bytes of the word itself needs no other lane.
            (*word).needs |= select(needs, 0u, offset <= (*word).n_literal);
        }
    }
    (*word).from_before = p - distance;
    (*word).from_after = p - offset;
}

// Finds the block of the page with this index.
fn find_block(page: ptr<function, Page>, index: u32) {
    let entry = table[index];
    let length = entry.y & 0x3fffffff;
    (*page).block = i32(entry.x);
    // Entries have 16 bits of the distance from a byte of the page to its literal. A place in a block of less than 2^16 bytes
    // has 16 bits; in a longer one, of a page that hardly shrinks, the distance has no more, with its sign.
    (*page).place_mask = select(0xffffffffu, 0xffffu, length <= 65500);
}

// Prepares the word at byte p, once its entries are found: finds the sources of its matches, and loads its literals.
fn prepare(page: ptr<function, Page>, word: ptr<function, Word>, p: u32, row: u32) {
    let is_inside = p < (*page).n;
    find_matches(word, p, row, is_inside);
    if !AHEAD {
        // Read again for each row, since two registers for all rows are too many.
        find_block(page, (*page).first / (PAGE_SIZE / 4));
    }
    var place = p + u32(i32((*word).own.y) >> 16);
    if PAGE_SIZE == 65536 {
        place = ((place + 4) & (*page).place_mask) - 4;
    }
    (*word).literal_shift = (place & 3) * 8;
    if (*word).n_literal > (*word).n_before && is_inside {
        // The literals may begin up to three bytes behind `place`, which may lie before `packed`.
        let i = (*page).block + (i32(place) >> 2);
        (*word).literals = vec2(packed[max(i, 0)], packed[i + 1]);
    }
}

// Joins the literals of a word, which then take one register in place of three.
fn join_literals(word: ptr<function, Word>) {
    (*word).literals = vec2(funnel((*word).literals.x, (*word).literals.y, (*word).literal_shift), 0u);
    (*word).literal_shift = 0u;
}

// Joins the parts of the word at byte p.
fn join_parts(page: ptr<function, Page>, word: ptr<function, Word>, p: u32, loaded: Loaded) -> u32 {
    let words = loaded.of_page | loaded.of_dictionary;
    let before_mask = first_bits((*word).n_before);
    let literal_mask = first_bits((*word).n_literal);
    var before = funnel(words.x, words.y, ((*word).from_before & 3) * 8);
    let literals = funnel((*word).literals.x, (*word).literals.y, (*word).literal_shift);
    var after = funnel(words.z, words.w, ((*word).from_after & 3) * 8);
    if (*word).periods != 0 {
        if ((*word).periods & 3) != 0 {
            before = continued(word_before(page, p), (*word).periods & 3);
        }
        if ((*word).periods >> 2) != 0 {
            let last = word_before(page, p);
            let so_far = (before & before_mask) | (literals & ~before_mask);
            let n_bits = 8 * (*word).n_literal;
            after = continued(funnel(last, so_far, n_bits), (*word).periods >> 2) << n_bits;
        }
    }
    return (((before & before_mask) | (literals & ~before_mask)) & literal_mask) | (after & ~literal_mask);
}

// Writes the row at byte `row`. Meanwhile, prepares the next row, and finds the entries of the one after that, which take
// the place of those of the row itself. Synchronises the workgroup.
fn write_row(page: ptr<function, Page>, word: ptr<function, Word>, next: ptr<function, Word>, row: u32, round: ptr<function, u32>) {
    let p = row + 4 * (*page).lane;
    let loaded = load_matches(page, word);
    prepare(page, next, p + ROW, row + ROW);
    find_entries(page, word, row + 2 * ROW, round);
    finish_row(page, word, p, loaded, round);
}

// Writes a lane's word of a row, whose matches are `loaded`, when its sources are written. Synchronises the workgroup.
fn finish_row(page: ptr<function, Page>, word: ptr<function, Word>, p: u32, loaded: Loaded, round: ptr<function, u32>) {
    let joined = join_parts(page, word, p, loaded);
    let own = (*page).first + (p >> 2);
    let is_inside = p < (*page).n;
    var is_done = !is_inside || (*word).needs == 0;
    if is_inside && is_done {
        pages[own] = joined;
    }
    storageBarrier();
    let own_bit = 1u << ((*page).first_lane + (*page).lane);
    var done = merge_lanes(round, select(0u, own_bit, is_done), (*page).half);
    while !are_all_set(done) {
        if !is_done && ((*word).needs & ~(lanes_of_half(done, (*page).half) >> (*page).first_lane)) == 0 {
            pages[own] = join_parts(page, word, p, load_matches(page, word));
            is_done = true;
        }
        storageBarrier();
        done = merge_lanes(round, select(0u, own_bit, is_done), (*page).half);
    }
}

// Loads and writes a lane's word of a row when its sources are written. Synchronises the workgroup.
fn write_in_turn(page: ptr<function, Page>, word: ptr<function, Word>, p: u32, round: ptr<function, u32>) {
    var is_done = p >= (*page).n;
    var done = no_lanes();
    while !are_all_set(done) {
        if !is_done && ((*word).needs & ~(lanes_of_half(done, (*page).half) >> (*page).first_lane)) == 0 {
            pages[(*page).first + (p >> 2)] = join_parts(page, word, p, load_matches(page, word));
            is_done = true;
        }
        storageBarrier();
        let own_bit = 1u << ((*page).first_lane + (*page).lane);
        done = merge_lanes(round, select(0u, own_bit, is_done), (*page).half);
    }
}

fn begin_page(page: ptr<function, Page>, index: u32) {
    (*page).n = 0u;
    (*page).entry = 0u;
    (*page).end = 0u;
    if index >= params.n_pages {
        return;
    }
    let n_entries = status[index] >> 8;
    if n_entries == 0 {
        return;
    }
    (*page).first = index * (PAGE_SIZE / 4);
    (*page).n = page_length(index);
    if AHEAD {
        find_block(page, index);
    }
    (*page).entry = index * ENTRIES;
    (*page).end = (*page).entry + n_entries;
    if DICTIONARY {
        // A first match that begins the page is the match before the first word.
        (*page).entry += select(0u, 1u, sequences[(*page).entry].x == 0xffff);
    }
    if AHEAD {
        load_candidate(page);
    }
}

// Ends a page: clears the padding of its last word, or all of a page that has a fault.
fn end_page(page: ptr<function, Page>, index: u32) {
    if index >= params.n_pages {
        return;
    }
    if (*page).n > 0 {
        if (*page).lane == 0 {
            let n_bytes = (*page).n & 3;
            if n_bytes != 0 {
                pages[(*page).first + (*page).n / 4] &= first_bits(n_bytes);
            }
            status[index] = 0u;
        }
        return;
    }
    let n = page_length(index);
    for (var w = (*page).lane; 4 * w < n; w += LANES) {
        pages[index * (PAGE_SIZE / 4) + w] = 0u;
    }
}

@compute @workgroup_size(WIDTH)
fn lz4_copy(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    let group = WIDTH / LANES;
    var page: Page;
    page.lane = i & (LANES - 1);
    page.half = i / 32;
    page.first_lane = (i & 31) - page.lane;
    var round = 0u;
    for (var first = workgroup.x * group; first < params.n_pages; first += n_workgroups.x * group) {
        let index = first + i / LANES;
        begin_page(&page, index);
        var even: Word;
        if AHEAD {
            // Words of even and odd rows, in turn: to move loaded words from one variable to another, the compiler would wait.
            var odd: Word;
            find_entries(&page, &even, 0u, &round);
            prepare(&page, &even, 4 * page.lane, 0u);
            find_entries(&page, &odd, ROW, &round);
            for (var row = 0u; row < PAGE_SIZE; row += 2 * ROW) {
                write_row(&page, &even, &odd, row, &round);
                write_row(&page, &odd, &even, row + ROW, &round);
            }
        } else {
            for (var row = 0u; row < PAGE_SIZE; row += ROW) {
                let p = row + 4 * page.lane;
                find_entries(&page, &even, row, &round);
                prepare(&page, &even, p, row);
                join_literals(&even);
                write_in_turn(&page, &even, p, &round);
            }
        }
        end_page(&page, index);
    }
}
