// Finds the sequences of each page: match candidates by a hash table, then the greedy (or lazy) parse of level
// Fast, see src/lz4/mod.rs.
//
// One workgroup of WIDTH lanes per page; it takes the next page from a counter when it is done with one. In the search a
// lane takes two adjacent positions per round; in the parse, a segment of consecutive positions.
//
// pages       PAGE_SIZE bytes each, back to back; the last may be shorter
// candidates  scratch, CANDIDATE_WORDS per workgroup: two 16-bit offsets per word, 0 for none; then one bit per position; then
//             COUNT_WORDS. Without AHEAD, the parse of a chunk keeps two words for each lane in place of its bits
// sequences   PAGE_SIZE / 4 entries per page. Entry 0: (n, 0). Entries 1..=n, of which the last holds only literals:
//             (start of match | offset << 16, place in the block | end of match << 16)
// sizes       one word per page: length of its block in bytes | kind << 30; kind 0 LZ4, 1 stored, 2 fill
// places      word 0: the next page to take
// dictionary  as lib/dictionary.wgsl says; any words without one
//
// Preconditions: n_bytes > 0, n_pages = ceil(n_bytes / PAGE_SIZE), PAGE_SIZE = 2^(16 - TAG_BITS).
// Hot loops have constant trip counts: browsers add a loop guard to every other one, six instructions per iteration.
// Twin: src/lz4/parse.rs
//
// import: lib/lz4_length, lib/pages/length, lib/pages/fill
// import: lz4_parse/stage, lz4_parse/search, lz4_parse/search_in_turn, lz4_parse/slots, lz4_parse/walk, lz4_parse/link, lz4_parse/sequences
// import: lz4_parse/kept

override PAGE_SIZE: u32 = 4096;
// Lanes of a workgroup: 32, 64 or 128.
override WIDTH: u32 = 32;
override BUCKET_BITS: u32 = 9;
override TAG_BITS: u32 = 4;
// Bytes that the hash covers: 4 or 5.
override HASH_BYTES: u32 = 4;
override FIFTH_MASK: u32 = select(0u, 255u, HASH_BYTES == 5);
override LAZY: bool = false;
// False for the fewest registers: words are loaded where they are used, `walk` is called in one place, and the parse keeps its
// state in memory, see lz4_parse/kept.
override AHEAD: bool = true;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;

// Words for the staged page, 4 + PAGE_SIZE / 128 * 35 + WIDTH, or 0 if it is not staged.
override STAGED_WORDS: u32 = 0;
override STAGED: bool = STAGED_WORDS > 0;

override BUCKETS: u32 = 1u << BUCKET_BITS;
override CHUNK: u32 = min(PAGE_SIZE, BUCKETS * 8);
override SEGMENT: u32 = CHUNK / WIDTH;
override SEGMENT_WORDS: u32 = SEGMENT / 32;
// Words at the end of a workgroup's scratch, the first of which counts the pages parsed.
const COUNT_WORDS: u32 = 32;
override CANDIDATE_WORDS: u32 = PAGE_SIZE / 2 + PAGE_SIZE / 32 + COUNT_WORDS;
override TAG_MASK: u32 = (1u << TAG_BITS) - 1;
// Lowest bit of the position of an entry in the upper half of a bucket.
override ENTRY_SHIFT: u32 = 16 + TAG_BITS;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    // The most pages that a workgroup parses.
    pages_per_workgroup: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> candidates: array<u32>;
@group(0) @binding(2) var<storage, read_write> sequences: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(4) var<storage, read_write> places: array<atomic<u32>>;
@group(0) @binding(5) var<uniform> params: Params;
@group(0) @binding(6) var<storage, read> dictionary: array<u32>;
// The binding of lengths, where each page has its own.
const LENGTHS: u32 = 7;

// One array for all uses, since every byte of it reduces occupancy. During the search: the buckets of the hash table. Outside
// of it: candidate bits, then slots and ends of matches, then starts of segments or prefix sums, and the words named here at
// the end. Behind the buckets, where workgroup memory is plentiful: the staged page.
var<workgroup> sh_words: array<atomic<u32>, SHARED_WORDS>;
override SHARED_WORDS: u32 = WORDS + STAGED_WORDS;
// Words of all uses but the staged page: the buckets, unless the state of more lanes than usual takes more.
override WORDS: u32 = max(BUCKETS, SECTIONS + 2 * (WIDTH + 1) + AGREED_WORDS + select(9u, 3u, AHEAD));
// Words for `agree`, of which it uses the first, or one for each subgroup.
const AGREED_WORDS: u32 = 4;
override AGREED: u32 = WORDS - AGREED_WORDS;
override NEXT_PAGE: u32 = AGREED - 1;
override LONG_OFFSET: u32 = AGREED - 2;
override LONG_END: u32 = AGREED - 3;
// Words of lz4_parse/kept.
override FIRST_CANDIDATE: u32 = AGREED - 4;
override CHUNK_BEGIN: u32 = AGREED - 5;
override STATE: u32 = AGREED - 6;
override ANCHOR: u32 = AGREED - 7;
override N_SEQUENCES: u32 = AGREED - 8;
override BYTES: u32 = AGREED - 9;
// Two sections of WIDTH + 1 words, for starts of segments or prefix sums.
override SECTIONS: u32 = LONG_ENDS + max(CHUNK / 128, WIDTH);

const NONE: u32 = 0xffffffffu;
// Codes for `agree`; others are lanes.
const SETTLED: u32 = 0;
const CHANGED: u32 = 255;
const KIND_STORED: u32 = 1u << 30;
const KIND_FILL: u32 = 2u << 30;

// Index of this lane in the workgroup. Not a member of Page: all of Page is uniform, so that it may control barriers.
var<private> lane: u32;

// A page; uniform over its workgroup.
struct Page {
    first_word: u32,
    n: u32,
    // First element of this workgroup in `candidates`.
    first_candidate: u32,
}

// State of the parse between two chunks of a page.
struct Progress {
    // State of the parse; see Exit.
    state: u32,
    // End of the last match.
    anchor: u32,
    n_sequences: u32,
    bytes: u32,
}

// Parses one chunk: chooses the matches of all segments, then writes them as sequences at their exclusive prefix sums.
fn parse_chunk(page: Page, chunk_begin: u32, first_sequence: u32, before: Progress, round: ptr<function, u32>) -> Progress {
    var progress = before;
    let begin = chunk_begin + lane * SEGMENT;
    let segment = Segment(begin, max(begin, min(begin + SEGMENT, page.n - 11)));
    prepare_segment(page, segment);
    var chosen = Chosen(0u, 0u);
    progress.state = settle(page, segment, chunk_begin, before.state, &chosen, round);
    let own = add_up(segment, chosen);
    let placed = scan_lanes(n_chosen(chosen), own.end);
    let anchor = max(placed.y, before.anchor);
    let own_bytes = own.bytes + sequence_bytes(own.first.x - anchor, own.first.y - own.first.x);
    let bytes = select(own_bytes, 0u, is_empty(chosen));
    let placed_bytes = scan_lanes(bytes, 0u);
    let at = first_sequence + before.n_sequences + placed.x;
    write_sequences(page, segment, chosen, anchor, at, before.bytes + placed_bytes.x);
    progress.n_sequences += placed.z;
    progress.anchor = max(before.anchor, placed.w);
    progress.bytes += placed_bytes.z;
    return progress;
}

// Returns the index of a page, which does not take a register of its own throughout the parse.
fn page_index(page: Page) -> u32 {
    return page.first_word / (PAGE_SIZE / 4);
}

// Parses a page, and returns its word of `sizes`.
fn parse_page(page: Page, round: ptr<function, u32>) -> u32 {
    let is_fill = find_fill(page, round);
    if is_fill || page.n < 13 {
        return select(page.n | KIND_STORED, 8 | KIND_FILL, is_fill);
    }
    if STAGED {
        stage(page);
    }
    if AHEAD {
        search(page);
    } else {
        search_in_turn(page);
    }
    storageBarrier();
    workgroupBarrier();
    if lane == 0 {
        atomicStore(&sh_words[AGREED], 0u);
        if !AHEAD {
            keep_page(page);
        }
    }
    workgroupBarrier();
    if !AHEAD {
        return parse_kept();
    }
    let first_sequence = page.first_word + 1;
    var progress = Progress(0u, 0u, 0u, 0u);
    for (var chunk = 0u; chunk + 12 <= page.n; chunk += CHUNK) {
        progress = parse_chunk(page, chunk, first_sequence, progress, round);
    }
    if lane == 0 {
        sequences[page.first_word] = vec2(progress.n_sequences + 1, 0u);
        sequences[first_sequence + progress.n_sequences] = vec2(0u, progress.bytes);
    }
    let literals = page.n - progress.anchor;
    let size = progress.bytes + 1 + literals + extension(literals);
    return select(size, page.n | KIND_STORED, size >= page.n);
}

// Counts a page of this workgroup, and returns their number. A count in a register would take it throughout the parse.
fn count_page(page: Page) -> u32 {
    let at = page.first_candidate + CANDIDATE_WORDS - COUNT_WORDS;
    let n = candidates[at] + 1;
    candidates[at] = n;
    return n;
}

// Leaves the first word of the next page for all lanes.
fn take_page() {
    atomicStore(&sh_words[NEXT_PAGE], atomicAdd(&places[0], 1u) * (PAGE_SIZE / 4));
}

@compute @workgroup_size(WIDTH)
fn lz4_parse(@builtin(local_invocation_index) index_in_workgroup: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    lane = index_in_workgroup;
    var round = 0u;
    if lane == 0 {
        atomicStore(&sh_words[AGREED], 0u);
        candidates[(workgroup.x + 1) * CANDIDATE_WORDS - COUNT_WORDS] = 0u;
        if !AHEAD {
            atomicStore(&sh_words[FIRST_CANDIDATE], workgroup.x * CANDIDATE_WORDS);
        }
        take_page();
    }
    loop {
        let first_word = workgroupUniformLoad(&sh_words[NEXT_PAGE]);
        let index = first_word / (PAGE_SIZE / 4);
        if index >= params.n_pages {
            break;
        }
        var page = Page(first_word, page_length(index), workgroup.x * CANDIDATE_WORDS);
        if !AHEAD {
            page = kept_page();
            round = 0u;
        }
        let size = parse_page(page, &round);
        if !AHEAD {
            page = kept_page();
        }
        if lane == 0 {
            sizes[page_index(page)] = size;
            if !AHEAD {
                atomicStore(&sh_words[AGREED], 0u);
            }
            if count_page(page) >= params.pages_per_workgroup {
                atomicStore(&sh_words[NEXT_PAGE], NONE);
            } else {
                take_page();
            }
        }
    }
}
