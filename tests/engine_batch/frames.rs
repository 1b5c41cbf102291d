//! Frames and streams.

use std::io::{Cursor, Read, Write};
use std::ops::ControlFlow;

use pagepress::Error;
use pagepress::batch::{CompressWriter, DecompressReader, compress_resident_async};
use pagepress::gpu::Backend;
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, Level};

use crate::common::pages::text;
use crate::{codec, content};

#[test]
fn frames_equal_those_of_the_cpu_and_decode_on_the_gpu() {
    let mut codec = codec();
    for block_size in [4096, 16_384, 65_536] {
        for n_bytes in [0, 1, 13, 4096, 200_000] {
            let content = content(n_bytes);
            let options = FrameOptions {
                block_size,
                block_checksums: n_bytes % 2 == 0,
                ..FrameOptions::default()
            };
            let expected = frame::compress(&content, &options).unwrap();
            let (found, report) = codec.compress_frame(&content, &options).unwrap();
            assert!(found == expected, "{block_size} {n_bytes}");
            assert_eq!(
                report.engine,
                if n_bytes == 0 { "cpu" } else { "wgpu" },
                "{}",
                report.reason
            );
            let (back, _) = codec
                .decompress_frame(&found, Some(n_bytes as u64))
                .unwrap();
            assert!(back == content, "{block_size} {n_bytes}");
        }
    }
}

#[test]
fn frames_in_given_memory_equal_those_in_fresh_memory() {
    const BEHIND: usize = 70_000;
    let mut codec = codec();
    let mut file = content(1000);
    for (block_size, n_bytes) in [
        (4096, 0),
        (4096, 1),
        (4096, 4096),
        (4096, 300_001),
        (65_536, 65_536),
        (65_536, 400_000),
        (300_000, 700_000),
    ] {
        let content = content(n_bytes);
        let options = FrameOptions {
            block_size,
            ..FrameOptions::default()
        };
        codec
            .compress_frame_into(&content, &options, &mut file)
            .unwrap();
        assert!(file == frame::compress(&content, &options).unwrap());
        // Content of several frames, to memory of its length and to more.
        let twice = file.repeat(2);
        for behind in [0, BEHIND] {
            let mut out = vec![0xa5; 2 * n_bytes + behind];
            let (length, _) = codec.decompress_frame_into(&twice, &mut out).unwrap();
            assert_eq!(length, 2 * n_bytes);
            let (found, behind) = out.split_at(length);
            assert!(found == content.repeat(2), "{block_size} {n_bytes}");
            assert!(behind.iter().all(|&byte| byte == 0xa5), "{block_size}");
        }
        for actual in [0, n_bytes / 2, n_bytes.saturating_sub(1)] {
            let found = codec.decompress_frame_into(&file, &mut vec![0; actual]);
            match found {
                Ok((length, _)) => assert_eq!(length, 0),
                Err(Error::OutputTooSmall { needed, actual: a }) => {
                    assert!(a == actual as u64 && needed > a && needed <= n_bytes as u64);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Blocks that are shorter and longer than the first, which the CPU decodes again.
#[test]
fn blocks_of_varying_sizes_are_joined() {
    let mut codec = codec();
    for lengths in [
        [4096, 4096, 100, 4096, 4096, 4096],
        [4096, 4096, 4096, 60_000, 4096, 1],
        [4096, 4096, 4096, 4096, 4096, 9000],
    ] {
        let (mut file, mut content) = (Vec::new(), Vec::new());
        let mut writer = frame::FrameWriter::new(&FrameOptions::default(), &mut file).unwrap();
        for (i, length) in lengths.into_iter().enumerate() {
            let part = text(length, i as u64);
            writer.push(&part, &mut file).unwrap();
            content.extend(part);
        }
        writer.finish(&mut file).unwrap();
        let (back, _) = codec.decompress_frame(&file, None).unwrap();
        assert!(back == content, "{lengths:?}");
        let mut out = vec![0; content.len()];
        let (length, _) = codec.decompress_frame_into(&file, &mut out).unwrap();
        assert!(length == content.len() && out == content, "{lengths:?}");
    }
}

#[test]
fn blocks_that_are_no_pages_go_to_the_cpu_and_the_report_says_so() {
    let mut codec = codec();
    let content = content(300_000);
    for block_size in [5000, 262_144] {
        let options = FrameOptions {
            block_size,
            ..FrameOptions::default()
        };
        let (found, report) = codec.compress_frame(&content, &options).unwrap();
        assert_eq!(report.engine, "cpu");
        assert!(report.reason.contains("CPU"), "{}", report.reason);
        assert!(found == frame::compress(&content, &options).unwrap());
        assert!(codec.decompress_frame(&found, None).unwrap().0 == content);
    }
    let (_, report) = codec
        .decompress_frame(
            &frame::compress(
                &content,
                &FrameOptions {
                    block_size: 1 << 20,
                    ..FrameOptions::default()
                },
            )
            .unwrap(),
            None,
        )
        .unwrap();
    assert_eq!(
        (report.engine, report.reason.as_str()),
        ("cpu", "blocks above 64 KiB are the CPU's")
    );
}

#[test]
fn the_sequential_level_goes_to_the_cpu_and_the_report_says_so() {
    let mut codec = codec();
    let bytes = content(100_000);
    let (pages, report) = codec
        .compress_pages(&bytes, 4096, Level::Sequential)
        .unwrap();
    let expected = lz4::compress_pages(&bytes, 4096, Level::Sequential).unwrap();
    assert_eq!(pages, expected);
    assert_eq!(
        (report.engine, report.reason.as_str()),
        ("cpu", "only the CPU writes the level sequential")
    );
    let (content, report) = codec.decompress_pages(&pages).unwrap();
    assert!(content == bytes);
    assert_eq!(report.engine, "wgpu");
    let device = codec.device().unwrap();
    let resident = device.allocate_memory(100_000).unwrap();
    let compressed = compress_resident_async(device, &resident, 100_000, 4096, Level::Sequential);
    let error = pagepress::gpu::runtime::block_on(compressed).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}

#[test]
fn concatenated_frames_of_both_kinds_decode_in_order() {
    let mut codec = codec();
    let content = content(150_000);
    let small = frame::compress(
        &content,
        &FrameOptions {
            block_size: 4096,
            ..FrameOptions::default()
        },
    )
    .unwrap();
    let large = frame::compress(
        &content,
        &FrameOptions {
            block_size: 1 << 20,
            ..FrameOptions::default()
        },
    )
    .unwrap();
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let all = [&small[..], &skippable, &small, &large, &small].concat();
    let (back, _) = codec.decompress_frame(&all, None).unwrap();
    assert!(back == content.repeat(4));
    let limited = codec.decompress_frame(&all, Some(400_000)).unwrap_err();
    assert_eq!(limited, Error::OutputLimit { limit: 400_000 });
}

#[test]
fn errors_in_frames_are_those_of_the_cpu() {
    let mut codec = codec();
    let content = content(100_000);
    let options = FrameOptions {
        block_size: 4096,
        ..FrameOptions::default()
    };
    let good = frame::compress(&content, &options).unwrap();
    assert_eq!(
        codec
            .decompress_frame(b"not lz4 at all", None)
            .unwrap_err()
            .code(),
        "NOT_LZ4"
    );
    for cut in [3, 10, 1000, good.len() - 1] {
        let found = codec.decompress_frame(&good[..cut], None).unwrap_err();
        assert_eq!(
            found.code(),
            frame::decompress(&good[..cut], None).unwrap_err().code(),
            "cut at {cut}"
        );
    }
    for at in (7..good.len()).step_by(997) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        let found = codec.decompress_frame(&bad, None).map(|(bytes, _)| bytes);
        let expected = frame::decompress(&bad, None);
        assert_eq!(
            found.as_ref().map_err(Error::code),
            expected.as_ref().map_err(Error::code),
            "byte {at}"
        );
    }
    let cancelled =
        pagepress::gpu::runtime::block_on(
            codec.compress_frame_async(&content, &options, |_| ControlFlow::Break(())),
        );
    assert_eq!(cancelled.unwrap_err(), Error::Cancelled);
}

#[test]
fn streams_do_the_same() {
    let mut codec = codec();
    let content = content(3_000_000);
    let options = FrameOptions::default();
    let mut written = Vec::new();
    let mut last = 0;
    let (done, report) = codec
        .compress_stream(
            Cursor::new(content.clone()),
            &mut written,
            &options,
            |progress| {
                assert!(progress.bytes_in >= last);
                last = progress.bytes_in;
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    assert_eq!(
        (done.bytes_in, done.bytes_out),
        (content.len() as u64, written.len() as u64)
    );
    assert_eq!(report.engine, "wgpu");
    assert!(written == frame::compress(&content, &options).unwrap());
    let mut back = Vec::new();
    let (done, _) = codec
        .decompress_stream(Cursor::new(written.clone()), &mut back, None, |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(
        (done.bytes_in, done.bytes_out),
        (written.len() as u64, content.len() as u64)
    );
    assert!(back == content);
}

#[test]
fn readers_and_writers_do_the_same() {
    let content = content(3_000_000);
    let options = FrameOptions {
        index: true,
        ..FrameOptions::default()
    };
    let mut writer = CompressWriter::new(Vec::new(), codec(), &options).unwrap();
    for piece in content.chunks(123_457) {
        writer.write_all(piece).unwrap();
    }
    let (written, report) = writer.finish().unwrap();
    assert_eq!(report.engine, "wgpu");
    assert!(written == frame::compress(&content, &options).unwrap());
    let mut reader = DecompressReader::new(written.as_slice(), codec(), None);
    let mut back = Vec::new();
    reader.read_to_end(&mut back).unwrap();
    assert!(back == content);
    assert_eq!(reader.report().engine, "wgpu");
}
