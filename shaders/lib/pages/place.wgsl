// Places of blocks in the packed output, which lz4_place.wgsl computed. The kernel declares `places`.
//
// import: lib/places

// Returns the word of `packed` at which the block of a page begins.
fn block_place(index: u32) -> u32 {
    return places[1 + index / 1024] + places[PLACES + index];
}
