// Part of lz4_tokens and lz4_tokens_many: the table entry of a page, any sequence of a block, and staged entries.
//
// The kernel declares `packed`, `table`, `params` and the overrides DICTIONARY and WIDTH.
//
// import: lib/bits, lib/pages/length

// Entries that an invocation stages in a round.
const ROUND: u32 = 8;
// Words of workgroup memory for them, and for what the kernel says: an odd number, so that the invocations use different banks.
const STAGE: u32 = 2 * ROUND + 1;
override STAGED_WORDS: u32 = WIDTH * STAGE;
var<workgroup> sh_staged: array<u32, STAGED_WORDS>;

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

// A block, as an invocation reads it.
struct Block {
    // Index of the invocation in the workgroup.
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
}

// A sequence whose lengths have at most one byte of extension each, which is not the last of its block.
struct ShortSequence {
    // False if the sequence is another one; then the rest means nothing.
    is_short: bool,
    // Place of the literals in the block.
    literals: u32,
    n_literals: u32,
    offset: u32,
    n_match: u32,
    // Place of the next sequence in the block, and bytes from there on as in Block.
    next: u32,
    ahead: u32,
}

// Returns four bytes of the block from byte p on.
fn block_word(block: ptr<function, Block>, p: u32) -> u32 {
    let i = (*block).first + (p >> 2);
    return funnel(packed[i], packed[i + 1], (p & 3) * 8);
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
    sh_staged[at] = lower_half((*block).write + n_literals - 1) | (n_literals << 16);
    sh_staged[at + 1] = offset | ((literals - (*block).write) << 16);
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

// Returns a length of which a token has these four bits, or NONE.
fn whole_length(block: ptr<function, Block>, bits: u32) -> u32 {
    if bits < 15 {
        return bits;
    }
    let more = read_extension(block);
    return select(15 + more, NONE, more == NONE);
}

// Reads any sequence, and returns MORE or the status of the page.
fn any_sequence(block: ptr<function, Block>) -> u32 {
    if (*block).read >= (*block).end {
        return TRUNCATED;
    }
    let token = (*block).ahead;
    (*block).read += 1;
    let n_literals = whole_length(block, (token >> 4) & 15);
    if n_literals == NONE {
        return TRUNCATED;
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
    let beyond_four = whole_length(block, token & 15);
    if beyond_four == NONE {
        return TRUNCATED;
    }
    let n_match = 4 + beyond_four;
    if n_match > (*block).n - begin {
        return OUTPUT_OVERRUN;
    }
    stage_entry(block, literals, n_literals, offset);
    (*block).write += n_match;
    (*block).ahead = block_word(block, (*block).read);
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

// Reads the sequence at the next byte to read from two words of the block, as most sequences can be read.
fn short_sequence(block: ptr<function, Block>) -> ShortSequence {
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
    let i = (*block).first + (min(after, (*block).end) >> 2);
    let words = vec2(packed[i], packed[i + 1]);
    let shift = (after & 3) * 8;
    let word = funnel(words.x, words.y, shift);
    var ahead = (word >> 16) | ((words.y >> shift) << 16);
    var next = after + 2;
    var n_match = (token & 15) + 4;
    if n_match == 19 {
        extension = max(extension, ahead & 255);
        n_match += ahead & 255;
        next += 1;
        ahead >>= 8;
    }
    let is_short = extension != 255 && next < (*block).end;
    return ShortSequence(is_short, literals, n_literals, word & 0xffff, n_match, next, ahead);
}
