// Finds the longest match of each position among its candidates, for level High of src/lz4/mod.rs.
//
// A workgroup is 128 lanes and takes pieces of 128 positions `workgroup_id.x`, `+ num_workgroups.x`, ...; a lane takes one
// position.
//
// pages    PAGE_SIZE bytes each, back to back; the last may be shorter
// links    output of lz4_chains.wgsl
// matches  one word per position, written where the position is searchable: length | offset << 16; 0 for none
//
// Preconditions: those of lz4_chains.wgsl.
// Twin: src/lz4/sorted.rs
//
// import: lib/page_word

override PAGE_SIZE: u32 = 4096;

// Candidates that are tried, and the length at which a comparison stops.
const CANDIDATES: u32 = 64;
const LONGEST: u32 = 128;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_pieces: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read> links: array<u32>;
@group(0) @binding(2) var<storage, read_write> matches: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

// Returns the length of the common prefix of the bytes at p and at q, at most `cap`.
fn common_length(first_word: u32, p: u32, q: u32, cap: u32) -> u32 {
    for (var k = 0u; k < LONGEST; k += 4) {
        let difference = word_at(first_word, p + k) ^ word_at(first_word, q + k);
        if difference != 0 || k >= cap {
            return min(cap, k + (countTrailingZeros(difference) >> 3));
        }
    }
    return cap;
}

// Returns the longest match at p, the nearest of equals.
fn longest_match(page: u32, p: u32, n: u32) -> u32 {
    let first_word = page * (PAGE_SIZE / 4);
    let first = page * PAGE_SIZE;
    let cap = min(LONGEST, n - 5 - p);
    var q = p;
    var length = 3u;
    var offset = 0u;
    for (var k = 0u; k < CANDIDATES; k++) {
        let link = links[first + q];
        if link == 0 || length == cap {
            break;
        }
        q -= link;
        // A longer match agrees in the four bytes that end after the best length.
        if word_at(first_word, p + length - 3) == word_at(first_word, q + length - 3) {
            let found = common_length(first_word, p, q, cap);
            if found > length {
                length = found;
                offset = p - q;
            }
        }
    }
    return select(length | (offset << 16), 0u, offset == 0);
}

@compute @workgroup_size(128)
fn lz4_longest(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var piece = workgroup.x; piece < params.n_pieces; piece += n_workgroups.x) {
        let page = piece / (PAGE_SIZE / 128);
        let p = (piece % (PAGE_SIZE / 128)) * 128 + lane;
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        if p + 12 <= n && n >= 13 {
            matches[page * PAGE_SIZE + p] = longest_match(page, p, n);
        }
    }
}
