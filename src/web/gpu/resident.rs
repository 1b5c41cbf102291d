//! Pages in buffers of the page on the codec's device: only sizes and statuses leave the GPU.

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::prelude::*;

use super::call::Call;
use super::codec::WebCodec;
use super::convert::{level_from, set};
use crate::batch::{
    Codec, Report, ResidentPages, ResidentPart, Timings, compress_resident_async,
    decompress_resident_async,
};
use crate::clock::Clock;
use crate::gpu::{Backend, Buffer, GpuDevice, Place, Recorder};
use crate::{Error, Result};

#[wasm_bindgen(js_class = Codec)]
impl WebCodec {
    /// Compresses the first `n_bytes` of `buffer`. `make` makes a buffer of so many bytes, with the usages `STORAGE` and
    /// `COPY_DST`. Gives an array of parts: `{ packed, packedBytes, table, byteLength }`, two buffers of `make`'s each.
    #[must_use]
    #[wasm_bindgen(js_name = compressResident)]
    pub fn compress_resident(
        &self,
        buffer: JsValue,
        n_bytes: f64,
        page_size: u32,
        level: String,
        make: Function,
    ) -> Call {
        self.call(async move |codec| {
            let done = compress(codec, &buffer, n_bytes as u64, page_size, &level, &make);
            match done.await {
                Ok((parts, report)) => Ok((parts.into(), report)),
                Err(error) => Err(codec.after(error).await),
            }
        })
    }

    /// Decompresses `parts` into `buffer`, one after the other; fails with `CORRUPT_PAGE` once all sound pages are there.
    #[must_use]
    #[wasm_bindgen(js_name = decompressResident)]
    pub fn decompress_resident(&self, parts: Array, page_size: u32, buffer: JsValue) -> Call {
        self.call(
            async move |codec| match decompress(codec, &parts, page_size, &buffer).await {
                Ok(report) => Ok((JsValue::NULL, report)),
                Err(error) => Err(codec.after(error).await),
            },
        )
    }
}

async fn compress(
    codec: &Codec,
    buffer: &JsValue,
    n_bytes: u64,
    page_size: u32,
    level: &str,
    make: &Function,
) -> Result<(Array, Report)> {
    let (clock, device) = (Clock::start(), device_of(codec)?);
    let pages = lend(device, buffer)?;
    let level = level_from(level)?;
    let compressed = compress_resident_async(device, &pages, n_bytes, page_size, level).await?;
    let parts = Array::new();
    for part in &compressed.parts {
        let table_bytes = 8 * part.n_bytes.div_ceil(page_size.into());
        let packed = given_away(device, &part.packed, part.packed_bytes, make)?;
        let table = given_away(device, &part.table, table_bytes, make)?;
        let value = Object::new();
        set(&value, "packed", packed);
        set(&value, "packedBytes", part.packed_bytes as f64);
        set(&value, "table", table);
        set(&value, "byteLength", part.n_bytes as f64);
        parts.push(&value);
    }
    let report = report(codec, device, clock, compressed.kernel_ns);
    Ok((parts, report))
}

async fn decompress(
    codec: &Codec,
    parts: &Array,
    page_size: u32,
    buffer: &JsValue,
) -> Result<Report> {
    let (clock, device) = (Clock::start(), device_of(codec)?);
    let mut given = Vec::new();
    for part in parts.iter() {
        let get = |key: &str| Reflect::get(&part, &JsValue::from_str(key)).unwrap_or_default();
        let bytes = |key: &str| get(key).as_f64().unwrap_or_default() as u64;
        let (packed, table) = (lend(device, &get("packed"))?, lend(device, &get("table"))?);
        let (packed_bytes, n_bytes) = (bytes("packedBytes"), bytes("byteLength"));
        given.push(ResidentPart::new(packed, packed_bytes, table, n_bytes));
    }
    let pages = lend(device, buffer)?;
    let compressed = ResidentPages::new(given, page_size);
    let outcome = decompress_resident_async(device, &compressed, &pages).await?;
    let mut errors = outcome.errors.into_iter().enumerate();
    match errors.find_map(|(page, error)| Some((page, error?))) {
        Some((page, source)) => Err(Error::CorruptPage { page, source }),
        None => Ok(report(codec, device, clock, outcome.kernel_ns)),
    }
}

/// The codec's device, if it has one.
fn device_of(codec: &Codec) -> Result<&GpuDevice> {
    codec.device().ok_or_else(|| Error::BackendUnavailable {
        backend: "webgpu",
        reason: "this compressor runs on the CPU, which has no buffers".into(),
    })
}

fn lend(device: &GpuDevice, buffer: &JsValue) -> Result<Buffer> {
    let device = device.as_wgpu().ok_or_else(|| Error::Engine {
        engine: "wasm",
        message: "the device is not wgpu's".into(),
    })?;
    device.lend_buffer(buffer).map(Buffer::from)
}

/// The first bytes of `buffer` in one of the page's own, of just that size.
fn given_away(
    device: &GpuDevice,
    buffer: &Buffer,
    n_bytes: u64,
    make: &Function,
) -> Result<JsValue> {
    let made = make.call1(&JsValue::NULL, &JsValue::from_f64(n_bytes as f64));
    let made = made.map_err(|error| Error::Engine {
        engine: "wasm",
        message: format!("no buffer of {n_bytes} bytes: {error:?}"),
    })?;
    let mut stream = device.stream();
    stream.copy(
        Place::Device(&lend(device, &made)?, 0),
        Place::Device(buffer, 0),
        n_bytes,
    )?;
    // What the page does with it on this device comes after the copy.
    stream.submit()?;
    Ok(made)
}

fn report(codec: &Codec, device: &GpuDevice, clock: Clock, kernel_ns: Option<u64>) -> Report {
    let timings = Timings {
        kernel_ns,
        total_ns: clock.elapsed_ns(),
        ..Timings::default()
    };
    Report {
        engine: device.name(),
        reason: codec.choice().reason.clone(),
        timings,
    }
}
