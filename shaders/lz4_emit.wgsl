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
    n_words: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read> sequences: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sizes: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read> tile_sums: array<u32>;
@group(0) @binding(5) var<storage, read_write> table: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> packed: array<atomic<u32>>;
@group(0) @binding(7) var<uniform> params: Params;

fn word_at(first_word: u32, p: u32) -> u32 {
    let i = first_word + (p >> 2);
    let s = (p & 3) * 8;
    return (pages[min(i, params.n_words - 1)] >> s) | ((pages[min(i + 1, params.n_words - 1)] << 1) << (31 - s));
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

// The lowest n of four bytes; n may be negative or more than 4.
fn first_bytes(v: u32, n: i32) -> u32 {
    return select(v & ((1u << (8 * u32(clamp(n, 0, 3)))) - 1), v, n >= 4);
}

fn write(word: u32, bits: u32, is_shared: bool) {
    if is_shared {
        atomicOr(&packed[word], bits);
    } else {
        atomicStore(&packed[word], bits);
    }
}

// A sequence of at most 12 literals and no length of more than one extension byte: at most 16 bytes, all at once.
fn emit_short(first_word: u32, base: u32, place: u32, anchor: u32, literals: u32, tail: u32, n_tail: u32, token: u32) {
    let n = i32(literals);
    let l0 = first_bytes(word_at(first_word, anchor), n);
    let l1 = first_bytes(word_at(first_word, anchor + 4), n - 4);
    let l2 = first_bytes(word_at(first_word, anchor + 8), n - 8);
    var v = vec4(token | (l0 << 8), (l0 >> 24) | (l1 << 8), (l1 >> 24) | (l2 << 8), l2 >> 24);
    let t = (literals + 1) >> 2;
    let ts = ((literals + 1) & 3) * 8;
    let low = tail << ts;
    let high = (tail >> 1) >> (31 - ts);
    v |= select(vec4(0u), vec4(low), vec4(0u, 1u, 2u, 3u) == vec4(t));
    v |= select(vec4(0u), vec4(high), vec4(0u, 1u, 2u, 3u) == vec4(t + 1));
    let s = (place & 3) * 8;
    let r = 31 - s;
    let first = base + (place >> 2);
    let last = base + ((place + literals + n_tail) >> 2);
    write(first, v.x << s, true);
    if first < last {
        write(first + 1, (v.y << s) | ((v.x >> 1) >> r), first + 1 == last);
    }
    if first + 1 < last {
        write(first + 2, (v.z << s) | ((v.y >> 1) >> r), first + 2 == last);
    }
    if first + 2 < last {
        write(first + 3, (v.w << s) | ((v.z >> 1) >> r), first + 3 == last);
    }
    if first + 3 < last {
        write(first + 4, (v.w >> 1) >> r, true);
    }
}

fn emit_sequence(first_word: u32, n: u32, base: u32, sequence: vec2<u32>, anchor: u32, is_last: bool) {
    let start = select(sequence.x & 0xffff, n, is_last);
    let literals = start - anchor;
    let place = sequence.y & 0xffff;
    let match_length = (sequence.y >> 16) - start - 4;
    let token = (min(literals, 15u) << 4) | select(min(match_length, 15u), 0u, is_last);
    if literals <= 12 && !is_last && match_length < 270 {
        let has_extension = match_length >= 15;
        let tail = (sequence.x >> 16) | select(0u, (match_length - 15) << 16, has_extension);
        emit_short(first_word, base, place, anchor, literals, tail, select(2u, 3u, has_extension), token);
        return;
    }
    var writer = Writer(base + (place >> 2), 0u, place & 3, (place & 3) != 0);
    put(&writer, token, 1u);
    put_extension(&writer, literals);
    var p = anchor;
    while p + 4 <= start {
        put(&writer, word_at(first_word, p), 4u);
        p += 4;
    }
    if p < start {
        put(&writer, first_bytes(word_at(first_word, p), i32(start - p)), start - p);
    }
    if !is_last {
        put(&writer, sequence.x >> 16, 2u);
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
