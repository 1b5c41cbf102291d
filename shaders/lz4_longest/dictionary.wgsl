// Part of lz4_longest: the longest match of a position in the dictionary.
//
// import: lib/bits, lib/dictionary, lz4_longest/compare, lz4_longest/page

// Candidates whose products are compared at a time.
override AT_ONCE: u32 = select(1u, 4u, AHEAD);

// Returns the four bytes of the dictionary buffer from byte `at` on.
fn dictionary_at(at: u32) -> u32 {
    let i = at >> 2;
    return funnel(dictionary[i], dictionary[i + 1], (at & 3) * 8);
}

// Returns the length of the common prefix of the bytes at p and at byte `source` of the dictionary buffer, at most `cap`, which does
// not exceed that of the bytes from there on.
fn length_in_dictionary(first_word: u32, p: u32, source: u32, cap: u32) -> u32 {
    var i = base_of(first_word) + (p >> 2);
    var j = source >> 2;
    let p_shift = (p & 3) * 8;
    let source_shift = (source & 3) * 8;
    var a = one_of_page(i);
    var b = dictionary[j];
    if !AHEAD {
        for (var k = 0u; k < cap; k += 4) {
            i++;
            j++;
            let a_after = one_of_page(i);
            let b_after = dictionary[j];
            let difference = funnel(a, a_after, p_shift) ^ funnel(b, b_after, source_shift);
            if difference != 0 {
                return min(cap, k + (countTrailingZeros(difference) >> 3));
            }
            a = a_after;
            b = b_after;
        }
        return cap;
    }
    for (var k = 0u; k < cap; k += 8) {
        let p_words = two_of_page_after(i);
        let source_words = vec2(dictionary[j + 1], dictionary[j + 2]);
        let low = funnel(a, p_words.x, p_shift) ^ funnel(b, source_words.x, source_shift);
        let high = funnel(p_words.x, p_words.y, p_shift) ^ funnel(source_words.x, source_words.y, source_shift);
        if (low | high) != 0 {
            return min(cap, k + equal_bytes(low, high));
        }
        a = p_words.y;
        b = source_words.y;
        i += 2u;
        j += 2u;
    }
    return cap;
}

// Returns one bit for each of AT_ONCE slots of the dictionary, the first one the lowest: set if the product's bits in the upper half of
// the slot are those of `product`.
fn equal_products(slot: u32, product: u32) -> u32 {
    let a = (dictionary[slot] ^ product) & 0xffff0000;
    if !AHEAD {
        return select(0u, 1u, a == 0);
    }
    let b = (dictionary[slot + 1] ^ product) & 0xffff0000;
    let c = (dictionary[slot + 2] ^ product) & 0xffff0000;
    let d = (dictionary[slot + 3] ^ product) & 0xffff0000;
    return select(0u, 1u, a == 0) | select(0u, 2u, b == 0) | select(0u, 4u, c == 0) | select(0u, 8u, d == 0);
}

// Returns the longest match of the position p, the product of whose word is `product`: the one in the page, `own`, or a longer one
// in the dictionary, the latest of equals.
fn longest_of_both(first_word: u32, p: u32, product: u32, own: u32, cap: u32) -> u32 {
    var best = own;
    var length = max(own & 0xffff, 3u);
    if length >= cap {
        return best;
    }
    let buckets = dictionary_end() + 2;
    let bucket = dictionary[buckets + (product >> (32 - INDEX_BITS))];
    let n_candidates = bucket >> 16;
    let end = buckets + (1u << INDEX_BITS) + (bucket & 0xffff);
    // Candidates, at most 16, whose product is the same but for its lowest bit. The latest is the highest bit.
    var equals = 0u;
    var k = 0u;
    while k < n_candidates {
        k += AT_ONCE;
        equals = (equals << AT_ONCE) | equal_products(end - k, product << 15);
    }
    // Drops the slots before the bucket, which were read to fill the last group.
    equals >>= k - n_candidates;
    let begin = end - n_candidates;
    // The dictionary's first byte in its buffer.
    let first = 4 * dictionary_end() - params.dictionary_bytes;
    // A longer match agrees in the four bytes that end after the best length.
    var last = length - 3;
    var expected = text_at(first_word, p + last);
    while equals != 0 {
        let bit = firstLeadingBit(equals);
        equals ^= 1u << bit;
        let q = dictionary[begin + bit] & 0xffff;
        let offset = p + params.dictionary_bytes - q;
        if offset > 0xffff {
            break;
        }
        // Behind the dictionary this reads its index. The length found below ends with the dictionary.
        if dictionary_at(first + last + q) == expected {
            let found = length_in_dictionary(first_word, p, first + q, min(cap, params.dictionary_bytes - q));
            if found > length {
                length = found;
                best = found | (offset << 16);
                if found == cap {
                    break;
                }
                last = found - 3;
                expected = text_at(first_word, p + last);
            }
        }
    }
    return best;
}
