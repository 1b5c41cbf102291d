// Part of lz4_parse: links the parses of all segments of a chunk into one, as if it had run sequentially.
//
// import: lib/agree, lz4_parse/dictionary, lz4_parse/slots, lz4_parse/walk

// Raises the start of every later segment that `exit` reaches to it.
fn push_exit(section: u32, chunk_begin: u32, exit: u32) {
    let target_lane = min(((exit >> 1) - chunk_begin) / SEGMENT, WIDTH);
    for (var k = lane + 1; k <= target_lane; k++) {
        atomicMax(&sh_words[section + k], exit);
    }
}

// A step of `scan_lanes`: combines with the values `distance` lanes before.
fn scan_step(distance: u32, sum: ptr<function, u32>, largest: ptr<function, u32>) {
    atomicStore(&sh_words[SECTIONS + lane], *sum);
    atomicStore(&sh_words[SECTIONS + WIDTH + lane], *largest);
    workgroupBarrier();
    if lane >= distance {
        *sum += atomicLoad(&sh_words[SECTIONS + lane - distance]);
        *largest = max(*largest, atomicLoad(&sh_words[SECTIONS + WIDTH + lane - distance]));
    }
    workgroupBarrier();
}

// Returns exclusive scans over the lanes, the sum of `sum` and the maximum of `largest`, and in .zw both over all lanes.
fn scan_lanes(sum: u32, largest: u32) -> vec4<u32> {
    let sums = SECTIONS;
    let ends = SECTIONS + WIDTH;
    var s = sum;
    var e = largest;
    if AHEAD {
        for (var d = 1u; d < WIDTH; d *= 2) {
            scan_step(d, &s, &e);
        }
    } else {
        // Compilers do not know that d begins as 1, so they do not unroll the loop, for which they would keep all its conditions.
        for (var d = min(params.n_pages, 1u); d < WIDTH; d *= 2) {
            scan_step(d, &s, &e);
        }
    }
    atomicStore(&sh_words[sums + lane], s);
    atomicStore(&sh_words[ends + lane], e);
    workgroupBarrier();
    let before = vec2(s - sum, select(0u, atomicLoad(&sh_words[ends + max(lane, 1u) - 1]), lane > 0));
    let all = vec2(atomicLoad(&sh_words[sums + WIDTH - 1]), atomicLoad(&sh_words[ends + WIDTH - 1]));
    workgroupBarrier();
    return vec4(before, all);
}

// Extends the long match at m of one lane by all lanes together, 8 bytes per lane and iteration. Leaves its end in LONG_END.
fn end_long_match(page: Page, round: ptr<function, u32>, owner: u32, m: u32) {
    if lane == owner {
        atomicStore(&sh_words[LONG_OFFSET], candidate_at(page, m));
        atomicStore(&sh_words[LONG_END], m + LONG);
    }
    workgroupBarrier();
    let offset = atomicLoad(&sh_words[LONG_OFFSET]);
    let verified = atomicLoad(&sh_words[LONG_END]);
    let limit = match_limit(page.n - 5, verified, offset);
    var own = (verified & ~3u) + 8 * lane;
    loop {
        // Lanes behind the end compare bytes before it, which counts for nothing.
        let end = min(limit, own + agreeing(page, min(own, limit & ~3u), offset));
        let first = agree(round, select(SETTLED, WIDTH - lane, end < own + 8 || end == limit));
        if first != SETTLED {
            if lane == WIDTH - first {
                atomicStore(&sh_words[LONG_END], end);
            }
            break;
        }
        own += 8 * WIDTH;
    }
    workgroupBarrier();
}

// Parses every segment from the state in which the segments before it exit, until a fixed point is reached. Returns the
// state at the end of the chunk.
fn settle(page: Page, segment: Segment, chunk_begin: u32, carry: u32, chosen: ptr<function, Chosen>, round: ptr<function, u32>) -> u32 {
    var section = SECTIONS;
    for (var i = lane; i < 2 * WIDTH + 2; i += WIDTH) {
        atomicStore(&sh_words[section + i], 0u);
    }
    var start = 2 * segment.begin;
    if lane == 0 {
        start = max(start, carry);
    }
    var exit = Exit(0u, NONE);
    exit = walk(page, segment, start, chosen, false, exit);
    workgroupBarrier();
    loop {
        push_exit(section, chunk_begin, exit.state);
        workgroupBarrier();
        let pushed = max(atomicLoad(&sh_words[section + lane]), 2 * segment.begin);
        let again = lane > 0 && pushed != start;
        start = select(start, pushed, again);
        // Start of this lane's next walk, NONE without one.
        var next_start = select(NONE, pushed, again);
        let wish = select(select(WIDTH - lane, SETTLED, exit.long == NONE), CHANGED, again);
        if again {
            exit = walk(page, segment, start, chosen, true, exit);
        }
        let next = agree(round, wish);
        if next == SETTLED {
            break;
        }
        if next != CHANGED {
            // All segments before this lane's are settled, so its long match is final.
            end_long_match(page, round, WIDTH - next, exit.long);
            let end = atomicLoad(&sh_words[LONG_END]);
            next_start = select(next_start, 2 * end, lane == WIDTH - next);
            if lane == WIDTH - next {
                store_long_end(slot_of(segment, exit.long), end);
                exit = walk(page, segment, next_start, chosen, false, exit);
            }
        }
        // All lanes have read this section: clear it for the iteration after the next (double buffering).
        atomicStore(&sh_words[section + lane], 0u);
        if lane == 0 {
            atomicStore(&sh_words[section + WIDTH], 0u);
        }
        section = 2 * SECTIONS + WIDTH + 1 - section;
    }
    let left = atomicLoad(&sh_words[section + WIDTH]);
    workgroupBarrier();
    return left;
}
