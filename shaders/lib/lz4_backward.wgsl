// The backward length of a match of level High: the number of equal bytes just before its position and just before its source.
// Up to four are compared at a time. The kernel declares `params`, with `dictionary_bytes`, and the override DICTIONARY.

// Added where four bytes are equal, and more may be.
const MAY_GO_ON: u32 = 8;

// Returns the number of bytes to compare before the position p and its source, which lies `offset` before it, in the page or in the
// dictionary.
fn backward_room(p: u32, offset: u32) -> u32 {
    if DICTIONARY && offset > p {
        return min(4, min(p, p + params.dictionary_bytes - offset));
    }
    return min(4, p - offset);
}

// Returns the backward length, given the `room` bytes before the position and before the source as the lowest bytes of two words.
fn backward_length(room: u32, text: u32, source: u32) -> u32 {
    let n_equal = min(room, countLeadingZeros((text ^ source) << ((32 - 8 * room) & 31)) >> 3);
    return select(n_equal, 4 + MAY_GO_ON, n_equal == 4);
}
