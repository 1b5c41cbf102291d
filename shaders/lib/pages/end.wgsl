// The end of a block that must fill its page. The kernel declares Block, `status` and the codes.

// Writes the status of a page whose block was read as far as `code` says.
fn end_block(block: ptr<function, Block>, index: u32, code: u32) {
    let n_entries = select(0u, (*block).n_entries, code == UNFINISHED);
    status[index] = select(code, UNFINISHED | (n_entries << 8), code == UNFINISHED || code == MORE);
}
