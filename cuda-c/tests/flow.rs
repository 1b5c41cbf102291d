//! Loops with barriers end once all threads have left them, and barriers stay in uniform control flow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a fault is a panic"
)]

use cuda_c::{CudaOptions, compile_cuda};

fn wgsl(entry: &str) -> String {
    let source = include_str!("in/flow.cu");
    let options = CudaOptions::new(entry).block([64, 1, 1]);
    compile_cuda(source, &options).unwrap().wgsl().unwrap()
}

#[test]
fn endless_loops_end_by_a_vote() {
    // One vote for each of the two loops.
    assert_eq!(
        wgsl("endless")
            .matches("workgroupUniformLoad((&vote))")
            .count(),
        2,
        "{}",
        wgsl("endless")
    );
    assert_eq!(
        wgsl("endless_do")
            .matches("workgroupUniformLoad((&vote))")
            .count(),
        1
    );
}

#[test]
fn a_counting_loop_after_an_early_return_needs_no_vote() {
    let source = include_str!("in/reduce.cu");
    let options = CudaOptions::new("reduce_early")
        .block([64, 1, 1])
        .shared_bytes(256);
    let wgsl = compile_cuda(source, &options).unwrap().wgsl().unwrap();
    assert!(!wgsl.contains("vote"), "{wgsl}");
    assert!(
        !wgsl.contains("return"),
        "the early return is a flag\n{wgsl}"
    );
}

#[test]
fn barriers_order_buffers_that_a_kernel_reads_and_writes() {
    for (value, expected) in [("x[63 - threadIdx.x]", true), ("1", false)] {
        let source = format!(
            "__global__ void k(int *x, int *y) {{ x[threadIdx.x] = 2; __syncthreads(); y[threadIdx.x] = {value}; }}"
        );
        let options = CudaOptions::new("k").block([64, 1, 1]);
        let wgsl = compile_cuda(&source, &options).unwrap().wgsl().unwrap();
        assert_eq!(wgsl.contains("storageBarrier()"), expected, "{wgsl}");
        assert!(wgsl.contains("workgroupBarrier()"), "{wgsl}");
    }
}
