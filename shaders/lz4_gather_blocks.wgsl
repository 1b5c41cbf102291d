// Copies blocks from addresses to places of their own, for lz4_tokens.
//
// A workgroup of 128 lanes copies a block, then the one `num_workgroups.x` further on.
//
// memory      see lib/address.wgsl
// addresses   one address for each block, low word first
// sizes       bytes of each block, 64 bits
// capacities  room for the content of each block in bytes, 64 bits
// staged      BLOCK_WORDS words for each block
// table       one pair for each block, for lz4_tokens: its first word, and its bytes; 0 bytes, which lz4_tokens refuses, for more
//             than those words have
// lengths     one word for each block: its capacity, at most max_bytes
//
// import: lib/copy_from_address

override PAGE_SIZE: u32 = 4096;
// Words for the longest block of a page.
override BLOCK_WORDS: u32 = (PAGE_SIZE + PAGE_SIZE / 255 + 16 + 3) / 4;

struct Params {
    n_chunks: u32,
    max_bytes: u32,
    pad: vec2<u32>,
}

@group(0) @binding(1) var<storage, read> addresses: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sizes: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> capacities: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> staged: array<u32>;
@group(0) @binding(5) var<storage, read_write> table: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;
@group(0) @binding(7) var<uniform> params: Params;

@compute @workgroup_size(LANES)
fn lz4_gather_blocks(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var index = workgroup.x; index < params.n_chunks; index += n_workgroups.x) {
        let size = sizes[index];
        let n = select(0u, size.x, size.y == 0 && size.x <= 4 * BLOCK_WORDS);
        if lane == 0 {
            let capacity = capacities[index];
            table[index] = vec2(index * BLOCK_WORDS, n);
            lengths[index] = select(params.max_bytes, min(capacity.x, params.max_bytes), capacity.y == 0);
        }
        copy_from(addresses[index], n, index * BLOCK_WORDS, lane);
    }
}
