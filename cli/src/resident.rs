//! Timing of kernels on pages that stay in GPU memory.

use std::time::{Duration, Instant};

use pagepress::Result;
use pagepress::batch::{
    ResidentDictionary, ResidentPages, compress_resident_async, decompress_resident_async,
};
use pagepress::gpu::{Backend, Buffer, GpuDevice};
use pagepress::lz4::{Dictionary, Level};

use crate::speeds::{Resident, Speeds, gigabytes_per_second};

/// Bytes of resident pages on hardware: more than a cache holds.
const HARDWARE_BYTES: u64 = 1 << 30;
/// Bytes of one transfer over the bus.
const TRANSFER_BYTES: usize = 64 << 20;
/// Duration of work before timing, since GPU clocks drop during transfers.
const WARM_UP: Duration = Duration::from_secs(1);

/// A measurement to run.
pub struct Run<'a> {
    pub device: &'a GpuDevice,
    pub page_size: u32,
    pub level: Level,
    pub dictionary: Option<&'a Dictionary>,
    pub runs: u32,
}

impl Run<'_> {
    /// Measures pages of `bytes`, repeated up to `at_least` bytes or a size that suits the device. Returns `None` if
    /// the decompressed pages differ.
    pub async fn measure(&self, bytes: &[u8], at_least: Option<u64>) -> Result<Option<Resident>> {
        let software = self.device.info().is_software();
        let default = if software { 0 } else { HARDWARE_BYTES };
        let content = repeated(bytes, self.page_size, at_least.unwrap_or(default));
        let n_bytes = content.len() as u64;
        let pages = self.device.allocate_memory(n_bytes.next_multiple_of(4))?;
        upload(self.device, &pages, &content).await?;
        let warm_up = if software { Duration::ZERO } else { WARM_UP };
        let dictionary = match self.dictionary {
            Some(dictionary) => Some(ResidentDictionary::new_async(self.device, dictionary).await?),
            None => None,
        };
        let dictionary = dictionary.as_ref();
        let compressed = self.time_compress(&pages, n_bytes, dictionary, warm_up);
        let (compressed, compress) = compressed.await?;
        let back = self.device.allocate_memory(n_bytes.next_multiple_of(4))?;
        let decompressed = self.time_decompress(&compressed, &back, dictionary, warm_up);
        let decompress = decompressed.await?;
        let (Some(decompress), true) = (decompress, equal(self.device, &back, &content).await?)
        else {
            return Ok(None);
        };
        let speeds = Speeds {
            compress: gigabytes_per_second(n_bytes, compress),
            decompress: gigabytes_per_second(n_bytes, decompress),
        };
        Ok(Some(Resident { speeds, n_bytes }))
    }

    /// Returns the compressed pages, and kernel times in nanoseconds: one per run if the device has timestamps.
    async fn time_compress(
        &self,
        pages: &Buffer,
        n_bytes: u64,
        dictionary: Option<&ResidentDictionary>,
        warm_up: Duration,
    ) -> Result<(ResidentPages, Vec<u64>)> {
        let (device, page_size, level) = (self.device, self.page_size, self.level);
        let compress = async || match dictionary {
            Some(on) => {
                let run = on.compress_resident_async(device, pages, n_bytes, page_size, level);
                run.await
            }
            None => compress_resident_async(device, pages, n_bytes, page_size, level).await,
        };
        let begin = Instant::now();
        let mut compressed = compress().await?;
        while begin.elapsed() < warm_up {
            compressed = compress().await?;
        }
        let mut times = Vec::new();
        for _ in 0..self.runs {
            compressed = compress().await?;
            times.extend(compressed.kernel_ns);
        }
        Ok((compressed, times))
    }

    /// Returns kernel times in nanoseconds; `None` if the kernel reports a corrupt page.
    async fn time_decompress(
        &self,
        compressed: &ResidentPages,
        back: &Buffer,
        dictionary: Option<&ResidentDictionary>,
        warm_up: Duration,
    ) -> Result<Option<Vec<u64>>> {
        let device = self.device;
        let decompress = async || match dictionary {
            Some(on) => on.decompress_resident_async(device, compressed, back).await,
            None => decompress_resident_async(device, compressed, back).await,
        };
        let begin = Instant::now();
        decompress().await?;
        while begin.elapsed() < warm_up {
            decompress().await?;
        }
        let mut times = Vec::new();
        for _ in 0..self.runs {
            let outcome = decompress().await?;
            if outcome.errors.iter().any(Option::is_some) {
                return Ok(None);
            }
            times.extend(outcome.kernel_ns);
        }
        Ok(Some(times))
    }
}

/// Repeats the whole pages of `bytes` up to `at_least` bytes; returns `bytes` itself if it is longer.
fn repeated(bytes: &[u8], page_size: u32, at_least: u64) -> Vec<u8> {
    let page_size = page_size as usize;
    let whole = bytes.len() / page_size * page_size;
    let at_least = usize::try_from(at_least).unwrap_or(usize::MAX);
    if whole == 0 || bytes.len() >= at_least {
        return bytes.to_vec();
    }
    let mut out = bytes[..whole].repeat(at_least.div_ceil(whole));
    out.truncate(at_least.next_multiple_of(page_size));
    out
}

async fn upload(device: &GpuDevice, buffer: &Buffer, bytes: &[u8]) -> Result<()> {
    for (i, piece) in bytes.chunks(TRANSFER_BYTES).enumerate() {
        let mut piece = piece.to_vec();
        piece.resize(piece.len().next_multiple_of(4), 0);
        device
            .upload_async(buffer, (i * TRANSFER_BYTES) as u64, &piece)
            .await?;
    }
    Ok(())
}

async fn equal(device: &GpuDevice, buffer: &Buffer, expected: &[u8]) -> Result<bool> {
    for (i, expected) in expected.chunks(TRANSFER_BYTES).enumerate() {
        let start = (i * TRANSFER_BYTES) as u64;
        let end = start + expected.len().next_multiple_of(4) as u64;
        let piece = device.download_async(buffer, start..end).await?;
        if !piece.starts_with(expected) {
            return Ok(false);
        }
    }
    Ok(true)
}
