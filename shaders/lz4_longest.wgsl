// Finds the longest match of each position among its candidates, for level High of src/lz4/mod.rs.
//
// A workgroup is WIDTH lanes and takes pieces of WIDTH slots `workgroup_id.x`, `+ num_workgroups.x`, ...; a lane takes the
// position of one slot.
//
// pages                PAGE_SIZE bytes each, back to back; the last may be shorter
// order, sizes         output of lz4_sort.wgsl
// matches              one word per position, written where the position is searchable: length | offset << 16; 0 for none.
//                      The words of one position in 32 pages follow each other.
// dictionary           as lib/dictionary.wgsl says; any words without one
//
// Offsets above the position are those of the dictionary.
//
// Preconditions: those of lz4_sort.wgsl.
// Twin: src/lz4/sorted.rs
//
// import: lib/dictionary, lib/lz4_bucket, lib/page_word

override PAGE_SIZE: u32 = 4096;
override BUCKET_BITS: u32 = 11;
// Lanes of a workgroup: 64 or 128.
override WIDTH: u32 = 128;
// True if comparisons load eight bytes at a time, which takes more registers than four.
override AHEAD: bool = true;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;

const CANDIDATES: u32 = 64;
override SLOTS: u32 = CANDIDATES + WIDTH;
override SLOT_WORDS: u32 = SLOTS / 32;
// Length at which a comparison stops.
const LONGEST: u32 = 128;

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

// The slots of the workgroup's positions, and the CANDIDATES slots before them: the position, its four bytes, and the four after
// them.
var<workgroup> sh_slots: array<u32, SLOTS>;
var<workgroup> sh_words: array<u32, SLOTS>;
var<workgroup> sh_nexts: array<u32, SLOTS>;
// One bit for each slot, set for the first slot of a bucket.
var<workgroup> sh_begins: array<atomic<u32>, SLOT_WORDS>;

// Stages a slot of `order` as slot `to`.
fn stage_slot(first_word: u32, slot: u32, to: u32) {
    let p = order[slot];
    let i = first_word + (p >> 2);
    let shift = (p & 3) * 8;
    let middle = pages[i + 1];
    sh_slots[to] = p;
    sh_words[to] = funnel(pages[i], middle, shift);
    sh_nexts[to] = funnel(middle, pages[i + 2], shift);
}

// Marks a slot, which follows another one of its page, if it is the first of its bucket.
fn mark_begin(slot: u32) {
    if bucket_of(sh_words[slot]) != bucket_of(sh_words[slot - 1]) {
        atomicOr(&sh_begins[slot / 32], 1u << (slot % 32));
    }
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

// Returns the length of the common prefix of the bytes at p and at q, of which eight are equal, at most `cap`. Reads up to eight
// bytes more.
fn common_length(first_word: u32, p: u32, q: u32, cap: u32) -> u32 {
    var i = first_word + (p >> 2) + 2;
    var j = first_word + (q >> 2) + 2;
    let p_shift = (p & 3) * 8;
    let q_shift = (q & 3) * 8;
    var a = pages[i];
    var b = pages[j];
    if !AHEAD {
        for (var k = 8u; k < cap; k += 4) {
            i++;
            j++;
            let a_after = pages[i];
            let b_after = pages[j];
            let difference = funnel(a, a_after, p_shift) ^ funnel(b, b_after, q_shift);
            if difference != 0 {
                return min(cap, k + (countTrailingZeros(difference) >> 3));
            }
            a = a_after;
            b = b_after;
        }
        return cap;
    }
    for (var k = 8u; k < cap; k += 8) {
        let a_middle = pages[i + 1];
        let b_middle = pages[j + 1];
        let difference = funnel(a, a_middle, p_shift) ^ funnel(b, b_middle, q_shift);
        a = pages[i + 2];
        b = pages[j + 2];
        let next = funnel(a_middle, a, p_shift) ^ funnel(b_middle, b, q_shift);
        if difference != 0 {
            return min(cap, k + (countTrailingZeros(difference) >> 3));
        }
        if next != 0 {
            return min(cap, k + 4 + (countTrailingZeros(next) >> 3));
        }
        i += 2u;
        j += 2u;
    }
    return cap;
}

// The longest match so far, and its slot.
struct Match {
    length: u32,
    slot: u32,
}

// Tries those candidates of the position p that agree in eight bytes: those of the bits, which count from the slot before `end`
// backwards.
fn try_eights(first_word: u32, bits: u32, end: u32, p: u32, cap: u32, best: ptr<function, Match>) {
    var eights = bits;
    // A longer match agrees in the four bytes that end after the best length.
    var last = max((*best).length, 7u) - 3;
    var expected = word_at(first_word, p + last);
    while eights != 0 {
        let at = end - 1 - countTrailingZeros(eights);
        let q = sh_slots[at];
        eights &= eights - 1;
        if word_at(first_word, q + last) == expected {
            let found = common_length(first_word, p, q, cap);
            if found > (*best).length {
                *best = Match(found, at);
                if found == cap {
                    return;
                }
                last = found - 3;
                expected = word_at(first_word, p + last);
            }
        }
    }
}

// Tries the candidates in the n slots before `end`, at most 32, of the position p in slot `own`.
fn try_candidates(first_word: u32, own: u32, end: u32, n: u32, p: u32, cap: u32, best: ptr<function, Match>) {
    let word = sh_words[own];
    let next = sh_nexts[own];
    // With this bit, candidates agree in less than eight bytes.
    let guard = select(0u, 0x1000000u, cap < 8);
    var eights = 0u;
    // Length - 4 and distance of the best candidate: (length - 4) << 6 | 63 - k.
    var key = 0u;
    for (var k = 0u; k < n; k++) {
        let at = end - 1 - k;
        let agreeing = countTrailingZeros((sh_nexts[at] ^ next) | guard);
        if sh_words[at] == word {
            key = max(key, ((agreeing & 0x38) << 3) | (63 - k));
            eights |= select(0u, 1u << k, agreeing == 32);
        }
    }
    if eights != 0 {
        try_eights(first_word, eights, end, p, cap, best);
    } else if key != 0 && 4 + (key >> 6) > (*best).length {
        *best = Match(4 + (key >> 6), end - 64 + (key & 63));
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
    let found = select(best.length | (offset << 16), 0u, offset == 0);
    if DICTIONARY {
        return longest_of_both(first_word, p, sh_words[own] * 2654435761u, found, cap);
    }
    return found;
}

// Returns the length of the common prefix of the bytes at p and at `source` in the dictionary, at most `cap`, which does not exceed
// that of the bytes from there on.
fn length_in_dictionary(first_word: u32, p: u32, source: i32, cap: u32) -> u32 {
    var i = first_word + (p >> 2);
    var j = source >> 2;
    let p_shift = (p & 3) * 8;
    let source_shift = u32(source & 3) * 8;
    var a = pages[i];
    var b = dictionary_word(j);
    for (var k = 0u; k < cap; k += 4) {
        i++;
        j++;
        let a_after = pages[i];
        let b_after = dictionary_word(j);
        let difference = funnel(a, a_after, p_shift) ^ funnel(b, b_after, source_shift);
        if difference != 0 {
            return min(cap, k + (countTrailingZeros(difference) >> 3));
        }
        a = a_after;
        b = b_after;
    }
    return cap;
}

// Returns the longest match of the position p, the product of whose word is `product`: the one in the page, `own`, or a longer one
// in the dictionary, the latest of equals.
fn longest_of_both(first_word: u32, p: u32, product: u32, own: u32, cap: u32) -> u32 {
    let buckets = dictionary_end() + 2;
    let bucket = dictionary[buckets + (product >> (32 - INDEX_BITS))];
    let end = buckets + (1u << INDEX_BITS) + (bucket & 0xffff);
    let n_candidates = bucket >> 16;
    var best = own;
    var length = max(own & 0xffff, 3u);
    for (var k = 1u; k <= n_candidates && length < cap; k++) {
        let entry = dictionary[end - k];
        let source = i32(entry & 0xffff) - i32(params.dictionary_bytes);
        let offset = u32(i32(p) - source);
        if offset > 0xffff {
            break;
        }
        let most = min(cap, u32(-source));
        // With other bits of the product, the words differ. A longer match agrees in the four bytes that end after the best length.
        if (entry ^ (product << 15)) < 0x10000 && most > length {
            let last = length - 3;
            if word_at(first_word, p + last) == dictionary_word_at(source + i32(last)) {
                let found = length_in_dictionary(first_word, p, source, most);
                if found > length {
                    length = found;
                    best = found | (offset << 16);
                }
            }
        }
    }
    return best;
}

@compute @workgroup_size(WIDTH)
fn lz4_longest(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var piece = workgroup.x; piece < params.n_pieces; piece += n_workgroups.x) {
        let page = piece / (PAGE_SIZE / WIDTH);
        let first_word = page * (PAGE_SIZE / 4);
        let i = (piece % (PAGE_SIZE / WIDTH)) * WIDTH + lane;
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        let has_matches = n >= 13 && sizes[page] == 0;
        let is_searchable = has_matches && i + 12 <= n;
        // A lane also takes one of the candidates before the piece, which may be more than the positions of a last piece.
        let is_before = has_matches && lane < CANDIDATES && i >= CANDIDATES && i + 12 <= n + CANDIDATES;
        if lane < SLOT_WORDS {
            atomicStore(&sh_begins[lane], 0u);
        }
        if is_searchable {
            stage_slot(first_word, 4 * first_word + i, CANDIDATES + lane);
        }
        if is_before {
            stage_slot(first_word, 4 * first_word + i - CANDIDATES, lane);
        }
        workgroupBarrier();
        if is_searchable {
            if i == 0 {
                atomicOr(&sh_begins[CANDIDATES / 32], 1u);
            } else {
                mark_begin(CANDIDATES + lane);
            }
        }
        if is_before && lane > 0 {
            mark_begin(lane);
        }
        workgroupBarrier();
        if is_searchable {
            let column = (page / 32) * (32 * PAGE_SIZE) + page % 32;
            matches[column + 32 * sh_slots[CANDIDATES + lane]] = longest_match(first_word, CANDIDATES + lane, n);
        }
        workgroupBarrier();
    }
}
