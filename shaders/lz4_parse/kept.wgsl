// Part of lz4_parse: the parse of a page without AHEAD. All that lives throughout it is in memory, and is loaded where it is used, since
// a value in a register would take it throughout `walk`. All lanes store the same values.
//
// import: lib/agree, lz4_parse/link, lz4_parse/sequences, lz4_parse/slots, lz4_parse/walk

// Keeps the page, and the start of its parse: the search overwrites the words.
fn keep_page(page: Page) {
    atomicStore(&sh_words[NEXT_PAGE], page.first_word);
    atomicStore(&sh_words[FIRST_CANDIDATE], page.first_candidate);
    keep_progress(Progress(0u, 0u, 0u, 0u), 0u);
}

// Returns the page. Synchronises the workgroup.
fn kept_page() -> Page {
    let first_word = workgroupUniformLoad(&sh_words[NEXT_PAGE]);
    return Page(first_word, page_length(first_word / (PAGE_SIZE / 4)), workgroupUniformLoad(&sh_words[FIRST_CANDIDATE]));
}

// Returns the positions of this lane in the chunk.
fn kept_segment(page: Page) -> Segment {
    let begin = atomicLoad(&sh_words[CHUNK_BEGIN]) + lane * SEGMENT;
    return Segment(begin, max(begin, min(begin + SEGMENT, page.n - 11)));
}

// Keeps the state of the parse before a chunk.
fn keep_progress(progress: Progress, chunk_begin: u32) {
    atomicStore(&sh_words[CHUNK_BEGIN], chunk_begin);
    atomicStore(&sh_words[STATE], progress.state);
    atomicStore(&sh_words[ANCHOR], progress.anchor);
    atomicStore(&sh_words[N_SEQUENCES], progress.n_sequences);
    atomicStore(&sh_words[BYTES], progress.bytes);
}

// Starts of walks in `settle_kept`: no walk starts behind the page, and one of a segment that has matches already says so.
const NO_WALK: u32 = 0x7fffffffu;
const AGAIN: u32 = 0x80000000u;
// State in the word that a lane keeps of its exit; above it is 1 + the position in the segment of the match that is long, or 0.
const STATE_BITS: u32 = 18;

// Returns the element of `candidates` in which a lane keeps its exit; its start is WIDTH after that. They take the place of the candidate
// bits of the chunk, which `prepare_segment` has gathered.
fn kept_exit(page: Page) -> u32 {
    return page.first_candidate + PAGE_SIZE / 2 + atomicLoad(&sh_words[CHUNK_BEGIN]) / 32 + lane;
}

// Returns the state at the start of this lane's segment, where `pushed` is the latest that the segments before it exit to.
fn start_from(segment: Segment, pushed: u32) -> u32 {
    return max(max(pushed, 2 * segment.begin), atomicLoad(&sh_words[STATE]));
}

// `settle` without AHEAD, where `walk` is called in one place, and all lanes call it: a compiler that runs branches with writes under a
// mask keeps their values in registers throughout the loop over pages. Lanes without a walk start it behind the page.
fn settle_kept(chosen: ptr<function, Chosen>) -> u32 {
    // All lanes have gathered their candidate bits.
    storageBarrier();
    let first = kept_page();
    var next_start = start_from(kept_segment(first), 0u);
    candidates[kept_exit(first) + WIDTH] = next_start;
    loop {
        if SEGMENT <= 128 {
            (*chosen).high = 0u;
        }
        let page = kept_page();
        let walked = walk(page, kept_segment(page), next_start & NO_WALK, chosen, next_start >= AGAIN, Exit(0u, NONE));
        // Addresses and conditions that are first computed behind the walk take no registers in it.
        atomicStore(&sh_words[AGREED], 0u);
        atomicStore(&sh_words[SECTIONS + lane], 0u);
        atomicStore(&sh_words[SECTIONS + WIDTH], 0u);
        let here = kept_page();
        let segment = kept_segment(here);
        let at = kept_exit(here);
        if walked.state < 2 * SAME {
            let state = select(walked.state, walked.state - (2 * FORCED - 1), walked.state >= 2 * FORCED);
            candidates[at] = state | select((walked.long - segment.begin + 1) << STATE_BITS, 0u, walked.long == NONE);
        }
        let exit = candidates[at];
        let chunk = atomicLoad(&sh_words[CHUNK_BEGIN]);
        push_exit(SECTIONS, chunk, exit & ((1u << STATE_BITS) - 1));
        workgroupBarrier();
        let start = start_from(segment, atomicLoad(&sh_words[SECTIONS + lane]));
        let again = start != candidates[at + WIDTH];
        candidates[at + WIDTH] = start;
        next_start = select(NO_WALK, start | AGAIN, again);
        var round = 0u;
        let next = agree(&round, select(select(WIDTH - lane, SETTLED, (exit >> STATE_BITS) == 0), CHANGED, again));
        if next == SETTLED {
            break;
        }
        if next != CHANGED {
            // All segments before this lane's are settled, so its long match is final.
            let m = segment.begin + (exit >> STATE_BITS) - 1;
            end_long_match(here, &round, WIDTH - next, m);
            if lane == WIDTH - next {
                let end = atomicLoad(&sh_words[LONG_END]);
                store_long_end(slot_of(segment, m), end);
                next_start = 2 * end;
            }
        }
    }
    let left = atomicLoad(&sh_words[SECTIONS + WIDTH]);
    workgroupBarrier();
    return left;
}

// Parses the chunk, as `parse_chunk` does.
fn parse_kept_chunk() {
    var chosen = Chosen(0u, 0u);
    let before = kept_page();
    prepare_segment(before, kept_segment(before));
    let state = settle_kept(&chosen);
    let own = add_up(kept_segment(kept_page()), chosen);
    let placed = scan_lanes(n_chosen(chosen), own.end);
    let anchor = max(placed.y, atomicLoad(&sh_words[ANCHOR]));
    let own_bytes = own.bytes + sequence_bytes(own.first.x - anchor, own.first.y - own.first.x);
    let placed_bytes = scan_lanes(select(own_bytes, 0u, is_empty(chosen)), 0u);
    let page = kept_page();
    let n = atomicLoad(&sh_words[N_SEQUENCES]);
    let bytes = atomicLoad(&sh_words[BYTES]);
    write_sequences(page, kept_segment(page), chosen, anchor, page.first_word + 1 + n + placed.x, bytes + placed_bytes.x);
    let last = max(placed.w, atomicLoad(&sh_words[ANCHOR]));
    let next = atomicLoad(&sh_words[CHUNK_BEGIN]) + CHUNK;
    workgroupBarrier();
    keep_progress(Progress(state, last, n + placed.z, bytes + placed_bytes.z), next);
}

// Parses a page after the search, and returns its word of `sizes`.
fn parse_kept() -> u32 {
    // At least one chunk.
    loop {
        parse_kept_chunk();
        let page = kept_page();
        if workgroupUniformLoad(&sh_words[CHUNK_BEGIN]) + 12 > page.n {
            break;
        }
    }
    let page = kept_page();
    let n = atomicLoad(&sh_words[N_SEQUENCES]);
    let bytes = atomicLoad(&sh_words[BYTES]);
    if lane == 0 {
        sequences[page.first_word] = vec2(n + 1, 0u);
        sequences[page.first_word + 1 + n] = vec2(0u, bytes);
    }
    let literals = page.n - atomicLoad(&sh_words[ANCHOR]);
    let size = bytes + 1 + literals + extension(literals);
    return select(size, page.n | KIND_STORED, size >= page.n);
}
