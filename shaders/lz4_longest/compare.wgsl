// Part of lz4_longest: the common prefix of the bytes at two positions of the page.
//
// import: lib/bits, lz4_longest/page

// Returns the number of bytes that agree, of eight with the differences `low` and `high`, which are not both 0.
fn equal_bytes(low: u32, high: u32) -> u32 {
    return select(countTrailingZeros(low) >> 3, 4 + (countTrailingZeros(high) >> 3), low == 0);
}

// Returns the length of the common prefix of the bytes at p and at q, of which eight are equal, at most `cap`. Reads up to 16 bytes
// more.
fn common_length(first_word: u32, p: u32, q: u32, cap: u32) -> u32 {
    var i = base_of(first_word) + (p >> 2) + 2;
    var j = base_of(first_word) + (q >> 2) + 2;
    let p_shift = (p & 3) * 8;
    let q_shift = (q & 3) * 8;
    var a = one_of_page(i);
    var b = one_of_page(j);
    if !AHEAD {
        for (var k = 8u; k < cap; k += 4) {
            i++;
            j++;
            let a_after = one_of_page(i);
            let b_after = one_of_page(j);
            let difference = funnel(a, a_after, p_shift) ^ funnel(b, b_after, q_shift);
            if difference != 0 {
                return min(cap, k + (countTrailingZeros(difference) >> 3));
            }
            a = a_after;
            b = b_after;
        }
        return cap;
    }
    for (var k = 8u; k < cap; k += 16) {
        let p_words = three_of_page_after(i);
        let q_words = three_of_page_after(j);
        let low = funnel(a, p_words.x, p_shift) ^ funnel(b, q_words.x, q_shift);
        let high = funnel(p_words.x, p_words.y, p_shift) ^ funnel(q_words.x, q_words.y, q_shift);
        if (low | high) != 0 {
            return min(cap, k + equal_bytes(low, high));
        }
        a = fourth_of_page_after(i);
        b = fourth_of_page_after(j);
        let next_low = funnel(p_words.y, p_words.z, p_shift) ^ funnel(q_words.y, q_words.z, q_shift);
        let next_high = funnel(p_words.z, a, p_shift) ^ funnel(q_words.z, b, q_shift);
        if (next_low | next_high) != 0 {
            return min(cap, k + 8 + equal_bytes(next_low, next_high));
        }
        i += 4u;
        j += 4u;
    }
    return cap;
}
