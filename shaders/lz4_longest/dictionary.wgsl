// Part of lz4_longest: the longest match of a position in the dictionary.
//
// import: lib/bits, lib/dictionary, lz4_longest/page

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
