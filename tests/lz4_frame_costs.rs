//! The cost of decoding is bounded by the input and output bytes, whatever a file claims: memory allocated and memory
//! touched, counted by the global allocator of this test binary.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use pagepress::batch::{BackendRequest, Codec, CodecOptions, DecompressReader};
use pagepress::lz4::frame::{FrameDecoder, FrameMap, compress, decompress};
use pagepress::lz4::frame::{FrameOptions, decompress_stream};

/// Counts memory held, its peak, and zeroed allocations, which the system provides without touching pages.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static ZEROED: AtomicUsize = AtomicUsize::new(0);
static N_ZEROED: AtomicUsize = AtomicUsize::new(0);

fn take(n_bytes: usize) {
    let held = HELD.fetch_add(n_bytes, Relaxed) + n_bytes;
    PEAK.fetch_max(held, Relaxed);
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the contracts are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        ZEROED.fetch_add(layout.size(), Relaxed);
        N_ZEROED.fetch_add((layout.size() > 4096) as usize, Relaxed);
        // SAFETY: the contracts are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, n_bytes: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Relaxed);
        take(n_bytes);
        // SAFETY: the contracts are the same.
        unsafe { System.realloc(at, layout, n_bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the contracts are the same.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Serialises the tests, which share the counters.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const MB: usize = 1 << 20;
/// Codes of the largest block in a descriptor: 64 KiB and 4 MiB.
const SMALL_BLOCKS: u8 = 0x40;
const LARGE_BLOCKS: u8 = 0x70;
const INDEPENDENT: u8 = 0x60;
const LINKED: u8 = 0x40;

fn header(flags: u8, block_max: u8) -> Vec<u8> {
    let mut header = vec![0x04, 0x22, 0x4d, 0x18, flags, block_max];
    header.push((twox_hash::XxHash32::oneshot(0, &header[4..]) >> 8) as u8);
    header
}

fn push_block(file: &mut Vec<u8>, size_word: u32, data: &[u8]) {
    file.extend(size_word.to_le_bytes());
    file.extend(data);
}

/// Returns a frame of `n_blocks` blocks with this data, optionally after a block of zeros of the largest size.
fn frame(flags: u8, block_max: u8, first: bool, data: &[u8], n_blocks: usize) -> Vec<u8> {
    let mut file = header(flags, block_max);
    if first {
        let n_bytes = if block_max == LARGE_BLOCKS {
            4 * MB
        } else {
            MB / 16
        };
        let options = FrameOptions {
            block_size: n_bytes as u32,
            content_checksum: false,
            ..FrameOptions::default()
        };
        let whole = compress(&vec![0; n_bytes], &options).expect("in range");
        file.extend(&whole[7..whole.len() - 4]);
    }
    for _ in 0..n_blocks {
        push_block(&mut file, data.len() as u32, data);
    }
    file.extend([0; 4]);
    file
}

/// Returns a block of literals only.
fn literals(n_bytes: usize) -> Vec<u8> {
    let mut block = vec![0xf0];
    let mut rest = n_bytes - 15;
    while rest >= 255 {
        block.push(255);
        rest -= 255;
    }
    block.push(rest as u8);
    block.extend((0..n_bytes).map(|i| ((i * 7) >> 3) as u8));
    block
}

/// Files that claim much content and have little.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let five = [0x40, 1, 2, 3, 4];
    let junk = literals(16_500);
    let mut files = Vec::new();
    for (flags, linked) in [(INDEPENDENT, false), (LINKED, true)] {
        let name = |name, linked_name| if linked { linked_name } else { name };
        let large = |first, data: &[u8], n| frame(flags, LARGE_BLOCKS, first, data, n);
        let small = |first, data: &[u8], n| frame(flags, SMALL_BLOCKS, first, data, n);
        files.push((
            name("five bytes after 4 MiB", "the same, linked"),
            large(true, &five, 20_000),
        ));
        files.push((
            name("five bytes", "five bytes, linked"),
            large(false, &five, 100_000),
        ));
        files.push((
            name("literals after 4 MiB", "the same, linked"),
            large(true, &junk, 60),
        ));
        files.push((
            name("five bytes after 64 KiB", "the same, linked"),
            small(true, &five, 50_000),
        ));
        files.push((name("empty blocks", "empty blocks, linked"), {
            let mut file = header(flags, LARGE_BLOCKS);
            (0..200_000).for_each(|_| push_block(&mut file, 1 << 31, &[]));
            file.extend([0; 4]);
            file
        }));
        files.push((
            name("many frames", "many frames, linked"),
            large(false, &five, 1).repeat(40_000),
        ));
        files.push((
            name("empty frames", "empty frames, linked"),
            large(false, &five, 0).repeat(60_000),
        ));
        files.push((
            name("alternately large and small", "the same, linked"),
            [large(true, &junk, 1), large(false, &junk, 3)]
                .concat()
                .repeat(12),
        ));
        let uneven: Vec<u8> = (0..50)
            .flat_map(|_| small(true, &literals(300), 255))
            .collect();
        files.push((name("literals after 64 KiB", "the same, linked"), uneven));
    }
    let mut legacy = vec![0x02, 0x21, 0x4c, 0x18];
    (0..50_000).for_each(|_| push_block(&mut legacy, 5, &five));
    files.push(("legacy blocks", legacy));
    files.push(("legacy frames", [0x02, 0x21, 0x4c, 0x18].repeat(100_000)));
    files.push((
        "skippable frames",
        [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(100_000),
    ));
    files
}

fn codec() -> Codec {
    let options = CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    };
    Codec::new(options).expect("the CPU is always there")
}

/// Reads `file` with calls of every size, from the whole file to a little at a time.
fn read(how: usize, file: &[u8]) -> usize {
    let mut out = Vec::new();
    match how {
        0 => return decompress(file, None).expect("is sound").len(),
        1 => {
            let mut decoder = FrameDecoder::new(None).with_group_bytes(MB);
            let (mut n_bytes, mut at) = (0, 0);
            loop {
                let consumed = decoder.advance(&file[at..], &mut out).expect("is sound");
                n_bytes += out.len();
                out.clear();
                at += consumed;
                if consumed == 0 {
                    break;
                }
            }
            decoder.finish(&file[at..]).expect("is whole");
            return n_bytes;
        }
        2 => drop(DecompressReader::new(file, codec(), None).read_to_end(&mut out)),
        3 => {
            let go_on = |_| std::ops::ControlFlow::Continue(());
            let file = std::io::Cursor::new(file.to_vec());
            decompress_stream(file, &mut out, None, go_on).expect("is sound");
        }
        _ => {
            let mut reader = DecompressReader::new(Slow(file, 1009), codec(), None);
            reader.read_to_end(&mut out).expect("is sound");
        }
    }
    out.len()
}

/// Returns a fixed number of bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n_bytes = self.1.min(out.len()).min(self.0.len());
        let (now, later) = self.0.split_at(n_bytes);
        out[..n_bytes].copy_from_slice(now);
        self.0 = later;
        Ok(n_bytes)
    }
}

#[test]
fn decoding_costs_are_bounded_by_content_and_not_by_claims() {
    let _alone = ONE_AT_A_TIME.lock();
    read(0, &files()[0].1);
    for (name, file) in files() {
        let mut n_contents = Vec::new();
        for how in 0..5 {
            let before = (ZEROED.load(Relaxed), N_ZEROED.load(Relaxed));
            let held = HELD.load(Relaxed);
            PEAK.store(held, Relaxed);
            let clock = Instant::now();
            let n_content = read(how, &file);
            let took = clock.elapsed();
            let peak = PEAK.load(Relaxed).saturating_sub(held);
            let zeroed = ZEROED.load(Relaxed) - before.0;
            let n_zeroed = N_ZEROED.load(Relaxed) - before.1;
            n_contents.push(n_content);
            let n_bytes = file.len() + n_content;
            println!(
                "{name}, way {how}: {} in, {n_content} out, {peak} held, {zeroed} of zeros, {took:?}",
                file.len()
            );
            // Buffers of the streams, and some groups of content.
            let most = 8 * n_bytes + 96 * MB;
            assert!(
                peak < most,
                "{name}, way {how}: {peak} bytes held, for {n_bytes}"
            );
            assert!(n_zeroed < 100, "{name}, way {how}: {n_zeroed} times zeros");
            assert!(
                zeroed < 64 * MB,
                "{name}, way {how}: {zeroed} bytes of zeros"
            );
            // About 30 times the typical duration.
            let limit = Duration::from_secs(2) + Duration::from_millis(100) * (n_bytes / MB) as u32;
            assert!(took < limit, "{name}, way {how}: {took:?}");
        }
        assert!(
            n_contents.iter().all(|&n| n == n_contents[0]),
            "{name}: {n_contents:?}"
        );
    }
}

/// Without an index, blocks are measured but not decoded.
#[test]
fn mapping_costs_are_bounded_by_the_file_and_not_by_claims() {
    let _alone = ONE_AT_A_TIME.lock();
    for (name, file) in files() {
        let held = HELD.load(Relaxed);
        PEAK.store(held, Relaxed);
        let mut map = FrameMap::new(file.len() as u64);
        while let Some(range) = map.wanted(u64::MAX) {
            let part = &file[range.start as usize..range.end as usize];
            map.supply(part).expect("is sound");
        }
        let peak = PEAK.load(Relaxed).saturating_sub(held);
        let most = 40 * file.len() + 8 * MB;
        assert!(peak < most, "{name}: {peak} bytes held");
    }
}
