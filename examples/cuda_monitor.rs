//! Prints the CUDA driver's version, each GPU with its memory, and its speed of compression and decompression of pages
//! in GPU memory. Results are checked against the CPU first.
//!
//! ```sh
//! cargo run --release --no-default-features --features cuda --example cuda_monitor
//! ```

#[cfg(cuda_engine)]
fn main() -> pagepress::Result<()> {
    monitor::run()
}

#[cfg(not(cuda_engine))]
fn main() {
    println!("This build has no CUDA; add --features cuda on a native target.");
}

#[cfg(cuda_engine)]
mod monitor {
    use pagepress::batch::{ResidentPages, compress_resident_async, decompress_resident_async};
    use pagepress::gpu::cuda::{self, CudaDevice};
    use pagepress::gpu::runtime::block_on;
    use pagepress::gpu::{Backend, Buffer, DeviceRequest, EngineChoice, GpuDevice};
    use pagepress::lz4::{self, Level};
    use pagepress::{Error, Result};

    const PAGE_SIZE: u32 = 4096;
    /// Bytes of pages that are compressed.
    const N_BYTES: usize = 64 << 20;
    /// Number of runs in each direction. The fastest counts, since the GPU's clock rises under load.
    const RUNS: usize = 20;
    const GIB: f64 = (1u64 << 30) as f64;

    pub fn run() -> Result<()> {
        let gpus = match cuda::list() {
            Ok(gpus) => gpus,
            Err(error) => {
                println!("No CUDA: {error}");
                return Ok(());
            }
        };
        println!("Driver supports CUDA {}\n", CudaDevice::driver_version()?);
        println!(
            "{:<3} {:<28} {:<14} {:>7} {:>10} {:>10} {:>7} {:>14} {:>16}",
            "",
            "GPU",
            "PCI",
            "compute",
            "used GiB",
            "free GiB",
            "ratio",
            "compress GB/s",
            "decompress GB/s"
        );
        let pages = sample_pages();
        for (index, gpu) in gpus.iter().enumerate() {
            match row(index, &pages) {
                Ok(row) => println!("{index:<3} {row}"),
                Err(error) => println!("{index:<3} {:<28} {error}", gpu.name),
            }
        }
        Ok(())
    }

    fn row(index: usize, pages: &[u8]) -> Result<String> {
        let device = GpuDevice::open(&DeviceRequest {
            engine: EngineChoice::Cuda,
            adapter_index: Some(index),
            ..DeviceRequest::default()
        })?;
        let Some(cuda) = device.as_cuda() else {
            return Err(wrong("CUDA was asked for, and something else came"));
        };
        let (free, total) = cuda.memory_bytes()?;
        let (major, minor) = cuda.compute_capability();
        let measured = block_on(measure(&device, pages))?;
        Ok(format!(
            "{:<28} {:<14} {:>7} {:>10.2} {:>10.2} {:>7.3} {:>14.1} {:>16.1}",
            device.info().name,
            cuda.pci_address(),
            format!("{major}.{minor}"),
            (total - free) as f64 / GIB,
            free as f64 / GIB,
            measured.ratio,
            measured.compress,
            measured.decompress,
        ))
    }

    struct Measured {
        ratio: f64,
        /// GB/s by the GPU's own clock.
        compress: f64,
        decompress: f64,
    }

    async fn measure(device: &GpuDevice, pages: &[u8]) -> Result<Measured> {
        let n_bytes = pages.len() as u64;
        let source = device.allocate_memory(n_bytes)?;
        let target = device.allocate_memory(n_bytes)?;
        device.upload_async(&source, 0, pages).await?;
        let (mut compress_ns, mut decompress_ns) = (u64::MAX, u64::MAX);
        let mut verified = false;
        for _ in 0..RUNS {
            let level = Level::Fast;
            let compressed =
                compress_resident_async(device, &source, n_bytes, PAGE_SIZE, level).await?;
            compress_ns = compress_ns.min(compressed.kernel_ns.unwrap_or(u64::MAX));
            let back = decompress_resident_async(device, &compressed, &target).await?;
            decompress_ns = decompress_ns.min(back.kernel_ns.unwrap_or(u64::MAX));
            if !verified {
                verify(device, pages, &compressed, &target).await?;
                verified = true;
            }
        }
        let compressed = lz4::compress_pages(pages, PAGE_SIZE, Level::Fast)?;
        Ok(Measured {
            ratio: compressed.ratio(),
            compress: n_bytes as f64 / compress_ns as f64,
            decompress: n_bytes as f64 / decompress_ns as f64,
        })
    }

    /// Checks that the blocks equal those of the CPU and decompress to the pages.
    async fn verify(
        device: &GpuDevice,
        pages: &[u8],
        compressed: &ResidentPages,
        target: &Buffer,
    ) -> Result<()> {
        let expected = lz4::compress_pages(pages, PAGE_SIZE, Level::Fast)?;
        let mut packed = Vec::new();
        for part in &compressed.parts {
            packed.extend(
                device
                    .download_async(&part.packed, 0..part.packed_bytes)
                    .await?,
            );
        }
        let back = device.download_async(target, 0..pages.len() as u64).await?;
        if packed != expected.packed || back != pages {
            return Err(wrong(
                "the GPU's result is not that of the CPU; please report this",
            ));
        }
        Ok(())
    }

    fn wrong(message: &str) -> Error {
        Error::Engine {
            engine: "cuda",
            message: message.into(),
        }
    }

    /// Pages of small records and text, as programs keep them.
    fn sample_pages() -> Vec<u8> {
        let mut bytes = Vec::with_capacity(N_BYTES + 128);
        let mut state = 1u32;
        while bytes.len() < N_BYTES {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (id, count) = (state >> 20, state >> 28);
            let line = format!(
                "{{\"id\":{id},\"name\":\"record {}\",\"count\":{count}}}\n",
                id % 64
            );
            bytes.extend_from_slice(line.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(16), 0);
        }
        bytes.truncate(N_BYTES);
        bytes
    }
}
