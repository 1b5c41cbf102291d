// Places of blocks in the packed output, which lz4_place.wgsl computed. The kernel declares `places` and `tile_sums`.

// Returns the word of `packed` at which the block of a page begins.
fn block_place(index: u32) -> u32 {
    return tile_sums[1 + index / 1024] + places[index];
}
