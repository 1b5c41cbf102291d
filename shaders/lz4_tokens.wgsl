// Finds and checks the sequences of blocks for lz4_copy.wgsl, and writes one status per page.
//
// A workgroup is WIDTH invocations, and as many pages: for many small pages. Each invocation follows the chain of tokens of a page and stages
// the sequences that it finds in workgroup memory, with the number of entries so far behind them. After each round of ROUND sequences all of
// them store what is staged, since stores of whole sectors are many times as fast as those of single sequences. For fewer or larger pages,
// lz4_tokens_many.wgsl does the same.
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
// import: lib/pages/end, lz4_tokens/block

override PAGE_SIZE: u32 = 4096;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;
// Room for the entries of a page. A match from the dictionary may begin the page, so that there is one entry more.
override ENTRIES: u32 = PAGE_SIZE / 4 + select(0u, ROUND, DICTIONARY);
// Invocations of a workgroup: those of a subgroup, 32 or 64.
override WIDTH: u32 = 32;

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

// Number of pages that have more sequences.
var<workgroup> sh_unfinished: atomic<u32>;

// Reads a sequence, and returns MORE or the status of the page. Most are short and right.
fn next_sequence(block: ptr<function, Block>) -> u32 {
    let found = short_sequence(block);
    let begin = (*block).write + found.n_literals;
    if !found.is_short || found.offset - 1 >= most_offset(begin) || begin + found.n_match > (*block).n {
        return any_sequence(block);
    }
    stage_entry(block, found.literals, found.n_literals, found.offset);
    (*block).write += found.n_match;
    (*block).read = found.next;
    (*block).ahead = found.ahead;
    return MORE;
}

// Stores the entries of a round, the first of which is entry `first`: each invocation two of them at a time.
fn store_entries(first_page: u32, first: u32, i: u32) {
    for (var k = i; k < WIDTH * ROUND / 2; k += WIDTH) {
        let own = k / (ROUND / 2);
        let at = own * STAGE + 4 * (k % (ROUND / 2));
        if sh_staged[own * STAGE + STAGE - 1] > first {
            let pair = vec4(sh_staged[at], sh_staged[at + 1], sh_staged[at + 2], sh_staged[at + 3]);
            sequences[((first_page + own) * ENTRIES + first) / 2 + k % (ROUND / 2)] = pair;
        }
    }
}

@compute @workgroup_size(WIDTH)
fn lz4_tokens(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let first_page = workgroup.x * WIDTH;
    let index = first_page + i;
    var block = Block(i, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
    // The host does not clear workgroup memory for this kernel.
    for (var k = i; k < STAGED_WORDS; k += WIDTH) {
        sh_staged[k] = 0u;
    }
    if i == 0 {
        atomicStore(&sh_unfinished, 0u);
    }
    workgroupBarrier();
    var code = UNFINISHED;
    if index < params.n_pages {
        code = open_page(&block, index);
    }
    if code == MORE {
        atomicAdd(&sh_unfinished, 1u);
    }
    for (var k = 0u; k < ENTRIES; k++) {
        if code == MORE {
            code = next_sequence(&block);
            if code != MORE {
                atomicSub(&sh_unfinished, 1u);
            }
        }
        if (k & (ROUND - 1)) == ROUND - 1 {
            sh_staged[i * STAGE + STAGE - 1] = block.n_entries;
            workgroupBarrier();
            store_entries(first_page, k + 1 - ROUND, i);
            if workgroupUniformLoad(&sh_unfinished) == 0 {
                break;
            }
        }
    }
    if index < params.n_pages {
        end_block(&block, index, code);
    }
}
