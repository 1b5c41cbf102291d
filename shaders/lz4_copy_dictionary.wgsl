// As lz4_copy.wgsl, with a dictionary before each page.
//
// dictionary  as lib/dictionary.wgsl says
//
// Twin: src/lz4/decode.rs
//
// import: lz4_copy/pages, lz4_copy/dictionary

@compute @workgroup_size(32)
fn lz4_copy_dictionary(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    copy_pages(i, workgroup.x, n_workgroups.x);
}
