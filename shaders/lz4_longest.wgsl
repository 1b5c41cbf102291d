// Finds the longest match of each position among its candidates, for level High of src/lz4/mod.rs.
//
// A workgroup is WIDTH lanes and takes pieces of PIECE slots, and the runs among as many positions, `workgroup_id.x`,
// `+ num_workgroups.x`, ...; a lane takes the positions of every WIDTH-th slot. With several for each, lanes with long comparisons
// delay the others less; with one, which is the choice for devices with the fewest registers, a lane keeps less.
//
// pages                PAGE_SIZE bytes each, back to back; the last may be shorter
// order, sizes         output of lz4_sort.wgsl
// matches              one word per position, written where the position is searchable: length | with AHEAD, its backward length,
//                      as lib/lz4_backward.wgsl says, << 8 | offset << 16; 0 for none. The words of one position in 32 pages follow
//                      each other.
// dictionary           as lib/dictionary.wgsl says; any words without one
//
// Offsets above the position are those of the dictionary.
//
// Preconditions: those of lz4_sort.wgsl.
// Twin: src/lz4/sorted.rs
//
// import: lib/bits, lib/dictionary, lib/lz4_backward, lib/lz4_bucket
// import: lz4_longest/compare, lz4_longest/dictionary, lz4_longest/page, lz4_longest/runs

override PAGE_SIZE: u32 = 4096;
override BUCKET_BITS: u32 = 11;
// Slots of a piece: a multiple of WIDTH, which divides PAGE_SIZE.
override PIECE: u32 = 256;
// Lanes of a workgroup: 64 or 128.
override WIDTH: u32 = 128;
// True if the page is staged in workgroup memory.
override STAGES: bool = false;
// True if comparisons load 16 bytes and four candidates at a time, which takes more registers than four and one.
override AHEAD: bool = true;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;

const CANDIDATES: u32 = 64;
override SLOTS: u32 = CANDIDATES + PIECE;
override SLOT_WORDS: u32 = SLOTS / 32;
const KIND_FILL: u32 = 2u << 30;
// Length at which a comparison stops.
const LONGEST: u32 = 128;
// Above the keys of all candidates.
const NEVER: u32 = 0x10000;
// The bits of a first difference that count for a key. A candidate of eight equal bytes, whose first difference has all bits, has
// NEVER, too.
const KEY: u32 = NEVER | 0x18;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_pieces: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read> order: array<u32>;
@group(0) @binding(2) var<storage, read> sizes: array<u32>;
@group(0) @binding(3) var<storage, read_write> matches: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;
@group(0) @binding(5) var<storage, read> dictionary: array<u32>;

// The slots of the workgroup's positions, and the CANDIDATES slots before them: the position; its four bytes, and the four after
// them with their bits reversed, so that words that agree in more bytes have a smaller difference.
var<workgroup> sh_slots: array<u32, SLOTS>;
var<workgroup> sh_words: array<vec2<u32>, SLOTS>;
// Without AHEAD, the first piece of the workgroup: read from here, it is the same for all lanes in the eyes of every compiler. Adrenos run
// fewer waves with it.
var<workgroup> sh_first: u32;
// One bit for each slot, set for the first slot of a bucket.
var<workgroup> sh_begins: array<atomic<u32>, SLOT_WORDS>;

// Stages a slot of `order` as slot `to`.
fn stage_slot(first_word: u32, slot: u32, to: u32) {
    let p = order[slot];
    let words = three_of_page(base_of(first_word) + (p >> 2));
    let shift = (p & 3) * 8;
    sh_slots[to] = p;
    sh_words[to] = vec2(funnel(words.x, words.y, shift), reverseBits(funnel(words.y, words.z, shift)));
}

// Returns true if a slot is of another bucket than the one before.
fn begins_bucket(slot: u32) -> bool {
    return bucket_of(sh_words[slot].x) != bucket_of(sh_words[slot - 1].x);
}

// Returns the number of slots of the same bucket before this one, at most CANDIDATES.
fn count_candidates(slot: u32) -> u32 {
    var i = slot / 32;
    var bits = atomicLoad(&sh_begins[i]) & (0xffffffffu >> (31 - slot % 32));
    while bits == 0 && i > 0 {
        i--;
        bits = atomicLoad(&sh_begins[i]);
    }
    if bits == 0 {
        return CANDIDATES;
    }
    return min(CANDIDATES, slot - (32 * i + 31 - countLeadingZeros(bits)));
}

// The longest match so far, and its slot.
struct Match {
    length: u32,
    slot: u32,
}

// Tries those candidates of the position p that agree in eight bytes: those of the bits, which count from the slot `begin`.
fn try_eights(first_word: u32, bits: u32, begin: u32, p: u32, cap: u32, best: ptr<function, Match>) {
    var eights = bits;
    // A longer match agrees in the four bytes that end after the best length.
    var last = max((*best).length, 7u) - 3;
    var expected = text_at(first_word, p + last);
    while eights != 0 {
        let bit = firstLeadingBit(eights);
        let q = sh_slots[begin + bit];
        eights ^= 1u << bit;
        if text_at(first_word, q + last) == expected {
            let found = common_length(first_word, p, q, cap);
            if found > (*best).length {
                *best = Match(found, begin + bit);
                if found == cap {
                    return;
                }
                last = found - 3;
                expected = text_at(first_word, p + last);
            }
        }
    }
}

// Returns the highest bit that differs in the last four bytes of a candidate and of the position, whose words these are; NEVER if the
// first four bytes differ.
fn first_difference(candidate: vec2<u32>, words: vec2<u32>, guard: u32) -> u32 {
    return select(NEVER, firstLeadingBit((candidate.y ^ words.y) | guard), candidate.x == words.x);
}

// Tries the candidates in the n slots before `end`, at most 32, of the position p in slot `own`.
fn try_candidates(first_word: u32, own: u32, end: u32, n: u32, p: u32, cap: u32, best: ptr<function, Match>) {
    let words = sh_words[own];
    // With this bit, candidates agree in less than eight bytes.
    let guard = select(0u, 0x80u, cap < 8);
    // Candidates that agree in eight bytes; the nearest is the highest bit.
    var eights = 0u;
    // The least sum of a candidate's key and its distance in slots, less one: that of the longest match below eight bytes, the nearest
    // of equals.
    var key = NEVER;
    var k = 0u;
    while k < n {
        if !AHEAD {
            let bit = first_difference(sh_words[end - 1 - k], words, guard);
            key = min(key, 4 * (bit & KEY) + k);
            eights = (eights << 1) | (bit >> 31);
            k++;
            continue;
        }
        // Four at a time: slots before the last candidate are of other buckets, or copies of it.
        let at = end - 4 - k;
        let d3 = first_difference(sh_words[at], words, guard);
        let d2 = first_difference(sh_words[at + 1], words, guard);
        let d1 = first_difference(sh_words[at + 2], words, guard);
        let d0 = first_difference(sh_words[at + 3], words, guard);
        let nearest = min(min(d0 & KEY, (d1 & KEY) | 1), min((d2 & KEY) | 2, (d3 & KEY) | 3));
        key = min(key, nearest + 3 * (nearest & 0x18) + k);
        eights = (eights << 1) | (d0 >> 31);
        eights = (eights << 1) | (d1 >> 31);
        eights = (eights << 1) | (d2 >> 31);
        eights = (eights << 1) | (d3 >> 31);
        k += 4u;
    }
    if eights != 0 {
        try_eights(first_word, eights, end - k, p, cap, best);
    } else if key < NEVER && 7 - (key >> 5) > (*best).length {
        *best = Match(7 - (key >> 5), end - 1 - (key & 31));
    }
}

// Returns the longest match of the position in slot `own`, the nearest of equals.
fn longest_match(first_word: u32, own: u32, n: u32) -> u32 {
    let p = sh_slots[own];
    let n_candidates = count_candidates(own);
    let cap = min(LONGEST, n - 5 - p);
    var best = Match(3u, own);
    for (var k = 0u; k < n_candidates && best.length != cap; k += 32) {
        try_candidates(first_word, own, own - k, min(32u, n_candidates - k), p, cap, &best);
    }
    let offset = p - sh_slots[best.slot];
    var found = select(best.length | (offset << 16), 0u, offset == 0);
    if DICTIONARY {
        found = longest_of_both(first_word, p, product_of(sh_words[own].x), found, cap);
    }
    return with_backward_length(first_word, p, found);
}

// Returns the match of the position p with its backward length. Without AHEAD, lz4_cheapest.wgsl compares the bytes.
fn with_backward_length(first_word: u32, p: u32, found: u32) -> u32 {
    if !AHEAD || found == 0 {
        return found;
    }
    let offset = found >> 16;
    let room = backward_room(p, offset);
    let start = p - room;
    var source = 0u;
    if DICTIONARY && offset > p {
        source = dictionary_word_at(i32(start) - i32(offset));
    } else {
        source = text_at(first_word, start - offset);
    }
    return found | (backward_length(room, text_at(first_word, start), source) << 8);
}

@compute @workgroup_size(WIDTH)
fn lz4_longest(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    var own_first = workgroup.x;
    if !AHEAD {
        if lane == 0 {
            sh_first = workgroup.x;
        }
        own_first = workgroupUniformLoad(&sh_first);
    }
    for (var piece = own_first; piece < params.n_pieces; piece += n_workgroups.x) {
        let page = piece / (PAGE_SIZE / PIECE);
        let first_word = page * (PAGE_SIZE / 4);
        let first = (piece % (PAGE_SIZE / PIECE)) * PIECE;
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        let n_slots = select(0u, sizes[page], sizes[page] < KIND_FILL);
        let n_own = min(first + PIECE, n_slots) - min(first, n_slots);
        // The slot behind the last one that is staged.
        let end = select(0u, CANDIDATES + n_own, n_own > 0);
        if lane < SLOT_WORDS {
            atomicStore(&sh_begins[lane], 0u);
        }
        if STAGES && n_slots > 0 {
            for (var i = lane; i < (n + 19) / 4; i += WIDTH) {
                sh_page[i] = pages[first_word + i];
            }
        }
        if STAGES {
            workgroupBarrier();
        }
        for (var to = lane; to < end; to += WIDTH) {
            // Copies of the page's first slot stand before it.
            stage_slot(first_word, 4 * first_word + max(first + to, CANDIDATES) - CANDIDATES, to);
        }
        workgroupBarrier();
        for (var slot = lane; slot < end; slot += WIDTH) {
            // The first slot of the page begins a bucket, and copies of it do not.
            let is_first = first + slot == CANDIDATES;
            if is_first || (slot > 0 && begins_bucket(slot)) {
                atomicOr(&sh_begins[slot / 32], 1u << (slot % 32));
            }
        }
        workgroupBarrier();
        let column = (page / 32) * (32 * PAGE_SIZE) + page % 32;
        if n_slots > 0 {
            write_runs(lane, first_word, first, n - 11, column);
        }
        // Without a loop, an invocation keeps fewer values.
        if PIECE == WIDTH {
            let slot = CANDIDATES + lane;
            if end > 0 {
                // Lanes without a slot take the last one, so that no loop is in a branch of some lanes.
                let own = min(slot, end - 1);
                let found = longest_match(first_word, own, n);
                if slot < end {
                    matches[column + 32 * sh_slots[own]] = found;
                }
            }
        } else {
            for (var slot = CANDIDATES + lane; slot < end; slot += WIDTH) {
                matches[column + 32 * sh_slots[slot]] = longest_match(first_word, slot, n);
            }
        }
        workgroupBarrier();
    }
}
