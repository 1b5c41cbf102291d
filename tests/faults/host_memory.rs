//! Host memory: failed allocations.

use std::io::Write;

use pagepress::batch::{Codec, compress_resident_async};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuBatchCompressor, GpuBatchConfig};
use pagepress::lz4::{self, Level};
use pagepress::{PAGE_SIZE, Result};

use crate::common::pages::mixed;
use crate::host_calls::{CALLS, Content};
use crate::{allocator, child, number, open, request};

/// Bytes of the pages.
const CONTENT: usize = 12_000 * PAGE_SIZE;
/// Address space in KiB, beyond that of the process when it starts to work.
const ROOM_KIB: [u64; 4] = [30_000, 90_000, 180_000, 400_000];

/// Returns the address space in KiB of a process with an open device, as a new process measures it.
fn base_kib() -> u64 {
    let output = child::run(SHORT, None, &[(ROOM, "0".into())]);
    let said = child::said(&output);
    let line = said.lines().find_map(|line| line.strip_prefix("base "));
    line.and_then(|line| line.parse().ok()).expect(&said)
}

fn own_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB"));
    number
        .and_then(|number| number.trim().parse().ok())
        .unwrap()
}

/// Environment variable with the additional address space in KiB; 0 in the process that measures its own.
const ROOM: &str = "PAGEPRESS_ROOM";
const SHORT: &str = "host_memory::short_memory_of_the_host_is_an_error";

/// Makes calls with much content in processes with little address space.
#[cfg(target_os = "linux")]
#[test]
fn short_memory_of_the_host_is_an_error() {
    if child::is_child() {
        return work_in_little();
    }
    let base = base_kib();
    let mut n_short = 0;
    for room in ROOM_KIB {
        let output = child::run(SHORT, Some(base + room), &[(ROOM, room.to_string())]);
        let said = child::said(&output);
        assert!(
            output.status.success(),
            "{room} KiB: {}: {said}",
            output.status
        );
        n_short += said.matches("out of memory").count();
    }
    println!("{n_short} calls ran out of memory");
    assert!(n_short > 0);
}

fn work_in_little() {
    // Threads and kernels are created first: later there is no memory for them, and Rust aborts if a thread cannot
    // start.
    let bytes = mixed(CONTENT, 1);
    let little = &bytes[..300 * PAGE_SIZE];
    let exact = lz4::compress_pages(little, 4096, Level::Fast).unwrap();
    let device = open(&request());
    let mut codec = Codec::with_device(device.clone()).unwrap();
    let (packed, _) = codec.compress_pages(little, 4096, Level::Fast).unwrap();
    codec.decompress_pages(&packed).unwrap();
    if number(ROOM, 0) == 0 {
        println!("\nbase {}", own_kib());
        return;
    }
    let short = |what: &str, result: Result<bool>| match result {
        Ok(is_right) => {
            assert!(is_right, "{what}: wrong");
            println!("{what}: done");
        }
        Err(error) => {
            assert_eq!(error.code(), "OUT_OF_MEMORY", "{what}: {error}");
            println!("{what}: out of memory");
        }
    };
    let n_bytes = bytes.len() as u64;
    let packed = codec.compress_pages(&bytes, 4096, Level::Fast);
    short("pages", packed.map(|(packed, _)| packed.n_bytes == n_bytes));
    let downloaded = block_on(async {
        let memory = device.allocate_memory(1 << 29)?;
        device.download_async(&memory, 0..1 << 29).await
    });
    short("download", downloaded.map(|bytes| bytes.len() == 1 << 29));
    let resident = block_on(async {
        let memory = device.allocate_memory(n_bytes)?;
        device.upload_async(&memory, 0, &bytes).await?;
        compress_resident_async(&device, &memory, n_bytes, 4096, Level::Fast).await
    });
    short("resident", resident.map(|packed| packed.n_bytes == n_bytes));
    // A table that claims far more content than fits in memory.
    let few = lz4::compress_pages(&bytes[..PAGE_SIZE], 4096, Level::Fast).unwrap();
    let many = lz4::PackedPages {
        table: vec![few.table[0]; 500_000],
        n_bytes: 500_000 * 4096,
        ..few
    };
    let pages = codec.decompress_pages(&many);
    short(
        "pages back",
        pages.map(|(pages, _)| pages.len() == 500_000 * 4096),
    );
    let mut batches =
        GpuBatchCompressor::with_device(device.clone(), GpuBatchConfig::default()).unwrap();
    let pages = batches.decompress_batch(&many);
    short("batch back", pages.map(|back| back.errors.len() == 500_000));
    drop(many);
    // The device still works for content that fits in memory.
    let (packed, _) = codec.compress_pages(little, 4096, Level::Fast).unwrap();
    assert!(packed == exact);
}

/// Environment variable with the call and the allocation at which a process starts.
const FROM: &str = "PAGEPRESS_HOST_FROM";

/// Returns the last call and allocation that an aborted process printed.
fn last_place(said: &str) -> Option<(usize, u64)> {
    let line = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("at "))?;
    let (call, n) = line.split_once(' ')?;
    Some((call.parse().ok()?, n.parse().ok()?))
}

/// Fails every large allocation of each call once. Rust aborts the process at an infallible allocation, so the test
/// runs in a separate process and, after an abort, continues with the next allocation in another one.
#[test]
fn calls_do_without_any_allocation_of_the_host_or_say_so() {
    const NAME: &str = "host_memory::calls_do_without_any_allocation_of_the_host_or_say_so";
    if child::is_child() {
        return fail_each();
    }
    const MOST_ENDED: usize = 300;
    let (mut from, mut aborted) = ((0, 1), Vec::new());
    loop {
        let set = [(FROM, format!("{} {}", from.0, from.1))];
        let output = child::run(NAME, None, &set);
        let said = child::said(&output);
        if output.status.success() {
            let summary = said
                .lines()
                .find(|line| line.contains("allocations of the host"));
            println!("{}", summary.unwrap_or_default());
            break;
        }
        let (call, n) = last_place(&said).unwrap_or_else(|| panic!("{said}"));
        let place = format!("at {call} {n}");
        let after = said.lines().skip_while(|line| **line != *place);
        let own: Vec<&str> = after
            .filter(|line| line.contains("at ./src/"))
            .take(2)
            .collect();
        let own = format!("{} at {n}: {}", CALLS[call].name, own.join(" "));
        aborted.push(own);
        if aborted.len() == MOST_ENDED {
            break;
        }
        from = (call, n + 1);
    }
    assert!(aborted.is_empty(), "{aborted:#?}");
}

fn fail_each() {
    let from = std::env::var(FROM).unwrap();
    let (call, n) = from.split_once(' ').unwrap();
    let (first_call, first_n): (usize, u64) = (call.parse().unwrap(), n.parse().unwrap());
    let most = number("PAGEPRESS_HOST_FAILURES", 20);
    let content = Content::new();
    let mut n_failed = 0;
    for (at, call) in CALLS.iter().enumerate().skip(first_call) {
        // Warm up twice, so that kernels are compiled and pools are filled.
        for _ in 0..2 {
            (call.run)(&content).unwrap_or_else(|error| panic!("{}: {error}", call.name));
        }
        let first = if at == first_call { first_n } else { 1 };
        for n in first..=most {
            println!("\nat {at} {n}");
            std::io::stdout().flush().unwrap();
            allocator::fail(n);
            let result = (call.run)(&content);
            if !allocator::was_met() {
                result.unwrap();
                break;
            }
            n_failed += 1;
            if let Err(error) = result {
                assert_eq!(
                    error.code(),
                    "OUT_OF_MEMORY",
                    "{} at {n}: {error}",
                    call.name
                );
            }
        }
        (call.run)(&content).unwrap();
    }
    println!("{n_failed} allocations of the host failed");
}
