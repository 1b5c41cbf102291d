// Finds the sequences of each page: candidates, then the greedy (or lazy) parse of src/lz4/mod.rs.
//
// A workgroup is WIDTH lanes, and takes pages `workgroup_id.x`, `+ num_workgroups.x`, ... In the search a lane takes
// two adjacent positions; in the parse, a segment of consecutive positions.
//
// pages       PAGE_SIZE bytes each, back to back; the last may be shorter
// candidates  scratch, CANDIDATE_WORDS a workgroup: two 16-bit offsets each, 0 for none; then a bit for each position
// matches     scratch, ROWS rows of WIDTH entries a workgroup; see List
// sequences   PAGE_SIZE / 4 entries a page. Entry 0: (n, 0). Entries 1..=n, of which the last holds only literals:
//             (start of match | offset << 16, place in the block | end of match << 16)
// sizes       a word a page: length of its block in bytes | kind << 30; kind 0 LZ4, 1 stored, 2 fill
//
// Needs: n_bytes > 0, n_pages = ceil(n_bytes / PAGE_SIZE), PAGE_SIZE = 2^(16 - TAG_BITS).
// Loops that run often count to a constant: browsers guard every other one, which costs six instructions a turn.
// Twin: src/lz4/parse.rs

override PAGE_SIZE: u32 = 4096;
// 32 or 64.
override WIDTH: u32 = 32;
override BUCKET_BITS: u32 = 9;
override TAG_BITS: u32 = 4;
// 4 or 5.
override HASH_BYTES: u32 = 4;
override FIFTH_MASK: u32 = select(0u, 255u, HASH_BYTES == 5);
override LAZY: bool = false;
override BACKWARD: bool = false;

// Words of a copy of the page in workgroup memory: PAGE_SIZE / 4 + WIDTH / 2 + 16, or 0 for no copy.
override STAGED_WORDS: u32 = 0;
override STAGED: bool = STAGED_WORDS > 0;

override BUCKETS: u32 = 1u << BUCKET_BITS;
override CHUNK: u32 = min(PAGE_SIZE, BUCKETS * 8);
override SEGMENT: u32 = CHUNK / WIDTH;
override SEGMENT_WORDS: u32 = SEGMENT / 32;
override CANDIDATE_WORDS: u32 = PAGE_SIZE / 2 + PAGE_SIZE / 32;
// Room for the matches of two walks of a segment, and for what ends and joins their parts.
override ROWS: u32 = SEGMENT / 2 + 16;
// From here on a walk begins at the first row again.
override LAST_START: u32 = ROWS - (SEGMENT / 4 + 8);
override TAG_MASK: u32 = (1u << TAG_BITS) - 1;
// Where the position begins in an entry in the upper half of a bucket.
override ENTRY_SHIFT: u32 = 16 + TAG_BITS;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pages_per_workgroup: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> candidates: array<u32>;
@group(0) @binding(2) var<storage, read_write> matches: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sequences: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(5) var<storage, read_write> tile_sums: array<atomic<u32>>;
@group(0) @binding(6) var<uniform> params: Params;

// In the search: the buckets. Outside of it: in the first quarter candidate bits, from the third on starts or sums, and
// the words named here. Nothing else, since every byte counts for how many workgroups run at once; but where memory is
// plentiful, a copy of the page behind.
var<workgroup> shared_words: array<atomic<u32>, SHARED_WORDS>;
override SHARED_WORDS: u32 = BUCKETS + STAGED_WORDS;
override AGREED: u32 = BUCKETS - 1;
override NEXT_PAGE: u32 = BUCKETS - 2;
override LONG_OFFSET: u32 = BUCKETS / 2 + 100;
override LONG_END: u32 = BUCKETS / 2 + 101;

const NONE: u32 = 0xffffffffu;
// A match that reaches further is ended by all lanes together.
const LONG: u32 = 96;
// The lazy parse looks ahead from shorter matches only.
const LAZY_BELOW: u32 = 32;
const KIND_STORED: u32 = 1u << 30;
const KIND_FILL: u32 = 2u << 30;

// Which lane this is. Not a part of Page, all of which is uniform, so that it may decide who meets at a barrier.
var<private> lane: u32;

// A page, as all lanes of its workgroup know it.
struct Page {
    first_word: u32,
    n: u32,
    // Of this workgroup in `candidates` and in `matches`.
    first_candidate: u32,
    first_entry: u32,
}

// The low word of the pair (a, b) shifted right by s bits; s = 0, 8, 16 or 24.
fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

// Word i of the page and the one after it.
fn two_words(page: Page, i: u32) -> vec2<u32> {
    if STAGED {
        let at = BUCKETS + i;
        return vec2(atomicLoad(&shared_words[at]), atomicLoad(&shared_words[at + 1]));
    }
    let at = page.first_word + i;
    return vec2(pages[at], pages[at + 1]);
}

// Word i of the page and the two after it.
fn three_words(page: Page, i: u32) -> vec3<u32> {
    if STAGED {
        let at = BUCKETS + i;
        return vec3(atomicLoad(&shared_words[at]), atomicLoad(&shared_words[at + 1]), atomicLoad(&shared_words[at + 2]));
    }
    let at = page.first_word + i;
    return vec3(pages[at], pages[at + 1], pages[at + 2]);
}

// Four words of the page, WIDTH apart.
fn four_words(i: u32) -> vec4<u32> {
    return vec4(pages[i], pages[i + WIDTH], pages[i + 2 * WIDTH], pages[i + 3 * WIDTH]);
}

fn stage_words(i: u32, words: vec4<u32>) {
    let at = BUCKETS + i;
    atomicStore(&shared_words[at], words.x);
    atomicStore(&shared_words[at + WIDTH], words.y);
    atomicStore(&shared_words[at + 2 * WIDTH], words.z);
    atomicStore(&shared_words[at + 3 * WIDTH], words.w);
}

// Copies the page into workgroup memory; many words at a time, since they come from afar.
fn stage(page: Page) {
    if page.n == PAGE_SIZE {
        for (var i = lane; i < PAGE_SIZE / 4; i += 16 * WIDTH) {
            let a = four_words(page.first_word + i);
            let b = four_words(page.first_word + i + 4 * WIDTH);
            let c = four_words(page.first_word + i + 8 * WIDTH);
            let d = four_words(page.first_word + i + 12 * WIDTH);
            stage_words(i, a);
            stage_words(i + 4 * WIDTH, b);
            stage_words(i + 8 * WIDTH, c);
            stage_words(i + 12 * WIDTH, d);
        }
    } else {
        for (var i = lane; 4 * i < page.n; i += WIDTH) {
            atomicStore(&shared_words[BUCKETS + i], pages[page.first_word + i]);
        }
    }
}

// What a lane may want next; see `agree`.
const NOTHING: u32 = 0;
const CHANGED: u32 = 255;

// What the lanes want next: the largest code wins and is returned to all. `round` counts the calls.
fn agree(round: ptr<function, u32>, code: u32) -> u32 {
    *round += 1u;
    if code != NOTHING {
        atomicMax(&shared_words[AGREED], (*round << 8) | code);
    }
    let all = workgroupUniformLoad(&shared_words[AGREED]);
    return select(NOTHING, all & 255, (all >> 8) == *round);
}

// ---- Search ---------------------------------------------------------------------------------------------------

fn clear_buckets() {
    for (var i = lane; i < BUCKETS; i += WIDTH) {
        atomicStore(&shared_words[i], 0u);
    }
}

// Whether the bytes at the positions in the upper halves of entries are those sought, and how far these lie before.
struct Found {
    agree: vec2<bool>,
    offsets: vec2<u32>,
}

// Whether the bytes at p are these: four, and where five are hashed the lowest of `fifth`.
fn agrees(page: Page, p: u32, word: u32, fifth: u32) -> bool {
    let words = two_words(page, p >> 2);
    let s = (p & 3) * 8;
    return ((funnel(words.x, words.y, s) ^ word) | (((words.y >> s) ^ fifth) & FIFTH_MASK)) == 0;
}

// Lanes with nothing to try read near their neighbours, which costs nothing.
fn look_up(page: Page, entries: vec2<u32>, sought: Sought, tried: vec2<bool>) -> Found {
    let decoded = (entries >> vec2(ENTRY_SHIFT)) ^ vec2(63u);
    let q = select(select(vec2(sought.p), decoded, tried), decoded, STAGED);
    let x = agrees(page, q.x, sought.words.x, sought.fifths.x);
    let y = agrees(page, q.y, sought.words.y, sought.fifths.y);
    return Found(tried & vec2(x, y), vec2(sought.p, sought.p + 1) - q);
}

// The bytes at p and at the position after it.
struct Sought {
    p: u32,
    words: vec2<u32>,
    // In the lowest byte the one after each word.
    fifths: vec2<u32>,
}

// What the search of a page hands from round to round.
struct Search {
    // This lane's first position, which is even, and its entry without tag.
    p: u32,
    entry: u32,
    // The words around the positions, one before them.
    loaded: vec3<u32>,
    // Two bits for every round: whether the positions have candidates.
    bits: u32,
    weight: u32,
}

// A round: two positions a lane. Where `is_edge`, there may be positions that are not searched or have nothing before
// them; `is_last` says that no round follows.
fn search_round(page: Page, state: ptr<function, Search>, is_edge: bool, is_last: bool) {
    let p = (*state).p;
    let is_odd = (lane & 1) != 0;
    let s = lane * 16;
    let before = (*state).loaded.x;
    let low = (*state).loaded.y;
    let high = (*state).loaded.z;
    let words = vec2(funnel(low, high, s & 16), funnel(low, high, (s & 16) + 8));
    let previous = select((before >> 24) | (low << 8), (low >> 8) | (high << 24), is_odd);
    // Words come from afar, so those of the next round are asked for here.
    if !is_edge || !is_last {
        (*state).loaded = three_words(page, (p >> 2) + WIDTH / 2 - 1);
    }
    var run = vec2(words.x == previous, words.y == words.x);
    var inserted = !run;
    if is_edge {
        let last = page.n - 12;
        let searchable = vec2(p <= last, p < last);
        run &= searchable & vec2(p > 0, true);
        inserted = searchable & !run;
    }
    let fifths = vec2(high >> (s & 16), high >> ((s & 16) + 8));
    let products = words * 2654435761u + (fifths & vec2(FIFTH_MASK)) * 2246822519u;
    let buckets = products >> vec2(32 - BUCKET_BITS);
    // The last bit of the first position's entry is 1.
    let entries = vec2((*state).entry, (*state).entry - (1u << ENTRY_SHIFT)) | (products & vec2(TAG_MASK << 16));
    var seen = vec2(0u);
    for (var window = 0u; window < WIDTH / 32; window++) {
        let mine = WIDTH == 32 || (lane >> 5) == window;
        if mine {
            seen = vec2(atomicLoad(&shared_words[buckets.x]), atomicLoad(&shared_words[buckets.y]));
        }
        workgroupBarrier();
        if mine {
            // Where there is nothing to insert, a zero goes to a word of each lane's own; that costs less than a branch.
            let moved = select(vec2(0u), entries | (seen >> vec2(16u)), inserted);
            let to = select(vec2(lane), buckets, inserted);
            atomicMax(&shared_words[to.x], moved.x);
            atomicMax(&shared_words[to.y], moved.y);
        }
        workgroupBarrier();
    }
    // In the first window nothing lies before.
    let after_first = !is_edge || p >= 64;
    let sought = Sought(p, words, fifths);
    let older = seen << vec2(16u);
    var offsets: vec2<u32>;
    if TAG_BITS > 0 {
        let is_newer = ((seen ^ products) & vec2(TAG_MASK << 16)) == vec2(0u);
        let is_older = ((older ^ products) & vec2(TAG_MASK << 16)) == vec2(0u);
        let tried = inserted & (is_newer | is_older) & vec2(after_first);
        let found = look_up(page, select(older, seen, is_newer), sought, tried);
        offsets = select(vec2(0u), found.offsets, found.agree);
    } else {
        let tried = inserted & vec2(after_first);
        let newer = look_up(page, seen, sought, tried);
        let found = look_up(page, older, sought, tried & !newer.agree);
        offsets = select(vec2(0u), found.offsets, found.agree);
        offsets = select(offsets, newer.offsets, newer.agree);
    }
    offsets = select(offsets, vec2(1u), run);
    candidates[page.first_candidate + (p >> 1)] = offsets.x + offsets.y * 65536;
    if offsets.x != 0 {
        (*state).bits += (*state).weight;
    }
    if offsets.y != 0 {
        (*state).bits += 2 * (*state).weight;
    }
    (*state).weight *= 4u;
    (*state).p += 2 * WIDTH;
    (*state).entry += (2 * WIDTH) << ENTRY_SHIFT;
}

// Finds all candidates. Behind them their bits are left: those of lane l in 16 rounds in word l of WIDTH.
fn search(page: Page) {
    clear_buckets();
    workgroupBarrier();
    let rounds = (page.n - 12) / (2 * WIDTH) + 1;
    let first = 2 * lane;
    var state = Search(first, (first ^ 63) << ENTRY_SHIFT, three_words(page, max(first >> 2, 1u) - 1), 0u, 1u);
    if lane < 2 {
        state.loaded = vec3(0u, state.loaded.x, state.loaded.y);
    }
    var round = 0u;
    for (var group = 0u; group < PAGE_SIZE / (32 * WIDTH); group++) {
        state.bits = 0u;
        state.weight = 1u;
        for (var k = 0u; k < 16; k++) {
            // The first round, the last, or past it. A form of its own for the others pays only with a copy of the page.
            if !STAGED || round - 1 >= rounds - 2 {
                if round >= rounds {
                    break;
                }
                search_round(page, &state, true, round + 1 == rounds);
            } else {
                search_round(page, &state, false, false);
            }
            round++;
        }
        candidates[page.first_candidate + PAGE_SIZE / 2 + group * WIDTH + lane] = state.bits;
    }
}

// ---- Parse ----------------------------------------------------------------------------------------------------

// A state of the parse: the position, and whether a match must start there without a lazy look ahead.
// As one word it is `2 * position + forced`, so that a later position is a larger word.
struct Segment {
    begin: u32,
    end: u32,
}

fn candidate_at(page: Page, p: u32) -> u32 {
    return (candidates[page.first_candidate + (p >> 1)] >> (16 * (p & 1))) & 0xffff;
}

// Gathers the candidate bits of a segment from where the search left them.
fn prepare_segment(page: Page, segment: Segment) {
    for (var k = 0u; k < SEGMENT_WORDS; k++) {
        var bits = 0u;
        let p = segment.begin + 32 * k;
        if p < segment.end {
            let round = p / (2 * WIDTH);
            let from_word = page.first_candidate + PAGE_SIZE / 2 + (round >> 4) * WIDTH + ((p >> 1) & (WIDTH - 1));
            for (var j = 0u; j < 16; j++) {
                bits |= ((candidates[from_word + j] >> (2 * (round & 15))) & 3) << (2 * j);
            }
        }
        atomicStore(&shared_words[k * WIDTH + lane], bits);
    }
}

// The first position from `from_position` on that has a candidate, NONE if the segment has none.
fn next_candidate(segment: Segment, from_position: u32) -> u32 {
    if from_position >= segment.end {
        return NONE;
    }
    let relative = from_position - segment.begin;
    var mask = 0xffffffffu << (relative & 31);
    for (var k = relative >> 5; k < SEGMENT_WORDS; k++) {
        let bits = atomicLoad(&shared_words[k * WIDTH + lane]) & mask;
        if bits != 0 {
            return segment.begin + k * 32 + countTrailingZeros(bits);
        }
        mask = 0xffffffffu;
    }
    return NONE;
}

// How many of the 8 bytes from p on, a multiple of 4, agree with those at p - offset.
fn agreeing(page: Page, p: u32, offset: u32) -> u32 {
    let s = ((p - offset) & 3) * 8;
    let here = two_words(page, p >> 2);
    let there = three_words(page, (p - offset) >> 2);
    let d0 = here.x ^ funnel(there.x, there.y, s);
    let d1 = here.y ^ funnel(there.y, there.z, s);
    let first = select(d0, d1, d0 == 0);
    let words = select(0u, 4u, d0 == 0);
    return select(words + (countTrailingZeros(first) >> 3), 8u, first == 0);
}

// The matches of a lane so far: a list that begins at row `head`; rows from `top` on are free.
//
// An entry is (position | offset << 16, end). One with offset 0 goes on at the row that is its position; LAST ends the
// list. So a walk that comes upon a match of the one before needs only to say where.
struct List {
    head: u32,
    top: u32,
}

const LAST: u32 = 0xffffffffu;

fn entry_index(page: Page, row: u32) -> u32 {
    return page.first_entry + row * WIDTH + lane;
}

// How a walk leaves its segment: the state, and the row of its last match if that is longer than seen so far
// (`long_row`, else NONE); the state then is a lower bound.
struct Exit {
    state: u32,
    long_row: u32,
}

// Walks a segment from `start` and lists the matches found from row `list.top` on. A later walk of the segment, one
// `again`, gets `old`, the row of the first match of the walk before it, and `before`, its exit: once it comes upon a
// match of that one, the rest is the same. `old` is NONE if the rows of that walk are to be written anew.
//
// A step compares 8 bytes, of a new match or of the one at hand, so that lanes with long matches hold nobody up.
fn walk(page: Page, segment: Segment, start: u32, list: ptr<function, List>, again: bool, old: u32, before: Exit) -> Exit {
    let limit = page.n - 5;
    var p = start >> 1;
    var may_look_ahead = LAZY && (start & 1) == 0;
    var old_row = old;
    var old_entry = LAST;
    if again && old != NONE {
        old_entry = matches[entry_index(page, old)].x;
    }
    let first_row = (*list).top;
    var row = first_row;
    // The match at hand starts at m and reaches p; NONE between matches.
    var m = NONE;
    var offset = 0u;
    // The match at m - 1 that the one at hand must beat, and its end; 0 if there is none.
    var shorter_offset = 0u;
    var shorter_end = 0u;
    var exit = before;
    // Every second step at least moves m or p on.
    for (var step = 0u; step < 4 * PAGE_SIZE; step++) {
        if m == NONE {
            m = next_candidate(segment, p);
            if m == NONE {
                exit = Exit(2 * max(p, segment.end), NONE);
                break;
            }
            offset = candidate_at(page, m);
            p = (m + 4) & ~3u;
        }
        let n = agreeing(page, p, offset);
        p = min(p + n, limit);
        var is_long = false;
        if n == 8 && p < limit {
            if p <= m + LONG {
                continue;
            }
            is_long = true;
        }
        if LAZY {
            if shorter_offset != 0 {
                if p <= shorter_end + 1 {
                    m--;
                    offset = shorter_offset;
                    p = shorter_end;
                }
                shorter_offset = 0u;
            } else if may_look_ahead && m + 13 <= page.n && p < m + LAZY_BELOW {
                let next = candidate_at(page, m + 1);
                if next != 0 {
                    shorter_offset = offset;
                    shorter_end = p;
                    m++;
                    offset = next;
                    p = (m + 4) & ~3u;
                    continue;
                }
            }
            may_look_ahead = true;
        }
        if m >= segment.end {
            exit = Exit(2 * m + 1, NONE);
            break;
        }
        if again {
            // Matches of the walk before, up to this one.
            for (var k = 0u; k < ROWS; k++) {
                if (old_entry >> 16) == 0 {
                    old_row = old_entry;
                } else if (old_entry & 0xffff) < m {
                    old_row++;
                } else {
                    break;
                }
                old_entry = matches[entry_index(page, old_row)].x;
            }
            if (old_entry & 0xffff) == m {
                if row == first_row {
                    (*list).head = old_row;
                    return before;
                }
                matches[entry_index(page, row)] = vec2(old_row, 0u);
                (*list).head = first_row;
                (*list).top = row + 1;
                return before;
            }
        }
        matches[entry_index(page, row)] = vec2(m | (offset << 16), p);
        row++;
        if is_long {
            exit = Exit(2 * max(p, segment.end), row - 1);
            break;
        }
        m = NONE;
    }
    matches[entry_index(page, row)] = vec2(LAST, 0u);
    (*list).head = first_row;
    (*list).top = row + 1;
    return exit;
}

// Tells the segments after this one that none of them starts before `exit`.
fn push_exit(page: Page, section: u32, chunk_begin: u32, exit: u32) {
    let target_lane = min(((exit >> 1) - chunk_begin) / SEGMENT, WIDTH);
    for (var k = lane + 1; k <= target_lane; k++) {
        atomicMax(&shared_words[section + k], exit);
    }
}

// Over the lanes before this one, and in .zw over all lanes: the sum of `sum` and the largest `largest`.
fn scan_lanes(sum: u32, largest: u32) -> vec4<u32> {
    let sums = BUCKETS / 2;
    let ends = BUCKETS / 2 + 64;
    var s = sum;
    var e = largest;
    for (var d = 1u; d < WIDTH; d *= 2) {
        atomicStore(&shared_words[sums + lane], s);
        atomicStore(&shared_words[ends + lane], e);
        workgroupBarrier();
        if lane >= d {
            s += atomicLoad(&shared_words[sums + lane - d]);
            e = max(e, atomicLoad(&shared_words[ends + lane - d]));
        }
        workgroupBarrier();
    }
    atomicStore(&shared_words[sums + lane], s);
    atomicStore(&shared_words[ends + lane], e);
    workgroupBarrier();
    var before = vec2(0u);
    if lane > 0 {
        before = vec2(s - sum, atomicLoad(&shared_words[ends + lane - 1]));
    }
    let all = vec2(atomicLoad(&shared_words[sums + WIDTH - 1]), atomicLoad(&shared_words[ends + WIDTH - 1]));
    workgroupBarrier();
    return vec4(before, all);
}

// Ends the long match of one lane by all lanes together, 8 bytes each a step. All pass that lane, which
// finds the end at LONG_END.
fn end_long_match(page: Page, round: ptr<function, u32>, owner: u32, long_row: u32) {
    if lane == owner {
        let found = matches[entry_index(page, long_row)];
        atomicStore(&shared_words[LONG_OFFSET], found.x >> 16);
        atomicStore(&shared_words[LONG_END], found.y);
    }
    workgroupBarrier();
    let offset = atomicLoad(&shared_words[LONG_OFFSET]);
    var own = (atomicLoad(&shared_words[LONG_END]) & ~3u) + 8 * lane;
    loop {
        var end = page.n - 5;
        if own < end {
            end = min(end, own + agreeing(page, own, offset));
        }
        let first = agree(round, select(NOTHING, WIDTH - lane, end < own + 8 || end == page.n - 5));
        if first != NOTHING {
            if lane == WIDTH - first {
                atomicStore(&shared_words[LONG_END], end);
            }
            break;
        }
        own += 8 * WIDTH;
    }
    workgroupBarrier();
}

// Lets every segment start where the ones before leave, until nothing changes. Returns the state in which the
// chunk is left.
fn settle(page: Page, segment: Segment, chunk_begin: u32, carry: u32, list: ptr<function, List>, round: ptr<function, u32>) -> u32 {
    var section = BUCKETS / 2;
    for (var i = lane; i < 224; i += WIDTH) {
        atomicStore(&shared_words[section + i], 0u);
    }
    var start = 2 * segment.begin;
    if lane == 0 {
        start = max(start, carry);
    }
    var exit = walk(page, segment, start, list, false, NONE, Exit(0u, NONE));
    workgroupBarrier();
    loop {
        push_exit(page, section, chunk_begin, exit.state);
        workgroupBarrier();
        let pushed = max(atomicLoad(&shared_words[section + lane]), 2 * segment.begin);
        var wish = select(WIDTH - lane, NOTHING, exit.long_row == NONE);
        if lane > 0 && pushed != start {
            start = pushed;
            var old = (*list).head;
            if (*list).top > LAST_START {
                old = NONE;
                (*list).top = 0u;
            }
            exit = walk(page, segment, start, list, true, old, exit);
            wish = CHANGED;
        }
        let next = agree(round, wish);
        if next == NOTHING {
            break;
        }
        if next != CHANGED {
            // The lanes before this one are settled, so its long match stands.
            end_long_match(page, round, WIDTH - next, exit.long_row);
            if lane == WIDTH - next {
                let end = atomicLoad(&shared_words[LONG_END]);
                matches[entry_index(page, exit.long_row)].y = end;
                // The list goes on after it.
                matches[entry_index(page, exit.long_row + 1)].x = (*list).top;
                let head = (*list).head;
                exit = walk(page, segment, 2 * end, list, false, NONE, exit);
                (*list).head = head;
            }
        }
        // Nobody reads this section any more: clear it for the round after the next.
        atomicStore(&shared_words[section + lane], 0u);
        if lane == 0 {
            atomicStore(&shared_words[section + WIDTH], 0u);
        }
        section ^= 128u;
    }
    let left = atomicLoad(&shared_words[section + WIDTH]);
    workgroupBarrier();
    return left;
}

// ---- Sequences ------------------------------------------------------------------------------------------------

// Bytes that a length takes beyond its four bits in the token.
fn extension(length: u32) -> u32 {
    return select(0u, (length - 15) / 255 + 1, length >= 15);
}

// How far the match at m can begin earlier, not before `anchor`.
fn extend_backward(page: Page, m: u32, offset: u32, anchor: u32) -> u32 {
    var start = m;
    while start > anchor && start > offset {
        let p = start - 1;
        let q = p - offset;
        let a = two_words(page, p >> 2).x >> ((p & 3) * 8);
        let b = two_words(page, q >> 2).x >> ((q & 3) * 8);
        if ((a ^ b) & 0xff) != 0 {
            break;
        }
        start = p;
    }
    return start;
}

// Bytes of a sequence.
fn sequence_bytes(literals: u32, match_bytes: u32) -> u32 {
    return 3 + literals + extension(literals) + extension(match_bytes - 4);
}

// The matches of a segment, added up.
struct Sums {
    n: u32,
    // Bytes of all sequences but the first, which depends on the segments before.
    bytes: u32,
    first: vec2<u32>,
    // Where the last match ends.
    end: u32,
}

// The next match of a list, or LAST; `next` is what lies at `row`, loaded ahead since it comes from afar.
fn take_match(page: Page, row: ptr<function, u32>, next: ptr<function, vec2<u32>>) -> vec2<u32> {
    if ((*next).x >> 16) == 0 {
        *row = (*next).x;
        *next = matches[entry_index(page, *row)];
    }
    return *next;
}

fn add_up(page: Page, head: u32) -> Sums {
    var sums = Sums(0u, 0u, vec2(0u), 0u);
    var row = head;
    var next = matches[entry_index(page, row)];
    for (var k = 0u; k < SEGMENT / 4; k++) {
        let found = take_match(page, &row, &next);
        if found.x == LAST {
            break;
        }
        next = matches[entry_index(page, row + 1)];
        if k == 0 {
            sums.first = found;
        } else {
            var start = found.x & 0xffff;
            if BACKWARD {
                start = extend_backward(page, start, found.x >> 16, sums.end);
                matches[entry_index(page, row)].x = start | (found.x & 0xffff0000);
            }
            sums.bytes += sequence_bytes(start - sums.end, found.y - start);
        }
        sums.end = found.y;
        sums.n++;
        row++;
    }
    return sums;
}

// Writes the matches of a segment as sequences from `first` on, placed from `place` on. `start` is where the first one
// begins.
fn write_sequences(page: Page, head: u32, start_of_first: u32, anchor_before: u32, first: u32, place: u32) {
    var anchor = anchor_before;
    var bytes = place;
    var row = head;
    var next = matches[entry_index(page, row)];
    for (var k = 0u; k < SEGMENT / 4; k++) {
        let found = take_match(page, &row, &next);
        if found.x == LAST {
            break;
        }
        row++;
        next = matches[entry_index(page, row)];
        let start = select(found.x & 0xffff, start_of_first, k == 0);
        sequences[first + k] = vec2(start | (found.x & 0xffff0000), bytes | (found.y << 16));
        bytes += sequence_bytes(start - anchor, found.y - start);
        anchor = found.y;
    }
}

// What the parse of a page carries from chunk to chunk.
struct Progress {
    // State of the parse.
    state: u32,
    // End of the last match.
    anchor: u32,
    n_sequences: u32,
    bytes: u32,
}

fn parse_chunk(page: Page, chunk_begin: u32, first_sequence: u32, before: Progress, round: ptr<function, u32>) -> Progress {
    var progress = before;
    let begin = chunk_begin + lane * SEGMENT;
    let segment = Segment(begin, max(begin, min(begin + SEGMENT, page.n - 11)));
    prepare_segment(page, segment);
    var list = List(0u, 0u);
    progress.state = settle(page, segment, chunk_begin, before.state, &list, round);
    let own = add_up(page, list.head);
    let placed = scan_lanes(own.n, own.end);
    let anchor = max(placed.y, before.anchor);
    var start = own.first.x & 0xffff;
    var bytes = 0u;
    if own.n > 0 {
        if BACKWARD {
            start = extend_backward(page, start, own.first.x >> 16, anchor);
        }
        bytes = own.bytes + sequence_bytes(start - anchor, own.first.y - start);
    }
    let placed_bytes = scan_lanes(bytes, 0u);
    let at = first_sequence + before.n_sequences + placed.x;
    write_sequences(page, list.head, start, anchor, at, before.bytes + placed_bytes.x);
    progress.n_sequences += placed.z;
    progress.anchor = max(before.anchor, placed.w);
    progress.bytes += placed_bytes.z;
    return progress;
}

// ---- Pages ----------------------------------------------------------------------------------------------------

// Whether the page repeats its first eight bytes. Two steps, since most pages fail
// the first.
fn find_fill(page: Page, round: ptr<function, u32>) -> bool {
    let words = vec2(pages[page.first_word], pages[page.first_word + 1]);
    let expected = select(words.x, words.y, (lane & 1) != 0);
    let n_words = page.n / 4;
    var differs = (page.n & 7) != 0 || (lane < n_words && pages[page.first_word + lane] != expected);
    if agree(round, u32(differs)) != NOTHING {
        return false;
    }
    for (var i = lane + WIDTH; i < n_words; i += WIDTH) {
        differs |= pages[page.first_word + i] != expected;
    }
    return agree(round, u32(differs)) == NOTHING;
}

fn parse_page(page: Page, index: u32, round: ptr<function, u32>) {
    let is_fill = find_fill(page, round);
    if is_fill || page.n < 13 {
        if lane == 0 {
            sizes[index] = select(page.n | KIND_STORED, 8 | KIND_FILL, is_fill);
        }
        return;
    }
    if STAGED {
        stage(page);
    }
    search(page);
    storageBarrier();
    workgroupBarrier();
    if lane == 0 {
        atomicStore(&shared_words[AGREED], 0u);
    }
    workgroupBarrier();
    let first_sequence = index * (PAGE_SIZE / 4) + 1;
    var progress = Progress(0u, 0u, 0u, 0u);
    for (var chunk = 0u; chunk + 12 <= page.n; chunk += CHUNK) {
        progress = parse_chunk(page, chunk, first_sequence, progress, round);
    }
    if lane == 0 {
        let literals = page.n - progress.anchor;
        let size = progress.bytes + 1 + literals + extension(literals);
        sequences[first_sequence - 1] = vec2(progress.n_sequences + 1, 0u);
        sequences[first_sequence + progress.n_sequences] = vec2(0u, progress.bytes);
        sizes[index] = select(size, page.n | KIND_STORED, size >= page.n);
    }
}

@compute @workgroup_size(WIDTH)
fn lz4_parse(@builtin(local_invocation_index) index_in_workgroup: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    lane = index_in_workgroup;
    var round = 0u;
    if lane == 0 {
        atomicStore(&shared_words[AGREED], 0u);
    }
    for (var taken = 0u; taken < params.pages_per_workgroup; taken++) {
        if lane == 0 {
            atomicStore(&shared_words[NEXT_PAGE], atomicAdd(&tile_sums[0], 1u));
        }
        let index = workgroupUniformLoad(&shared_words[NEXT_PAGE]);
        if index >= params.n_pages {
            break;
        }
        let page = Page(
            index * (PAGE_SIZE / 4),
            min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE),
            workgroup.x * CANDIDATE_WORDS,
            workgroup.x * (ROWS * WIDTH),
        );
        parse_page(page, index, &round);
    }
}
