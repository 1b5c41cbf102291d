//! Compares pages on memory that host and device share with pages that are copied to and from the device, in turns.
//!
//! ```sh
//! cargo run --release --example shared_memory -- [--software] [--words 40]
//! ```

mod bench;

use std::time::Instant;

use bench::{Arguments, Outcome, random};
use pagepress::PAGE_SIZE;
use pagepress::batch::Timings;
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuBatchCompressor, GpuBatchConfig, GpuDevice,
    SharedMemory,
};
use pagepress::lz4::{self, Level, PackedPages};

/// Number of pages: 32 MiB.
const N_PAGES: usize = 8192;
/// Measured runs; the median and the fastest are printed.
const RUNS: usize = 5;

/// One way to use memory, with its times in seconds.
struct Way {
    name: &'static str,
    compressor: GpuBatchCompressor,
    compress: Vec<f64>,
    decompress: Vec<f64>,
    /// Nanoseconds that the device copied during both calls.
    copies: Vec<u64>,
}

fn copied_ns(timings: &Timings) -> u64 {
    timings.upload_ns.unwrap_or(0) + timings.readback_ns.unwrap_or(0)
}

fn main() -> Outcome {
    let arguments = Arguments::new();
    let mut pages = vec![[0u8; PAGE_SIZE]; N_PAGES];
    let mut next = random(1);
    // Words of a small vocabulary: 1.3 to 1 by default. Pages of one word are fills.
    let words = arguments
        .value("--words")
        .map_or(Ok(40), str::parse::<u32>)?;
    for page in &mut pages {
        for word in page.chunks_exact_mut(4) {
            let word_index = (next() >> 40) as u32 % words;
            word.copy_from_slice(&word_index.wrapping_mul(0x9e37_79b9).to_le_bytes());
        }
    }
    let expected = lz4::compress_pages(pages.as_flattened(), PAGE_SIZE as u32, Level::Fast)?;
    println!("ratio {:.2}", expected.ratio());
    let open = |name, shared_memory| -> Outcome<Way> {
        let device = GpuDevice::open(&DeviceRequest {
            engine: EngineChoice::Wgpu,
            allow_software: arguments.has("--software"),
            shared_memory,
            ..DeviceRequest::default()
        })?;
        let shares = device.capabilities().shares_memory;
        println!("{name}: {}, shares memory: {shares}", device.info());
        let config = GpuBatchConfig {
            batch_size: 1024,
            ..GpuBatchConfig::default()
        };
        Ok(Way {
            name,
            compressor: GpuBatchCompressor::with_device(device, config)?,
            compress: Vec::new(),
            decompress: Vec::new(),
            copies: Vec::new(),
        })
    };
    let mut ways = [
        open("shared", SharedMemory::WhereOffered)?,
        open("staged", SharedMemory::Never)?,
    ];
    let mut packed = PackedPages::default();
    let mut out = vec![[0u8; PAGE_SIZE]; N_PAGES];
    for run in 0..=RUNS {
        for way in &mut ways {
            let start = Instant::now();
            let result = way.compressor.compress_batch_reusing(&pages, packed)?;
            let copied = copied_ns(&result.timings);
            packed = result.pages;
            let compressed = start.elapsed().as_secs_f64();
            assert!(packed == expected, "{}: other blocks", way.name);
            let start = Instant::now();
            let (_, timings) = way.compressor.decompress_batch_into(&packed, &mut out)?;
            let decompressed = start.elapsed().as_secs_f64();
            assert!(out == pages, "{}: other pages", way.name);
            // The first run compiles kernels and allocates buffers.
            if run > 0 {
                way.compress.push(compressed);
                way.decompress.push(decompressed);
                way.copies.push(copied + copied_ns(&timings));
            }
        }
    }
    for way in &mut ways {
        way.copies.sort_unstable();
        let copied_ms = way.copies[RUNS / 2] as f64 / 1e6;
        println!("{}: the device copied for {copied_ms:.1} ms", way.name);
        for (what, times) in [
            ("compress", &mut way.compress),
            ("decompress", &mut way.decompress),
        ] {
            times.sort_by(f64::total_cmp);
            let speed = |time: f64| (N_PAGES * PAGE_SIZE) as f64 / time / 1e9;
            let (median, best) = (speed(times[RUNS / 2]), speed(times[0]));
            println!("{} {what}: {median:.3} GB/s (fastest {best:.3})", way.name);
        }
    }
    Ok(())
}
