//! Compares the speed of the CUDA pipeline with that of the bus: copies alone, then compression and decompression of
//! 4 KiB pages from pinned to pinned memory, from pageable memory to memory that was used before, and to fresh memory.
//! Results are checked against the CPU first.
//!
//! ```sh
//! cargo run --release --no-default-features --features cuda --example pinned_pipeline -- FILE
//! ```

#[cfg(cuda_engine)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("give a file")?;
    pipeline::run(&std::fs::read(path)?)
}

#[cfg(not(cuda_engine))]
fn main() {
    println!("This build has no CUDA; add --features cuda on a native target.");
}

#[cfg(cuda_engine)]
mod pipeline {
    use std::error::Error;
    use std::time::Instant;

    use pagepress::PAGE_SIZE;
    use pagepress::gpu::runtime::block_on;
    use pagepress::gpu::{
        Backend, Buffer, DeviceRequest, EngineChoice, GpuBatchCompressor, GpuBatchConfig,
        GpuDevice, HostBuffer, HostMemory, HostUse, Place, Recorder, Waitable,
    };
    use pagepress::lz4::{self, Level, PackedPages};

    /// Bytes of pages: the file, repeated.
    const N_BYTES: usize = 1 << 30;
    /// Bytes of pages in one job.
    const JOB_BYTES: usize = 32 << 20;
    /// Bytes that one copy moves when the bus is measured.
    const COPY_BYTES: u64 = 256 << 20;
    const COPIES: u64 = 8;
    /// Runs, of which the median counts.
    const RUNS: usize = 7;

    type Outcome<T = ()> = Result<T, Box<dyn Error>>;

    pub fn run(file: &[u8]) -> Outcome {
        let device = GpuDevice::open(&DeviceRequest {
            engine: EngineChoice::Cuda,
            ..DeviceRequest::default()
        })?;
        println!("{}, {}", device.info(), device.info().driver);
        let bus = block_on(measure_bus(&device))?;
        println!("bus: up {:.1} GB/s, down {:.1} GB/s", bus.up, bus.down);
        let bytes = repeated(file)?;
        let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
        let expected = lz4::compress_pages(&bytes, PAGE_SIZE as u32, Level::Fast)?;
        println!("{} pages, ratio {:.3}", pages.len(), expected.ratio());
        let config = GpuBatchConfig {
            batch_size: JOB_BYTES / PAGE_SIZE,
            ..GpuBatchConfig::default()
        };
        let mut compressor = GpuBatchCompressor::with_device(device.clone(), config)?;
        let pinned = block_on(pinned(&device, &mut compressor, &bytes, &expected))?;
        report("pinned to pinned", pinned, &bus);
        report(
            "to memory used before",
            reused(&mut compressor, pages, &expected)?,
            &bus,
        );
        report(
            "to fresh memory",
            fresh(&mut compressor, pages, &expected)?,
            &bus,
        );
        Ok(())
    }

    /// GB/s.
    struct Bus {
        up: f64,
        down: f64,
    }

    /// Compression and decompression, GB/s of pages.
    type Speeds = [f64; 2];

    /// Prints speeds beside those of the bus in the direction of the pages, which are larger than their blocks: uploads for
    /// compression, downloads for decompression.
    fn report(what: &str, [compress, decompress]: Speeds, bus: &Bus) {
        println!(
            "{what}: compress {compress:.1} GB/s, {:.0} % of the bus; decompress {decompress:.1} GB/s, {:.0} %",
            100.0 * compress / bus.up,
            100.0 * decompress / bus.down
        );
    }

    fn repeated(file: &[u8]) -> Outcome<Vec<u8>> {
        let whole = file.len() / PAGE_SIZE * PAGE_SIZE;
        if whole == 0 {
            return Err("give a file of at least one page".into());
        }
        let mut bytes = file[..whole].repeat(N_BYTES.div_ceil(whole));
        bytes.truncate(N_BYTES);
        Ok(bytes)
    }

    /// The median of the speeds of some runs.
    fn median(mut speeds: Vec<f64>) -> f64 {
        speeds.sort_by(f64::total_cmp);
        speeds[speeds.len() / 2]
    }

    fn speed(n_bytes: u64, since: Instant) -> f64 {
        n_bytes as f64 / since.elapsed().as_secs_f64() / 1e9
    }

    async fn measure_bus(device: &GpuDevice) -> Outcome<Bus> {
        let memory = device.allocate_memory(COPY_BYTES)?;
        let up = device.allocate_host(COPY_BYTES, HostUse::Upload)?;
        let down = device.allocate_host(COPY_BYTES, HostUse::Download)?;
        let (mut ups, mut downs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            ups.push(copy(device, Place::Device(&memory, 0), Place::Host(&up, 0)).await?);
            downs.push(copy(device, Place::Host(&down, 0), Place::Device(&memory, 0)).await?);
        }
        Ok(Bus {
            up: median(ups),
            down: median(downs),
        })
    }

    async fn copy(
        device: &GpuDevice,
        dst: Place<'_, Buffer, HostBuffer>,
        src: Place<'_, Buffer, HostBuffer>,
    ) -> Outcome<f64> {
        let begin = Instant::now();
        let mut stream = device.stream();
        for _ in 0..COPIES {
            stream.copy(dst, src, COPY_BYTES)?;
        }
        stream.submit()?.wait_async().await?;
        Ok(speed(COPIES * COPY_BYTES, begin))
    }

    async fn pinned(
        device: &GpuDevice,
        compressor: &mut GpuBatchCompressor,
        bytes: &[u8],
        expected: &PackedPages,
    ) -> Outcome<Speeds> {
        let n_bytes = bytes.len() as u64;
        let up = device.allocate_host(n_bytes, HostUse::Upload)?;
        up.write_async(0, bytes).await?;
        let n_pages = bytes.len() / PAGE_SIZE;
        let (mut compress, mut decompress) = (Vec::new(), Vec::new());
        let mut packed = Vec::new();
        for part in compressor.compress_pinned_async(&up, n_pages).await?.parts {
            let blocks = part.packed.read_async(0..part.packed_bytes, <[u8]>::to_vec);
            packed.extend(blocks.await?);
        }
        if packed != expected.packed {
            return Err("the GPU's blocks are not those of the CPU".into());
        }
        for _ in 0..RUNS {
            let begin = Instant::now();
            compressor.compress_pinned_async(&up, n_pages).await?;
            compress.push(speed(n_bytes, begin));
        }
        drop(up);
        let n_packed = packed.len() as u64;
        let up = device.allocate_host(n_packed, HostUse::Upload)?;
        up.write_async(0, &packed).await?;
        let down = device.allocate_host(n_bytes, HostUse::Download)?;
        for _ in 0..=RUNS {
            let begin = Instant::now();
            compressor
                .decompress_pinned_async(&up, n_packed, &expected.table, &down)
                .await?;
            decompress.push(speed(n_bytes, begin));
        }
        if !down.read_async(0..n_bytes, |found| found == bytes).await? {
            return Err("the pages that came back are others".into());
        }
        Ok([median(compress), median(decompress)])
    }

    fn reused(
        compressor: &mut GpuBatchCompressor,
        pages: &[[u8; PAGE_SIZE]],
        expected: &PackedPages,
    ) -> Outcome<Speeds> {
        let n_bytes = pages.as_flattened().len() as u64;
        let (mut compress, mut decompress) = (Vec::new(), Vec::new());
        let mut packed = PackedPages::default();
        let mut out = vec![[0; PAGE_SIZE]; pages.len()];
        for _ in 0..=RUNS {
            let begin = Instant::now();
            packed = compressor.compress_batch_reusing(pages, packed)?.pages;
            compress.push(speed(n_bytes, begin));
            let begin = Instant::now();
            compressor.decompress_batch_into(&packed, &mut out)?;
            decompress.push(speed(n_bytes, begin));
        }
        if packed != *expected || out != pages {
            return Err("what came back is not what went up".into());
        }
        Ok([median(compress), median(decompress)])
    }

    fn fresh(
        compressor: &mut GpuBatchCompressor,
        pages: &[[u8; PAGE_SIZE]],
        expected: &PackedPages,
    ) -> Outcome<Speeds> {
        let n_bytes = pages.as_flattened().len() as u64;
        let (mut compress, mut decompress) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let begin = Instant::now();
            let packed = compressor.compress_batch(pages)?.pages;
            compress.push(speed(n_bytes, begin));
            let begin = Instant::now();
            let back = compressor.decompress_batch(&packed)?.into_pages()?;
            decompress.push(speed(n_bytes, begin));
            if packed != *expected || back != pages {
                return Err("what came back is not what went up".into());
            }
        }
        Ok([median(compress), median(decompress)])
    }
}
