// Copies chunks from addresses to the places of pages, for lz4_parse.
//
// A workgroup of 128 lanes copies a chunk, then the one `num_workgroups.x` further on.
//
// memory     see lib/address.wgsl
// addresses  one address for each chunk, low word first
// sizes      bytes of each chunk, 64 bits
// staged     PAGE_SIZE bytes for each chunk
// lengths    one word for each chunk: its bytes; 0 for one of more than max_bytes
// places     word 0: the next page that lz4_parse takes
//
// import: lib/copy_from_address

override PAGE_SIZE: u32 = 4096;

struct Params {
    n_chunks: u32,
    max_bytes: u32,
    pad: vec2<u32>,
}

@group(0) @binding(1) var<storage, read> addresses: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> sizes: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> staged: array<u32>;
@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;
@group(0) @binding(5) var<storage, read_write> places: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(LANES)
fn lz4_gather_chunks(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    if workgroup.x == 0 && lane == 0 {
        places[0] = 0u;
    }
    for (var index = workgroup.x; index < params.n_chunks; index += n_workgroups.x) {
        let size = sizes[index];
        let n = select(0u, size.x, size.y == 0 && size.x <= params.max_bytes);
        if lane == 0 {
            lengths[index] = n;
        }
        copy_from(addresses[index], n, index * (PAGE_SIZE / 4), lane);
    }
}
