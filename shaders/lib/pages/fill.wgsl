// Fills: pages that repeat their first eight bytes. The kernel declares `pages`, Page, WIDTH, `lane` and SETTLED.
//
// import: lib/agree

// Returns true if the page repeats its first eight bytes. Tests one word per lane first, which most pages fail.
fn find_fill(page: Page, round: ptr<function, u32>) -> bool {
    let words = vec2(pages[page.first_word], pages[page.first_word + 1]);
    let expected = select(words.x, words.y, (lane & 1) != 0);
    let n_words = page.n / 4;
    var differs = ((page.n & 7) != 0) | ((lane < n_words) & (pages[page.first_word + min(lane, n_words)] != expected));
    if agree(round, u32(differs)) != SETTLED {
        return false;
    }
    for (var i = lane + WIDTH; i < n_words; i += WIDTH) {
        differs |= pages[page.first_word + i] != expected;
    }
    return agree(round, u32(differs)) == SETTLED;
}
