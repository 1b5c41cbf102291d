//! Timing of whole calls, which start and end in host memory.

use std::time::Instant;

use pagepress::Result;
use pagepress::batch::Codec;
use pagepress::lz4::frame::FrameOptions;
use pagepress::lz4::{Level, PackedPages};

use crate::speeds::{Speeds, gigabytes_per_second};

/// Measurements of whole calls. Results are in fresh memory, whose pages fault at the first touch, or in memory of an
/// earlier result.
pub struct EndToEnd {
    pub pages: Speeds,
    pub pages_into: Speeds,
    pub frame: Speeds,
    pub frame_into: Speeds,
}

/// A measurement to run.
pub struct Run<'a> {
    pub codec: &'a mut Codec,
    pub bytes: &'a [u8],
    pub page_size: u32,
    pub level: Level,
    pub frame: FrameOptions,
    pub runs: u32,
}

impl Run<'_> {
    pub fn measure(&mut self) -> Result<EndToEnd> {
        let (pages, pages_into) = self.pages()?;
        let (frame, frame_into) = self.frames()?;
        Ok(EndToEnd {
            pages,
            pages_into,
            frame,
            frame_into,
        })
    }

    fn pages(&mut self) -> Result<(Speeds, Speeds)> {
        let (bytes, page_size, level) = (self.bytes, self.page_size, self.level);
        let mut used = PackedPages::default();
        let mut content = vec![0; bytes.len()];
        let codec = &mut *self.codec;
        speeds_of(self.runs, bytes, || {
            Ok(Times {
                compress: nanoseconds(|| codec.compress_pages(bytes, page_size, level).map(drop))?,
                compress_into: nanoseconds(|| {
                    codec
                        .compress_pages_into(bytes, page_size, level, &mut used)
                        .map(drop)
                })?,
                decompress: nanoseconds(|| codec.decompress_pages(&used).map(drop))?,
                decompress_into: nanoseconds(|| {
                    codec.decompress_pages_into(&used, &mut content).map(drop)
                })?,
            })
        })
    }

    fn frames(&mut self) -> Result<(Speeds, Speeds)> {
        let (bytes, options) = (self.bytes, self.frame.clone());
        let mut used = Vec::new();
        let mut content = vec![0; bytes.len()];
        let codec = &mut *self.codec;
        speeds_of(self.runs, bytes, || {
            Ok(Times {
                compress: nanoseconds(|| codec.compress_frame(bytes, &options).map(drop))?,
                compress_into: nanoseconds(|| {
                    codec
                        .compress_frame_into(bytes, &options, &mut used)
                        .map(drop)
                })?,
                decompress: nanoseconds(|| codec.decompress_frame(&used, None).map(drop))?,
                decompress_into: nanoseconds(|| {
                    codec.decompress_frame_into(&used, &mut content).map(drop)
                })?,
            })
        })
    }
}

/// Nanoseconds of one call of each kind.
struct Times {
    compress: u64,
    compress_into: u64,
    decompress: u64,
    decompress_into: u64,
}

/// Returns the median speeds of `runs` runs, with results in fresh and in used memory. A run before them allocates what they
/// use again.
fn speeds_of(
    runs: u32,
    bytes: &[u8],
    mut run: impl FnMut() -> Result<Times>,
) -> Result<(Speeds, Speeds)> {
    run()?;
    let times = (0..runs).map(|_| run()).collect::<Result<Vec<_>>>()?;
    let speed = |of: fn(&Times) -> u64| {
        gigabytes_per_second(bytes.len() as u64, times.iter().map(of).collect())
    };
    let fresh = Speeds {
        compress: speed(|times| times.compress),
        decompress: speed(|times| times.decompress),
    };
    let into = Speeds {
        compress: speed(|times| times.compress_into),
        decompress: speed(|times| times.decompress_into),
    };
    Ok((fresh, into))
}

/// Returns the duration of `call`, with the release of its result.
fn nanoseconds(call: impl FnOnce() -> Result<()>) -> Result<u64> {
    let clock = Instant::now();
    call()?;
    Ok(clock.elapsed().as_nanos() as u64)
}
