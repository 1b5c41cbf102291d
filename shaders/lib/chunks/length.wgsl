// Lengths of chunks, each of which has the room of a page. In place of lib/pages/length. The kernel declares LENGTHS, the
// index of the binding.

// Bytes of each chunk, at most PAGE_SIZE. To decompress, the capacity of each, then what lz4_tokens found, 0 after an error.
@group(0) @binding(LENGTHS) var<storage, read_write> lengths: array<u32>;

fn page_length(index: u32) -> u32 {
    return lengths[index];
}
