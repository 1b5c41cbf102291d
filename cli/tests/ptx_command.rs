//! `pagepress ptx`.
#![cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use common::command::Folder;

const WGSL: &str = "override N: u32 = 64;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(N)
fn double(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] *= 2;
}
";

#[test]
fn a_kernel_is_printed_for_an_architecture_and_constants() {
    let folder = Folder::new();
    folder.write("double.wgsl", WGSL.as_bytes());
    let run = folder
        .run(&["ptx", "double.wgsl", "--entry", "double"])
        .succeeds();
    assert!(
        run.text().starts_with(".version 7.0\n.target sm_75\n"),
        "{}",
        run.text()
    );
    assert!(run.text().contains(".visible .entry double("));
    assert!(run.text().contains(".reqntid 64, 1, 1"));
    assert!(run.text().contains("min.u32"), "indices are checked");
    let arguments = [
        "ptx",
        "double.wgsl",
        "--entry",
        "double",
        "--sm",
        "90",
        "--override",
        "N=32",
        "--unchecked",
    ];
    let run = folder.run(&arguments).succeeds();
    assert!(run.text().contains(".target sm_90\n"));
    assert!(run.text().contains(".reqntid 32, 1, 1"));
    assert!(!run.text().contains("min.u32"));
}

#[test]
fn errors_have_the_file_and_the_position() {
    let folder = Folder::new();
    folder.write("wrong.wgsl", WGSL.replace("id.x", "oops").as_bytes());
    let run = folder
        .run(&["ptx", "wrong.wgsl", "--entry", "double"])
        .fails(1);
    assert!(
        run.errors.contains("wrong.wgsl") && run.errors.contains("5:10: "),
        "{}",
        run.errors
    );
    folder.write("double.wgsl", WGSL.as_bytes());
    let run = folder
        .run(&["ptx", "double.wgsl", "--entry", "triple"])
        .fails(1);
    assert!(run.errors.contains("there are: double"), "{}", run.errors);
    folder
        .run(&["ptx", "missing.wgsl", "--entry", "double"])
        .fails(1);
    folder
        .run(&["ptx", "double.wgsl", "--entry", "double", "--override", "N"])
        .fails(2);
    folder.run(&["ptx", "double.wgsl"]).fails(2);
}
