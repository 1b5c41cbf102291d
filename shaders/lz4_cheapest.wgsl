// Chooses the cheapest sequences of each page by dynamic programming, for level High of src/lz4/mod.rs.
//
// An invocation takes one page.
//
// pages      PAGE_SIZE bytes each, back to back; the last may be shorter
// costs      scratch, one word per position: least number of bytes from there to the end of the page
// matches    output of lz4_longest.wgsl; then the choice for each searchable position: length | offset << 16; for a literal
//            the first position after it at which a match is chosen << 16, NEVER << 16 for none
// sizes      output of lz4_sort.wgsl; then as lz4_parse.wgsl writes them
// sequences  as lz4_parse.wgsl writes them
// dictionary as lib/dictionary.wgsl says; any words without one
//
// The words of one position in 32 pages, those of a workgroup, follow each other in costs and matches. Offsets above the position
// are those of the dictionary.
//
// Preconditions: those of lz4_sort.wgsl.
// Twin: src/lz4/cheapest.rs
//
// import: lib/dictionary, lib/lz4_length, lib/page_word

override PAGE_SIZE: u32 = 4096;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;

// Longest match without an extension byte.
const SHORT: u32 = 18;
// A match that goes on from the next position with more bytes than this is taken, whatever the longest match is.
const GOES_ON: u32 = 8;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pad: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> costs: array<u32>;
@group(0) @binding(2) var<storage, read_write> matches: array<u32>;
@group(0) @binding(3) var<storage, read_write> sequences: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
@group(0) @binding(6) var<storage, read> dictionary: array<u32>;

// Not below the end of a page less 12.
const NEVER: u32 = 0xffff;
const KIND_STORED: u32 = 1u << 30;

fn byte_at(first_word: u32, p: u32) -> u32 {
    return (pages[first_word + (p >> 2)] >> ((p & 3) * 8)) & 0xff;
}

// Returns true if a match of the position after p has a byte before its source, in the page or in the dictionary.
fn has_byte_before(p: u32, offset: u32) -> bool {
    if DICTIONARY && offset > p + 1 {
        return offset <= p + params.dictionary_bytes;
    }
    return offset <= p;
}

// Returns the byte that is `offset` before p, in the page or in the dictionary.
fn source_byte(first_word: u32, p: u32, offset: u32) -> u32 {
    if DICTIONARY && p < offset {
        let source = i32(p) - i32(offset);
        return (dictionary_word(source >> 2) >> (u32(source & 3) * 8)) & 0xff;
    }
    return byte_at(first_word, p - min(p, offset));
}

// The position after the current one.
struct After {
    cost: u32,
    // Its match, with length 0 for none.
    length: u32,
    offset: u32,
    // The first position from there on at which a match is chosen, or NEVER.
    next: u32,
}

// Chooses between a literal and the match of p, whose byte is `byte` and whose own match is `own`. Words of the page's positions
// are 32 apart, from `first` on.
fn choose_at(first_word: u32, first: u32, p: u32, byte: u32, own: u32, after: ptr<function, After>) {
    var offset = (*after).offset;
    let goes_on = (*after).length > 0 && has_byte_before(p, offset) && byte == source_byte(first_word, p, offset);
    var length = select(0u, (*after).length + 1, goes_on);
    if length <= GOES_ON && (own & 0xffff) >= max(length, 1u) {
        length = own & 0xffff;
        offset = own >> 16;
    }
    var cost = (*after).cost + 1;
    var chosen = 0u;
    if length > 0 {
        let full = costs[first + 32 * (p + length)] + 3 + extension(length - 4);
        if full < cost {
            cost = full;
            chosen = length;
        }
        if length > SHORT {
            let short = costs[first + 32 * (p + SHORT)] + 3;
            if short < cost {
                cost = short;
                chosen = SHORT;
            }
        }
    }
    costs[first + 32 * p] = cost;
    matches[first + 32 * p] = chosen | (select(offset, (*after).next, chosen == 0) << 16);
    *after = After(cost, length, offset, select(p, (*after).next, chosen == 0));
}

// Chooses at all searchable positions, from the last to the first. Four in each iteration: a software GPU runs at most 65535
// iterations.
fn choose(first_word: u32, first: u32, n: u32) {
    for (var p = n - 11; p < n; p++) {
        costs[first + 32 * p] = n - p;
    }
    var after = After(11u, 0u, 0u, NEVER);
    var left = n - 11;
    while (left & 3) != 0 {
        left--;
        choose_at(first_word, first, left, byte_at(first_word, left), matches[first + 32 * left], &after);
    }
    while left > 0 {
        left -= 4u;
        let bytes = pages[first_word + (left >> 2)];
        let at = first + 32 * left;
        let own = vec4(matches[at], matches[at + 32], matches[at + 64], matches[at + 96]);
        choose_at(first_word, first, left + 3, bytes >> 24, own.w, &after);
        choose_at(first_word, first, left + 2, (bytes >> 16) & 0xff, own.z, &after);
        choose_at(first_word, first, left + 1, (bytes >> 8) & 0xff, own.y, &after);
        choose_at(first_word, first, left, bytes & 0xff, own.x, &after);
    }
}

// Returns the four bytes that are `offset` before p, in the page or in the dictionary.
fn source_word(first_word: u32, p: u32, offset: u32) -> u32 {
    if DICTIONARY && p < offset {
        return dictionary_word_at(i32(p) - i32(offset));
    }
    return word_at(first_word, p - offset);
}

// Returns the end of a match that agrees up to `end` and may go on, at most to `limit`.
fn extended(first_word: u32, end: u32, offset: u32, limit: u32) -> u32 {
    for (var p = end; p < limit; p += 4) {
        let difference = word_at(first_word, p) ^ source_word(first_word, p, offset);
        if difference != 0 {
            return min(limit, p + (countTrailingZeros(difference) >> 3));
        }
    }
    return limit;
}

// Writes the chosen sequences, and the size of the block.
fn write_sequences_of(first_word: u32, first: u32, n: u32, index: u32) {
    let list = index * (PAGE_SIZE / 4);
    var n_sequences = 0u;
    var bytes = 0u;
    var anchor = 0u;
    var p = 0u;
    while p + 12 <= n {
        let chosen = matches[first + 32 * p];
        let length = chosen & 0xffff;
        if length == 0 {
            p = chosen >> 16;
            continue;
        }
        var end = p + length;
        if length != SHORT {
            let offset = chosen >> 16;
            var limit = n - 5;
            if DICTIONARY && offset > p {
                // A match does not leave the dictionary.
                limit = min(limit, offset);
            }
            end = extended(first_word, end, offset, limit);
        }
        n_sequences++;
        sequences[list + n_sequences] = vec2(p | (chosen & 0xffff0000), bytes | (end << 16));
        bytes += sequence_bytes(p - anchor, end - p);
        p = end;
        anchor = end;
    }
    let size = bytes + 1 + (n - anchor) + extension(n - anchor);
    sequences[list] = vec2(n_sequences + 1, 0u);
    sequences[list + n_sequences + 1] = vec2(0u, bytes);
    sizes[index] = select(size, n | KIND_STORED, size >= n);
}

@compute @workgroup_size(32)
fn lz4_cheapest(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>) {
    for (var index = invocation.x; index < params.n_pages; index += 32 * n_workgroups.x) {
        let first_word = index * (PAGE_SIZE / 4);
        let first = (index / 32) * (32 * PAGE_SIZE) + index % 32;
        let n = min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE);
        if n < 13 && sizes[index] == 0 {
            sizes[index] = n | KIND_STORED;
        } else if sizes[index] == 0 {
            choose(first_word, first, n);
            write_sequences_of(first_word, first, n, index);
        }
    }
}
