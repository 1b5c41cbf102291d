//! Streams longer than the input of one thread: the results of the decoder in memory, however the pool looks.

use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;

use crate::common::lz4_command::lz4_ok;
use crate::common::pages::{self, Random};
use lzzzz::lz4f;
use pagepress::Error;
use pagepress::lz4::frame::{
    FrameOptions, Progress, StreamError, compress, compress_stream, decompress, decompress_stream,
};

/// Decompresses by a stream; returns all that was written, and the result.
fn read(
    reader: impl Read + Send + 'static,
    limit: Option<u64>,
) -> (Vec<u8>, Result<Progress, StreamError>) {
    let mut out = Vec::new();
    let result = decompress_stream(reader, &mut out, limit, |_| ControlFlow::Continue(()));
    (out, result)
}

fn codec_error(result: Result<Progress, StreamError>) -> Option<Error> {
    match result {
        Err(StreamError::Codec(error)) => Some(error),
        _ => None,
    }
}

/// A frame of liblz4.
fn frame_of_liblz4(content: &[u8], size: lz4f::BlockSize, mode: lz4f::BlockMode) -> Vec<u8> {
    let preferences = lz4f::PreferencesBuilder::new()
        .block_size(size)
        .block_mode(mode)
        .content_checksum(lz4f::ContentChecksum::Enabled)
        .build();
    let mut frame = Vec::new();
    lz4f::compress_to_vec(content, &mut frame, &preferences).expect("compresses");
    frame
}

/// Files of every structure, each longer than a read.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    use lz4f::{BlockMode, BlockSize};

    let content = pages::mixed(3_000_000, 5);
    let small = FrameOptions {
        block_size: 4096,
        block_checksums: true,
        ..FrameOptions::default()
    };
    let tiny: Vec<u8> = (0..20_000)
        .flat_map(|i| compress(&pages::text(i % 40, i as u64), &small).expect("compresses"))
        .collect();
    let mut skippable = vec![0x5a, 0x2a, 0x4d, 0x18];
    skippable.extend(700_000_u32.to_le_bytes());
    skippable.extend(pages::random(700_000, 1));
    let frame = compress(&content, &small).expect("compresses");
    let zeros = compress(&vec![0; 300_000_000], &FrameOptions::default()).expect("compresses");
    vec![
        ("4 KiB blocks", frame.clone()),
        (
            "64 KiB blocks",
            frame_of_liblz4(&content, BlockSize::Max64KB, BlockMode::Independent),
        ),
        (
            "4 MiB blocks",
            frame_of_liblz4(
                &content.repeat(3),
                BlockSize::Max4MB,
                BlockMode::Independent,
            ),
        ),
        (
            "linked blocks",
            frame_of_liblz4(&content, BlockSize::Max64KB, BlockMode::Linked),
        ),
        ("legacy frames", lz4_ok(&["-l", "-c"], &content).repeat(2)),
        (
            "stored blocks",
            compress(&pages::random(2_000_000, 2), &small).expect("compresses"),
        ),
        ("tiny frames", tiny),
        (
            "skippable frames",
            [&skippable[..], &frame, &skippable, &skippable].concat(),
        ),
        ("zeros", zeros),
    ]
}

#[test]
fn streams_give_what_the_decoder_in_memory_gives() {
    for (name, file) in files() {
        assert!(file.len() > 512 << 10, "{name}: {} bytes", file.len());
        let expected = decompress(&file, None).expect("is sound");
        let n_bytes = expected.len() as u64;
        for limit in [None, Some(n_bytes)] {
            let (content, result) = read(Cursor::new(file.clone()), limit);
            let total = result.expect("is sound");
            assert!(content == expected, "{name}");
            assert_eq!(
                (total.bytes_in, total.bytes_out),
                (file.len() as u64, n_bytes),
                "{name}"
            );
        }
        let (content, result) = read(Cursor::new(file), Some(n_bytes - 1));
        assert!(
            matches!(codec_error(result), Some(Error::OutputLimit { .. })),
            "{name}"
        );
        assert!(
            expected.starts_with(&content) && content.len() < expected.len(),
            "{name}"
        );
    }
}

#[test]
fn damaged_streams_give_the_error_of_the_decoder_in_memory() {
    let mut rng = Random::new(3);
    for (name, file) in files() {
        if file.len() > 20_000_000 || name == "zeros" {
            continue;
        }
        let whole = decompress(&file, None).expect("is sound");
        for round in 0..24 {
            let mut damaged = file.clone();
            let at = rng.below(file.len());
            if round % 2 == 0 {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 1 << rng.below(8);
            }
            let expected = decompress(&damaged, None);
            let (content, result) = read(Cursor::new(damaged), None);
            match expected {
                Ok(expected) => {
                    result.expect("is sound in memory");
                    assert!(content == expected, "{name}, byte {at}");
                }
                Err(expected) => {
                    let error = codec_error(result).map(|error| error.code());
                    assert_eq!(
                        error,
                        Some(expected.code()),
                        "{name}, byte {at}, round {round}"
                    );
                    // A block without a checksum may decode to other content before the error is found.
                    assert!(
                        round % 2 != 0 || whole.starts_with(&content),
                        "{name}, byte {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn streams_work_in_every_pool() {
    let content = pages::mixed(4_000_000, 7);
    let options = FrameOptions::default();
    let expected = compress(&content, &options).expect("compresses");
    for n_threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build();
        let pool = pool.expect("starts threads");
        // The caller is a thread of the pool, and all its threads wait for streams.
        pool.broadcast(|_| {
            let mut frame = Vec::new();
            let go_on = |_| ControlFlow::Continue(());
            let input = Cursor::new(content.clone());
            compress_stream(input, &mut frame, &options, go_on).expect("compresses");
            assert!(frame == expected, "{n_threads} threads");
            let (back, result) = read(Cursor::new(frame), None);
            result.expect("is sound");
            assert!(back == content, "{n_threads} threads");
        });
    }
}

/// Returns some bytes at a time, then an error.
struct Broken(Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len().min(70_001);
        match self.0.read(&mut out[..most])? {
            0 => Err(io::Error::other("broken")),
            n_bytes => Ok(n_bytes),
        }
    }
}

#[test]
fn content_before_a_read_error_is_written() {
    let content = pages::mixed(3_000_000, 9);
    let frame = compress(&content, &FrameOptions::default()).expect("compresses");
    let half = frame[..frame.len() / 2].to_vec();
    let (back, result) = read(Broken(Cursor::new(half)), None);
    assert!(matches!(result, Err(StreamError::Read(_))), "{result:?}");
    assert!(content.starts_with(&back) && back.len() > 1 << 20);
    let mut out = Vec::new();
    let input = Broken(Cursor::new(content));
    let go_on = |_| ControlFlow::Continue(());
    let result = compress_stream(input, &mut out, &FrameOptions::default(), go_on);
    assert!(matches!(result, Err(StreamError::Read(_))), "{result:?}");
    assert!(
        frame.starts_with(&out) && out.len() > 1 << 19,
        "{}",
        out.len()
    );
}
