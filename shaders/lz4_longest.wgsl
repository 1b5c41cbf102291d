// Finds the longest match of each position among its candidates, for level High of src/lz4/mod.rs.
//
// A workgroup is WIDTH lanes and takes pieces of PIECE slots `workgroup_id.x`, `+ num_workgroups.x`, ...; a lane takes the
// positions of every WIDTH-th slot. With several for each, lanes with long comparisons delay the others less; with one, which is the
// choice for devices with the fewest registers, a lane keeps less.
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
// import: lib/bits, lib/dictionary, lib/lz4_bucket

override PAGE_SIZE: u32 = 4096;
override BUCKET_BITS: u32 = 11;
// Slots of a piece: a multiple of WIDTH, which divides PAGE_SIZE.
override PIECE: u32 = 256;
// Lanes of a workgroup: 64 or 128.
override WIDTH: u32 = 128;
// True if the page is staged in workgroup memory.
override STAGES: bool = false;
// The words of the page, and those behind it that comparisons read.
override TEXT: u32 = select(1u, PAGE_SIZE / 4 + 4, STAGES);
// True if comparisons load 16 bytes and four candidates at a time, which takes more registers than four and one.
override AHEAD: bool = true;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;

const CANDIDATES: u32 = 64;
override SLOTS: u32 = CANDIDATES + PIECE;
override SLOT_WORDS: u32 = SLOTS / 32;
// Length at which a comparison stops.
const LONGEST: u32 = 128;
// The first bit of 0.
const NO_BIT: u32 = 0xffffffffu;
// Above the keys of all candidates.
const NEVER: u32 = 0x10000;

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
// With STAGES, the page.
var<workgroup> sh_page: array<u32, TEXT>;
// One bit for each slot, set for the first slot of a bucket.
var<workgroup> sh_begins: array<atomic<u32>, SLOT_WORDS>;

// The next five functions return words of the page, or of the 16 bytes behind it, by their index, which counts from `base_of`. They
// differ in literal offsets, which become those of load instructions only in the function that loads.
fn one_of_page(i: u32) -> u32 {
    if STAGES {
        return sh_page[i];
    }
    return pages[i];
}

fn two_of_page(i: u32) -> vec2<u32> {
    if STAGES {
        return vec2(sh_page[i], sh_page[i + 1]);
    }
    return vec2(pages[i], pages[i + 1]);
}

fn three_of_page(i: u32) -> vec3<u32> {
    if STAGES {
        return vec3(sh_page[i], sh_page[i + 1], sh_page[i + 2]);
    }
    return vec3(pages[i], pages[i + 1], pages[i + 2]);
}

fn three_of_page_after(i: u32) -> vec3<u32> {
    if STAGES {
        return vec3(sh_page[i + 1], sh_page[i + 2], sh_page[i + 3]);
    }
    return vec3(pages[i + 1], pages[i + 2], pages[i + 3]);
}

fn fourth_of_page_after(i: u32) -> u32 {
    if STAGES {
        return sh_page[i + 4];
    }
    return pages[i + 4];
}

// Returns the index of the first word of a page in what the functions above read.
fn base_of(first_word: u32) -> u32 {
    return select(first_word, 0u, STAGES);
}

// Returns the four bytes from byte p of the page on.
fn text_at(first_word: u32, p: u32) -> u32 {
    let words = two_of_page(base_of(first_word) + (p >> 2));
    return funnel(words.x, words.y, (p & 3) * 8);
}

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

// Returns the number of bytes that agree, of eight with the differences `low` and `high`, which are not both 0.
fn equal_bytes(low: u32, high: u32) -> u32 {
    return select(countTrailingZeros(low) >> 3, 4 + (countTrailingZeros(high) >> 3), low == 0);
}

// Returns the length of the common prefix of the bytes at p and at q, of which eight are equal, at most `cap`. Reads up to 16 bytes
// more.
fn common_length(first_word: u32, p: u32, q: u32, cap: u32) -> u32 {
    var i = base_of(first_word) + (p >> 2) + 2;
    var j = base_of(first_word) + (q >> 2) + 2;
    let p_shift = (p & 3) * 8;
    let q_shift = (q & 3) * 8;
    var a = one_of_page(i);
    var b = one_of_page(j);
    if !AHEAD {
        for (var k = 8u; k < cap; k += 4) {
            i++;
            j++;
            let a_after = one_of_page(i);
            let b_after = one_of_page(j);
            let difference = funnel(a, a_after, p_shift) ^ funnel(b, b_after, q_shift);
            if difference != 0 {
                return min(cap, k + (countTrailingZeros(difference) >> 3));
            }
            a = a_after;
            b = b_after;
        }
        return cap;
    }
    for (var k = 8u; k < cap; k += 16) {
        let p_words = three_of_page_after(i);
        let q_words = three_of_page_after(j);
        let low = funnel(a, p_words.x, p_shift) ^ funnel(b, q_words.x, q_shift);
        let high = funnel(p_words.x, p_words.y, p_shift) ^ funnel(q_words.x, q_words.y, q_shift);
        if (low | high) != 0 {
            return min(cap, k + equal_bytes(low, high));
        }
        a = fourth_of_page_after(i);
        b = fourth_of_page_after(j);
        let next_low = funnel(p_words.y, p_words.z, p_shift) ^ funnel(q_words.y, q_words.z, q_shift);
        let next_high = funnel(p_words.z, a, p_shift) ^ funnel(q_words.z, b, q_shift);
        if (next_low | next_high) != 0 {
            return min(cap, k + 8 + equal_bytes(next_low, next_high));
        }
        i += 4u;
        j += 4u;
    }
    return cap;
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

// Returns the key of a candidate, which is lower for a longer match: 32 times the number of bytes that a match of four to seven bytes
// lacks to seven, NEVER if the first four bytes differ. `bit` is the highest bit that differs in the reversed last four.
fn key_of(are_equal: bool, bit: u32) -> u32 {
    return select(NEVER, (bit & 0x18) << 2, are_equal);
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
            let candidate = sh_words[end - 1 - k];
            let bit = firstLeadingBit((candidate.y ^ words.y) | guard);
            let is_equal = candidate.x == words.x;
            key = min(key, key_of(is_equal, bit) + k);
            eights = (eights << 1) | select(0u, 1u, is_equal && bit == NO_BIT);
            k++;
            continue;
        }
        // Four at a time: slots before the last candidate are of other buckets, or copies of it.
        let at = end - 4 - k;
        let c3 = sh_words[at];
        let c2 = sh_words[at + 1];
        let c1 = sh_words[at + 2];
        let c0 = sh_words[at + 3];
        let are_equal = vec4(c0.x, c1.x, c2.x, c3.x) == vec4(words.x);
        let bits = firstLeadingBit((vec4(c0.y, c1.y, c2.y, c3.y) ^ vec4(words.y)) | vec4(guard));
        let nearest = min(
            min(key_of(are_equal.x, bits.x), key_of(are_equal.y, bits.y) + 1),
            min(key_of(are_equal.z, bits.z) + 2, key_of(are_equal.w, bits.w) + 3),
        );
        key = min(key, nearest + k);
        let are_eights = select(vec4(0u), vec4(8u, 4u, 2u, 1u), are_equal & (bits == vec4(NO_BIT)));
        eights = (eights << 4) | are_eights.x | are_eights.y | are_eights.z | are_eights.w;
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
    let found = select(best.length | (offset << 16), 0u, offset == 0);
    if DICTIONARY {
        return longest_of_both(first_word, p, sh_words[own].x * 2654435761u, found, cap);
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
            if text_at(first_word, p + last) == dictionary_word_at(source + i32(last)) {
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
        let page = piece / (PAGE_SIZE / PIECE);
        let first_word = page * (PAGE_SIZE / 4);
        let first = (piece % (PAGE_SIZE / PIECE)) * PIECE;
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        let n_searchable = select(0u, n - 11, n >= 13 && sizes[page] == 0);
        let n_own = min(first + PIECE, n_searchable) - min(first, n_searchable);
        // The slot behind the last one that is staged.
        let end = select(0u, CANDIDATES + n_own, n_own > 0);
        if lane < SLOT_WORDS {
            atomicStore(&sh_begins[lane], 0u);
        }
        if STAGES && end > 0 {
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
        // Without a loop, an invocation keeps fewer values.
        if PIECE == WIDTH {
            let slot = CANDIDATES + lane;
            if slot < end {
                matches[column + 32 * sh_slots[slot]] = longest_match(first_word, slot, n);
            }
        } else {
            for (var slot = CANDIDATES + lane; slot < end; slot += WIDTH) {
                matches[column + 32 * sh_slots[slot]] = longest_match(first_word, slot, n);
            }
        }
        workgroupBarrier();
    }
}
