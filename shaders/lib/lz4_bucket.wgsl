// Buckets of level High. The kernel declares `BUCKET_BITS`.

// Returns the bucket of a position whose four bytes are `word`.
fn bucket_of(word: u32) -> u32 {
    return (word * 2654435761u) >> (32 - BUCKET_BITS);
}
