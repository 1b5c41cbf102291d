// Part of lz4_parse: the parse of one segment by one lane.
//
// import: lib/bits, lz4_parse/stage

// A match that a lane has verified beyond this length is extended by all lanes together.
const LONG: u32 = 96;
// The lazy parse looks ahead only from shorter matches.
const LAZY_BELOW: u32 = 32;
const LAST: u32 = 0xffffffffu;

// The positions of a lane. A state of the parse is a position and a flag that forces a match there, without lazy
// look-ahead; as one word it is `2 * position + forced`, so that a later position is a larger word.
struct Segment {
    begin: u32,
    end: u32,
}

// Returns the candidate's offset at p, 0 for none.
fn candidate_at(page: Page, p: u32) -> u32 {
    return (candidates[page.first_candidate + (p >> 1)] >> (16 * (p & 1))) & 0xffff;
}

// Gathers the candidate bits of the segment, which the search has written by rounds, into workgroup memory.
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
        atomicStore(&sh_words[k * WIDTH + lane], bits);
    }
}

// Returns the first position from `from_position` on that has a candidate, or NONE at the end of the segment.
fn next_candidate(segment: Segment, from_position: u32) -> u32 {
    if from_position >= segment.end {
        return NONE;
    }
    let relative = from_position - segment.begin;
    var mask = 0xffffffffu << (relative & 31);
    for (var k = relative >> 5; k < SEGMENT_WORDS; k++) {
        let bits = atomicLoad(&sh_words[k * WIDTH + lane]) & mask;
        if bits != 0 {
            return segment.begin + k * 32 + countTrailingZeros(bits);
        }
        mask = 0xffffffffu;
    }
    return NONE;
}

// Returns how many of the 8 bytes from p on, a multiple of 4, equal those at p - offset.
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

// The matches of a lane so far: a linked list that begins at row `head`; rows from `top` on are free.
//
// An entry is (position | offset << 16, end). An entry with offset 0 is a link to the row in its position; LAST ends the
// list. So a walk that meets a match of the previous walk links to it instead of copying the rest.
struct List {
    head: u32,
    top: u32,
}

// Returns the index in `matches` of a row of this lane. Rows of all lanes interleave, so that access coalesces.
fn entry_index(page: Page, row: u32) -> u32 {
    return page.first_entry + row * WIDTH + lane;
}

// State in which a walk leaves its segment, and the row of its last match if that is longer than verified so far
// (`long_row`, else NONE); the state then is a lower bound.
struct Exit {
    state: u32,
    long_row: u32,
}

// Parses a segment from `start` and lists the matches found from row `list.top` on. A repeated walk of the segment
// (`again`) gets `old`, the row of the first match of the previous walk, and `before`, its exit: once it meets one of the
// previous matches, the remainder is the same. `old` is NONE if the rows of that walk are to be overwritten.
//
// Each step compares 8 bytes, of a new match or of the current one, so that lanes with long matches stall no others.
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
    // The current match starts at m and is verified up to p; m is NONE between matches.
    var m = NONE;
    var offset = 0u;
    // Lazy matching: the match at m - 1 that the current one must beat, and its end; 0 if there is none.
    var shorter_offset = 0u;
    var shorter_end = 0u;
    var exit = before;
    // At least every second step advances m or p, so the bound is never reached.
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
            // Skip the previous walk's matches that start before this one.
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
