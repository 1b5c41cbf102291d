// Buckets of level High. The kernel declares `BUCKET_BITS`.

// Returns the product of a position whose four bytes are `word`.
fn product_of(word: u32) -> u32 {
    return word * 2654435761u;
}

// Returns the bucket of a position with this product.
fn bucket_of_product(product: u32) -> u32 {
    return product >> (32 - BUCKET_BITS);
}

// Returns the bucket of a position whose four bytes are `word`.
fn bucket_of(word: u32) -> u32 {
    return bucket_of_product(product_of(word));
}
