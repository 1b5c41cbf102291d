// Lengths in an LZ4 token.

// Returns the number of extension bytes of a length, beyond its four bits in the token.
fn extension(length: u32) -> u32 {
    return select(0u, (length - 15) / 255 + 1, length >= 15);
}

// Returns the size of a sequence in bytes.
fn sequence_bytes(literals: u32, match_bytes: u32) -> u32 {
    return 3 + literals + extension(literals) + extension(match_bytes - 4);
}
