//! Device memory: failed allocations, the memory limit, and the content of new memory.

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, DeviceRequest, HostMemory, HostUse};

use crate::calls::{CALLS, Content, check};
use crate::{open, request};

/// Maximum number of allocations of each call that are tested.
const MOST: u64 = 50;

#[test]
fn calls_do_without_any_of_their_allocations_or_say_so() {
    let device = open(&request());
    // Two jobs; the first can be cut once.
    let content = Content::new(150);
    let mut n_injected = 0;
    for call in CALLS {
        (call.run)(&device, &content).unwrap();
        // One failure: the pool is emptied and the allocation succeeds. Two: the call cuts its work or fails. All: it
        // fails.
        for n_failing in [1, 2, u64::MAX] {
            for n_before in 0..MOST {
                device.fail_allocations(n_before, n_failing);
                let result = (call.run)(&device, &content);
                let n_asked = device.fail_allocations(0, 0);
                if n_asked <= n_before {
                    result.unwrap();
                    break;
                }
                n_injected += 1;
                let what = format!("{} without allocation {n_before}, {n_failing}", call.name);
                let error = check(&what, result, &["OUT_OF_MEMORY"]);
                assert!(
                    error.is_none() || n_failing > 1,
                    "{what}: no second attempt"
                );
                let recovers = call.recovers && n_failing == 2 && call.name.ends_with("batch");
                assert!(error.is_none() || !recovers, "{what}: not cut to fit");
            }
            // The device still works.
            (call.run)(&device, &content).unwrap();
        }
    }
    println!("{n_injected} allocations of the device failed");
    assert!(n_injected > 200, "{n_injected}");
}

#[test]
fn a_limit_of_memory_is_kept_and_work_is_cut_to_it() {
    let content = Content::new(150);
    let mut codes = Vec::new();
    for limit in [64 << 10, 1 << 20, 8 << 20, 64 << 20, 1 << 30] {
        let device = open(&DeviceRequest {
            memory_limit: Some(limit),
            ..request()
        });
        assert!(device.capabilities().free_memory_bytes <= Some(limit));
        let error = device.allocate_memory(limit + 4).unwrap_err();
        assert!(
            ["OUT_OF_MEMORY", "INVALID_ARGUMENT"].contains(&error.code()),
            "{error}"
        );
        for call in CALLS {
            let what = format!("{} in {limit} bytes", call.name);
            let error = check(&what, (call.run)(&device, &content), &["OUT_OF_MEMORY"]);
            codes.push((limit, error.is_none()));
        }
    }
    assert!(
        codes.contains(&(64 << 10, false)),
        "so little is enough: {codes:?}"
    );
    assert!(
        codes
            .iter()
            .all(|&(limit, is_done)| is_done || limit < 64 << 20),
        "{codes:?}"
    );
}

#[test]
fn new_memory_is_zero_whoever_had_it_before() {
    let device = open(&request());
    block_on(async {
        for n_bytes in [4, 256, 4096, 70_000, 1 << 20] {
            for _ in 0..3 {
                let memory = device.allocate_memory(n_bytes).unwrap();
                let found = device.download_async(&memory, 0..n_bytes).await.unwrap();
                assert!(found.iter().all(|&byte| byte == 0), "{n_bytes}");
                let secret = vec![0xa5; n_bytes as usize];
                device.upload_async(&memory, 0, &secret).await.unwrap();
                drop(memory);
                let host = device.allocate_host(n_bytes, HostUse::Download).unwrap();
                let is_clear = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
                assert!(host.read_async(0..n_bytes, is_clear).await.unwrap());
            }
        }
    });
}

#[test]
fn a_buffer_that_was_shown_is_not_used_again() {
    let device = open(&request());
    let Some(engine) = device.as_wgpu() else {
        return;
    };
    let shown = engine.allocate_memory(4096).unwrap();
    let raw = shown.raw().unwrap().clone();
    drop(shown);
    raw.destroy();
    for _ in 0..4 {
        let memory = device.allocate_memory(4096).unwrap();
        block_on(device.upload_async(&memory, 0, &[1; 4096])).unwrap();
    }
}
