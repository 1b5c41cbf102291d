//! `pagepress cuda`.
#![cfg(all(feature = "cuda-c", not(target_arch = "wasm32")))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use common::command::Folder;

const SOURCE: &str = "__global__ void scale(float *x, int n)
{
\tint i = blockIdx.x * blockDim.x + threadIdx.x;
\tif (i < n) x[i] *= FACTOR;
}
template <typename T> __global__ void fill(T *x) { x[threadIdx.x] = T(1); }
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("scale.cu", SOURCE.as_bytes());
    folder
}

#[test]
fn a_kernel_is_printed_in_each_language() {
    let folder = folder();
    for (language, words) in [
        ("wgsl", "@workgroup_size(64, 2, 1)"),
        ("ptx", ".visible .entry scale("),
        ("msl", "kernel void scale("),
        ("hlsl", "[numthreads(64, 2, 1)]"),
    ] {
        let arguments = [
            "cuda",
            "scale.cu",
            "--entry",
            "scale",
            "--block",
            "64,2",
            "--emit",
            language,
            "-D",
            "FACTOR=2.0f",
        ];
        let run = folder.run(&arguments).succeeds();
        assert!(run.text().contains(words), "{language}: {}", run.text());
    }
    let run = folder
        .run(&["cuda", "scale.cu", "--entry", "fill<int>", "-D", "FACTOR"])
        .succeeds();
    assert!(run.text().contains("array<i32>"), "{}", run.text());
}

#[test]
fn errors_have_the_place_the_line_and_a_caret() {
    let folder = folder();
    let run = folder
        .run(&["cuda", "scale.cu", "--entry", "scale"])
        .fails(1);
    let expected = "scale.cu:4:21: FACTOR is not declared\n\tif (i < n) x[i] *= FACTOR;\n\t                   ^\n";
    assert!(run.errors.contains(expected), "{}", run.errors);
    let run = folder.run(&["cuda", "scale.cu"]).fails(1);
    assert!(
        run.errors.contains("2 kernels") && run.errors.contains("scale.cu:6: fill<T>"),
        "{}",
        run.errors
    );
    folder.run(&["cuda", "scale.cu", "--block", "0"]).fails(2);
    folder.run(&["cuda", "scale.cu", "-D", "1=2"]).fails(2);
    folder.run(&["cuda", "missing.cu"]).fails(1);
}
