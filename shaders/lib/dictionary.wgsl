// The dictionary before a page or a block. The kernel declares `params`, with `dictionary_bytes`, and `dictionary`.
//
// Positions of the page are positive, those of the dictionary negative: its last byte is at -1.
//
// dictionary  the index of level Fast, see src/lz4/dictionary.rs: a word for each bucket; a word of 0; then the bytes of the
//             dictionary, behind 0 to 3 bytes of 0 so that the last one ends a word; two words of 0; then the index of level High, see
//             src/lz4/sorted.rs: for each bucket the slot after its last one | number of candidates << 16; for each slot the
//             position from the start of the dictionary | bits 1 to 16 of the product << 16
//
// import: lib/bits

const INDEX_BITS: u32 = 15;

// Returns the index of the word after the dictionary.
fn dictionary_end() -> u32 {
    return (1u << INDEX_BITS) + 1 + (params.dictionary_bytes + 3) / 4;
}

// Returns word i of the dictionary, -1 for the last one. There is one more before the first, and there are two from 0 on.
fn dictionary_word(i: i32) -> u32 {
    return dictionary[i32(dictionary_end()) + i];
}

// Returns the four bytes of the dictionary from the one at `source` on, which is below 0.
fn dictionary_word_at(source: i32) -> u32 {
    let i = source >> 2;
    return funnel(dictionary_word(i), dictionary_word(i + 1), u32(source & 3) * 8);
}
