//! Rates of chunks at addresses, beside those of resident pages.

use pagepress::batch::{
    CompressChunks, CudaChunks, DecompressChunks, compress_resident_async,
    decompress_resident_async,
};
use pagepress::gpu::cuda::CudaDevice;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, DeviceRequest, EngineChoice, GpuDevice};
use pagepress::lz4::Level;

use super::chunks::{sizes, words_64};
use super::foreign::Foreign;

/// Returns the median of five, in gigabytes per second, after a warm-up.
fn rate(n_bytes: usize, mut milliseconds: impl FnMut() -> f64) -> f64 {
    milliseconds();
    let mut found: Vec<f64> = (0..5).map(|_| milliseconds()).collect();
    found.sort_by(f64::total_cmp);
    n_bytes as f64 / found[2] / 1e6
}

pub fn print(content: &[u8]) {
    for chunk_bytes in [4096, 65_536] {
        let resident = of_resident(content, chunk_bytes);
        let chunks = of_chunks(content, chunk_bytes, 0);
        let moved = of_chunks(content, chunk_bytes, 1);
        println!(
            "{chunk_bytes}: resident {resident:.1?}, chunks {chunks:.1?}, at odd addresses {moved:.1?} GB/s to compress, to decompress"
        );
    }
}

fn of_resident(content: &[u8], page_size: u32) -> [f64; 2] {
    let device = GpuDevice::open(&DeviceRequest {
        engine: EngineChoice::Cuda,
        ..DeviceRequest::default()
    })
    .unwrap();
    let n_bytes = content.len() as u64;
    let pages = device.allocate_memory(n_bytes).unwrap();
    block_on(device.upload_async(&pages, 0, content)).unwrap();
    let compress = || {
        let outcome = compress_resident_async(&device, &pages, n_bytes, page_size, Level::Fast);
        block_on(outcome).unwrap()
    };
    let compressed = compress();
    let ms = |ns: Option<u64>| ns.unwrap() as f64 / 1e6;
    [
        rate(content.len(), || ms(compress().kernel_ns)),
        rate(content.len(), || {
            let outcome = block_on(decompress_resident_async(&device, &compressed, &pages));
            ms(outcome.unwrap().kernel_ns)
        }),
    ]
}

/// Returns the rates of chunks whose addresses are `shift` beyond a multiple of four.
fn of_chunks(content: &[u8], chunk_bytes: u32, shift: u64) -> [f64; 2] {
    let device = CudaDevice::open(0).unwrap();
    let codec = CudaChunks::new(&device, chunk_bytes).unwrap();
    let mut foreign = Foreign::new();
    let n = (content.len() as u64).div_ceil(chunk_bytes.into());
    let size = u64::from(chunk_bytes);
    let room = u64::from(codec.max_block_bytes().next_multiple_of(8));
    let chunks = foreign.memory(content.len() as u64 + shift, 0) + shift;
    foreign.write(chunks, content);
    let blocks = foreign.memory(n * room + shift, 0) + shift;
    let of =
        |base: u64, stride: u64| words_64(&(0..n).map(|i| base + i * stride).collect::<Vec<_>>());
    let scratch_bytes = codec
        .compress_scratch_bytes(n)
        .max(codec.decompress_scratch_bytes(n));
    let scratch = foreign.memory(scratch_bytes, 0);
    let lengths = foreign.upload(&words_64(&vec![size; n as usize]));
    let compress = CompressChunks {
        n,
        chunks: foreign.upload(&of(chunks, size)),
        chunk_bytes: lengths,
        blocks: foreign.upload(&of(blocks, room)),
        block_bytes: foreign.memory(8 * n, 0),
        scratch,
        scratch_bytes,
    };
    let decompress = DecompressChunks {
        n,
        blocks: compress.blocks,
        block_bytes: compress.block_bytes,
        chunks: compress.chunks,
        capacities: lengths,
        chunk_bytes: foreign.memory(8 * n, 0),
        statuses: foreign.memory(4 * n, 1),
        scratch,
        scratch_bytes,
    };
    let stream = foreign.handle();
    let compressing = rate(content.len(), || {
        f64::from(foreign.milliseconds(|| {
            // SAFETY: all arrays have their elements, and outlive the work.
            unsafe { codec.compress(&compress, stream) }.unwrap();
        }))
    });
    let packed: usize = sizes(&foreign.download(compress.block_bytes, 8 * n as usize))
        .iter()
        .sum();
    println!("ratio {:.3}", content.len() as f64 / packed as f64);
    foreign.set(chunks, 0, content.len() as u64);
    let decompressing = rate(content.len(), || {
        f64::from(foreign.milliseconds(|| {
            // SAFETY: all arrays have their elements, and outlive the work.
            unsafe { codec.decompress(&decompress, stream) }.unwrap();
        }))
    });
    assert!(foreign.download(chunks, content.len()) == content);
    [compressing, decompressing]
}
