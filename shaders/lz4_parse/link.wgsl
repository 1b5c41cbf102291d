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

// Returns exclusive scans over the lanes, the sum of `sum` and the maximum of `largest`, and in .zw both over all lanes.
fn scan_lanes(sum: u32, largest: u32) -> vec4<u32> {
    let sums = SECTIONS;
    let ends = SECTIONS + WIDTH;
    var s = sum;
    var e = largest;
    for (var d = 1u; d < WIDTH; d *= 2) {
        atomicStore(&sh_words[sums + lane], s);
        atomicStore(&sh_words[ends + lane], e);
        workgroupBarrier();
        if lane >= d {
            s += atomicLoad(&sh_words[sums + lane - d]);
            e = max(e, atomicLoad(&sh_words[ends + lane - d]));
        }
        workgroupBarrier();
    }
    atomicStore(&sh_words[sums + lane], s);
    atomicStore(&sh_words[ends + lane], e);
    workgroupBarrier();
    var before = vec2(0u);
    if lane > 0 {
        before = vec2(s - sum, atomicLoad(&sh_words[ends + lane - 1]));
    }
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
    var own = (verified & ~3u) + 8 * lane;
    loop {
        var end = match_limit(page.n - 5, verified, offset);
        if own < end {
            end = min(end, own + agreeing(page, own, offset));
        }
        let first = agree(round, select(SETTLED, WIDTH - lane, end < own + 8 || end == match_limit(page.n - 5, verified, offset)));
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
    var exit = walk(page, segment, start, chosen, false, Exit(0u, NONE));
    workgroupBarrier();
    loop {
        push_exit(section, chunk_begin, exit.state);
        workgroupBarrier();
        let pushed = max(atomicLoad(&sh_words[section + lane]), 2 * segment.begin);
        var wish = select(WIDTH - lane, SETTLED, exit.long == NONE);
        if lane > 0 && pushed != start {
            start = pushed;
            exit = walk(page, segment, start, chosen, true, exit);
            wish = CHANGED;
        }
        let next = agree(round, wish);
        if next == SETTLED {
            break;
        }
        if next != CHANGED {
            // All segments before this lane's are settled, so its long match is final.
            end_long_match(page, round, WIDTH - next, exit.long);
            if lane == WIDTH - next {
                let end = atomicLoad(&sh_words[LONG_END]);
                store_long_end(slot_of(segment, exit.long), end);
                exit = walk(page, segment, 2 * end, chosen, false, exit);
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
