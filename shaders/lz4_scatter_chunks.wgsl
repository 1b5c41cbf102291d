// Copies decompressed chunks to addresses.
//
// A workgroup of 128 lanes copies a chunk, then the one `num_workgroups.x` further on.
//
// memory     see lib/address.wgsl
// addresses  one address for each chunk, low word first
// lengths    bytes of each chunk, of lz4_tokens; 0 after an error
// status     one word for each chunk, of lz4_copy
// staged     PAGE_SIZE bytes for each chunk
// written    bytes of each chunk, 64 bits
// statuses   one word for each chunk: 0, or the code of a BlockError
//
// import: lib/copy_to_address

override PAGE_SIZE: u32 = 4096;

struct Params {
    n_chunks: u32,
    pad_0: u32,
    pad: vec2<u32>,
}

@group(0) @binding(1) var<storage, read> addresses: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> lengths: array<u32>;
@group(0) @binding(3) var<storage, read> status: array<u32>;
@group(0) @binding(4) var<storage, read> staged: array<u32>;
@group(0) @binding(5) var<storage, read_write> written: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> statuses: array<u32>;
@group(0) @binding(7) var<uniform> params: Params;

@compute @workgroup_size(LANES)
fn lz4_scatter_chunks(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var index = workgroup.x; index < params.n_chunks; index += n_workgroups.x) {
        let n = lengths[index];
        if lane == 0 {
            written[index] = vec2(n, 0u);
            statuses[index] = status[index] & 255;
        }
        copy_to(addresses[index], n, index * (PAGE_SIZE / 4), lane);
    }
}
