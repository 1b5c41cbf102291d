//! Calls of every kind, on the CPU and on a device, each with content of more than a megabyte.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, OnceLock};

use pagepress::Result;
use pagepress::batch::{BackendRequest, Codec, CodecOptions, CompressWriter, DecompressReader};
use pagepress::gpu::GpuDevice;
use pagepress::lz4::frame::{self, FrameOptions, SeekableFrame};
use pagepress::lz4::{self, Level, PackedPages};
use pagepress::tensor::cpu;

use crate::calls::{self, Expect, file, of_io, of_stream};
use crate::{open, request};

/// Inputs of the calls and the expected outputs.
pub struct Content {
    device: OnceLock<GpuDevice>,
    inner: calls::Content,
    /// A frame with an index, in large blocks.
    indexed: Vec<u8>,
    /// Memory for the content.
    given: Mutex<Vec<u8>>,
}

impl Content {
    pub fn new() -> Self {
        let inner = calls::Content::new(300);
        let options = FrameOptions {
            index: true,
            ..FrameOptions::default()
        };
        Self {
            device: OnceLock::new(),
            indexed: frame::compress(&inner.bytes, &options).unwrap(),
            given: Mutex::new(vec![0; inner.bytes.len()]),
            inner,
        }
    }
}

impl Content {
    /// Returns the device, which is opened by the first call that needs it.
    fn device(&self) -> &GpuDevice {
        self.device.get_or_init(|| open(&request()))
    }
}

/// A call under test, which checks its result.
pub struct Call {
    pub name: &'static str,
    pub run: fn(&Content) -> Result<()>,
}

macro_rules! calls {
    ($($name:ident),*; $($on_device:literal),*) => {
        pub const CALLS: &[Call] = &[
            $(Call { name: stringify!($name), run: $name },)*
            $(Call {
                name: calls::CALLS[$on_device].name,
                run: |content| (calls::CALLS[$on_device].run)(content.device(), &content.inner),
            },)*
        ];
    };
}

calls!(
    pages, pages_back, small_frame, frame_back, stream, stream_back, writer, reader, seek, products,
    pages_into, pages_back_into, frame_into, frame_back_into;
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
);

fn on_cpu() -> Codec {
    let options = CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    };
    Codec::new(options).unwrap()
}

fn pages(content: &Content) -> Result<()> {
    let found = lz4::compress_pages(&content.inner.bytes, 4096, Level::Fast)?;
    assert!(found == content.inner.packed, "other blocks");
    Ok(())
}

fn pages_back(content: &Content) -> Result<()> {
    let found = lz4::decompress_pages(&content.inner.packed)?;
    assert!(found == content.inner.bytes, "other pages");
    Ok(())
}

/// Runs `decode` on memory for the content, which is allocated once.
fn to_given(content: &Content, decode: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
    let mut out = content
        .given
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    decode(&mut out)?;
    assert!(*out == content.inner.bytes, "other content");
    Ok(())
}

fn pages_into(content: &Content) -> Result<()> {
    let mut found = PackedPages::default();
    let compressed = lz4::compress_pages_into(&content.inner.bytes, 4096, Level::Fast, &mut found);
    if compressed.is_err() {
        assert!(found == PackedPages::default(), "what failed is there");
    }
    compressed?;
    assert!(found == content.inner.packed, "other blocks");
    Ok(())
}

fn pages_back_into(content: &Content) -> Result<()> {
    to_given(content, |out| {
        lz4::decompress_pages_into(&content.inner.packed, out)
    })
}

fn frame_into(content: &Content) -> Result<()> {
    let mut found = Vec::new();
    on_cpu().compress_frame_into(&content.inner.bytes, &content.inner.options, &mut found)?;
    assert!(found == content.inner.frame, "another frame");
    Ok(())
}

fn frame_back_into(content: &Content) -> Result<()> {
    to_given(content, |out| {
        frame::decompress_into(&content.indexed, out).map(drop)
    })
}

fn small_frame(content: &Content) -> Result<()> {
    let (found, _) = on_cpu().compress_frame(&content.inner.bytes, &content.inner.options)?;
    assert!(found == content.inner.frame, "another frame");
    Ok(())
}

fn frame_back(content: &Content) -> Result<()> {
    let found = frame::decompress(&content.indexed, None)?;
    assert!(found == content.inner.bytes, "other content");
    Ok(())
}

fn stream(content: &Content) -> Result<()> {
    let (input, mut out) = (file(&content.inner.bytes), Expect(&content.inner.frame));
    let go_on = |_| ControlFlow::Continue(());
    of_stream(on_cpu().compress_stream(input, &mut out, &content.inner.options, go_on)).map(drop)
}

fn stream_back(content: &Content) -> Result<()> {
    let (input, mut out) = (file(&content.indexed), Expect(&content.inner.bytes));
    let go_on = |_| ControlFlow::Continue(());
    of_stream(on_cpu().decompress_stream(input, &mut out, None, go_on)).map(drop)
}

fn writer(content: &Content) -> Result<()> {
    let out = Expect(&content.inner.frame);
    let mut writer = CompressWriter::new(out, on_cpu(), &content.inner.options)?;
    of_io(writer.write_all(&content.inner.bytes))?;
    of_io(writer.finish()).map(drop)
}

fn reader(content: &Content) -> Result<()> {
    let mut reader = DecompressReader::new(&content.indexed[..], on_cpu(), None);
    let mut room = [0; 4096];
    let mut expected = &content.inner.bytes[..];
    loop {
        let n_bytes = of_io(reader.read(&mut room))?;
        let (now, later) = expected.split_at(n_bytes);
        assert!(now == &room[..n_bytes], "other content");
        expected = later;
        if n_bytes == 0 {
            return Ok(());
        }
    }
}

fn seek(content: &Content) -> Result<()> {
    let mut frame = of_io(SeekableFrame::open(file(&content.indexed)))?;
    for range in [100..200_000, 0..content.inner.bytes.len() as u64] {
        let found = of_io(frame.read_range(range.clone()))?;
        let range = range.start as usize..range.end as usize;
        assert!(found == content.inner.bytes[range], "other content");
    }
    Ok(())
}

fn products(content: &Content) -> Result<()> {
    let n = content.inner.matrix.len().isqrt();
    let mut room = [0.0; 96 * 96];
    cpu::matmul(
        &content.inner.matrix,
        &content.inner.matrix,
        &mut room,
        n,
        n,
        n,
    )?;
    cpu::softmax(&content.inner.matrix, n, &mut room)
}
