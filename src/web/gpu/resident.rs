//! Pages in buffers of the page on the codec's device: only sizes and statuses leave the GPU.

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;

use super::codec::GpuCodec;
use super::convert::{Fields, Part, first_error, timing};
use crate::batch::web::JsCodec;
use crate::batch::{
    ResidentPages, ResidentPart, Timings, compress_resident_async, decompress_resident_async,
};
use crate::clock::Clock;
use crate::gpu::{Backend, Buffer, GpuDevice, Place, Recorder};
use crate::web::level::Level;
use crate::{Error, Result, memory};

#[wasm_bindgen]
impl GpuCodec {
    /// Compresses the first `byteLength` bytes of `buffer`. `make` makes a buffer of so many bytes, with the usages
    /// `STORAGE` and `COPY_DST`: two for each part, for its blocks and its table.
    #[wasm_bindgen(js_name = compressResident, unchecked_return_type = "Promise<GpuParts>")]
    pub fn compress_resident(
        &self,
        #[wasm_bindgen(unchecked_param_type = "PageBuffer")] buffer: JsValue,
        #[wasm_bindgen(js_name = byteLength)] n_bytes: f64,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        level: Level,
        #[wasm_bindgen(unchecked_param_type = "(bytes: number) => PageBuffer")] make: Function,
    ) -> Promise {
        self.call(async move |codec| {
            let done = compress(
                codec,
                &buffer,
                n_bytes as u64,
                page_size,
                level.into(),
                &make,
            );
            match done.await {
                Err(error) => Err(codec.after(error).await),
                done => done,
            }
        })
    }

    /// Decompresses parts into `buffer`, one after the other; fails with `CORRUPT_PAGE` once all sound pages are there.
    #[wasm_bindgen(js_name = decompressResident, unchecked_return_type = "Promise<GpuTiming>")]
    pub fn decompress_resident(
        &self,
        #[wasm_bindgen(unchecked_param_type = "readonly GpuPart[]")] parts: Array,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        #[wasm_bindgen(unchecked_param_type = "PageBuffer")] buffer: JsValue,
    ) -> Promise {
        self.call(
            async move |codec| match decompress(codec, &parts, page_size, &buffer).await {
                Err(error) => Err(codec.after(error).await),
                done => done,
            },
        )
    }
}

async fn compress(
    codec: &JsCodec,
    buffer: &JsValue,
    n_bytes: u64,
    page_size: u32,
    level: crate::lz4::Level,
    make: &Function,
) -> Result<JsValue> {
    let (clock, device) = (Clock::start(), codec.device());
    let pages = device.buffer_from_js(buffer)?;
    let compressed = compress_resident_async(device, &pages, n_bytes, page_size, level).await?;
    let parts = Array::new();
    for part in &compressed.parts {
        let table_bytes = 8 * part.n_bytes.div_ceil(page_size.into());
        let fields = Fields::new();
        fields.set_packed(&give_away(device, &part.packed, part.packed_bytes, make)?);
        fields.set_table(&give_away(device, &part.table, table_bytes, make)?);
        fields.set_packed_bytes(part.packed_bytes as f64);
        fields.set_byte_length(part.n_bytes as f64);
        parts.push(&fields);
    }
    let fields = Fields::new();
    fields.set_parts(&parts);
    fields.set_timing(&times(clock, compressed.kernel_ns));
    Ok(fields.into())
}

async fn decompress(
    codec: &JsCodec,
    parts: &Array,
    page_size: u32,
    buffer: &JsValue,
) -> Result<JsValue> {
    let (clock, device) = (Clock::start(), codec.device());
    let mut given = memory::with_room(parts.length() as usize)?;
    for part in parts.iter() {
        let part = part.unchecked_ref::<Part>();
        let wrap = |buffer: JsValue| device.buffer_from_js(&buffer);
        let (packed, table) = (wrap(part.packed())?, wrap(part.table())?);
        let [packed_bytes, n_bytes] = [part.packed_bytes(), part.byte_length()].map(|n| n as u64);
        given.push(ResidentPart::new(packed, packed_bytes, table, n_bytes));
    }
    let pages = device.buffer_from_js(buffer)?;
    let compressed = ResidentPages::new(given, page_size);
    let outcome = decompress_resident_async(device, &compressed, &pages).await?;
    first_error(&outcome.errors)?;
    Ok(times(clock, outcome.kernel_ns).into())
}

/// Copies the first bytes of `buffer` to one of the page's own, of just that size.
fn give_away(
    device: &GpuDevice,
    buffer: &Buffer,
    n_bytes: u64,
    make: &Function,
) -> Result<JsValue> {
    let made = make.call1(&JsValue::UNDEFINED, &JsValue::from(n_bytes as f64));
    let made = made.map_err(|_| Error::OutOfMemory { requested: n_bytes })?;
    let mut stream = device.stream();
    stream.copy(
        Place::Device(&device.buffer_from_js(&made)?, 0),
        Place::Device(buffer, 0),
        n_bytes,
    )?;
    // What the page does with it on this device comes after the copy.
    stream.submit_untimed()?;
    Ok(made)
}

fn times(clock: Clock, kernel_ns: Option<u64>) -> Fields {
    timing(&Timings {
        kernel_ns,
        total_ns: clock.elapsed_ns(),
        ..Timings::default()
    })
}
