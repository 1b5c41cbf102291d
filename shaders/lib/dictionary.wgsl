// The dictionary before a page or a block. The kernel declares `params`, with `dictionary_bytes`.
//
// Positions of the page are positive, those of the dictionary negative: its last byte is at -1.
//
// dictionary  the index of level Fast, see src/lz4/dictionary.rs: a word for each bucket; a word of 0; then the bytes of the
//             dictionary, behind 0 to 3 bytes of 0 so that the last one ends a word; two words of 0

@group(0) @binding(6) var<storage, read> dictionary: array<u32>;

const INDEX_BITS: u32 = 15;

// Returns word i of the dictionary, -1 for the last one. There is one more before the first, and there are two from 0 on.
fn dictionary_word(i: i32) -> u32 {
    let end = (1u << INDEX_BITS) + 1 + (params.dictionary_bytes + 3) / 4;
    return dictionary[i32(end) + i];
}
