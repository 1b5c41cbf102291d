//! A long round trip with hashes that are the same on every machine: `npm test -- emulated` compares two machines.
//!
//! `PAGEPRESS_ROUND_TRIP_MB` is the length in megabytes, 4 by default.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::io::Write;

use common::pages::{GENERATORS, Random};
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{Level, compress_pages, decompress_pages};
use twox_hash::XxHash32;

/// Returns pieces of all generators in turn, with lengths from a byte to 64 KiB.
fn content(length: usize) -> Vec<u8> {
    let mut random = Random::new(100);
    let mut out = Vec::with_capacity(length + 65_536);
    while out.len() < length {
        let (_, generator) = GENERATORS[random.below(GENERATORS.len())];
        out.extend(generator(1 + random.below(65_536), random.next()));
    }
    out.truncate(length);
    out
}

#[test]
fn a_long_round_trip_has_the_same_bytes_everywhere() {
    let megabytes = std::env::var("PAGEPRESS_ROUND_TRIP_MB").map_or(4, |text| {
        text.parse().expect("PAGEPRESS_ROUND_TRIP_MB is a number")
    });
    let content = content(megabytes * 1_000_000);
    for level in [Level::Fast, Level::High, Level::Sequential] {
        let options = FrameOptions {
            level,
            ..FrameOptions::default()
        };
        let frame = frame::compress(&content, &options).expect("the options are right");
        assert!(frame::decompress(&frame, None).expect("the frame is whole") == content);
        let pages = compress_pages(&content, 4096, level).expect("the size is right");
        assert!(decompress_pages(&pages).expect("the pages are whole") == content);
        // Bypasses the harness, for the comparison.
        let _ = writeln!(
            std::io::stderr(),
            "round trip of {megabytes} MB, {level:?}: frame {} bytes {:08x}, pages {} bytes {:08x}",
            frame.len(),
            XxHash32::oneshot(0, &frame),
            pages.packed.len(),
            XxHash32::oneshot(0, &pages.packed),
        );
    }
}
