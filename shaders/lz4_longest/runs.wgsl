// Part of lz4_longest: the matches of positions in runs.
//
// import: lib/bits, lib/lz4_backward, lib/lz4_run, lz4_longest/page

// Writes the matches of those of PIECE positions from `first` on that are in a run, before `n_searchable`.
fn write_runs(lane: u32, first_word: u32, first: u32, n_searchable: u32, column: u32) {
    let end = min(first + PIECE, n_searchable);
    for (var p = first + 4 * lane; p < end; p += 4 * WIDTH) {
        let i = base_of(first_word) + p / 4;
        let text = two_of_page(i);
        let word_before = one_of_page(i - min(1, p / 4));
        let changes = changes_at(p, word_before, text);
        var before = 0u;
        if AHEAD {
            before = changes_at(p - min(p, 4), one_of_page(i - min(2, p / 4)), vec2(word_before, 0)).x;
        }
        for (var j = 0u; j < min(4, end - p); j++) {
            if is_run(changes, j) {
                let backward = backward_length(4, funnel(before, changes.x, 8 * j), 0);
                matches[column + 32 * (p + j)] = RUN | select(0u, backward << 8, AHEAD);
            }
        }
    }
}
