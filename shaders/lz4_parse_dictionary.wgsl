// As lz4_parse.wgsl, with a dictionary before each page.
//
// dictionary  as lib/dictionary.wgsl says
//
// Twin: src/lz4/parse.rs
//
// import: lz4_parse/pages, lz4_parse/dictionary

@compute @workgroup_size(WIDTH)
fn lz4_parse_dictionary(@builtin(local_invocation_index) index_in_workgroup: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    parse_pages(index_in_workgroup, workgroup.x);
}
