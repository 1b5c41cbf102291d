// Copies the blocks of chunks to addresses, as plain LZ4 blocks: a chunk that does not shrink becomes one run of literals.
//
// A workgroup of 128 lanes copies a block, then the one `num_workgroups.x` further on.
//
// memory     see lib/address.wgsl
// addresses  one address for each block, low word first
// given      bytes of each chunk, 64 bits, as lz4_gather_chunks got them
// sizes      one word for each chunk, of lz4_parse: length in bytes | kind << 30
// staged     the blocks of lz4_emit, PAGE_SIZE bytes for each
// written    bytes of each block, 64 bits; 0 for a chunk of more than max_bytes
//
// import: lib/copy_to_address, lib/lz4_length

override PAGE_SIZE: u32 = 4096;

struct Params {
    n_chunks: u32,
    max_bytes: u32,
    pad: vec2<u32>,
}

@group(0) @binding(1) var<storage, read> addresses: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> given: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> sizes: array<u32>;
@group(0) @binding(4) var<storage, read> staged: array<u32>;
@group(0) @binding(5) var<storage, read_write> written: array<vec2<u32>>;
@group(0) @binding(6) var<uniform> params: Params;

// Writes the token of a run of n literals that ends a block, and the bytes that extend it. Returns their number.
fn begin_literals(address: vec2<u32>, n: u32, lane: u32) -> u32 {
    let n_extension = extension(n);
    if lane == 0 {
        store_byte(address, min(n, 15u) << 4);
    }
    for (var k = lane; k < n_extension; k += LANES) {
        store_byte(advanced(address, 1 + k), select(255u, (n - 15) % 255, k + 1 == n_extension));
    }
    return 1 + n_extension;
}

@compute @workgroup_size(LANES)
fn lz4_scatter_blocks(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var index = workgroup.x; index < params.n_chunks; index += n_workgroups.x) {
        let asked = given[index];
        var n_bytes = 0u;
        if asked.y == 0 && asked.x <= params.max_bytes {
            let size = sizes[index];
            let n = size & 0x3fffffff;
            let address = addresses[index];
            var n_before = 0u;
            if (size >> 30) != 0 {
                n_before = begin_literals(address, n, lane);
            }
            copy_to(advanced(address, n_before), n, index * (PAGE_SIZE / 4), lane);
            n_bytes = n_before + n;
        }
        if lane == 0 {
            written[index] = vec2(n_bytes, 0u);
        }
    }
}
