// Runs of level High: positions whose word is that of the position before. Their match is known, and they are no candidates.
//
// import: lib/bits

// The match of a position in a run, without its backward length: four bytes at offset 1.
const RUN: u32 = 4 | (1u << 16);

// Returns, for eight bytes from the position p on, a byte each: 0 where it equals the byte before it. Given the word before p. At the
// begin of a page no byte is before.
fn changes_at(p: u32, before: u32, text: vec2<u32>) -> vec2<u32> {
    let own = (text.x ^ funnel(before, text.x, 24)) | select(0u, 1u, p == 0);
    return vec2(own, text.y ^ funnel(text.x, text.y, 24));
}

// Returns true if the position j of four is in a run, given the changes from the first on.
fn is_run(changes: vec2<u32>, j: u32) -> bool {
    return funnel(changes.x, changes.y, 8 * j) == 0;
}
