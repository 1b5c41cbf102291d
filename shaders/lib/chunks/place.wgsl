// Blocks of chunks have the room of a page each. In place of lib/pages/place.

fn block_place(index: u32) -> u32 {
    return index * (PAGE_SIZE / 4);
}
