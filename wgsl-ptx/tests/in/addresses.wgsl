// Functions of addresses, which without the option for them access `memory` like any other function.
// grid: 1 1 1
// output: 128
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> memory: array<atomic<u32>>;

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

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 16 * i;
    store_word(vec2(at, 0u), input[i]);
    store_byte(vec2(at + i % 4, 0u), input[i + 1]);
    store_word(vec2(at + 4, 0u), load_word(vec2(at, 0u)));
    store_word(vec2(at + 8, 0u), load_byte(vec2(at + (i + 1) % 4, 0u)));
    store_word(vec2(at + 12, 0u), load_byte(vec2(at + i % 4, 0u)) + 7);
}
