// Finds and checks the sequences of blocks as lz4_tokens.wgsl does, and for the same kernel, with LANES invocations for each page.
//
// A block is cut into segments of equal length, one for each lane of its page. At first a lane follows the chain of tokens from the begin
// of its segment on, where most likely none begins: after a few steps such a chain meets the right one (self-synchronisation), and both leave
// the segment at the same place. Each lane then follows the chain that arrives from the lanes before it, again if another one arrives, and
// counts entries and bytes of the page. Inclusive scans of the counts tell each lane where its own begin. Finally the lanes stage entries, a
// round at a time, and all of them store what is staged. One lane reads a block with a fault once more, from its begin, for the status.
//
// packed, table, status  as in lz4_tokens.wgsl
// sequences              entries as there, one an element instead of two
//
// Twin: src/lz4/decode.rs
//
// import: lib/merge, lib/pages/end, lz4_tokens/block

override PAGE_SIZE: u32 = 65536;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;
// False for the fewest registers: what only the end of a page needs is derived or loaded again there.
override AHEAD: bool = true;
// Room for the entries of a page. A match from the dictionary may begin the page, so that there is one entry more.
override ENTRIES: u32 = PAGE_SIZE / 4 + select(0u, 8u, DICTIONARY);
// Invocations of a workgroup: those of a subgroup, 32 or 64.
override WIDTH: u32 = 32;
// Pages of a workgroup: one at least, and at most half as many as invocations.
override PAGES: u32 = 1;
override LANES: u32 = WIDTH / PAGES;
// Maximum number of sequences of a segment. All but the last of a block have three bytes at least.
override MOST_SEQUENCES: u32 = (PAGE_SIZE + PAGE_SIZE / 255 + 16) / LANES / 3 + 2;
// Maximum number of rounds of a lane.
override MOST_ROUNDS: u32 = MOST_SEQUENCES / ROUND + 2;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_packed_words: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> packed: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> sequences: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> status: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;
// The binding of lengths, where each page has its own.
const LENGTHS: u32 = 5;

// Counts of lanes, while they are added up. The last component of the first: without AHEAD, the first page of the workgroup.
var<workgroup> sh_counts: array<vec4<u32>, WIDTH>;

// A sequence of a block. The last one has no match: NO_MATCH, and 0 bytes.
struct Sequence {
    // Place of the literals in the block.
    literals: u32,
    n_literals: u32,
    offset: u32,
    n_match: u32,
}

// The part of a chain of tokens in the segment of a lane.
struct Part {
    // Byte of the block at which the chain enters the segment or passes it, and first byte to read behind the segment.
    begin: u32,
    end: u32,
    n_entries: u32,
    // Bytes of the page.
    n_bytes: u32,
}

// Ends a chain within a sequence.
fn broken(block: ptr<function, Block>) -> Sequence {
    (*block).read = NONE;
    return Sequence(0u, 0u, NO_MATCH, 0u);
}

// As `sequence_ahead`, with lengths of any number of bytes.
fn long_sequence(block: ptr<function, Block>) -> Sequence {
    let token = (*block).ahead;
    (*block).read += 1;
    let n_literals = whole_length(block, (token >> 4) & 15);
    if n_literals == NONE {
        return broken(block);
    }
    let literals = (*block).read;
    // An entry has 16 bits for the number.
    if n_literals > min((*block).end - literals, 0xffff) {
        return broken(block);
    }
    (*block).read += n_literals;
    if (*block).read == (*block).end {
        return Sequence(literals, n_literals, NO_MATCH, 0u);
    }
    if (*block).end - (*block).read < 2 {
        return broken(block);
    }
    let offset = block_word(block, (*block).read) & 0xffff;
    (*block).read += 2;
    let beyond_four = whole_length(block, token & 15);
    if beyond_four == NONE {
        return broken(block);
    }
    let n_match = 4 + beyond_four;
    if (*block).read >= (*block).end {
        return broken(block);
    }
    (*block).ahead = block_word(block, (*block).read);
    return Sequence(literals, n_literals, offset, n_match);
}

// Reads the sequence at the next byte to read, without regard to the page, and moves on to the next one: to the end of the block behind the
// last one, and to NONE if the block ends within a sequence.
fn sequence_ahead(block: ptr<function, Block>) -> Sequence {
    let found = short_sequence(block);
    if !found.is_short {
        return long_sequence(block);
    }
    (*block).read = found.next;
    (*block).ahead = found.ahead;
    return Sequence(found.literals, found.n_literals, found.offset, found.n_match);
}

// Goes to byte `begin` of the block, if that is in the segment that ends at `limit`.
fn go_to(block: ptr<function, Block>, begin: u32, limit: u32) {
    (*block).read = begin;
    if begin < limit {
        (*block).ahead = block_word(block, begin);
    }
}

// Follows the chain of tokens from `begin` on to the end of the segment.
fn follow(block: ptr<function, Block>, begin: u32, limit: u32) -> Part {
    var part = Part(begin, 0u, 0u, 0u);
    go_to(block, begin, limit);
    for (var k = 0u; k < MOST_SEQUENCES; k++) {
        if (*block).read >= limit {
            break;
        }
        let found = sequence_ahead(block);
        part.n_entries += 1;
        part.n_bytes += found.n_literals + found.n_match;
    }
    part.end = (*block).read;
    return part;
}

// Leaves in `sh_counts`, for each invocation, what the lanes of its page up to it have: entries, bytes of the page, and the furthest end.
fn add_counts(i: u32, lane: u32, part: Part) {
    var counts = vec4(part.n_entries, part.n_bytes, part.end, 0u);
    for (var d = 1u; d < LANES; d *= 2) {
        sh_counts[i] = counts;
        workgroupBarrier();
        if lane >= d {
            let before = sh_counts[i - d];
            counts = vec4(counts.xy + before.xy, max(counts.z, before.z), 0u);
        }
        workgroupBarrier();
    }
    sh_counts[i] = counts;
    workgroupBarrier();
}

// Stages the entries of a lane's part up to entry `last` of the page, and returns true if one has an offset that leads to no byte.
fn stage_round(block: ptr<function, Block>, limit: u32, last: u32) -> bool {
    var has_fault = false;
    for (var k = 0u; k < ROUND; k++) {
        if (*block).read < limit && (*block).n_entries <= last {
            let found = sequence_ahead(block);
            stage_entry(block, found.literals, found.n_literals, found.offset);
            has_fault |= found.n_match > 0 && found.offset - 1 >= most_offset((*block).write);
            (*block).write += found.n_match;
        }
    }
    return has_fault;
}

// Stores the staged entries of all lanes: of this one, those from `first` to before the next.
fn store_round(block: ptr<function, Block>, first_page: u32, first: u32) {
    sh_staged[(*block).own * STAGE + STAGE - 1] = first | (((*block).n_entries - first) << 16);
    workgroupBarrier();
    for (var k = (*block).own; k < WIDTH * ROUND; k += WIDTH) {
        let owner = k / ROUND;
        let at = owner * STAGE;
        let staged = sh_staged[at + STAGE - 1];
        let begin = staged & 0xffff;
        let slot = k % ROUND;
        let entry = (begin & ~(ROUND - 1)) + slot;
        if entry - begin < (staged >> 16) {
            sequences[(first_page + owner / LANES) * ENTRIES + entry] = vec2(sh_staged[at + 2 * slot], sh_staged[at + 2 * slot + 1]);
        }
    }
    workgroupBarrier();
}

// Stages and stores the entries of a lane's part, together with the other lanes; those before `first` are stored. Returns true if one has an
// offset that leads to no byte, or if the driver ended the loop early.
fn store_chain(block: ptr<function, Block>, first_page: u32, first: u32, limit: u32, round: ptr<function, u32>) -> bool {
    var begin = first;
    var last = (*block).n_entries | (ROUND - 1);
    var has_fault = false;
    for (var k = 0u; k < MOST_ROUNDS; k++) {
        has_fault |= stage_round(block, limit, last);
        store_round(block, select(sh_counts[0].w, first_page, AHEAD), begin);
        begin = (*block).n_entries;
        last += ROUND;
        if merge(round, u32((*block).read < limit)) == 0 {
            break;
        }
    }
    return has_fault || (*block).read < limit;
}

// Reads all of a block with a fault, in the order of its sequences, and returns its status. Its last entries are staged.
fn read_in_order(block: ptr<function, Block>) -> u32 {
    (*block).write = 0u;
    (*block).n_entries = 0u;
    (*block).read = 0u;
    (*block).ahead = block_word(block, 0u);
    var code = MORE;
    for (var k = 0u; k < ENTRIES; k++) {
        code = any_sequence(block);
        if code != MORE {
            break;
        }
    }
    // A page of 65,536 literals is no fault, and has few entries. The host decodes other sound blocks, which the driver cut short.
    if code == UNFINISHED && (*block).n_entries > ROUND {
        code = MORE;
    }
    return code;
}

// Leaves the status of a page without a block, and its number of entries, in `first`, and 0 in `end`: no block has no bytes.
fn pack_status(block: ptr<function, Block>, code: u32) {
    if code != MORE {
        (*block).first = code | ((*block).n_entries << 8);
        (*block).end = 0u;
    }
    (*block).n_entries = 0u;
    (*block).write = 0u;
}

// Ends the page without AHEAD, after the chains are stored; `broke` is true if one could not be.
fn end_page_reloaded(block: ptr<function, Block>, broke: bool, round: ptr<function, u32>) {
    let i = (*block).own;
    // Compilers do not see that the quotient is 0.
    let own_page = select(i / LANES, 0u, PAGES == 1);
    let lane = select(i % LANES, i, PAGES == 1);
    let index = sh_counts[0].w + own_page;
    let n = page_length(index);
    let all = sh_counts[i - lane + LANES - 1];
    let is_read = (*block).end != 0;
    let has_fault = broke || (is_read && (all.x > ENTRIES || all.y > n || all.z != (*block).end));
    let faults = merge(round, select(0u, 1u << own_page, has_fault));
    var code = (*block).first & 255;
    if is_read {
        (*block).n_entries = all.x;
        code = select(OUTPUT_UNDERRUN, UNFINISHED, all.y == n);
    }
    // True for lane 0. Compilers do not see that, so they do not keep the comparison from before.
    let is_leader = lane < min(params.n_pages, 1u);
    if faults != 0 {
        let is_first = is_leader && ((faults >> own_page) & 1) != 0;
        if is_first {
            (*block).n = n;
            code = read_in_order(block);
        }
        store_round(block, sh_counts[0].w, select((*block).n_entries, 0u, is_first));
    }
    if is_leader && index < params.n_pages {
        end_block(block, index, code);
    }
}

@compute @workgroup_size(WIDTH)
fn lz4_tokens_many(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let first_page = workgroup.x * PAGES;
    let own_page = i / LANES;
    let lane = i % LANES;
    let index = first_page + own_page;
    var block = Block(i, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
    var code = UNFINISHED;
    if index < params.n_pages {
        code = open_page(&block, index);
    }
    if !AHEAD {
        pack_status(&block, code);
    }
    let is_read = select(block.end != 0, code == MORE, AHEAD);
    let segment = (block.end + LANES - 1) / LANES;
    let begin = select(0u, min(lane * segment, block.end), is_read);
    var limit = select(0u, min(begin + segment, block.end), is_read);
    var round = 0u;
    var part = Part();
    // Each repetition makes at least one more segment right.
    for (var k = 0u; k <= LANES; k++) {
        var arrival = begin;
        if k > 0 {
            add_counts(i, lane, part);
            arrival = select(0u, sh_counts[i - min(lane, 1u)].z, lane > 0);
        }
        let follows = k == 0 || arrival != part.begin;
        if merge(&round, u32(follows)) == 0 {
            break;
        }
        if follows {
            part = follow(&block, arrival, limit);
        }
    }
    let all = sh_counts[i - lane + LANES - 1];
    let before = select(vec4(0u), sh_counts[i - min(lane, 1u)], lane > 0);
    // The chain of a sound block ends with the block, and has room in the page.
    var has_fault = is_read && (all.x > ENTRIES || all.y > select(page_length(index), block.n, AHEAD) || all.z != block.end);
    if is_read {
        limit = select(limit, 0u, has_fault);
        block.n_entries = before.x;
        block.write = before.y;
        go_to(&block, part.begin, limit);
    }
    if !AHEAD {
        if !is_read {
            block.n_entries = block.first >> 8;
        }
        workgroupBarrier();
        if i == 0 {
            sh_counts[0].w = first_page;
        }
        workgroupBarrier();
        let broke = store_chain(&block, first_page, select(block.n_entries, 0u, lane == 0), limit, &round);
        end_page_reloaded(&block, broke, &round);
        return;
    }
    // The entries of a stored page or of a fill are staged; the first lane has those to store.
    has_fault |= store_chain(&block, first_page, select(block.n_entries, 0u, lane == 0), limit, &round);
    let faults = merge(&round, select(0u, 1u << own_page, has_fault));
    if is_read {
        block.n_entries = all.x;
        block.write = all.y;
        code = select(OUTPUT_UNDERRUN, UNFINISHED, all.y == block.n);
    }
    if faults != 0 {
        let is_first = lane == 0 && ((faults >> own_page) & 1) != 0;
        if is_first {
            code = read_in_order(&block);
        }
        store_round(&block, first_page, select(block.n_entries, 0u, is_first));
    }
    if lane == 0 && index < params.n_pages {
        end_block(&block, index, code);
    }
}
