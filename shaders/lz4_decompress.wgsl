// Decompresses pages, checks every access, and writes one status per page.
//
// A workgroup is 32 invocations: LANES per page, 32 / LANES pages at once. All lanes of a page read the same tokens.
// Lane l writes the words of the page with index l modulo LANES, so that the word shared by two adjacent copies needs no
// synchronisation. A match reads words that other lanes wrote, after a barrier.
//
// packed  blocks, each aligned to a word; up to 32 bytes behind them may be read, and are not used
// table   one pair per page: (start of its block in packed, in words; length in bytes | kind << 30)
// pages   PAGE_SIZE bytes each, n_bytes in total, rounded up to whole words; up to 32 bytes behind them may be read
// status  one word per page: 0, or the code of a BlockError (the page is zero then), or UNFINISHED (it is undefined then)
//
// Twin: src/lz4/decode.rs
//
// import: lib/bits, lib/vote

override PAGE_SIZE: u32 = 4096;
override LANES: u32 = 4;
// Enables a fast path for sequences without length extensions. It pays where few pages are in flight, so that the latency
// of each sequence counts.
override QUICK: bool = LANES > 4;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_packed_words: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> packed: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> pages: array<u32>;
@group(0) @binding(3) var<storage, read_write> status: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

const TRUNCATED: u32 = 1;
const OUTPUT_OVERRUN: u32 = 2;
const ZERO_OFFSET: u32 = 3;
const OFFSET_TOO_FAR: u32 = 4;
const OUTPUT_UNDERRUN: u32 = 5;
const BAD_TABLE_ENTRY: u32 = 6;
// Remains where the driver aborts an invocation, as lavapipe does after 65,535 iterations of a loop. The host decodes the
// page again.
const UNFINISHED: u32 = 7;
const KIND_LZ4: u32 = 0;
const KIND_STORED: u32 = 1;
const KIND_FILL: u32 = 2;
const STEPS_PER_VOTE: u32 = 8;

// Stages of the decoder: the part of the block that comes next.
const DONE: u32 = 0;
const TOKEN: u32 = 1;
const LITERAL_EXTENSION: u32 = 2;
const LITERALS: u32 = 3;
const MATCH_EXTENSION: u32 = 4;
const MATCH: u32 = 5;

// A page being decoded.
struct Page {
    // First word in `pages`, and length in bytes.
    first: u32,
    n: u32,
    lane: u32,
    stage: u32,
    status: u32,
    // Next byte of `packed` to read, and the end of the block.
    read: u32,
    end: u32,
    // Before a token: the bytes at `read`, the first in the lowest byte; at least one of them is valid.
    ahead: u32,
    // Two words of `packed`, prefetched one sequence ahead, and the index of the first.
    loaded: u32,
    low: u32,
    high: u32,
    // Next byte of the page to write.
    write: u32,
    // The current sequence.
    n_literals: u32,
    n_match: u32,
    offset: u32,
    // The word that this lane stored last.
    written: u32,
}

// Returns four bytes of `packed` from byte p on.
fn packed_word(p: u32) -> u32 {
    let i = p >> 2;
    return funnel(packed[i], packed[i + 1], (p & 3) * 8);
}

// Returns four bytes of the page from byte p on; up to three of them may lie outside the page, and are undefined.
fn page_word(page: ptr<function, Page>, p: u32) -> u32 {
    let i = i32((*page).first) + (i32(p) >> 2);
    return funnel(pages[max(i, 0)], pages[i + 1], (p & 3) * 8);
}

fn fail(page: ptr<function, Page>, code: u32) {
    (*page).status = code;
    (*page).stage = DONE;
}

// Reads up to four extension bytes of a length and returns their sum; the stage becomes `next` if the length ends.
fn read_extension(page: ptr<function, Page>, next: u32) -> u32 {
    let left = (*page).end - (*page).read;
    let bytes = packed_word((*page).read);
    let n_full = min(countTrailingZeros(~bytes) >> 3, 4u);
    if n_full >= left {
        fail(page, TRUNCATED);
        return 0u;
    }
    if n_full == 4 {
        (*page).read += 4;
        return 4 * 255u;
    }
    (*page).read += n_full + 1;
    (*page).stage = next;
    let last = bytes >> (8 * n_full);
    (*page).ahead = last >> 8;
    if n_full == 3 {
        (*page).ahead = packed_word((*page).read);
    }
    return n_full * 255 + (last & 255);
}

fn read_token(page: ptr<function, Page>) {
    if (*page).read >= (*page).end {
        fail(page, TRUNCATED);
        return;
    }
    let token = (*page).ahead;
    (*page).read++;
    (*page).n_literals = (token >> 4) & 15;
    (*page).n_match = token & 15;
    (*page).stage = select(LITERALS, LITERAL_EXTENSION, (*page).n_literals == 15);
}

// Returns the first of this lane's words that holds byte p or a later one.
fn first_own_word(page: ptr<function, Page>, p: u32) -> u32 {
    let w = p >> 2;
    return w + (((*page).lane - w) & (LANES - 1));
}

// Stores word w, the first of a copy: its bytes before `write` keep the values that this lane stored last.
fn store_first(page: ptr<function, Page>, w: u32, value: u32) {
    let kept = select(0u, (1u << (8 * ((*page).write & 3))) - 1, w * 4 < (*page).write);
    store(page, w, ((*page).written & kept) | (value & ~kept));
}

fn store(page: ptr<function, Page>, w: u32, value: u32) {
    (*page).written = value;
    pages[(*page).first + w] = value;
}

fn copy_literals(page: ptr<function, Page>) {
    let end = (*page).write + (*page).n_literals;
    // Byte of `packed` that would go to byte 0 of the page.
    let base = (*page).read - (*page).write;
    var w = first_own_word(page, (*page).write);
    if w * 4 < end {
        store_first(page, w, packed_word(base + w * 4));
        for (w += LANES; w * 4 < end; w += LANES) {
            store(page, w, packed_word(base + w * 4));
        }
    }
}

fn load_words(page: ptr<function, Page>, i: u32) {
    (*page).loaded = i;
    (*page).low = packed[i];
    (*page).high = packed[i + 1];
}

// Checks that the literals lie in the block and fit the page, and copies them.
fn read_literals(page: ptr<function, Page>) {
    if (*page).n_literals > (*page).end - (*page).read {
        fail(page, TRUNCATED);
        return;
    }
    if (*page).n_literals > (*page).n - (*page).write {
        fail(page, OUTPUT_OVERRUN);
        return;
    }
    pass_literals(page, false);
}

// Copies the literals, which the caller has checked, and reads the offset. Without `has_offset`, the block may end
// instead.
fn pass_literals(page: ptr<function, Page>, has_offset: bool) {
    let after = (*page).read + (*page).n_literals;
    if after >> 2 != (*page).loaded {
        load_words(page, after >> 2);
    }
    copy_literals(page);
    (*page).read = after;
    (*page).write += (*page).n_literals;
    if !has_offset {
        if after == (*page).end {
            (*page).stage = DONE;
            (*page).status = select(OUTPUT_UNDERRUN, 0u, (*page).write == (*page).n);
            return;
        }
        if (*page).end - after < 2 {
            fail(page, TRUNCATED);
            return;
        }
    }
    let word = funnel((*page).low, (*page).high, (after & 3) * 8);
    (*page).offset = word & 0xffff;
    (*page).ahead = word >> 16;
    (*page).read += 2;
    // Prefetch the end of the next sequence's literals, right unless a length is extended.
    load_words(page, ((*page).read + 1 + ((word >> 20) & 15)) >> 2);
    if (*page).offset == 0 {
        fail(page, ZERO_OFFSET);
    } else if (*page).offset > (*page).write {
        fail(page, OFFSET_TOO_FAR);
    } else {
        (*page).stage = select(MATCH, MATCH_EXTENSION, (*page).n_match == 15);
    }
}

// Returns k modulo offset, for k below 2^19; the floating-point quotient is off by one at most.
fn remainder(k: u32, offset: u32) -> u32 {
    let r = k - u32(f32(k) / f32(offset)) * offset;
    return select(select(r, r - offset, r >= offset), r + offset, r >= 0x80000000u);
}

// Returns four bytes of an overlapping match, the endless repetition of the `offset` bytes before `write`, from byte k of
// it on. For k = -3..0 the bytes before byte 0 are undefined.
fn repeated_word(page: ptr<function, Page>, k: u32) -> u32 {
    let offset = (*page).offset;
    let source = (*page).write - offset;
    let head = page_word(page, source);
    let phase = remainder(k + 4 * offset, offset);
    if offset == 3 {
        let three = (((head & 0xffffff) >> (8 * phase)) | (head << (24 - 8 * phase))) & 0xffffff;
        return three | (three << 24);
    }
    if offset < 3 {
        let two = select(head & 0xffff, (head & 0xff) * 0x101, offset == 1);
        return ((two * 0x10001) >> (8 * phase)) | ((two << (8 * phase)) << 16);
    }
    let word = page_word(page, source + phase);
    let left = offset - phase;
    if left >= 4 {
        return word;
    }
    return (word & ((1u << (8 * left)) - 1)) | (head << (8 * left));
}

fn match_word(page: ptr<function, Page>, w: u32) -> u32 {
    if (*page).n_match > (*page).offset {
        return repeated_word(page, w * 4 - (*page).write);
    }
    return page_word(page, w * 4 - (*page).offset);
}

fn copy_match(page: ptr<function, Page>) {
    (*page).n_match += 4;
    if (*page).n_match > (*page).n - (*page).write {
        fail(page, OUTPUT_OVERRUN);
        return;
    }
    let end = (*page).write + (*page).n_match;
    var w = first_own_word(page, (*page).write);
    if w * 4 < end {
        store_first(page, w, match_word(page, w));
        for (w += LANES; w * 4 < end; w += LANES) {
            store(page, w, match_word(page, w));
        }
    }
    (*page).write = end;
    (*page).stage = TOKEN;
}

// Decodes one sequence, or a part of it if a length has more than four extension bytes.
fn decode_step(page: ptr<function, Page>) {
    if (*page).stage == TOKEN {
        // Most sequences have few literals and are not the last: these checks are all they need.
        let n_literals = ((*page).ahead >> 4) & 15;
        if QUICK && n_literals < 15 && n_literals + 3 <= (*page).end - (*page).read && n_literals <= (*page).n - (*page).write {
            (*page).n_literals = n_literals;
            (*page).n_match = (*page).ahead & 15;
            (*page).read++;
            pass_literals(page, true);
        } else {
            read_token(page);
        }
    }
    if !QUICK || ((*page).stage != MATCH && (*page).stage != DONE) {
        if (*page).stage == LITERAL_EXTENSION {
            (*page).n_literals += read_extension(page, LITERALS);
        }
        if (*page).stage == LITERALS {
            read_literals(page);
        }
        if (*page).stage == MATCH_EXTENSION {
            (*page).n_match += read_extension(page, MATCH);
        }
    }
    storageBarrier();
    if (*page).stage == MATCH {
        copy_match(page);
    }
}

// Starts page `index`: validates its table entry, and writes the page at once if it is stored or a fill.
fn open_page(page: ptr<function, Page>, index: u32) {
    (*page).stage = DONE;
    (*page).status = 0u;
    if index >= params.n_pages {
        return;
    }
    let entry = table[index];
    let kind = entry.y >> 30;
    let length = entry.y & 0x3fffffff;
    (*page).first = index * (PAGE_SIZE / 4);
    (*page).n = min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE);
    if entry.x > params.n_packed_words || (length + 3) / 4 > params.n_packed_words - entry.x || length == 0 || (kind == KIND_LZ4 && length > (*page).n + (*page).n / 255 + 16)
        || kind > KIND_FILL || (kind == KIND_STORED && length != (*page).n)
        || (kind == KIND_FILL && (length != 8 || ((*page).n & 7) != 0)) {
        (*page).status = BAD_TABLE_ENTRY;
        return;
    }
    if kind == KIND_LZ4 {
        (*page).stage = TOKEN;
        (*page).read = entry.x * 4;
        (*page).end = entry.x * 4 + length;
        (*page).write = 0u;
        (*page).ahead = packed_word((*page).read);
        (*page).loaded = 0xffffffffu;
        return;
    }
    let mask = select(0xffffffffu, 1u, kind == KIND_FILL);
    for (var w = (*page).lane; w * 4 < (*page).n; w += LANES) {
        pages[(*page).first + w] = packed[entry.x + (w & mask)];
    }
}

// Zeroes a page that failed, or the padding of a short page in its last word.
fn close_page(page: ptr<function, Page>) {
    if (*page).status != 0 {
        for (var w = (*page).lane; w * 4 < (*page).n; w += LANES) {
            pages[(*page).first + w] = 0u;
        }
    } else if ((*page).n & 3) != 0 {
        let w = (*page).n / 4;
        if (w & (LANES - 1)) == (*page).lane {
            pages[(*page).first + w] &= (1u << (8 * ((*page).n & 3))) - 1;
        }
    }
}

@compute @workgroup_size(32)
fn lz4_decompress(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    let group = 32 / LANES;
    let stride = n_workgroups.x * group;
    for (var index = workgroup.x * group + i / LANES; index < params.n_pages; index += stride) {
        if (i & (LANES - 1)) == 0 {
            status[index] = UNFINISHED;
        }
    }
    var votes = 0u;
    for (var first = workgroup.x * group; first < params.n_pages; first += stride) {
        let index = first + i / LANES;
        var page: Page;
        page.lane = i & (LANES - 1);
        open_page(&page, index);
        loop {
            for (var k = 0u; k < STEPS_PER_VOTE; k++) {
                decode_step(&page);
            }
            if !vote(&votes, page.stage != DONE) {
                break;
            }
        }
        if index < params.n_pages {
            close_page(&page);
            if page.lane == 0 {
                status[index] = page.status;
            }
        }
    }
}
