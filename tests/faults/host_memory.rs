//! Memory of the host: that there is none.

use std::io::Write;

use pagepress::batch::{Codec, compress_resident_async};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuBatchCompressor, GpuBatchConfig};
use pagepress::lz4::{self, Level};
use pagepress::{PAGE_SIZE, Result};

use crate::common::pages::mixed;
use crate::host_calls::{CALLS, Content};
use crate::{allocator, child, number, open, request};

/// An address space that the engine and 300 MB of pages fit in, but not all that the calls ask for.
const SHORT_KIB: u64 = 1_500_000;

/// Calls with much content, in a process that has little address space.
#[test]
fn short_memory_of_the_host_is_an_error() {
    child::alone(
        "host_memory::short_memory_of_the_host_is_an_error",
        Some(SHORT_KIB),
        &[],
        || {
            // Threads first: they have no room later.
            lz4::compress_pages(&mixed(1 << 20, 1), 4096, Level::Fast).unwrap();
            let device = open(&request());
            let bytes = mixed(300_000_000 / PAGE_SIZE * PAGE_SIZE, 1);
            let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
            let short = |what: &str, result: Result<bool>| {
                let said = match result {
                    Ok(is_right) => {
                        assert!(is_right, "{what}: wrong");
                        "done"
                    }
                    Err(error) => {
                        assert_eq!(error.code(), "OUT_OF_MEMORY", "{what}: {error}");
                        "out of memory"
                    }
                };
                println!("{what}: {said}");
            };
            let mut codec = Codec::with_device(device.clone()).unwrap();
            for level in [Level::Fast, Level::High] {
                let packed = codec.compress_pages(&bytes, 4096, level);
                short(
                    "pages",
                    packed.map(|(packed, _)| packed.n_bytes == bytes.len() as u64),
                );
            }
            let mut batches =
                GpuBatchCompressor::with_device(device.clone(), GpuBatchConfig::default()).unwrap();
            let packed = batches.compress_batch(pages);
            short(
                "batch",
                packed.map(|packed| packed.pages.table.len() == pages.len()),
            );
            let resident = block_on(async {
                let memory = device.allocate_memory(bytes.len() as u64)?;
                device.upload_async(&memory, 0, &bytes).await?;
                let n_bytes = bytes.len() as u64;
                compress_resident_async(&device, &memory, n_bytes, 4096, Level::Fast).await
            });
            short(
                "resident",
                resident.map(|packed| packed.n_bytes == bytes.len() as u64),
            );
            let downloaded = block_on(async {
                let memory = device.allocate_memory(1 << 29)?;
                device.download_async(&memory, 0..1 << 29).await
            });
            short(
                "download",
                downloaded.map(|bytes| bytes.iter().all(|&byte| byte == 0)),
            );
            // A table that claims far more than there is.
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
            let pages = batches.decompress_batch(&many);
            short("batch back", pages.map(|back| back.errors.len() == 500_000));
            // There is nothing wrong with the device, or with what fits.
            let little = &bytes[..64 * PAGE_SIZE];
            let (packed, _) = codec.compress_pages(little, 4096, Level::Fast).unwrap();
            assert!(packed == lz4::compress_pages(little, 4096, Level::Fast).unwrap());
        },
    );
}

/// Where to begin, in a process that was started for it.
const FROM: &str = "PAGEPRESS_HOST_FROM";

/// What a process that ended says last: the call and the allocation that it was at.
fn last_place(said: &str) -> Option<(usize, u64)> {
    let line = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("at "))?;
    let (call, n) = line.split_once(' ')?;
    Some((call.parse().ok()?, n.parse().ok()?))
}

/// Every large allocation of each call fails once. Rust ends the process where nobody asked whether there was memory, so
/// this runs in one, and in another from the next allocation on if that one ended.
#[test]
fn calls_do_without_any_allocation_of_the_host_or_say_so() {
    const NAME: &str = "host_memory::calls_do_without_any_allocation_of_the_host_or_say_so";
    if child::is_child() {
        return fail_each();
    }
    const MOST_ABORTED: usize = 100;
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
        aborted.push(format!("{} at {n}: {}", CALLS[call].name, own.join(" ")));
        if aborted.len() == MOST_ABORTED {
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
    let most = number("PAGEPRESS_HOST_FAILURES", 60);
    let content = Content::new();
    let mut n_failed = 0;
    for (at, call) in CALLS.iter().enumerate().skip(first_call) {
        // Twice, so that kernels are compiled and pools filled.
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
