//! Times the kernels in a browser on pages that stay in GPU memory. `run.mjs` beside this builds and starts it.

#![cfg(target_arch = "wasm32")]

use pagepress::batch::{
    ResidentOutcome, ResidentPages, compress_resident_async, decompress_resident_async,
};
use pagepress::gpu::{Backend, Buffer, DeviceRequest, GpuDevice, Place, Recorder, Waitable};
use pagepress::lz4::{self, Level, PackedPages};
use pagepress::{Error, Result};
use wasm_bindgen::prelude::*;

/// How long the GPU works before it is timed: its clock falls during transfers.
const WARM_UP_MS: f64 = 1500.0;
/// Bytes that are compared at a time.
const COMPARED_BYTES: u64 = 64 << 20;

/// Compresses and decompresses `bytes`, whole pages, `copies` times over, verifies all of it, and gives one JSON
/// object: adapter, bytes, ratio, and the median of `runs` kernel times as GB/s of pages.
///
/// # Errors
/// The engine's, or that something differed, as text.
#[wasm_bindgen]
pub async fn bench_resident(
    bytes: Vec<u8>,
    copies: u32,
    page_size: u32,
    runs: u32,
    allow_software: bool,
) -> std::result::Result<String, JsValue> {
    let request = DeviceRequest {
        allow_software,
        ..DeviceRequest::default()
    };
    let bench = async {
        let device = open(&request).await?;
        let bench = Bench { device, page_size };
        bench.run(&bytes, u64::from(copies), runs).await
    };
    bench
        .await
        .map_err(|error| JsValue::from_str(&error.to_string()))
}

/// The first `requestAdapter()` of a browser may find nothing on a machine that has a GPU.
async fn open(request: &DeviceRequest) -> Result<GpuDevice> {
    for _ in 0..4 {
        if let Ok(device) = GpuDevice::open_async(request).await {
            return Ok(device);
        }
    }
    GpuDevice::open_async(request).await
}

struct Bench {
    device: GpuDevice,
    page_size: u32,
}

impl Bench {
    async fn run(&self, bytes: &[u8], copies: u64, runs: u32) -> Result<String> {
        let n_bytes = copies * bytes.len() as u64;
        let pages = self.fill(bytes, copies).await?;
        let back = self.device.allocate_memory(n_bytes)?;
        let mut compress = Vec::new();
        let mut compressed = None;
        let begin = js_sys::Date::now();
        while compress.len() < runs as usize {
            let is_warm = js_sys::Date::now() - begin > WARM_UP_MS;
            let made = self.compress(&pages, n_bytes).await?;
            compress.extend(made.kernel_ns.filter(|_| is_warm));
            compressed = Some(made);
            self.needs_timestamps()?;
        }
        let Some(compressed) = compressed else {
            return Err(differs("runs", "at least one"));
        };
        let mut decompress = Vec::new();
        let begin = js_sys::Date::now();
        while decompress.len() < runs as usize {
            let is_warm = js_sys::Date::now() - begin > WARM_UP_MS;
            let outcome: ResidentOutcome =
                decompress_resident_async(&self.device, &compressed, &back).await?;
            if outcome.errors.iter().any(Option::is_some) {
                return Err(differs("status", "sound pages"));
            }
            decompress.extend(outcome.kernel_ns.filter(|_| is_warm));
        }
        self.verify(bytes, copies, &compressed, &back).await?;
        Ok(format!(
            r#"{{"adapter":"{}","n_bytes":{n_bytes},"page_size":{},"parts":{},"ratio":{:.3},"compress_gbps":{:.1},"decompress_gbps":{:.1},"runs":{runs},"verified":true}}"#,
            self.device.info(),
            self.page_size,
            compressed.parts.len(),
            compressed.ratio(),
            n_bytes as f64 / median(compress),
            n_bytes as f64 / median(decompress),
        ))
    }

    fn needs_timestamps(&self) -> Result<()> {
        if self.device.capabilities().timestamps {
            return Ok(());
        }
        Err(Error::BackendUnavailable {
            backend: "wgpu",
            reason: "this browser gives no timestamps; nothing can be timed".into(),
        })
    }

    async fn compress(&self, pages: &Buffer, n_bytes: u64) -> Result<ResidentPages> {
        compress_resident_async(&self.device, pages, n_bytes, self.page_size, Level::Fast).await
    }

    /// `bytes`, `copies` times over, in GPU memory.
    async fn fill(&self, bytes: &[u8], copies: u64) -> Result<Buffer> {
        let n_bytes = bytes.len() as u64;
        let one = self.device.allocate_memory(n_bytes)?;
        self.device.upload_async(&one, 0, bytes).await?;
        let all = self.device.allocate_memory(copies * n_bytes)?;
        let mut stream = self.device.stream();
        for copy in 0..copies {
            let to = Place::Device(&all, copy * n_bytes);
            stream.copy(to, Place::Device(&one, 0), n_bytes)?;
        }
        stream.submit()?.wait_async().await?;
        Ok(all)
    }

    /// The blocks of the first copy are those of the CPU, and all copies come back.
    async fn verify(
        &self,
        bytes: &[u8],
        copies: u64,
        compressed: &ResidentPages,
        back: &Buffer,
    ) -> Result<()> {
        let expected = lz4::compress_pages(bytes, self.page_size, Level::Fast)?;
        self.verify_blocks(&expected, compressed).await?;
        let n_bytes = bytes.len() as u64;
        for copy in 0..copies {
            for start in (0..n_bytes).step_by(COMPARED_BYTES as usize) {
                let end = n_bytes.min(start + COMPARED_BYTES);
                let range = copy * n_bytes + start..copy * n_bytes + end;
                let piece = self.device.download_async(back, range).await?;
                if piece != bytes[start as usize..end as usize] {
                    return Err(differs("bytes", "what was compressed"));
                }
            }
        }
        Ok(())
    }

    async fn verify_blocks(&self, expected: &PackedPages, made: &ResidentPages) -> Result<()> {
        let Some(part) = made.parts.first() else {
            return Err(differs("parts", "at least one"));
        };
        let packed = expected.packed.len().min(part.packed_bytes as usize) as u64;
        let found = self.device.download_async(&part.packed, 0..packed).await?;
        if found != expected.packed[..packed as usize] {
            return Err(differs("blocks", "those of the CPU"));
        }
        Ok(())
    }
}

fn median(mut times_ns: Vec<u64>) -> f64 {
    times_ns.sort_unstable();
    times_ns[times_ns.len() / 2] as f64
}

fn differs(name: &'static str, expected: &'static str) -> Error {
    Error::InvalidArgument {
        name,
        value: "something else".into(),
        expected,
    }
}
