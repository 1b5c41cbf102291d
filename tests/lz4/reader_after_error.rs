//! Readers of damaged files return only content, and after an error nothing but the error.

use std::io::{self, Read};
use std::task::{Context, Poll, Waker};

use crate::common::pages::{self, Random};
use pagepress::batch::{BackendRequest, Codec, CodecOptions, DecompressReader, FrameDecompression};
use pagepress::lz4::Level;
use pagepress::lz4::frame::{FrameDecoder, FrameOptions, compress};

fn codec() -> Codec {
    let options = CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    };
    Codec::new(options).expect("the CPU is always there")
}

/// Returns a fixed number of bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.1.min(out.len()).min(self.0.len());
        let (now, later) = self.0.split_at(n_bytes);
        out[..n_bytes].copy_from_slice(now);
        self.0 = later;
        Ok(n_bytes)
    }
}

/// All checksums, so that no damage passes.
const CHECKED: FrameOptions = FrameOptions {
    block_size: 4096,
    level: Level::Fast,
    content_checksum: true,
    block_checksums: true,
    content_size: None,
    index: false,
    dictionary: None,
};

/// Files of one and of several frames, with all checksums and with the content checksum only.
fn files() -> Vec<(FrameOptions, Vec<u8>, Vec<u8>)> {
    let unblocked = FrameOptions {
        block_checksums: false,
        ..CHECKED
    };
    let mut files = Vec::new();
    for (seed, options) in [CHECKED, unblocked].into_iter().enumerate() {
        let contents = [9000, 5000, 20_000].map(|n| pages::mixed(n, seed as u64));
        let frames = contents
            .each_ref()
            .map(|content| compress(content, &options).expect("in range"));
        files.push((options.clone(), frames[2].clone(), contents[2].clone()));
        files.push((options, frames.concat(), contents.concat()));
    }
    files
}

fn mutated(file: &[u8], i: usize, random: &mut Random) -> Vec<u8> {
    let mut file = file.to_vec();
    let at = random.below(file.len());
    match i % 6 {
        0 => file.truncate(at),
        1 => file.insert(at, random.byte()),
        2 => drop(file.remove(at)),
        3 => {
            let end = file.len().min(at + 1 + random.below(100));
            drop(file.drain(at..end));
        }
        4 => file.extend((0..1 + random.below(40)).map(|_| random.byte())),
        _ => file[at] ^= 1 << random.below(8),
    }
    file
}

/// Reads up to the first error, which every later call must return again.
fn read_all(mut read: impl FnMut(&mut [u8]) -> io::Result<usize>, step: usize) -> (Vec<u8>, bool) {
    let (mut out, mut piece) = (Vec::new(), vec![0; step]);
    loop {
        match read(&mut piece) {
            Ok(0) => return (out, true),
            Ok(n_bytes) => out.extend_from_slice(&piece[..n_bytes]),
            Err(error) => {
                for _ in 0..5 {
                    let again = read(&mut piece).expect_err("an error stays");
                    assert_eq!(again.kind(), error.kind());
                    assert_eq!(again.to_string(), error.to_string());
                }
                return (out, false);
            }
        }
    }
}

#[test]
fn only_content_is_read_before_an_error_and_nothing_after_it() {
    let mut random = Random::new(7);
    let mut n_errors = 0;
    for (options, file, content) in files() {
        for i in 0..600 {
            let file = mutated(&file, i, &mut random);
            let input = [1 << 20, 100, 1013, 7][i % 4];
            let step = [1 << 16, 1, 333, 5000][i / 4 % 4];
            let mut reader = DecompressReader::new(Pieces(&file, input), codec(), None);
            let (out, is_whole) = read_all(|piece| reader.read(piece), step);
            n_errors += usize::from(!is_whole);
            // Without block checksums, a step may return wrong content before the end of the frame shows it, but never
            // together with the end.
            if options.block_checksums || input == 1 << 20 {
                assert!(
                    content.starts_with(&out),
                    "{i}: {} bytes, {is_whole}",
                    out.len()
                );
            }
            // Files of several frames may lose whole frames.
            assert!(
                !is_whole || out == content || i % 6 == 3 || i % 6 == 0,
                "{i}"
            );
        }
    }
    assert!(n_errors > 2000, "{n_errors}");
}

#[cfg(feature = "futures-io")]
mod under_futures_io {
    use std::pin::Pin;

    use futures_io::AsyncRead;
    use pagepress::batch::AsyncDecompressReader;

    use super::*;

    impl AsyncRead for Pieces<'_> {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            out: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(self.get_mut().read(out))
        }
    }

    #[test]
    fn only_content_is_read_before_an_error_and_nothing_after_it() {
        let mut random = Random::new(8);
        for (options, file, content) in files() {
            for i in 0..200 {
                let file = mutated(&file, i, &mut random);
                let input = [1 << 20, 100, 1013, 7][i % 4];
                let mut reader = AsyncDecompressReader::new(Pieces(&file, input), codec(), None);
                let mut context = Context::from_waker(Waker::noop());
                let read = |piece: &mut [u8]| loop {
                    if let Poll::Ready(read) = Pin::new(&mut reader).poll_read(&mut context, piece)
                    {
                        return read;
                    }
                };
                let (out, is_whole) = read_all(read, [1 << 16, 1, 333][i % 3]);
                if options.block_checksums {
                    assert!(
                        content.starts_with(&out),
                        "{i}: {} bytes, {is_whole}",
                        out.len()
                    );
                }
                assert!(
                    !is_whole || out == content || i % 6 == 3 || i % 6 == 0,
                    "{i}"
                );
            }
        }
    }
}

#[test]
fn session_and_decoder_append_nothing_on_an_error_which_persists() {
    let mut random = Random::new(9);
    let mut codec = codec();
    for (_, file, _) in files() {
        for i in 0..200 {
            let file = mutated(&file, i, &mut random);
            let mut session = FrameDecompression::new(&codec, None);
            session.push(&file);
            let mut out = Vec::new();
            let failure = loop {
                let before = out.len();
                match block_on(session.advance_async(&mut codec, &mut out)) {
                    Ok(true) => {}
                    Ok(false) => break session.finish().err(),
                    Err(error) => {
                        assert_eq!(out.len(), before, "{i}");
                        break Some(error);
                    }
                }
            };
            let mut decoder = FrameDecoder::new(None);
            let (mut at, mut direct) = (0, Vec::new());
            let direct_failure = loop {
                let before = direct.len();
                match decoder.advance(&file[at..], &mut direct) {
                    Ok(0) => break decoder.finish(&file[at..]).err(),
                    Ok(consumed) => at += consumed,
                    Err(error) => {
                        assert_eq!(direct.len(), before, "{i}");
                        break Some(error);
                    }
                }
            };
            assert!(failure == direct_failure && out == direct, "{i}");
            if let Some(error) = failure {
                let again = block_on(session.advance_async(&mut codec, &mut out));
                assert_eq!(
                    (again, session.finish()),
                    (Err(error.clone()), Err(error.clone()))
                );
                let again = decoder.advance(&file[at..], &mut direct);
                assert_eq!(
                    (again, decoder.finish(&[])),
                    (Err(error.clone()), Err(error))
                );
                assert!(out == direct, "{i}");
            }
        }
    }
}

/// Returns the value of a future that is ready at once, as all are on the CPU.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// An inner reader that reports more bytes than were requested.
#[test]
fn a_reader_that_reports_too_many_bytes_is_an_error() {
    struct Liar;
    impl Read for Liar {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            Ok(out.len() + 1)
        }
    }
    let read = DecompressReader::new(Liar, codec(), None).read(&mut [0; 10]);
    let error = read.expect_err("there are not so many");
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
