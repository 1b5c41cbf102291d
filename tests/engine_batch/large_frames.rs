//! Frames of several jobs, whose content is hashed while the GPU works.

use std::ops::ControlFlow;

use lzzzz::lz4f;
use pagepress::Error;
use pagepress::batch::FrameDecompression;
use pagepress::gpu::runtime::block_on;
use pagepress::lz4::frame::{self, FrameOptions, FrameWriter};

use crate::{codec, content};

/// Content of two jobs.
const N_BYTES: usize = (34 << 20) + 99;

#[test]
fn blocking_and_async_calls_write_and_read_the_frames_of_the_cpu() {
    let mut codec = codec();
    let content = content(N_BYTES);
    let go_on = |_| ControlFlow::Continue(());
    for options in [
        FrameOptions {
            content_size: Some(N_BYTES as u64),
            index: true,
            ..FrameOptions::default()
        },
        FrameOptions {
            block_size: 4096,
            block_checksums: true,
            content_checksum: false,
            ..FrameOptions::default()
        },
    ] {
        let expected = frame::compress(&content, &options).unwrap();
        let (file, report) = codec.compress_frame(&content, &options).unwrap();
        assert!(file == expected && report.engine == "wgpu");
        let (by_future, _) =
            block_on(codec.compress_frame_async(&content, &options, go_on)).unwrap();
        assert!(by_future == expected);
        let mut decoded = Vec::new();
        lz4f::decompress_to_vec(&file, &mut decoded).unwrap();
        assert!(decoded == content);
        let (back, report) = codec.decompress_frame(&file, Some(N_BYTES as u64)).unwrap();
        assert!(back == content && report.engine == "wgpu");
        let (back, _) = block_on(codec.decompress_frame_async(&file, None, go_on)).unwrap();
        assert!(back == content);
        let mut out = vec![0xa5; N_BYTES + 5];
        let (n_bytes, _) = codec.decompress_frame_into(&file, &mut out).unwrap();
        assert!(n_bytes == N_BYTES && out[..n_bytes] == content && out[n_bytes..] == [0xa5; 5]);
        let limited = codec.decompress_frame(&file, Some(N_BYTES as u64 - 1));
        let limit = N_BYTES as u64 - 1;
        assert_eq!(limited.unwrap_err(), Error::OutputLimit { limit });
    }
}

#[test]
fn errors_in_any_part_are_those_of_the_cpu() {
    let mut codec = codec();
    let options = FrameOptions {
        block_size: 16_384,
        ..FrameOptions::default()
    };
    let content = content(N_BYTES);
    let good = frame::compress(&content, &options).unwrap();
    for at in [good.len() - 2, good.len() / 2, good.len() - 40_000] {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        let found = codec.decompress_frame(&bad, None).map(drop);
        let expected = frame::decompress(&bad, None).map(drop);
        assert_eq!(found, expected, "byte {at}");
        assert!(found.is_err());
    }
}

/// Blocks of much more content than the first one are not all decoded in one call.
#[test]
fn one_call_returns_little_more_than_a_group() {
    const GROUP: usize = 1 << 20;
    let mut codec = codec();
    let content: Vec<u8> = (0..12_000_000_u32).map(|i| (i / 999) as u8).collect();
    let (mut file, options) = (Vec::new(), FrameOptions::default());
    let mut writer = FrameWriter::new(&options, &mut file).unwrap();
    writer.push(&content[..4096], &mut file).unwrap();
    writer.push(&content[4096..], &mut file).unwrap();
    writer.finish(&mut file).unwrap();
    let mut frames = FrameDecompression::with_group_bytes(&codec, None, GROUP);
    frames.push(&file);
    let mut out = Vec::new();
    let mut at = 0;
    while block_on(frames.advance_async(&mut codec, &mut out)).unwrap() {
        assert!(out.len() - at <= GROUP + 65_536, "{}", out.len() - at);
        at = out.len();
    }
    frames.finish().unwrap();
    assert!(out == content);
}
