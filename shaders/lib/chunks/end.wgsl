// The end of a block whose chunk may be shorter than its capacity. In place of lib/pages/end. `lengths` is that of
// lib/chunks/length.

// Writes the status of a chunk whose block was read as far as `code` says, and its length in place of its capacity.
fn end_block(block: ptr<function, Block>, index: u32, code: u32) {
    let is_right = code == UNFINISHED || code == OUTPUT_UNDERRUN;
    let n = select(0u, (*block).write, is_right);
    lengths[index] = n;
    // There is nothing to copy to an empty chunk.
    let ended = select(UNFINISHED | ((*block).n_entries << 8), 0u, n == 0);
    status[index] = select(select(code, UNFINISHED, code == MORE), ended, is_right);
}
