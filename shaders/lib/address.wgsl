// Memory at addresses of 64 bits: vectors of the low and the high word.
//
// Intrinsics: wgsl-ptx knows the first four functions by their names and texts. In kernels without checks it makes one load or
// store at the address of each, without `memory`. Elsewhere, addresses are positions in `memory`.

@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;

fn load_word(address: vec2<u32>) -> u32 {
    return atomicLoad(&memory[address.x >> 2]);
}

fn load_byte(address: vec2<u32>) -> u32 {
    return (atomicLoad(&memory[address.x >> 2]) >> (8 * (address.x & 3))) & 255;
}

fn store_word(address: vec2<u32>, word: u32) {
    atomicStore(&memory[address.x >> 2], word);
}

fn store_byte(address: vec2<u32>, byte: u32) {
    let shift = 8 * (address.x & 3);
    atomicAnd(&memory[address.x >> 2], ~(255u << shift));
    atomicOr(&memory[address.x >> 2], (byte & 255) << shift);
}

// Returns the address n bytes further on.
fn advanced(address: vec2<u32>, n: u32) -> vec2<u32> {
    let low = address.x + n;
    return vec2(low, address.y + select(0u, 1u, low < n));
}
