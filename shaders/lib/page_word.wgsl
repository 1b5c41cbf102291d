// Words of a page at any byte. The kernel declares `pages`.
//
// import: lib/bits

// Returns the four bytes from byte p of the page on that begins at a word of `pages`.
fn word_at(first_word: u32, p: u32) -> u32 {
    let i = first_word + (p >> 2);
    return funnel(pages[i], pages[i + 1], (p & 3) * 8);
}
