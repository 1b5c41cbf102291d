// Writes pages from the sequences that lz4_tokens.wgsl found and checked: see lz4_copy/pages.wgsl.
//
// Twin: src/lz4/decode.rs
//
// import: lz4_copy/pages, lz4_copy/no_dictionary

@compute @workgroup_size(32)
fn lz4_copy(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    copy_pages(i, workgroup.x, n_workgroups.x);
}
