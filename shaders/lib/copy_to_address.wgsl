// Copies to an address by a workgroup of 128 lanes. The kernel declares `staged`, the source, of which a word behind the last one
// may be read.
//
// import: lib/address, lib/bits

// Lanes of the workgroup.
const LANES: u32 = 128;

// Returns four bytes from byte p on that begins at word `first` of `staged`.
fn staged_word(first: u32, p: u32) -> u32 {
    let i = first + (p >> 2);
    return funnel(staged[i], staged[i + 1], 8 * (p & 3));
}

// Copies n bytes from the word `first` of `staged` on: whole words where the target has them, and bytes before and behind these.
fn copy_to(address: vec2<u32>, n: u32, first: u32, lane: u32) {
    let n_before = min((4 - (address.x & 3)) & 3, n);
    let n_words = (n - n_before) / 4;
    let begin = advanced(address, n_before);
    // Four loads in flight, to hide latency.
    for (var done = lane; done < n_words; done += 4 * LANES) {
        var words: array<u32, 4>;
        for (var k = 0u; k < 4; k++) {
            if done + k * LANES < n_words {
                words[k] = staged_word(first, n_before + 4 * (done + k * LANES));
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
        store_byte(advanced(address, p), staged_word(first, p) & 255);
    }
}
