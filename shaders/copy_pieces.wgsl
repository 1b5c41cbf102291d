// Copies pieces of memory from addresses to addresses. No piece overlaps the target of another.
//
// A workgroup of 128 lanes copies a piece, then the one `num_workgroups.x` further on.
//
// memory  see lib/address.wgsl
// from    one address for each piece, low word first
// given   bytes of each piece, 64 bits, of which the low 32 count
// to      one address for each piece
//
// import: lib/address, lib/bits

// Lanes of the workgroup.
const LANES: u32 = 128;

struct Params {
    n_pieces: u32,
    pad_0: u32,
    pad: vec2<u32>,
}

@group(0) @binding(1) var<storage, read> sources: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> given: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> targets: array<vec2<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

// Returns the four bytes from byte p on of n at an address. Reads the words that these bytes are in, if they end before the piece
// does, and else bytes.
fn piece_word(address: vec2<u32>, p: u32, n: u32) -> u32 {
    let begin = advanced(address, p);
    let n_skipped = begin.x & 3;
    let whole = vec2(begin.x - n_skipped, begin.y);
    let low = load_word(whole);
    if n_skipped == 0 {
        return low;
    }
    if p + 8 - n_skipped <= n {
        return funnel(low, load_word(advanced(whole, 4)), 8 * n_skipped);
    }
    var word = low >> (8 * n_skipped);
    for (var k = 4 - n_skipped; k < 4; k++) {
        word |= load_byte(advanced(begin, k)) << (8 * k);
    }
    return word;
}

// Copies n bytes: whole words where the target has them, and bytes before and behind these.
fn copy_piece(source: vec2<u32>, address: vec2<u32>, n: u32, lane: u32) {
    let n_before = min((4 - (address.x & 3)) & 3, n);
    let n_words = (n - n_before) / 4;
    let begin = advanced(address, n_before);
    // Four loads in flight, to hide latency.
    for (var done = lane; done < n_words; done += 4 * LANES) {
        var words: array<u32, 4>;
        for (var k = 0u; k < 4; k++) {
            if done + k * LANES < n_words {
                words[k] = piece_word(source, n_before + 4 * (done + k * LANES), n);
            }
        }
        for (var k = 0u; k < 4; k++) {
            if done + k * LANES < n_words {
                store_word(advanced(begin, 4 * (done + k * LANES)), words[k]);
            }
        }
    }
    // At most three bytes before the words, by the first lanes, and three behind them.
    let p = select(4 * n_words + lane, lane, lane < n_before);
    if p < n {
        store_byte(advanced(address, p), load_byte(advanced(source, p)));
    }
}

@compute @workgroup_size(LANES)
fn copy_pieces(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var index = workgroup.x; index < params.n_pieces; index += n_workgroups.x) {
        copy_piece(sources[index], targets[index], given[index].x, lane);
    }
}
