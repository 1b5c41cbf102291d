//! `decompress --range` and `--format`: a byte range of a file of frames, and blocks without a frame.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::str::FromStr;

use clap::ValueEnum;
use pagepress::Error;
use pagepress::batch::Progress;
use pagepress::lz4::Dictionary;
use pagepress::lz4::formats::{self, Format};
use pagepress::lz4::frame::{SeekableFrame, StreamError};

use crate::input::Input;
use crate::output::Output;

/// A byte range of the content in the user's notation: `OFFSET+LENGTH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRange {
    offset: u64,
    length: u64,
}

impl FromStr for ContentRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |number: &str| number.parse().ok();
        text.split_once('+')
            .and_then(|(offset, length)| {
                Some(Self {
                    offset: parse(offset)?,
                    length: parse(length)?,
                })
            })
            .ok_or("expected OFFSET+LENGTH in bytes, for example 1048576+4096")
    }
}

impl From<ContentRange> for Range<u64> {
    fn from(range: ContentRange) -> Self {
        range.offset..range.offset.saturating_add(range.length)
    }
}

/// The format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// LZ4 frames, legacy frames included
    Frame,
    /// One raw LZ4 block
    Block,
    /// The size of the content in four bytes, then one LZ4 block
    SizePrefixed,
    /// Records of blocks as Hadoop and Parquet write them
    Hadoop,
}

impl From<InputFormat> for Format {
    fn from(format: InputFormat) -> Self {
        match format {
            InputFormat::Frame => Self::Frame,
            InputFormat::Block => Self::Block,
            InputFormat::SizePrefixed => Self::SizePrefixed,
            InputFormat::Hadoop => Self::Hadoop,
        }
    }
}

/// Writes the content of `input` in `range` to `output`.
pub fn copy(
    input: Input,
    range: ContentRange,
    dictionary: Option<Dictionary>,
    output: &mut Output,
) -> Result<Progress, StreamError> {
    let opened = match dictionary {
        Some(dictionary) => SeekableFrame::open_with_dictionary(input.file, dictionary),
        None => SeekableFrame::open(input.file),
    };
    let mut frame: SeekableFrame<File> = opened.map_err(stream_error)?;
    let mut writer = Writer {
        output,
        failed: None,
    };
    let copied = frame.copy_range(range.into(), &mut writer);
    match (writer.failed, copied) {
        (Some(error), _) => Err(StreamError::Write(error)),
        (None, Err(error)) => Err(stream_error(error)),
        (None, Ok(bytes_out)) => {
            output.flush().map_err(StreamError::Write)?;
            Ok(Progress {
                bytes_in: bytes_out,
                bytes_out,
            })
        }
    }
}

/// Decompresses an input in a format without frames.
pub fn decompress_block(
    input: &mut Input,
    output: &mut Output,
    format: Format,
    limit: Option<u64>,
) -> Result<Progress, StreamError> {
    let mut block = Vec::new();
    let read = input.file.read_to_end(&mut block);
    read.map_err(StreamError::Read)?;
    let content = formats::decompress(&block, format, limit)?;
    let written = output.write_all(&content).and_then(|()| output.flush());
    written.map_err(StreamError::Write)?;
    Ok(Progress {
        bytes_in: block.len() as u64,
        bytes_out: content.len() as u64,
    })
}

/// Separates errors of the data from errors of the file.
fn stream_error(error: io::Error) -> StreamError {
    match error.downcast::<Error>() {
        Ok(error) => StreamError::Codec(error),
        Err(error) => StreamError::Read(error),
    }
}

/// Separates errors of the output from errors of the input.
struct Writer<'a> {
    output: &'a mut Output,
    failed: Option<io::Error>,
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes).map_err(|error| {
            let kind = error.kind();
            // The caller retries an interrupted write.
            if kind != io::ErrorKind::Interrupted {
                self.failed = Some(error);
            }
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
