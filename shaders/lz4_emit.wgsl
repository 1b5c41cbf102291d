// Writes the blocks of pages at their places in the packed output, and the table.
//
// A workgroup is WIDTH invocations, LANES for a page, and takes pages PAGES * `workgroup_id.x` to `+ PAGES - 1`,
// `+ PAGES * num_workgroups.x`, ...; an invocation encodes one sequence at a time. With SHARES_RUNS, all of them copy long runs
// of literals together in the end: one alone can take longer than the rest of the page.
//
// pages, sequences, sizes, places  outputs of lz4_parse.wgsl or lz4_cheapest.wgsl, and lz4_place.wgsl
// table   one pair per page: (start of its block in packed, in words; length in bytes | kind << 30)
// packed  the blocks, each aligned to a word, padded with zero bytes. The sequence that owns the first byte of a word
//         writes the whole word, with the bytes of the next sequence that complete it: every sequence but the last has
//         at least three bytes, so one successor is enough
//
// Twin: src/lz4/encode.rs
//
// import: lib/bits, lib/lz4_length, lib/page_word, lib/pages/length, lib/pages/place

override PAGE_SIZE: u32 = 4096;
override WIDTH: u32 = 128;
// Invocations of a page: a divisor of WIDTH.
override LANES: u32 = WIDTH;
override PAGES: u32 = WIDTH / LANES;
// False for the fewest registers.
override AHEAD: bool = true;
// True if invocations share long runs of literals. Where a workgroup has several pages, waiting for each other costs more than that
// saves.
override SHARES_RUNS: bool = AHEAD && PAGES == 1;
// Words of a long run of literals, at least.
const LONG_RUN: u32 = 64;
// The most long runs of a page.
override RUNS: u32 = select(1u, PAGE_SIZE / 4 / LONG_RUN, SHARES_RUNS);

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pad: vec2<u32>,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read> sequences: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sizes: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read_write> table: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> packed: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;
// The binding of lengths, where each page has its own.
const LENGTHS: u32 = 7;

var<workgroup> sh_n_runs: atomic<u32>;
// Sequences with a long run of literals.
var<workgroup> sh_runs: array<u32, RUNS>;

// Returns the bits of `v` shifted to byte `at` of a word, from -3 to 3; 0 for any other `at`.
fn shifted(v: u32, at: i32) -> u32 {
    let left = v << (u32(at & 3) * 8);
    let right = v >> (u32(-at & 3) * 8);
    return select(0u, select(right, left, at >= 0), at > -4 && at < 4);
}

// A sequence, with the places of its parts in the block.
struct Sequence {
    place: u32,
    token: u32,
    n_literals: u32,
    n_match: u32,
    // Position of the first literal in the page.
    anchor: u32,
    offset: u32,
    // Places in the block: first literal, offset, and end.
    literals: u32,
    tail: u32,
    end: u32,
}

// Returns sequence k of a page of n bytes.
fn read_sequence(first: u32, k: u32, n_sequences: u32, n: u32) -> Sequence {
    let own = sequences[first + k];
    let is_last = k == n_sequences;
    var s: Sequence;
    s.place = own.y & 0xffff;
    s.anchor = sequences[first + k - 1].y >> 16;
    let start = select(own.x & 0xffff, n, is_last);
    s.offset = own.x >> 16;
    s.n_literals = start - s.anchor;
    s.n_match = select((own.y >> 16) - start - 4, 0u, is_last);
    s.token = (min(s.n_literals, 15u) << 4) | min(s.n_match, 15u);
    s.literals = s.place + 1 + extension(s.n_literals);
    s.tail = s.literals + s.n_literals;
    s.end = s.tail + select(2 + extension(s.n_match), 0u, is_last);
    return s;
}

fn extension_byte(length: u32, i: u32) -> u32 {
    return min(length - 15 - min(255 * i, length - 15), 255u);
}

// Returns the first three bytes of a sequence, padded with zeros.
fn first_bytes(first_word: u32, s: Sequence) -> u32 {
    let literals = word_at(first_word, s.anchor);
    let n_bits = 8 * min(s.n_literals, 2u);
    var rest = (literals & ((1u << n_bits) - 1)) | (s.offset << n_bits);
    if s.n_literals >= 15 {
        let second = select(literals, extension_byte(s.n_literals, 1u), s.n_literals >= 270);
        rest = extension_byte(s.n_literals, 0u) | (second << 8);
    }
    return s.token | ((rest & 0xffff) << 8);
}

// Writes the words of the block whose first byte the sequence owns, but for those of a long run of literals that is shared; the
// last one ends with bytes of the next sequence. k is the index of the sequence.
fn emit_sequence(first_word: u32, base: u32, k: u32, s: Sequence, next: u32) {
    // Head: token and first extension byte. Tail: offset and first extension byte, then bytes of the next sequence
    // unless more extension bytes follow.
    let head = s.token | select(0u, extension_byte(s.n_literals, 0u) << 8, s.n_literals >= 15);
    let n_tail = s.end - s.tail;
    let after = select(next, 0u, n_tail > 3);
    let tail_low = s.offset | select(0u, extension_byte(s.n_match, 0u) << 16, s.n_match >= 15) | (after << (8 * (n_tail & 3)));
    let tail_high = after >> ((32 - 8 * n_tail) & 31);
    // The word in which the tail starts.
    let tail_word = s.tail >> 2;
    let tail_shift = 8 * (s.tail & 3);
    let before_tail = (1u << tail_shift) - 1;
    // The literal for byte p of the block is byte p + delta of the page, which may lie before its start.
    let delta = s.anchor - s.literals;
    let shift = (delta & 3) * 8;
    var w = (s.place + 3) >> 2;
    var i = i32(first_word) + (i32(4 * w + delta) >> 2);
    var low = pages[max(i, 0)];
    if 4 * w < s.literals {
        i++;
        let high = pages[max(i, 0)];
        var v = (funnel(low, high, shift) & ~first_bits(s.literals - 4 * w)) | (head >> (8 * (4 * w - s.place)));
        if w == tail_word {
            v = (v & before_tail) | (tail_low << tail_shift);
        }
        packed[base + w] = v;
        low = high;
        w++;
        if 4 * w + 3 < s.literals {
            // emit_extensions writes the words that hold nothing but extension bytes.
            w = s.literals >> 2;
            i = i32(first_word) + (i32(4 * w + delta) >> 2);
            low = pages[max(i, 0)];
        }
    }
    if SHARES_RUNS && w + LONG_RUN < tail_word {
        sh_runs[atomicAdd(&sh_n_runs, 1u)] = k;
        // This word may have extension bytes, too.
        packed[base + w] = funnel(low, pages[i + 1], shift);
        w = tail_word;
        i = i32(first_word) + (i32(4 * w + delta) >> 2);
        low = pages[i];
    }
    // Two independent loads in flight, to hide latency.
    while w + 1 < tail_word {
        let middle = pages[i + 1];
        i += 2;
        let high = pages[i];
        packed[base + w] = funnel(low, middle, shift);
        packed[base + w + 1] = funnel(middle, high, shift);
        low = high;
        w += 2;
    }
    if w < tail_word {
        i++;
        let high = pages[i];
        packed[base + w] = funnel(low, high, shift);
        low = high;
        w++;
    }
    if w == tail_word && 4 * w < s.end {
        packed[base + w] = (funnel(low, pages[i + 1], shift) & before_tail) | (tail_low << tail_shift);
        w++;
    }
    if 4 * w < s.end {
        packed[base + w] = funnel(select(tail_low, tail_high, tail_shift == 0), tail_high, (32 - tail_shift) & 31);
    }
}

// Writes the extension bytes after the first one of each length, and completes the words that hold them.
fn emit_extensions(base: u32, s: Sequence, next: u32) {
    for (var w = (s.place + 3) >> 2; 4 * w < s.literals; w++) {
        packed[base + w] = extended_word(packed[base + w], 4 * w, s.place + 1, s.literals, s.n_literals);
    }
    let first = max(s.place + 3, s.tail + 2) >> 2;
    let n_written = (s.tail >> 2) + 2;
    for (var w = first; 4 * w < s.end; w++) {
        let word = select(0u, packed[base + w], w < n_written);
        packed[base + w] = extended_word(word, 4 * w, s.tail + 2, s.end, s.n_match) | select(0u, shifted(next, i32(s.end) - i32(4 * w)), s.end - s.tail > 3);
    }
}

// Returns the word at byte p of the block with the extension bytes of `length` inserted that lie in it; `begin..end` are
// all bytes of the extension.
fn extended_word(word: u32, p: u32, begin: u32, end: u32, length: u32) -> u32 {
    var v = word;
    for (var k = 0u; k < 4; k++) {
        if p + k > begin && p + k < end {
            v = insertBits(v, extension_byte(length, p + k - begin), 8 * k, 8u);
        }
    }
    return v;
}

// Writes the block of a page, but for long runs of literals that are shared.
fn emit_page(index: u32, lane: u32) {
    let first_word = index * (PAGE_SIZE / 4);
    let n = page_length(index);
    let size = sizes[index];
    let base = block_place(index);
    if lane == 0 {
        table[index] = vec2(base, size);
    }
    if (size >> 30) != 0 {
        // Copy a stored page or a fill; zero the padding of a short page.
        for (var k = lane; k < ((size & 0x3fffffff) + 3) / 4; k += LANES) {
            packed[base + k] = pages[first_word + k] & first_bits(n - min(4 * k, n));
        }
        return;
    }
    let n_sequences = sequences[first_word].x;
    for (var k = lane + 1; k <= n_sequences; k += LANES) {
        let own = read_sequence(first_word, k, n_sequences, n);
        var next = 0u;
        if k < n_sequences {
            next = first_bytes(first_word, read_sequence(first_word, k + 1, n_sequences, n));
        }
        let is_long = own.n_literals >= 270 || own.n_match >= 270;
        emit_sequence(first_word, base, k, own, next);
        if is_long {
            // Read again, so that registers are free in between.
            emit_extensions(base, read_sequence(first_word, k, n_sequences, n), next);
        }
    }
}

// Writes the long runs of literals of a page.
fn copy_runs(index: u32, lane: u32) {
    let first_word = index * (PAGE_SIZE / 4);
    let n_runs = atomicLoad(&sh_n_runs);
    for (var run = 0u; run < n_runs; run++) {
        let s = read_sequence(first_word, sh_runs[run], sequences[first_word].x, page_length(index));
        let base = block_place(index);
        for (var w = (s.literals + 3) / 4 + lane; w < s.tail / 4; w += LANES) {
            packed[base + w] = word_at(first_word, 4 * w + s.anchor - s.literals);
        }
    }
}

@compute @workgroup_size(WIDTH)
fn lz4_emit(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    if !SHARES_RUNS {
        for (var index = workgroup.x * PAGES + i / LANES; index < params.n_pages; index += n_workgroups.x * PAGES) {
            emit_page(index, i % LANES);
        }
        return;
    }
    for (var index = workgroup.x; index < params.n_pages; index += n_workgroups.x) {
        atomicStore(&sh_n_runs, 0u);
        workgroupBarrier();
        emit_page(index, i);
        workgroupBarrier();
        copy_runs(index, i);
        workgroupBarrier();
    }
}
