//! Measures the batch size at which a device's fixed cost per job becomes small.

use crate::Result;
use crate::batch::PAGE_SIZE;
use crate::batch::pipeline::plan::Form;
use crate::batch::pipeline::ring::Pipeline;
use crate::batch::pipeline::sink::Sink;
use crate::batch::pipeline::source::Source;
use crate::cost::{Cost, Samples};
use crate::gpu::batch_sizes::{known_batch_size, remember_batch_size};
use crate::gpu::{Backend, GpuDevice};
use crate::lz4::{Level, PackedPages};

/// Sizes of the timed batches in pages, in this order. Measurement ends with the first that takes [`ENOUGH_NS`].
const SIZES: [usize; 4] = [16, 256, 1024, 4096];

/// Duration of a batch, in nanoseconds, above which no larger one is timed.
const ENOUGH_NS: u64 = 20_000_000;

/// Runs of each size; the fastest counts.
const N_RUNS: usize = 2;

/// Share of the fixed cost in the time of a batch of the optimal size.
const FIXED_PART: f64 = 0.1;

/// Returns the pages of the smallest batch whose fixed cost is [`FIXED_PART`] of its time, clamped to 256..=65,536.
fn batch_size(cost: Cost) -> usize {
    let pages = cost.fixed_ns * (1.0 - FIXED_PART) / (FIXED_PART * cost.ns_per_unit.max(1e-3));
    (pages.ceil() as usize).clamp(256, 65_536)
}

/// Generates pages similar to memory: zeros, small numbers, addresses, and random words.
fn sample_pages(n_pages: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = (0..n_pages * PAGE_SIZE / 8).flat_map(|i| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let word = match i % 8 {
            0..=2 => 0,
            3 | 4 => 0x7f00_1234_0000 + (state & 0xfff0),
            5 | 6 => state & 0xff,
            _ => state,
        };
        word.to_le_bytes()
    });
    words.collect()
}

impl GpuDevice {
    /// Returns the number of 4 KiB pages at which the fixed cost of a job is a tenth of its time; larger batches gain
    /// little. The first call measures it by compressing pages, which takes tens of milliseconds on a GPU. The result is
    /// cached for all devices on this adapter, and [`GpuDeviceInfo::optimal_batch_size`](crate::gpu::GpuDeviceInfo::optimal_batch_size) returns it from then on.
    ///
    /// # Errors
    /// [`DeviceLost`](crate::Error::DeviceLost), [`OutOfMemory`](crate::Error::OutOfMemory).
    pub async fn optimal_batch_size_async(&self) -> Result<usize> {
        if let Some(known) = known_batch_size(&self.info().key()) {
            return Ok(known);
        }
        let mut samples = Samples::default();
        let [smallest, .., largest] = SIZES;
        let pages = sample_pages(largest);
        let mut pipeline = Pipeline::new(self.clone(), 1, true, largest as u64);
        let mut packed = PackedPages::default();
        let mut run = async |n_pages: usize| {
            let source = Source::Bytes(&pages[..n_pages * PAGE_SIZE]);
            let sink = Sink::Packed(&mut packed);
            let form = Form {
                page_size: PAGE_SIZE as u32,
                level: Level::Fast,
                dictionary: None,
            };
            let timings = pipeline.compress_safely(source, form, sink);
            timings.await.map(|timings| timings.total_ns)
        };
        // The first run compiles kernels.
        run(smallest).await?;
        for n_pages in SIZES {
            let mut ns = u64::MAX;
            for _ in 0..N_RUNS {
                ns = ns.min(run(n_pages).await?);
            }
            samples.add(n_pages as u64, ns);
            if ns >= ENOUGH_NS {
                break;
            }
        }
        let size = batch_size(samples.cost().unwrap_or_default());
        Ok(remember_batch_size(&self.info().key(), size))
    }

    /// Blocking form of [`optimal_batch_size_async`](Self::optimal_batch_size_async). Native only.
    ///
    /// # Errors
    /// As the asynchronous form.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn optimal_batch_size(&self) -> Result<usize> {
        crate::gpu::runtime::block_on(self.optimal_batch_size_async())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_with_the_fixed_cost() {
        let size = |fixed_ns, ns_per_unit| {
            batch_size(Cost {
                fixed_ns,
                ns_per_unit,
            })
        };
        assert_eq!(size(100_000.0, 90.0), 10_000);
        assert_eq!(size(0.0, 90.0), 256);
        assert_eq!(size(1e12, 1.0), 65_536);
        assert_eq!(size(1e12, 0.0), 65_536);
        assert_eq!(size(0.0, 0.0), 256);
    }
}
