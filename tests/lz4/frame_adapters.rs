//! The adapters of frames to `std::io` and `futures-io`, on the CPU.

use std::io::{self, Read, Write};
use std::task::{Context, Poll, Waker};

use crate::common::lz4_command::lz4_ok;
use crate::common::pages;
use pagepress::Error;
use pagepress::batch::{
    BackendRequest, Codec, CodecOptions, CompressWriter, DecompressReader, FrameCompression,
};
use pagepress::lz4::frame::{FrameOptions, compress};

fn codec() -> Codec {
    let options = CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    };
    Codec::new(options).expect("the CPU is always there")
}

fn writer() -> CompressWriter<Vec<u8>> {
    CompressWriter::new(Vec::new(), codec(), &FrameOptions::default()).expect("starts")
}

/// Returns its content in pieces of varying sizes.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 * 7 % 100_003 + 1;
        let n_bytes = self.1.min(out.len()).min(self.0.len());
        let (now, later) = self.0.split_at(n_bytes);
        out[..n_bytes].copy_from_slice(now);
        self.0 = later;
        Ok(n_bytes)
    }
}

#[test]
fn a_writer_writes_the_frame_of_a_single_call() {
    let input = pages::mixed(40_000_000, 1);
    let mut writer = writer();
    for piece in input.chunks(1_234_567) {
        writer.write_all(piece).expect("compresses");
    }
    let (frame, report) = writer.finish().expect("ends");
    assert_eq!(report.engine, "cpu");
    assert!(report.timings.total_ns > 0);
    assert!(frame == compress(&input, &FrameOptions::default()).expect("compresses"));
}

#[test]
fn all_content_is_readable_after_a_flush() {
    let mut writer = writer();
    writer.write_all(b"first part").expect("compresses");
    writer.flush().expect("flushes");
    let so_far = writer.get_ref().clone();
    let mut content = [0; 10];
    let mut reader = DecompressReader::new(so_far.as_slice(), codec(), None);
    reader.read_exact(&mut content).expect("is there");
    assert_eq!(&content, b"first part");
    let error = reader.read(&mut content).expect_err("the frame has no end");
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    writer.write_all(b", second").expect("compresses");
    let (frame, _) = writer.finish().expect("ends");
    assert_eq!(lz4_ok(&["-d", "-c"], &frame), b"first part, second");
}

#[test]
fn a_reader_reads_every_frame_of_lz4_in_pieces_of_any_size() {
    let input = pages::mixed(9_000_000, 2);
    let own = compress(&input, &FrameOptions::default()).expect("compresses");
    let skippable = [&[0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
    for (name, frames, times) in [
        ("linked", lz4_ok(&["-c", "-BD", "-B4"], &input), 1),
        ("legacy", lz4_ok(&["-c", "-l"], &input), 1),
        ("many", [&own[..], &skippable, &own].concat(), 2),
    ] {
        let mut reader = DecompressReader::new(Trickle(&frames, 1), codec(), None);
        let mut content = Vec::new();
        reader.read_to_end(&mut content).expect("decompresses");
        assert!(content == input.repeat(times), "{name}");
        let progress = reader.progress();
        assert_eq!(progress.bytes_in, frames.len() as u64, "{name}");
        assert_eq!(progress.bytes_out, content.len() as u64, "{name}");
        assert_eq!(reader.read(&mut [0; 9]).expect("stays at the end"), 0);
    }
}

#[test]
fn errors_keep_their_source_and_persist() {
    let frame = compress(&pages::text(300_000, 1), &FrameOptions::default()).expect("compresses");
    let mut reader = DecompressReader::new(frame.as_slice(), codec(), Some(1000));
    for _ in 0..2 {
        let error = reader.read(&mut [0; 100]).expect_err("is too long");
        let source = error.get_ref().and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&Error::OutputLimit { limit: 1000 }));
    }
    let mut broken = DecompressReader::new(&b"no frame"[..], codec(), None);
    let error = broken.read(&mut [0; 100]).expect_err("is no frame");
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);

    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = CompressWriter::new(Full, codec(), &FrameOptions::default()).expect("starts");
    writer.write_all(b"content").expect("is held");
    let error = writer.flush().expect_err("the disk is full");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    writer
        .write_all(b"more")
        .expect_err("would leave a gap in the frame");
    let error = CompressWriter::new(
        Vec::new(),
        codec(),
        &FrameOptions {
            block_size: 1,
            ..FrameOptions::default()
        },
    );
    assert!(matches!(error, Err(Error::InvalidArgument { .. })));
}

#[test]
fn a_session_buffers_at_most_one_part() {
    let input = pages::text(1_000_000, 3);
    let options = FrameOptions::default();
    let (mut codec, mut out) = (codec(), Vec::new());
    let mut session = FrameCompression::new(&options, Some(100_000)).expect("starts");
    let mut pushed = 0;
    for piece in input.chunks(70_001) {
        ready(session.push_async(&mut codec, piece, &mut out)).expect("compresses");
        pushed += piece.len() as u64;
        let done = session.progress();
        assert!(pushed - done.bytes_in < 131_072, "{done:?} of {pushed}");
        assert_eq!(done.bytes_out, out.len() as u64);
    }
    ready(session.finish_async(&mut codec, &mut out)).expect("ends");
    assert_eq!(session.progress().bytes_in, input.len() as u64);
    assert!(out == compress(&input, &options).expect("compresses"));
}

/// Returns the value of a future that is ready at once, as all are on the CPU.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    wait(|context| future.as_mut().poll(context))
}

/// Polls until ready.
fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = poll(&mut context) {
            return value;
        }
    }
}

#[cfg(feature = "futures-io")]
mod asynchronous {
    use std::pin::Pin;

    use futures_io::{AsyncRead, AsyncWrite};
    use pagepress::batch::{AsyncCompressWriter, AsyncDecompressReader};
    use pagepress::lz4::frame::decompress;

    use super::*;

    /// Returns pending every other time, and transfers at most 10,007 bytes.
    struct Slow<'a> {
        input: &'a [u8],
        output: Vec<u8>,
        is_ready: bool,
        is_closed: bool,
    }

    impl<'a> Slow<'a> {
        fn new(input: &'a [u8]) -> Self {
            Self {
                input,
                output: Vec::new(),
                is_ready: false,
                is_closed: false,
            }
        }

        fn turn(&mut self) -> Poll<()> {
            self.is_ready = !self.is_ready;
            if self.is_ready {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }
    }

    impl AsyncRead for Slow<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            out: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            self.turn().map(|()| {
                let most = out.len().min(10_007);
                self.input.read(&mut out[..most])
            })
        }
    }

    impl AsyncWrite for Slow<'_> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.turn().map(|()| {
                let n_bytes = bytes.len().min(10_007);
                self.output.extend_from_slice(&bytes[..n_bytes]);
                Ok(n_bytes)
            })
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.turn().map(Ok)
        }

        fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.is_closed = true;
            self.turn().map(Ok)
        }
    }

    fn is_send(_: &impl Send) {}

    #[test]
    fn async_and_blocking_adapters_give_the_same_bytes() {
        let input = pages::mixed(5_000_000, 4);
        let options = FrameOptions::default();
        let mut writer =
            AsyncCompressWriter::new(Slow::new(&[]), codec(), &options).expect("starts");
        is_send(&writer);
        let mut rest = &input[..];
        while !rest.is_empty() {
            let most = rest.len().min(777_777);
            let taken = wait(|context| Pin::new(&mut writer).poll_write(context, &rest[..most]));
            rest = &rest[taken.expect("compresses")..];
        }
        wait(|context| Pin::new(&mut writer).poll_close(context)).expect("ends");
        let (progress, report) = writer.progress().expect("no work is under way");
        assert_eq!(progress.bytes_in, input.len() as u64);
        assert_eq!(report.engine, "cpu");
        wait(|context| Pin::new(&mut writer).poll_write(context, b"more"))
            .expect_err("the frame is ended");
        let inner = writer.into_inner();
        assert!(inner.is_closed);
        assert!(inner.output == compress(&input, &options).expect("compresses"));

        let mut reader = AsyncDecompressReader::new(Slow::new(&inner.output), codec(), None);
        is_send(&reader);
        assert!(read_all(&mut reader).expect("decompresses") == input);
        let truncated = &inner.output[..inner.output.len() - 5];
        let mut reader = AsyncDecompressReader::new(Slow::new(truncated), codec(), None);
        let error = read_all(&mut reader).expect_err("has no end");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_flush_writes_the_buffered_bytes() {
        let options = FrameOptions::default();
        let mut writer =
            AsyncCompressWriter::new(Slow::new(&[]), codec(), &options).expect("starts");
        wait(|context| Pin::new(&mut writer).poll_write(context, b"content")).expect("takes it");
        wait(|context| Pin::new(&mut writer).poll_flush(context)).expect("flushes");
        let so_far = writer.get_ref().output.clone();
        assert!(so_far.ends_with(b"content"), "a block that is stored");
        wait(|context| Pin::new(&mut writer).poll_flush(context)).expect("flushes");
        assert_eq!(writer.get_ref().output, so_far, "nothing was to flush");
        wait(|context| Pin::new(&mut writer).poll_close(context)).expect("ends");
        assert_eq!(
            decompress(&writer.into_inner().output, None).as_deref(),
            Ok(&b"content"[..])
        );
    }

    fn read_all<R: AsyncRead + Unpin>(reader: &mut R) -> io::Result<Vec<u8>> {
        let (mut all, mut piece) = (Vec::new(), vec![0; 65_537]);
        loop {
            match wait(|context| Pin::new(&mut *reader).poll_read(context, &mut piece))? {
                0 => return Ok(all),
                n_bytes => all.extend_from_slice(&piece[..n_bytes]),
            }
        }
    }
}
