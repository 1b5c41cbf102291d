// Finds the sequences of each page: candidates, then the greedy (or lazy) parse of src/lz4/mod.rs.
//
// A workgroup is WIDTH lanes, and takes pages `workgroup_id.x`, `+ num_workgroups.x`, ... In the search a lane takes
// two adjacent positions; in the parse, a segment of consecutive positions.
//
// pages       PAGE_SIZE bytes each, back to back; the last may be shorter
// candidates  scratch, PAGE_SIZE / 2 words a workgroup: two 16-bit offsets each, 0 for none
// matches     scratch, PAGE_SIZE / 4 words a workgroup: entry p / 4 is `offset | end << 16` of the match at p
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
override LAZY: bool = false;
override BACKWARD: bool = false;

override BUCKETS: u32 = 1u << BUCKET_BITS;
override CHUNK: u32 = min(PAGE_SIZE, BUCKETS * 8);
override SEGMENT: u32 = CHUNK / WIDTH;
override SEGMENT_WORDS: u32 = SEGMENT / 32;
override TAG_MASK: u32 = (1u << TAG_BITS) - 1;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pages_per_workgroup: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> candidates: array<u32>;
@group(0) @binding(2) var<storage, read_write> matches: array<u32>;
@group(0) @binding(3) var<storage, read_write> sequences: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(5) var<storage, read_write> tile_sums: array<atomic<u32>>;
@group(0) @binding(6) var<uniform> params: Params;

// In the search: the buckets. Outside of it, in quarters: candidate bits, visited bits, starts or sums, and the
// words named here. Nothing else, since every byte counts for how many workgroups run at once.
var<workgroup> shared_words: array<atomic<u32>, BUCKETS>;
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
    scratch: u32,
}

// The low word of the pair (a, b) shifted right by s bits; s = 0, 8, 16 or 24.
fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

// Four bytes of the page from byte p on.
fn word_at(page: Page, p: u32) -> u32 {
    let i = page.first_word + (p >> 2);
    return funnel(pages[i], pages[i + 1], (p & 3) * 8);
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

// Offsets of the positions to where the entries in the upper halves point, 0 unless `plausible` and the words agree.
fn verify(page: Page, entries: vec2<u32>, positions: vec2<u32>, words: vec2<u32>, plausible: vec2<bool>) -> vec2<u32> {
    let decoded = (entries >> vec2(16 + TAG_BITS)) ^ vec2(63u);
    let tried = plausible & (decoded < positions);
    // Lanes with nothing to try read near their neighbours, which costs nothing.
    let q = select(vec2(positions.x), decoded, tried);
    let found = vec2(word_at(page, q.x), word_at(page, q.y));
    return select(vec2(0u), positions - q, tried & (found == words));
}

// The words around the positions of a round, one before them.
fn load_round(page: Page, round: u32) -> vec3<u32> {
    let i = page.first_word + ((round * WIDTH + lane) >> 1);
    return vec3(pages[max(i, 1u) - 1], pages[i], pages[i + 1]);
}

// Positions 2 * (WIDTH * round + lane) and the one after it; returns a bit for each that has a candidate.
// `loaded` are the words around them, and those of the next round afterwards.
fn search_round(page: Page, round: u32, next_round: u32, loaded: ptr<function, vec3<u32>>) -> u32 {
    let pair = round * WIDTH + lane;
    let p = 2 * pair;
    let is_odd = (lane & 1) != 0;
    let s = (lane & 1) * 16;
    let before = (*loaded).x;
    let low = (*loaded).y;
    let high = (*loaded).z;
    let words = vec2(funnel(low, high, s), funnel(low, high, s + 8));
    let previous = select((before >> 24) | (low << 8), (low >> 8) | (high << 24), is_odd);
    // Words come from afar, so those of the next round are asked for here.
    *loaded = load_round(page, next_round);
    let positions = vec2(p, p + 1);
    let last = page.n - 12;
    let searchable = vec2(p <= last, p < last);
    let run = vec2(words.x == previous && p > 0, words.y == words.x) & searchable;
    let inserted = searchable & !run;
    let products = words * 2654435761u;
    let buckets = products >> vec2(32 - BUCKET_BITS);
    // Tags where they lie in the lower and the upper half of a bucket; other bits there are not theirs.
    let low_tags = products >> vec2(32 - BUCKET_BITS - TAG_BITS);
    let high_tags = products >> vec2(16 - BUCKET_BITS - TAG_BITS);
    let entries = ((positions ^ vec2(63u)) << vec2(16 + TAG_BITS)) | (high_tags & vec2(TAG_MASK << 16));
    var seen = vec2(0u);
    for (var window = 0u; window < WIDTH / 32; window++) {
        let mine = WIDTH == 32 || (lane >> 5) == window;
        if mine {
            seen = vec2(atomicLoad(&shared_words[buckets.x]), atomicLoad(&shared_words[buckets.y]));
        }
        workgroupBarrier();
        let moved = entries | (seen >> vec2(16u));
        if mine && inserted.x {
            atomicMax(&shared_words[buckets.x], moved.x);
        }
        if mine && inserted.y {
            atomicMax(&shared_words[buckets.y], moved.y);
        }
        workgroupBarrier();
    }
    let older = seen << vec2(16u);
    var offsets: vec2<u32>;
    if TAG_BITS > 0 {
        let is_newer = ((seen ^ high_tags) & vec2(TAG_MASK << 16)) == vec2(0u);
        let is_older = ((seen ^ low_tags) & vec2(TAG_MASK)) == vec2(0u);
        offsets = verify(page, select(older, seen, is_newer), positions, words, inserted & (is_newer | is_older));
    } else {
        offsets = verify(page, seen, positions, words, inserted);
        offsets |= verify(page, older, positions, words, inserted & (offsets == vec2(0u)));
    }
    offsets = select(offsets, vec2(1u), run);
    candidates[2 * page.scratch + pair] = offsets.x + offsets.y * 65536;
    return select(0u, 1u, offsets.x != 0) + select(0u, 2u, offsets.y != 0);
}

// Finds all candidates. Their bits are left in `matches`: those of lane l in 16 rounds in word l of the words that
// belong to the positions of these rounds.
fn search(page: Page) {
    clear_buckets();
    workgroupBarrier();
    let rounds = (page.n - 12) / (2 * WIDTH) + 1;
    var loaded = load_round(page, 0u);
    for (var group = 0u; group < PAGE_SIZE / (32 * WIDTH); group++) {
        var bits = 0u;
        var weight = 1u;
        for (var k = 0u; k < 16; k++) {
            let round = 16 * group + k;
            if round >= rounds {
                break;
            }
            bits += search_round(page, round, min(round + 1, rounds - 1), &loaded) * weight;
            weight *= 4u;
        }
        matches[page.scratch + group * (8 * WIDTH) + lane] = bits;
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
    return (candidates[2 * page.scratch + (p >> 1)] >> (16 * (p & 1))) & 0xffff;
}

// Gathers the candidate bits of a segment from where the search left them, and clears the visited bits.
fn prepare_segment(page: Page, segment: Segment) {
    for (var k = 0u; k < SEGMENT_WORDS; k++) {
        var bits = 0u;
        let p = segment.begin + 32 * k;
        if p < segment.end {
            let round = p / (2 * WIDTH);
            let from_word = page.scratch + (round >> 4) * (8 * WIDTH) + ((p >> 1) & (WIDTH - 1));
            for (var j = 0u; j < 16; j++) {
                bits |= ((matches[from_word + j] >> (2 * (round & 15))) & 3) << (2 * j);
            }
        }
        atomicStore(&shared_words[k * WIDTH + lane], bits);
        atomicStore(&shared_words[BUCKETS / 4 + k * WIDTH + lane], 0u);
    }
    storageBarrier();
}

fn next_bit(section: u32, page: Page, segment: Segment, from_position: u32) -> u32 {
    if from_position >= segment.end {
        return NONE;
    }
    let relative = from_position - segment.begin;
    var mask = 0xffffffffu << (relative & 31);
    for (var k = relative >> 5; k < SEGMENT_WORDS; k++) {
        let bits = atomicLoad(&shared_words[section + k * WIDTH + lane]) & mask;
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
    let i = page.first_word + (p >> 2);
    let j = page.first_word + ((p - offset) >> 2);
    let middle = pages[j + 1];
    let d0 = pages[i] ^ funnel(pages[j], middle, s);
    let d1 = pages[i + 1] ^ funnel(middle, pages[j + 2], s);
    let first = select(d0, d1, d0 == 0);
    let words = select(0u, 4u, d0 == 0);
    return select(words + (countTrailingZeros(first) >> 3), 8u, first == 0);
}

fn clear_visited(page: Page, segment: Segment, from_position: u32, to_position: u32) {
    var p = from_position;
    while p < to_position {
        let relative = p - segment.begin;
        let next = min((p | 31) + 1, to_position);
        let mask = (0xffffffffu >> (32 - (next - p))) << (relative & 31);
        let i = BUCKETS / 4 + (relative >> 5) * WIDTH + lane;
        atomicStore(&shared_words[i], atomicLoad(&shared_words[i]) & ~mask);
        p = next;
    }
}

// How a walk leaves its segment: the state, and the start of its last match if that is longer than seen so far
// (`long_match`, else NONE); the state then is a lower bound.
struct Exit {
    state: u32,
    long_match: u32,
}

// Walks a segment from `start`, marks the matches found and remembers them in `matches`. A later walk of the segment
// gets `before`, the exit of the walk before it: once it comes upon a match of that one, the rest is the same.
//
// A step compares 8 bytes, of a new match or of the one at hand, so that lanes with long matches hold nobody up.
fn walk(page: Page, segment: Segment, start: u32, again: bool, before: Exit) -> Exit {
    let limit = page.n - 5;
    var p = start >> 1;
    var may_look_ahead = LAZY && (start & 1) == 0;
    var cleared = segment.begin;
    // The match at hand starts at m and reaches p; NONE between matches.
    var m = NONE;
    var offset = 0u;
    // The match at m - 1 that the one at hand must beat, and its end; 0 if there is none.
    var shorter_offset = 0u;
    var shorter_end = 0u;
    // Every second step at least moves m or p on.
    for (var step = 0u; step < 4 * PAGE_SIZE; step++) {
        if m == NONE {
            m = next_bit(0u, page, segment, p);
            if m == NONE {
                return leave(page, segment, cleared, again, Exit(2 * max(p, segment.end), NONE));
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
            return leave(page, segment, cleared, again, Exit(2 * m + 1, NONE));
        }
        let relative = m - segment.begin;
        let i = BUCKETS / 4 + (relative >> 5) * WIDTH + lane;
        let bit = 1u << (relative & 31);
        if again {
            clear_visited(page, segment, cleared, m);
            cleared = m + 1;
        }
        let visited = atomicLoad(&shared_words[i]);
        if (visited & bit) != 0 {
            break;
        }
        atomicStore(&shared_words[i], visited | bit);
        matches[page.scratch + (m >> 2)] = offset | (p << 16);
        if is_long {
            return leave(page, segment, cleared, again, Exit(2 * max(p, segment.end), m));
        }
        m = NONE;
    }
    return before;
}

fn leave(page: Page, segment: Segment, cleared: u32, again: bool, exit: Exit) -> Exit {
    if again {
        clear_visited(page, segment, cleared, segment.end);
    }
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
fn end_long_match(page: Page, round: ptr<function, u32>, owner: u32, long_match: u32) {
    if lane == owner {
        let found = matches[page.scratch + (long_match >> 2)];
        atomicStore(&shared_words[LONG_OFFSET], found & 0xffff);
        atomicStore(&shared_words[LONG_END], found >> 16);
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
fn settle(page: Page, segment: Segment, chunk_begin: u32, carry: u32, round: ptr<function, u32>) -> u32 {
    var section = BUCKETS / 2;
    for (var i = lane; i < 224; i += WIDTH) {
        atomicStore(&shared_words[section + i], 0u);
    }
    var start = 2 * segment.begin;
    if lane == 0 {
        start = max(start, carry);
    }
    var exit = walk(page, segment, start, false, Exit(0u, NONE));
    workgroupBarrier();
    loop {
        push_exit(page, section, chunk_begin, exit.state);
        workgroupBarrier();
        let pushed = max(atomicLoad(&shared_words[section + lane]), 2 * segment.begin);
        var wish = select(WIDTH - lane, NOTHING, exit.long_match == NONE);
        if lane > 0 && pushed != start {
            start = pushed;
            exit = walk(page, segment, start, true, exit);
            wish = CHANGED;
        }
        let next = agree(round, wish);
        if next == NOTHING {
            break;
        }
        if next != CHANGED {
            // The lanes before this one are settled, so its long match stands.
            end_long_match(page, round, WIDTH - next, exit.long_match);
            if lane == WIDTH - next {
                let i = page.scratch + (exit.long_match >> 2);
                let end = atomicLoad(&shared_words[LONG_END]);
                matches[i] = (matches[i] & 0xffff) | (end << 16);
                exit = walk(page, segment, 2 * end, false, exit);
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

// How many matches the segment has, and where the last one ends (0 if none).
fn count_matches(page: Page, segment: Segment) -> vec2<u32> {
    var n = 0u;
    var last = NONE;
    for (var k = 0u; k < SEGMENT_WORDS; k++) {
        let bits = atomicLoad(&shared_words[BUCKETS / 4 + k * WIDTH + lane]);
        n += countOneBits(bits);
        if bits != 0 {
            last = segment.begin + 32 * k + firstLeadingBit(bits);
        }
    }
    var end = 0u;
    if last != NONE {
        end = matches[page.scratch + (last >> 2)] >> 16;
    }
    return vec2(n, end);
}

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
        let a = pages[page.first_word + (p >> 2)] >> ((p & 3) * 8);
        let b = pages[page.first_word + (q >> 2)] >> ((q & 3) * 8);
        if ((a ^ b) & 0xff) != 0 {
            break;
        }
        start = p;
    }
    return start;
}

// Writes the matches of a segment as sequences from `first` on, placed from 0 on; returns their bytes.
fn write_sequences(page: Page, segment: Segment, anchor_before: u32, first: u32) -> u32 {
    var anchor = anchor_before;
    var bytes = 0u;
    var m = next_bit(BUCKETS / 4, page, segment, segment.begin);
    for (var k = 0u; k < SEGMENT / 4; k++) {
        if m == NONE {
            break;
        }
        let found = matches[page.scratch + (m >> 2)];
        let offset = found & 0xffff;
        let end = found >> 16;
        var start = m;
        if BACKWARD {
            start = extend_backward(page, m, offset, anchor);
        }
        sequences[first + k] = vec2(start | (offset << 16), bytes | (end << 16));
        let literals = start - anchor;
        bytes += 3 + literals + extension(literals) + extension(end - start - 4);
        anchor = end;
        m = next_bit(BUCKETS / 4, page, segment, m + 1);
    }
    return bytes;
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
    progress.state = settle(page, segment, chunk_begin, before.state, round);
    let own = count_matches(page, segment);
    let placed = scan_lanes(own.x, own.y);
    let at = first_sequence + before.n_sequences + placed.x;
    let bytes = write_sequences(page, segment, max(placed.y, before.anchor), at);
    let placed_bytes = scan_lanes(bytes, 0u);
    let base = before.bytes + placed_bytes.x;
    for (var i = 0u; i < SEGMENT / 4; i++) {
        if i >= own.x {
            break;
        }
        sequences[at + i].y += base;
    }
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
            workgroup.x * (PAGE_SIZE / 4),
        );
        parse_page(page, index, &round);
    }
}
