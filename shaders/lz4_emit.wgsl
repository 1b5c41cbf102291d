// Writes the blocks of pages at their places in the packed output, and the table.
//
// A workgroup is 64 invocations and takes pages `workgroup_id.x`, `+ num_workgroups.x`, ...; an invocation takes
// a sequence at a time.
//
// pages, sequences, sizes, places, tile_sums  as lz4_parse.wgsl and lz4_place.wgsl leave them
// table   a pair a page: (start of its block in packed, in words; length in bytes | kind << 30)
// packed  the blocks, each from a whole word on, padded with zero bytes
//
// Twin: src/lz4/encode.rs

override PAGE_SIZE: u32 = 4096;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pad: vec2<u32>,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read> sequences: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sizes: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read> tile_sums: array<u32>;
@group(0) @binding(5) var<storage, read_write> table: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> packed: array<atomic<u32>>;
@group(0) @binding(7) var<uniform> params: Params;

// The low word of the pair (a, b) shifted right by s bits; s = 0, 8, 16 or 24.
fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}

fn word_at(first_word: u32, p: u32) -> u32 {
    let i = first_word + (p >> 2);
    return funnel(pages[i], pages[i + 1], (p & 3) * 8);
}

// Bytes on their way into packed: whole words are stored, words shared with other sequences are ORed.
struct Writer {
    word: u32,
    // Bytes of the word so far, and their number; bytes of other sequences count as zeros.
    bits: u32,
    n: u32,
    shared_word: bool,
}

// Appends the lowest n bytes of v; 1 <= n <= 4, the bytes above are zero.
fn put(writer: ptr<function, Writer>, v: u32, n: u32) {
    let s = 8 * (*writer).n;
    let bits = (*writer).bits | (v << s);
    let filled = (*writer).n + n;
    if filled >= 4 {
        if (*writer).shared_word {
            atomicOr(&packed[(*writer).word], bits);
        } else {
            atomicStore(&packed[(*writer).word], bits);
        }
        (*writer).shared_word = false;
        (*writer).word++;
        (*writer).bits = (v >> 1) >> (31 - s);
        (*writer).n = filled - 4;
    } else {
        (*writer).bits = bits;
        (*writer).n = filled;
    }
}

fn put_extension(writer: ptr<function, Writer>, length: u32) {
    if length >= 15 {
        var rest = length - 15;
        while rest >= 255 {
            put(writer, 255u, 1u);
            rest -= 255;
        }
        put(writer, rest, 1u);
    }
}

// Bits of `v` at byte `at` of a word, `at` from -3 to 3; nothing of it shows in the word elsewhere.
fn shifted(v: u32, at: i32) -> u32 {
    let left = v << (u32(at & 3) * 8);
    let right = v >> (u32(-at & 3) * 8);
    return select(0u, select(right, left, at >= 0), at > -4 && at < 4);
}

// All bits from byte n of a word on; n may lie outside the word.
fn bits_from(n: i32) -> u32 {
    return select(0xffffffffu << (u32(clamp(n, 0, 3)) * 8), 0u, n >= 4);
}

fn emit_sequence(first_word: u32, n: u32, base: u32, sequence: vec2<u32>, anchor: u32, is_last: bool) {
    let start = select(sequence.x & 0xffff, n, is_last);
    let literals = start - anchor;
    let place = sequence.y & 0xffff;
    let match_length = select((sequence.y >> 16) - start - 4, 0u, is_last);
    let token = (min(literals, 15u) << 4) | min(match_length, 15u);
    if literals >= 270 || match_length >= 270 {
        emit_long(first_word, base, sequence.x >> 16, place, anchor, literals, match_length, is_last);
        return;
    }
    // Head: token and at most one extension byte. Tail: offset and at most one extension byte.
    let head = token | select(0u, (literals - 15) << 8, literals >= 15);
    let literals_at = place + select(1u, 2u, literals >= 15);
    let tail_at = literals_at + literals;
    let tail = select((sequence.x >> 16) | select(0u, (match_length - 15) << 16, match_length >= 15), 0u, is_last);
    let end = tail_at + select(select(2u, 3u, match_length >= 15), 0u, is_last);
    let last = (end - 1) >> 2;
    // Literals for byte 4 * w of the block are at byte 4 * w + delta of the page, perhaps before its start.
    let delta = anchor - literals_at;
    let s = (delta & 3) * 8;
    var i = first_word + u32(i32((place & ~3u) + delta) >> 2);
    var low = pages[select(i, 0u, i > 0x7fffffff)];
    for (var w = place >> 2; w <= last; w++) {
        i++;
        let high = pages[i];
        let at = i32(w * 4);
        var v = funnel(low, high, s)
            & bits_from(i32(literals_at) - at) & ~bits_from(i32(tail_at) - at);
        low = high;
        v |= shifted(head, i32(place) - at) | shifted(tail, i32(tail_at) - at);
        if w * 4 < place || w == last {
            atomicOr(&packed[base + w], v);
        } else {
            atomicStore(&packed[base + w], v);
        }
    }
}

fn emit_long(first_word: u32, base: u32, offset: u32, place: u32, anchor: u32, literals: u32, match_length: u32, is_last: bool) {
    var writer = Writer(base + (place >> 2), 0u, place & 3, (place & 3) != 0);
    put(&writer, (min(literals, 15u) << 4) | min(match_length, 15u), 1u);
    put_extension(&writer, literals);
    var p = anchor;
    let start = anchor + literals;
    while p + 4 <= start {
        put(&writer, word_at(first_word, p), 4u);
        p += 4;
    }
    if p < start {
        put(&writer, word_at(first_word, p) & ~bits_from(i32(start - p)), start - p);
    }
    if !is_last {
        put(&writer, offset, 2u);
        put_extension(&writer, match_length);
    }
    if writer.n > 0 {
        atomicOr(&packed[writer.word], writer.bits);
    }
}

@compute @workgroup_size(64)
fn lz4_emit(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var index = workgroup.x; index < params.n_pages; index += n_workgroups.x) {
        let first_word = index * (PAGE_SIZE / 4);
        let n = min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE);
        let size = sizes[index];
        let kind = size >> 30;
        let n_words = ((size & 0x3fffffffu) + 3) / 4;
        let base = tile_sums[1 + index / 1024] + places[index];
        if i == 0 {
            table[index] = vec2(base, size);
        }
        for (var k = i; k < n_words; k += 64) {
            // A stored page or a fill word is copied; the padding of a short page is cleared.
            let word = pages[first_word + k] & select(0xffffffffu, 0xffffffffu >> (8 * (4 - (n & 3))), k * 4 + 4 > n);
            atomicStore(&packed[base + k], select(word, 0u, kind == 0));
        }
        storageBarrier();
        if kind == 0 {
            let first = index * (PAGE_SIZE / 4);
            let n_sequences = sequences[first].x;
            for (var k = i + 1; k <= n_sequences; k += 64) {
                let anchor = sequences[first + k - 1].y >> 16;
                emit_sequence(first_word, n, base, sequences[first + k], anchor, k == n_sequences);
            }
        }
    }
}
