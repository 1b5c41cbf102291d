// Part of lz4_parse: the parse of one segment by one lane.
//
// import: lib/bits, lz4_parse/dictionary, lz4_parse/stage, lz4_parse/slots

// A match that a lane has verified beyond this length is extended by all lanes together.
const LONG: u32 = 96;
// The lazy parse looks ahead only from shorter matches.
const LAZY_BELOW: u32 = 32;

// Returns the candidate's offset at p, 0 for none.
fn candidate_at(page: Page, p: u32) -> u32 {
    return (candidates[page.first_candidate + (p >> 1)] >> (16 * (p & 1))) & 0xffff;
}

// Gathers the candidate bits of the segment, which the search has written by rounds, into workgroup memory.
fn prepare_segment(page: Page, segment: Segment) {
    for (var k = 0u; k < SEGMENT_WORDS; k++) {
        let p = segment.begin + 32 * k;
        let round = p / (2 * WIDTH);
        let from_word = page.first_candidate + PAGE_SIZE / 2 + (round >> 4) * WIDTH + ((p >> 1) & (WIDTH - 1));
        var bits = 0u;
        // Without AHEAD, no branch: V3D's compiler keeps values that only some lanes write in registers.
        if !AHEAD || p < segment.end {
            for (var j = 0u; j < 16; j++) {
                bits = funnel(bits, candidates[from_word + j] >> (2 * (round & 15)), 2u);
            }
        }
        atomicStore(&sh_words[k * WIDTH + lane], select(0u, bits, p < segment.end));
    }
}

// Returns the first position from `from_position` on that has a candidate, or NONE at the end of the segment.
fn next_candidate(segment: Segment, from_position: u32) -> u32 {
    for (var p = from_position; p < segment.end; p += 32) {
        let relative = p - segment.begin;
        let at = (relative >> 5) * WIDTH + lane;
        // The word after the last one has other bits, of positions after the segment.
        let bits = funnel(atomicLoad(&sh_words[at]), atomicLoad(&sh_words[at + WIDTH]), relative & 31);
        if bits != 0 {
            let found = p + countTrailingZeros(bits);
            return select(NONE, found, found < segment.end);
        }
    }
    return NONE;
}

// Returns how many of the 8 bytes from p on, a multiple of 4, equal those at p - offset.
fn agreeing(page: Page, p: u32, offset: u32) -> u32 {
    let s = ((p - offset) & 3) * 8;
    let here = two_words(page, p);
    let there = source_words(page, p, offset);
    let d0 = here.x ^ funnel(there.x, there.y, s);
    let d1 = here.y ^ funnel(there.y, there.z, s);
    let first = select(d0, d1, d0 == 0);
    let words = select(0u, 4u, d0 == 0);
    // countTrailingZeros(0) is 32, so eight equal bytes give 8.
    return words + (countTrailingZeros(first) >> 3);
}

// State in which a walk leaves its segment, and the position of its last match if that is longer than verified so far
// (`long`, else NONE); the state then is a lower bound.
//
// A state is a position and a flag that forces a match there, without lazy look-ahead. As one word it is
// `2 * position + forced`, so that a later position is a larger word.
struct Exit {
    state: u32,
    long: u32,
}

// Codes for the end of a walk without AHEAD, which has a single `return`: results of several take registers throughout the loops around
// the call. FORCED is added to a position where a match is forced; SAME stands for the exit of the previous walk.
const FORCED: u32 = 1u << 17;
const SAME: u32 = 1u << 18;

// Parses a segment from `start` and adds the matches found to `chosen`. A repeated walk of the segment (`again`) gets the
// exit of the previous one and replaces its matches: once it meets one of them, the remainder is the same.
//
// Each step compares 8 bytes, of a new match or of the current one, so that lanes with long matches stall no others.
fn walk(page: Page, segment: Segment, start: u32, chosen: ptr<function, Chosen>, again: bool, before: Exit) -> Exit {
    let page_limit = page.n - 5;
    var p = start >> 1;
    var may_look_ahead = LAZY && (start & 1) == 0;
    var old = *chosen;
    if again {
        *chosen = Chosen(0u, 0u);
    } else if !AHEAD {
        // No old match is met then, so `again` takes no register.
        old = Chosen(0u, 0u);
    }
    // The current match starts at m and is verified up to p; m is NONE between matches.
    var m = NONE;
    var offset = 0u;
    // Lazy matching: the match at m - 1 that the current one must beat, and its end; 0 if there is none.
    var shorter_offset = 0u;
    var shorter_end = 0u;
    // The candidate at m + 1, loaded with the one at m to hide latency.
    var ahead = 0u;
    // At least every second step advances m or p, so the bound is never reached.
    for (var step = 0u; step < 4 * PAGE_SIZE; step++) {
        if m == NONE {
            m = next_candidate(segment, p);
            if m == NONE {
                break;
            }
            offset = candidate_at(page, m);
            if LAZY {
                ahead = candidate_at(page, m + 1);
            }
            p = (m + 4) & ~3u;
        }
        let limit = match_limit(page_limit, m, offset);
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
            } else if may_look_ahead && ahead != 0 && m + 13 <= page.n && p < m + LAZY_BELOW {
                shorter_offset = offset;
                shorter_end = p;
                m++;
                offset = ahead;
                p = (m + 4) & ~3u;
                continue;
            }
            may_look_ahead = true;
        }
        if LAZY && m >= segment.end {
            if AHEAD {
                return Exit(2 * m + 1, NONE);
            }
            p = m + FORCED;
            m = NONE;
            break;
        }
        let slot = slot_of(segment, m);
        // No `&&`: a branch before the load takes registers that 64 KiB pages need.
        if (!AHEAD | again) & has_slot(old, slot) & (((load_slot(slot) ^ m) & 3) == 0) {
            *chosen = followed_by(*chosen, old, slot);
            if AHEAD {
                return before;
            }
            p = SAME;
            m = NONE;
            break;
        }
        store_match(slot, m, p);
        *chosen = with_slot(*chosen, slot);
        if is_long {
            if AHEAD {
                return Exit(2 * max(p, segment.end), m);
            }
            break;
        }
        m = NONE;
    }
    return Exit(2 * max(p, segment.end), select(m, NONE, AHEAD));
}
