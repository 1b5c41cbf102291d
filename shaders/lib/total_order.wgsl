// Reduction of floats as words: sums as floats; maximum and minimum as integers in IEEE 754's total order, with NaN beyond
// the end, so that NaN wins and +0 > -0.
//
// The kernel declares `override OP` (0 sum, 1 max, 2 min, others sums) and, for scalars or for vectors, the aliases
// Words, Ints and Floats of the types that it reduces.

/// Returns integers that are ordered as the floats with these bits; NaN becomes `nan`. Its own inverse but for NaN.
fn total_order_key(bits: Words, nan: i32) -> Ints {
    let word = bitcast<Ints>(bits);
    let ordered = word ^ ((word >> Words(31u)) & Ints(0x7fffffff));
    return select(ordered, Ints(nan), (bits & Words(0x7fffffffu)) > Words(0x7f800000u));
}

/// Reduces two mapped values to one.
fn combine(x: Words, y: Words) -> Words {
    switch OP {
        case 1u: { return bitcast<Words>(max(bitcast<Ints>(x), bitcast<Ints>(y))); }
        case 2u: { return bitcast<Words>(min(bitcast<Ints>(x), bitcast<Ints>(y))); }
        default: { return bitcast<Words>(bitcast<Floats>(x) + bitcast<Floats>(y)); }
    }
}

/// Returns the bits of the float that a reduced word stands for.
fn finalize(word: u32) -> u32 {
    if OP != 1u && OP != 2u {
        return word;
    }
    let end = select(0x80000000u, 0x7fffffffu, OP == 1u);
    let ordered = bitcast<i32>(word);
    return select(bitcast<u32>(ordered ^ ((ordered >> 31u) & 0x7fffffff)), 0x7fc00000u, word == end);
}
