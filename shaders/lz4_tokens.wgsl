// Finds and checks the sequences of blocks for lz4_copy.wgsl, and writes one status per page.
//
// A workgroup is WIDTH invocations and PAGES pages. One lane of each page follows its chain of tokens and stages the sequences
// that it finds in workgroup memory. After each round of ROUND sequences all lanes store what is staged, since stores of
// whole sectors are many times as fast as those of single sequences. Where a page has several lanes, they also load the
// next part of its block to a window in workgroup memory, so that the chain does not wait for storage.
//
// packed     blocks, each aligned to a word; up to 32 bytes behind them may be read, and are not used
// table      one pair per page: (start of its block in packed, in words; length in bytes | kind << 30)
// sequences  ENTRIES / 2 pairs of entries per page. Entry k: (begin of match k in the page, less 1 | number of literals
//            before it << 16, offset of the match | (begin of the literals in the block, less that in the page) << 16).
//            Match k ends where the literals of entry k + 1 begin. The last entry has no match: it begins at the page's
//            end, and its offset is 4. Begins less 1 have 16 bits: 65,535 is that of a match that begins the page, from the
//            dictionary, and of the end of a page of 65,536 bytes
// status     one word per page: the code of a BlockError, or UNFINISHED | number of entries << 8, for lz4_copy.wgsl. The
//            number is 0 where the driver ends loops early, as lavapipe does after 65,535 iterations of an invocation
//
// Twin: src/lz4/decode.rs
//
// import: lib/bits, lib/pages/length, lib/pages/end

override PAGE_SIZE: u32 = 4096;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;
// Room for the entries of a page. A match from the dictionary may begin the page, so that there is one entry more.
override ENTRIES: u32 = PAGE_SIZE / 4 + select(0u, ROUND, DICTIONARY);
// Invocations of a workgroup: those of a subgroup, 32 or 64.
override WIDTH: u32 = 32;
// Pages of a workgroup: as many, or fewer where there are too few pages to fill the device.
override PAGES: u32 = WIDTH;
override LANES: u32 = WIDTH / PAGES;
// Words of a page's window, a power of two, or 0 for none.
override WINDOW: u32 = select(0u, 64u, LANES > 1);
override WINDOWS: u32 = max(WINDOW * PAGES, 1u);
// Words that the lanes of a page load in a round, eight each.
override LOADED: u32 = 8 * LANES;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_packed_words: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> packed: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> sequences: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> status: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;
// The binding of lengths, where each page has its own.
const LENGTHS: u32 = 5;

// Sequences of a page in a round.
const ROUND: u32 = 8;
// Words of workgroup memory for a page's entries of a round, and the number of entries so far: an odd number, so that the
// lanes use different banks.
const STAGE: u32 = 2 * ROUND + 1;
override STAGED_ENTRIES: u32 = WIDTH * STAGE;
var<workgroup> sh_entries: array<u32, STAGED_ENTRIES>;
// The windows, and the word of `packed` at which each page reads next. Word i of `packed` is word i modulo WINDOW of a window.
var<workgroup> sh_windows: array<u32, WINDOWS>;
var<workgroup> sh_reading: array<u32, PAGES>;
// Number of pages that have more sequences.
var<workgroup> sh_unfinished: atomic<u32>;

const KIND_LZ4: u32 = 0;
const KIND_STORED: u32 = 1;
const KIND_FILL: u32 = 2;

// Codes of BlockError.
const TRUNCATED: u32 = 1;
const OUTPUT_OVERRUN: u32 = 2;
const ZERO_OFFSET: u32 = 3;
const OFFSET_TOO_FAR: u32 = 4;
const OUTPUT_UNDERRUN: u32 = 5;
const BAD_TABLE_ENTRY: u32 = 6;
// The page is not written yet. The host decodes a page that keeps this status.
const UNFINISHED: u32 = 7;
// In place of a status: the block has more sequences.
const MORE: u32 = 0;
// In place of a length that the block ends within, and of a place to read next.
const NONE: u32 = 0xffffffffu;
// Offset of entries without a match: none that needs special care.
const NO_MATCH: u32 = 4;

// A block being read by one lane.
struct Block {
    // Index of the page in the workgroup.
    own: u32,
    // First word in `packed`, and length in bytes.
    first: u32,
    end: u32,
    // Next byte of the block to read, and four bytes from there on, of which the fourth may be undefined.
    read: u32,
    ahead: u32,
    // Length of the page, and next byte of it to write.
    n: u32,
    write: u32,
    n_entries: u32,
    // First word of `packed` in the window, and the one behind it.
    window_begin: u32,
    window_end: u32,
}

// Returns four bytes of the block from byte p on.
fn block_word(block: ptr<function, Block>, p: u32) -> u32 {
    let i = (*block).first + (p >> 2);
    return funnel(packed[i], packed[i + 1], (p & 3) * 8);
}

// Returns words i and i + 1 of `packed`.
fn window_words(block: ptr<function, Block>, i: u32) -> vec2<u32> {
    if WINDOW > 0 && i >= (*block).window_begin && i + 1 < (*block).window_end {
        let window = (*block).own * WINDOW;
        return vec2(sh_windows[window + (i & (WINDOW - 1))], sh_windows[window + ((i + 1) & (WINDOW - 1))]);
    }
    return vec2(packed[i], packed[i + 1]);
}

// Returns the largest offset of a match that begins at this byte of the page.
fn most_offset(begin: u32) -> u32 {
    if DICTIONARY {
        return begin + params.dictionary_bytes;
    }
    return begin;
}

// Returns the lower half of the begin of a match, less 1. Without a dictionary no match begins at 0, so that is all of it.
fn lower_half(begin: u32) -> u32 {
    if DICTIONARY {
        return begin & 0xffff;
    }
    return begin;
}

// Stages the entry of a sequence. Its literals, from byte `literals` of the block on, go to the next byte to write.
fn stage_entry(block: ptr<function, Block>, literals: u32, n_literals: u32, offset: u32) {
    let at = (*block).own * STAGE + 2 * ((*block).n_entries & (ROUND - 1));
    sh_entries[at] = lower_half((*block).write + n_literals - 1) | (n_literals << 16);
    sh_entries[at + 1] = offset | ((literals - (*block).write) << 16);
    (*block).n_entries += 1;
    (*block).write += n_literals;
}

// Stages the entry of the last literals.
fn stage_last_entry(block: ptr<function, Block>, literals: u32, n_literals: u32) {
    // A length of 2^16 has 17 bits: two entries, the first with a match of no bytes.
    let first = (n_literals & 0x10000) >> 1;
    if first != 0 {
        stage_entry(block, literals, first, NO_MATCH);
    }
    stage_entry(block, literals + first, n_literals - first, NO_MATCH);
}

// Returns the sum of the bytes that extend a length, or NONE.
fn read_extension(block: ptr<function, Block>) -> u32 {
    var sum = 0u;
    var bytes = block_word(block, (*block).read);
    while bytes == 0xffffffff {
        sum += 4 * 255;
        (*block).read += 4;
        if (*block).read >= (*block).end {
            return NONE;
        }
        bytes = block_word(block, (*block).read);
    }
    let n_full = countTrailingZeros(~bytes) >> 3;
    if n_full >= (*block).end - (*block).read {
        return NONE;
    }
    (*block).read += n_full + 1;
    return sum + n_full * 255 + ((bytes >> (8 * n_full)) & 255);
}

// Reads any sequence, and returns MORE or the status of the page.
fn any_sequence(block: ptr<function, Block>) -> u32 {
    if (*block).read >= (*block).end {
        return TRUNCATED;
    }
    let token = (*block).ahead;
    (*block).read += 1;
    var n_literals = (token >> 4) & 15;
    if n_literals == 15 {
        let more = read_extension(block);
        if more == NONE {
            return TRUNCATED;
        }
        n_literals += more;
    }
    if n_literals > (*block).end - (*block).read {
        return TRUNCATED;
    }
    if n_literals > (*block).n - (*block).write {
        return OUTPUT_OVERRUN;
    }
    let literals = (*block).read;
    (*block).read += n_literals;
    if (*block).read == (*block).end {
        stage_last_entry(block, literals, n_literals);
        return select(OUTPUT_UNDERRUN, UNFINISHED, (*block).write == (*block).n);
    }
    if (*block).end - (*block).read < 2 {
        return TRUNCATED;
    }
    let offset = block_word(block, (*block).read) & 0xffff;
    let begin = (*block).write + n_literals;
    if offset == 0 {
        return ZERO_OFFSET;
    }
    if offset > most_offset(begin) {
        return OFFSET_TOO_FAR;
    }
    (*block).read += 2;
    var n_match = (token & 15) + 4;
    if n_match == 19 {
        let more = read_extension(block);
        if more == NONE {
            return TRUNCATED;
        }
        n_match += more;
    }
    if n_match > (*block).n - begin {
        return OUTPUT_OVERRUN;
    }
    stage_entry(block, literals, n_literals, offset);
    (*block).write += n_match;
    (*block).ahead = block_word(block, (*block).read);
    return MORE;
}

// Reads a sequence, and returns MORE or the status of the page. Most have at most one byte of extension to each length, and
// are right and not the last: they need two words of the block.
fn next_sequence(block: ptr<function, Block>) -> u32 {
    let token = (*block).ahead;
    var n_literals = (token >> 4) & 15;
    var literals = (*block).read + 1;
    var extension = 0u;
    if n_literals == 15 {
        extension = (token >> 8) & 255;
        n_literals += extension;
        literals += 1;
    }
    let after = literals + n_literals;
    let words = window_words(block, (*block).first + (min(after, (*block).end) >> 2));
    let shift = (after & 3) * 8;
    let word = funnel(words.x, words.y, shift);
    let offset = word & 0xffff;
    var ahead = (word >> 16) | ((words.y >> shift) << 16);
    var read = after + 2;
    var n_match = (token & 15) + 4;
    if n_match == 19 {
        extension = max(extension, ahead & 255);
        n_match += ahead & 255;
        read += 1;
        ahead >>= 8;
    }
    let begin = (*block).write + n_literals;
    if extension == 255 || read >= (*block).end || offset - 1 >= most_offset(begin) || begin + n_match > (*block).n {
        return any_sequence(block);
    }
    stage_entry(block, literals, n_literals, offset);
    (*block).write += n_match;
    (*block).read = read;
    (*block).ahead = ahead;
    return MORE;
}

// Checks the table entry of a page, and returns its status: MORE for an LZ4 block, or that of a stored page or a fill, whose
// entries it stages.
fn open_page(block: ptr<function, Block>, index: u32) -> u32 {
    let entry = table[index];
    let kind = entry.y >> 30;
    let length = entry.y & 0x3fffffff;
    let n = page_length(index);
    if entry.x > params.n_packed_words || (length + 3) / 4 > params.n_packed_words - entry.x || length == 0 || (kind == KIND_LZ4 && length > n + n / 255 + 16)
        || kind > KIND_FILL || (kind == KIND_STORED && length != n)
        || (kind == KIND_FILL && (length != 8 || (n & 7) != 0)) {
        return BAD_TABLE_ENTRY;
    }
    (*block).first = entry.x;
    (*block).end = length;
    (*block).n = n;
    if kind == KIND_LZ4 {
        (*block).ahead = packed[entry.x];
        return MORE;
    }
    if kind == KIND_FILL {
        // Eight literals, and a match that repeats them.
        stage_entry(block, 0u, 8u, 8u);
        (*block).write = n;
        stage_last_entry(block, 8u, 0u);
    } else {
        stage_last_entry(block, 0u, n);
    }
    return UNFINISHED;
}

// Stores the entries of a round, the first of which is entry `first`: each lane two of them at a time.
fn store_entries(first_page: u32, first: u32, i: u32) {
    for (var k = i; k < PAGES * ROUND / 2; k += WIDTH) {
        let own = k / (ROUND / 2);
        let at = own * STAGE + 4 * (k % (ROUND / 2));
        if sh_entries[own * STAGE + STAGE - 1] > first {
            let pair = vec4(sh_entries[at], sh_entries[at + 1], sh_entries[at + 2], sh_entries[at + 3]);
            sequences[((first_page + own) * ENTRIES + first) / 2 + k % (ROUND / 2)] = pair;
        }
    }
}

// The window of a page, as all of its lanes see it.
struct Window {
    // Word of `packed` behind the window.
    end: u32,
    // The LOADED words behind it are on their way, and this lane's are these.
    is_loading: bool,
    words: array<u32, 8>,
}

// Adds the words that were loaded in the round before, and loads the next ones. `reading` is the word that the page reads
// next, or NONE.
fn move_window(window: ptr<function, Window>, own: u32, lane: u32, reading: u32) {
    if (*window).is_loading {
        for (var k = 0u; k < 8; k++) {
            let i = (*window).end + k * LANES + lane;
            sh_windows[own * WINDOW + (i & (WINDOW - 1))] = (*window).words[k];
        }
        (*window).end += LOADED;
    }
    // At first, and behind long literals, the window is empty.
    if reading > (*window).end || (*window).end == 0 {
        (*window).end = reading;
    }
    let end = (*window).end;
    // The last words of `packed` are read without the window.
    (*window).is_loading = reading != NONE && end + LOADED <= reading + WINDOW && end + LOADED <= params.n_packed_words;
    if (*window).is_loading {
        for (var k = 0u; k < 8; k++) {
            (*window).words[k] = packed[end + k * LANES + lane];
        }
    }
}

@compute @workgroup_size(WIDTH)
fn lz4_tokens(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let first_page = workgroup.x * PAGES;
    let own = i / LANES;
    let lane = i % LANES;
    let index = first_page + own;
    let reads = lane == 0 && index < params.n_pages;
    var block = Block(own, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
    // The host does not clear workgroup memory for this kernel.
    for (var k = i; k < STAGED_ENTRIES; k += WIDTH) {
        sh_entries[k] = 0u;
    }
    if i == 0 {
        atomicStore(&sh_unfinished, 0u);
    }
    workgroupBarrier();
    var code = UNFINISHED;
    if reads {
        code = open_page(&block, index);
    }
    if code == MORE {
        atomicAdd(&sh_unfinished, 1u);
    }
    var window: Window;
    for (var k = 0u; k < ENTRIES; k++) {
        if code == MORE {
            code = next_sequence(&block);
            if code != MORE {
                atomicSub(&sh_unfinished, 1u);
            }
        }
        if (k & (ROUND - 1)) == ROUND - 1 {
            if lane == 0 {
                sh_entries[own * STAGE + STAGE - 1] = block.n_entries;
                sh_reading[own] = select(NONE, block.first + (block.read >> 2), code == MORE);
            }
            workgroupBarrier();
            store_entries(first_page, k + 1 - ROUND, i);
            if WINDOW > 0 {
                block.window_begin = sh_reading[own];
                move_window(&window, own, lane, block.window_begin);
                block.window_end = window.end;
            }
            if workgroupUniformLoad(&sh_unfinished) == 0 {
                break;
            }
        }
    }
    if reads {
        end_block(&block, index, code);
    }
}
