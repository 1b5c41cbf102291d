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
        let [mut fresh, mut into] = [Times::default(), Times::default()];
        for run in 0..=self.runs {
            let codec = &mut *self.codec;
            let times = [
                nanoseconds(|| codec.compress_pages(bytes, page_size, level).map(drop))?,
                nanoseconds(|| {
                    codec
                        .compress_pages_into(bytes, page_size, level, &mut used)
                        .map(drop)
                })?,
                nanoseconds(|| codec.decompress_pages(&used).map(drop))?,
                nanoseconds(|| codec.decompress_pages_into(&used, &mut content).map(drop))?,
            ];
            // The first run allocates what the others use again.
            if run > 0 {
                fresh.add(times[0], times[2]);
                into.add(times[1], times[3]);
            }
        }
        Ok((fresh.speeds(bytes), into.speeds(bytes)))
    }

    fn frames(&mut self) -> Result<(Speeds, Speeds)> {
        let bytes = self.bytes;
        let options = FrameOptions {
            block_size: self.page_size,
            level: self.level,
            ..FrameOptions::default()
        };
        let mut used = Vec::new();
        let mut content = vec![0; bytes.len()];
        let [mut fresh, mut into] = [Times::default(), Times::default()];
        for run in 0..=self.runs {
            let codec = &mut *self.codec;
            used.clear();
            let times = [
                nanoseconds(|| codec.compress_frame(bytes, &options).map(drop))?,
                nanoseconds(|| {
                    codec
                        .compress_frame_into(bytes, &options, &mut used)
                        .map(drop)
                })?,
                nanoseconds(|| codec.decompress_frame(&used, None).map(drop))?,
                nanoseconds(|| codec.decompress_frame_into(&used, &mut content).map(drop))?,
            ];
            if run > 0 {
                fresh.add(times[0], times[2]);
                into.add(times[1], times[3]);
            }
        }
        Ok((fresh.speeds(bytes), into.speeds(bytes)))
    }
}

#[derive(Default)]
struct Times {
    compress: Vec<u64>,
    decompress: Vec<u64>,
}

impl Times {
    fn add(&mut self, compress: u64, decompress: u64) {
        self.compress.push(compress);
        self.decompress.push(decompress);
    }

    fn speeds(self, bytes: &[u8]) -> Speeds {
        let n_bytes = bytes.len() as u64;
        Speeds {
            compress: gigabytes_per_second(n_bytes, self.compress),
            decompress: gigabytes_per_second(n_bytes, self.decompress),
        }
    }
}

/// Returns the duration of `call`, with the release of its result.
fn nanoseconds(call: impl FnOnce() -> Result<()>) -> Result<u64> {
    let clock = Instant::now();
    call()?;
    Ok(clock.elapsed().as_nanos() as u64)
}
