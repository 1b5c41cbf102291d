// Copies from an address by a workgroup of 128 lanes. The kernel declares `staged`, the target.
//
// import: lib/address, lib/bits

// Lanes of the workgroup.
const LANES: u32 = 128;

// Returns word w from byte `shift / 8` of the word at `begin` on.
fn shifted_word(begin: vec2<u32>, w: u32, shift: u32) -> u32 {
    let low = load_word(advanced(begin, 4 * w));
    if shift == 0 {
        return low;
    }
    return funnel(low, load_word(advanced(begin, 4 * w + 4)), shift);
}

// Copies n bytes to the words of `staged` from `first` on; the last one is padded with zeros. Reads the words that begin before the
// end of the bytes only if they end there at the latest, and else bytes.
fn copy_from(address: vec2<u32>, n: u32, first: u32, lane: u32) {
    let shift = 8 * (address.x & 3);
    let begin = vec2(address.x & ~3u, address.y);
    // Bytes from the start of a word of `staged` to the end of the words that have it.
    let n_read = select(8 - (address.x & 3), 4u, shift == 0);
    let n_whole = select(0u, (n - n_read) / 4 + 1, n >= n_read);
    // Four loads in flight, to hide latency.
    for (var done = lane; done < n_whole; done += 4 * LANES) {
        var words: array<u32, 4>;
        for (var k = 0u; k < 4; k++) {
            if done + k * LANES < n_whole {
                words[k] = shifted_word(begin, done + k * LANES, shift);
            }
        }
        for (var k = 0u; k < 4; k++) {
            if done + k * LANES < n_whole {
                staged[first + done + k * LANES] = words[k];
            }
        }
    }
    let w = n_whole + lane;
    if 4 * w < n {
        var word = 0u;
        for (var k = 0u; k < 4; k++) {
            if 4 * w + k < n {
                word |= load_byte(advanced(address, 4 * w + k)) << (8 * k);
            }
        }
        staged[first + w] = word;
    }
}
