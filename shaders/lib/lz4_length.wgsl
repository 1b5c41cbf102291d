// Lengths in an LZ4 token.

// Returns the number of extension bytes of a length, beyond its four bits in the token: (length + 240) / 255.
fn extension(length: u32) -> u32 {
    // The product is exact for lengths of up to 66,058. A division takes 20 registers where there is no product of 64 bits.
    return ((length + 240) * 32897) >> 23;
}

// Returns the size of a sequence in bytes.
fn sequence_bytes(literals: u32, match_bytes: u32) -> u32 {
    return 3 + literals + extension(literals) + extension(match_bytes - 4);
}
