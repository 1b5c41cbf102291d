// Finds the sequences of each page at level Fast: see lz4_parse/pages.wgsl.
//
// Twin: src/lz4/parse.rs
//
// import: lz4_parse/pages, lz4_parse/no_dictionary

@compute @workgroup_size(WIDTH)
fn lz4_parse(@builtin(local_invocation_index) index_in_workgroup: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    parse_pages(index_in_workgroup, workgroup.x);
}
