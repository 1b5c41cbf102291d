// Lengths of pages that lie back to back: all but the last have PAGE_SIZE bytes. The kernel declares `params` with `n_bytes`.

fn page_length(index: u32) -> u32 {
    return min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE);
}
