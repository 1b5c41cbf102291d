// Decompresses pages; checks every access; one status a page.
//
// A workgroup is 32 invocations: LANES of them a page, 32 / LANES pages at once. All lanes of a page read the
// same tokens; of the page's words, lane l writes those whose index leaves l modulo LANES, so that words on the
// border of two runs need no synchronisation. A match reads what other lanes wrote: a barrier before it.
//
// packed  blocks, each from a whole word on
// table   a pair a page: (start of its block in packed, in words; length in bytes | kind << 30)
// pages   PAGE_SIZE bytes each, n_bytes in all, rounded up to whole words
// status  0, or the code of a BlockError; the page is zero then
//
// Twin: src/lz4/decode.rs

override PAGE_SIZE: u32 = 4096;
override LANES: u32 = 8;

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

var<workgroup> n_votes: atomic<u32>;

const TRUNCATED: u32 = 1;
const OUTPUT_OVERRUN: u32 = 2;
const ZERO_OFFSET: u32 = 3;
const OFFSET_TOO_FAR: u32 = 4;
const OUTPUT_UNDERRUN: u32 = 5;
const BAD_TABLE_ENTRY: u32 = 6;
const KIND_LZ4: u32 = 0;
const KIND_STORED: u32 = 1;
const KIND_FILL: u32 = 2;
const SEQUENCES_PER_VOTE: u32 = 8;

// A page being decoded: `n` bytes from word `first` of pages, out of `length` bytes from word `base` of packed.
struct Page {
    first: u32,
    n: u32,
    base: u32,
    length: u32,
    lane: u32,
    // Next byte to read and to write.
    read: u32,
    write: u32,
    busy: bool,
    status: u32,
}

// A sequence: literals from byte `literals` of the block, then a match.
struct Sequence {
    literals: u32,
    n_literals: u32,
    offset: u32,
    n_match: u32,
}

fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

fn packed_word(i: u32) -> u32 {
    return packed[min(i, params.n_packed_words - 1)];
}

// Four bytes of the block from byte p on.
fn block_word(page: Page, p: u32) -> u32 {
    let i = page.base + (p >> 2);
    return funnel(packed_word(i), packed_word(i + 1), (p & 3) * 8);
}

// Four bytes of the page from byte p on; those outside the page, up to three before or after it, are arbitrary.
fn page_word(page: Page, p: u32) -> u32 {
    let last = page.first + (page.n - 1) / 4;
    let i = page.first + u32(i32(p) >> 2);
    return funnel(pages[min(i, last)], pages[min(i + 1, last)], (p & 3) * 8);
}

fn fail(page: ptr<function, Page>, code: u32) {
    (*page).status = code;
    (*page).busy = false;
}

// Adds the extension bytes of a length to it; false if the block ends within.
fn read_extension(page: ptr<function, Page>, length: ptr<function, u32>) -> bool {
    loop {
        if (*page).read >= (*page).length {
            return false;
        }
        let b = block_word(*page, (*page).read) & 0xff;
        (*page).read++;
        *length += b;
        if b != 255 {
            return true;
        }
    }
    return false;
}

// Reads a token and its literal length, and checks the literals; a page that ends here stops being busy.
fn read_literals(page: ptr<function, Page>) -> Sequence {
    var sequence = Sequence(0u, 0u, 0u, 0u);
    if (*page).read >= (*page).length {
        fail(page, TRUNCATED);
        return sequence;
    }
    let token = block_word(*page, (*page).read);
    (*page).read++;
    var n = (token >> 4) & 15;
    if n == 15 && !read_extension(page, &n) {
        fail(page, TRUNCATED);
        return sequence;
    }
    if n > (*page).length - (*page).read {
        fail(page, TRUNCATED);
        return sequence;
    }
    if n > (*page).n - (*page).write {
        fail(page, OUTPUT_OVERRUN);
        return sequence;
    }
    sequence.literals = (*page).read;
    sequence.n_literals = n;
    sequence.n_match = token & 15;
    (*page).read += n;
    return sequence;
}

// Reads offset and match length of a sequence whose literals are at `write - n_literals`, and checks them.
fn read_match(page: ptr<function, Page>, sequence: ptr<function, Sequence>) {
    if (*page).length - (*page).read < 2 {
        fail(page, TRUNCATED);
        return;
    }
    let offset = block_word(*page, (*page).read) & 0xffff;
    (*page).read += 2;
    if offset == 0 {
        fail(page, ZERO_OFFSET);
        return;
    }
    if offset > (*page).write {
        fail(page, OFFSET_TOO_FAR);
        return;
    }
    var n = (*sequence).n_match;
    if n == 15 && !read_extension(page, &n) {
        fail(page, TRUNCATED);
        return;
    }
    n += 4;
    if n > (*page).n - (*page).write {
        fail(page, OUTPUT_OVERRUN);
        return;
    }
    (*sequence).offset = offset;
    (*sequence).n_match = n;
}

// First of this lane's words that holds byte p or a later one.
fn first_own_word(page: Page, p: u32) -> u32 {
    let w = p >> 2;
    return w + ((page.lane - w) & (LANES - 1));
}

// Writes word w of the page, except its bytes before byte `from_byte` of the page.
fn store(page: Page, w: u32, from_byte: u32, value: u32) {
    let i = page.first + w;
    if w * 4 < from_byte {
        let keep = (1u << (8 * (from_byte & 3))) - 1;
        pages[i] = (pages[i] & keep) | (value & ~keep);
    } else {
        pages[i] = value;
    }
}

fn copy_literals(page: Page, sequence: Sequence) {
    let end = page.write + sequence.n_literals;
    var w = first_own_word(page, page.write);
    // Most runs take one step; the loop is for the others.
    if w * 4 < end {
        store(page, w, page.write, block_word(page, sequence.literals + w * 4 - page.write));
        for (w += LANES; w * 4 < end; w += LANES) {
            pages[page.first + w] = block_word(page, sequence.literals + w * 4 - page.write);
        }
    }
}

// Four bytes of the endless repetition of the `offset` bytes before `write`, from byte k of it on. For k = -3..0
// the bytes before the first are arbitrary.
fn repeated_word(page: Page, offset: u32, k: u32) -> u32 {
    let source = page.write - offset;
    let head = page_word(page, source);
    let phase = (k + 4 * offset) % offset;
    if offset == 3 {
        let three = ((head & 0xffffff) >> (8 * phase) | (head << (24 - 8 * phase))) & 0xffffff;
        return three | (three << 24);
    }
    if offset < 3 {
        let two = select(head & 0xffff, (head & 0xff) * 0x101, offset == 1);
        return (two * 0x10001) >> (8 * phase) | ((two << (8 * phase)) << 16);
    }
    let word = page_word(page, source + phase);
    let left = offset - phase;
    if left >= 4 {
        return word;
    }
    return (word & ((1u << (8 * left)) - 1)) | (head << (8 * left));
}

fn match_word(page: Page, sequence: Sequence, w: u32) -> u32 {
    if sequence.n_match > sequence.offset {
        return repeated_word(page, sequence.offset, w * 4 - page.write);
    }
    return page_word(page, w * 4 - sequence.offset);
}

fn copy_match(page: Page, sequence: Sequence) {
    let end = page.write + sequence.n_match;
    var w = first_own_word(page, page.write);
    if w * 4 < end {
        store(page, w, page.write, match_word(page, sequence, w));
        for (w += LANES; w * 4 < end; w += LANES) {
            pages[page.first + w] = match_word(page, sequence, w);
        }
    }
}

// Copies a stored page or repeats a fill; a wrong table entry fails the page.
fn open_page(index: u32, lane: u32) -> Page {
    var page = Page(0u, 0u, 0u, 0u, lane, 0u, 0u, false, 0u);
    if index >= params.n_pages {
        return page;
    }
    let entry = table[index];
    let kind = entry.y >> 30;
    page.first = index * (PAGE_SIZE / 4);
    page.n = min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE);
    page.base = entry.x;
    page.length = entry.y & 0x3fffffff;
    let n_words = (page.length + 3) / 4;
    if entry.x > params.n_packed_words || n_words > params.n_packed_words - entry.x || page.length == 0
        || kind > KIND_FILL || (kind == KIND_STORED && page.length != page.n)
        || (kind == KIND_FILL && (page.length != 8 || (page.n & 7) != 0)) {
        page.status = BAD_TABLE_ENTRY;
        return page;
    }
    if kind == KIND_LZ4 {
        page.busy = true;
        return page;
    }
    let mask = select(0xffffffffu, 1u, kind == KIND_FILL);
    for (var w = lane; w * 4 < page.n; w += LANES) {
        pages[page.first + w] = packed[page.base + (w & mask)];
    }
    return page;
}

// Clears a page that failed, and the bytes that share the last word with a short page.
fn close_page(page: Page) {
    if page.status != 0 {
        for (var w = page.lane; w * 4 < page.n; w += LANES) {
            pages[page.first + w] = 0u;
        }
    } else if (page.n & 3) != 0 {
        let w = page.n / 4;
        if (w & (LANES - 1)) == page.lane {
            pages[page.first + w] &= (1u << (8 * (page.n & 3))) - 1;
        }
    }
}

// The same number in all lanes; larger than at the last call if and only if a lane said yes.
fn vote(yes: bool) -> u32 {
    if yes {
        atomicAdd(&n_votes, 1u);
    }
    return workgroupUniformLoad(&n_votes);
}

fn decode_sequence(page: ptr<function, Page>) {
    var sequence: Sequence;
    if (*page).busy {
        sequence = read_literals(page);
    }
    if (*page).busy {
        copy_literals(*page, sequence);
        (*page).write += sequence.n_literals;
        if (*page).read == (*page).length {
            (*page).busy = false;
            (*page).status = select(OUTPUT_UNDERRUN, 0u, (*page).write == (*page).n);
        } else {
            read_match(page, &sequence);
        }
    }
    storageBarrier();
    if (*page).busy {
        copy_match(*page, sequence);
        (*page).write += sequence.n_match;
    }
}

@compute @workgroup_size(32)
fn lz4_decompress(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    let group = 32 / LANES;
    var votes = 0u;
    for (var first = workgroup.x * group; first < params.n_pages; first += n_workgroups.x * group) {
        let index = first + i / LANES;
        var page = open_page(index, i & (LANES - 1));
        loop {
            for (var k = 0u; k < SEQUENCES_PER_VOTE; k++) {
                decode_sequence(&page);
            }
            let now = vote(page.busy);
            if now == votes {
                break;
            }
            votes = now;
        }
        close_page(page);
        if index < params.n_pages && page.lane == 0 {
            status[index] = page.status;
        }
    }
}
