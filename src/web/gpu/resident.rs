//! Pages in `GPUBuffer`s on the codec's device. Only sizes and status words are transferred.

use js_sys::{Array, Function, Promise, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::codec::GpuCodec;
use super::convert::{
    Fields, Part, Target, first_error, packed_pages, read_frame, read_table, timing,
};
use super::dictionary::GpuDictionary;
use crate::batch::pipeline::decompress::check;
use crate::batch::pipeline::js::{JsBlocks, JsPacked, OnProgress};
use crate::batch::pipeline::plan::Form;
use crate::batch::web::JsCodec;
use crate::batch::{
    ResidentDictionary, ResidentPages, ResidentPart, Timings, compress_resident_async,
    decompress_resident_async,
};
use crate::clock::Clock;
use crate::gpu::{Backend, Buffer, GpuDevice, HostUse, Place, Recorder, Sized64};
use crate::js_bytes::JsBytes;
use crate::lz4::Dictionary;
use crate::web::level::Level;
use crate::web::promise::promise;
use crate::{Error, Result, memory};

#[wasm_bindgen]
impl GpuCodec {
    /// Compresses the first `byteLength` bytes of `buffer` to new buffers, which have exactly the lengths of blocks and
    /// tables.
    #[wasm_bindgen(js_name = compressResident, unchecked_return_type = "Promise<GpuParts>")]
    pub fn compress_resident(
        &self,
        #[wasm_bindgen(unchecked_param_type = "PageBuffer")] buffer: JsValue,
        #[wasm_bindgen(js_name = byteLength)] n_bytes: f64,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        level: Level,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let dictionary = dictionary.map(Dictionary::from);
        self.call_resident(move |codec| {
            Box::pin(async move {
                let form = Form {
                    page_size,
                    level: level.into(),
                    dictionary: dictionary.as_ref(),
                };
                compress(codec, &buffer, n_bytes as u64, form).await
            })
        })
    }

    /// Decompresses parts, one after the other. Rejects with `CORRUPT_PAGE` after all valid pages have been written.
    #[wasm_bindgen(js_name = decompressParts, unchecked_return_type = "Promise<GpuContent>")]
    pub fn decompress_parts(
        &self,
        #[wasm_bindgen(unchecked_param_type = "readonly GpuPart[]")] parts: Array,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        target: Target,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let dictionary = dictionary.map(Dictionary::from);
        self.call_resident(move |codec| {
            Box::pin(async move {
                decompress_parts(codec, &parts, page_size, &target, dictionary.as_ref()).await
            })
        })
    }

    /// Like [`decompress_parts`](Self::decompress_parts), for pages in arrays, which must not change until the call is
    /// done.
    #[expect(
        clippy::too_many_arguments,
        reason = "an object of options would add code to read its fields"
    )]
    #[wasm_bindgen(js_name = decompressPagesTo, unchecked_return_type = "Promise<GpuContent>")]
    pub fn decompress_pages_to(
        &self,
        packed: Uint8Array,
        table: Uint32Array,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        #[wasm_bindgen(js_name = byteLength)] n_bytes: f64,
        target: Target,
        #[wasm_bindgen(js_name = onProgress, unchecked_optional_param_type = "GpuProgress")]
        on_progress: Option<Function>,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let bytes = JsBytes::new(packed);
        let dictionary = dictionary.map(Dictionary::from);
        let table = read_table(&table);
        self.call_resident(move |codec| {
            Box::pin(async move {
                let pages = JsPacked {
                    bytes,
                    is_frame: false,
                    table: table?,
                    page_size,
                    n_bytes: n_bytes as u64,
                    dictionary,
                };
                decompress(codec, &pages, &target, OnProgress(on_progress)).await
            })
        })
    }

    /// Like [`decompress_parts`](Self::decompress_parts), for a frame whose blocks are pages. Returns `undefined` for
    /// other bytes. The content stays on the GPU, so its checksum is not verified.
    #[wasm_bindgen(
        js_name = decompressFrameTo,
        unchecked_return_type = "Promise<GpuContent | undefined>"
    )]
    pub fn decompress_frame_to(
        &self,
        frame: Uint8Array,
        target: Target,
        #[wasm_bindgen(js_name = onProgress, unchecked_optional_param_type = "GpuProgress")]
        on_progress: Option<Function>,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let bytes = JsBytes::new(frame);
        let dictionary = dictionary.map(Dictionary::from);
        self.call_resident(move |codec| {
            Box::pin(async move {
                let Some((pages, _)) = read_frame(bytes, target.limit(), dictionary)? else {
                    return Ok(JsValue::UNDEFINED);
                };
                match decompress(codec, &pages, &target, OnProgress(on_progress)).await {
                    // Blocks between the first and the last are not pages, or corrupt: the CPU codec determines which.
                    Err(Error::CorruptPage { .. }) => Ok(JsValue::UNDEFINED),
                    done => done,
                }
            })
        })
    }

    /// Writes content to a buffer.
    #[wasm_bindgen(js_name = upload, unchecked_return_type = "Promise<GpuContent>")]
    pub fn upload(&self, content: Uint8Array, target: Target) -> Promise {
        let content = JsBytes::new(content);
        self.call_resident(move |codec| {
            Box::pin(async move {
                let clock = Clock::start();
                let to = PageBuffer::of(codec.device(), &target, content.len() as u64)?;
                codec.device().write_page_buffer(&to.buffer, &content)?;
                Ok(to.content(content.len() as u64, &times(clock, None)))
            })
        })
    }
}

/// Downloads parts in buffers of `device` to arrays. It needs no codec, so it also works while one is closed or in use.
#[wasm_bindgen(js_name = readParts, unchecked_return_type = "Promise<GpuPackedPages>")]
pub fn read_parts(
    #[wasm_bindgen(unchecked_param_type = "PageDevice")] device: JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly GpuPart[]")] parts: Array,
    #[wasm_bindgen(js_name = pageSize)] page_size: u32,
) -> Promise {
    promise(async move {
        let device = GpuDevice::from_js_async(&device).await?;
        let parts = parts_from_js(&device, &parts)?;
        let mut blocks = JsBlocks::default();
        blocks.reserve(parts.iter().map(|part| part.packed_bytes).sum())?;
        for part in &parts {
            let table_bytes = table_bytes(part.n_bytes, page_size);
            let packed = download(&device, &part.packed, part.packed_bytes)?;
            let table = device.download_async(&part.table, 0..table_bytes).await?;
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&table);
            blocks.append(&packed, part.packed_bytes, &words).await?;
        }
        let timings = Timings::default();
        Ok(packed_pages(blocks.packed()?, &blocks.table, &timings))
    })
}

/// Destroys buffers.
#[wasm_bindgen(js_name = destroyBuffers)]
pub fn destroy_buffers(
    #[wasm_bindgen(unchecked_param_type = "readonly PageBuffer[]")] buffers: Array,
) {
    for buffer in buffers.iter() {
        buffer.unchecked_ref::<RawBuffer>().destroy();
    }
}

async fn compress(
    codec: &JsCodec,
    buffer: &JsValue,
    n_bytes: u64,
    form: Form<'_>,
) -> Result<JsValue> {
    let (clock, device) = (Clock::start(), codec.device());
    let (page_size, level) = (form.page_size, form.level);
    let pages = device.buffer_from_js(buffer)?;
    let compressed = match form.dictionary {
        None => compress_resident_async(device, &pages, n_bytes, page_size, level).await?,
        Some(dictionary) => {
            let resident = ResidentDictionary::new_async(device, dictionary).await?;
            let run = resident.compress_resident_async(device, &pages, n_bytes, page_size, level);
            run.await?
        }
    };
    let (parts, made) = (Array::new(), Array::new());
    for part in &compressed.parts {
        let given = give_away(device, part, page_size, &made);
        let given = given.inspect_err(|_| destroy_buffers(made.clone()))?;
        parts.push(&given);
    }
    let fields = Fields::new();
    fields.set_parts(&parts);
    fields.set_ratio(compressed.ratio());
    fields.set_timing(&times(clock, compressed.kernel_ns));
    Ok(fields.into())
}

async fn decompress_parts(
    codec: &JsCodec,
    parts: &Array,
    page_size: u32,
    target: &Target,
    dictionary: Option<&Dictionary>,
) -> Result<JsValue> {
    let (clock, device) = (Clock::start(), codec.device());
    let compressed = ResidentPages::new(parts_from_js(device, parts)?, page_size);
    let to = PageBuffer::of(device, target, compressed.n_bytes)?;
    let outcome = match dictionary {
        None => decompress_resident_async(device, &compressed, &to.buffer).await?,
        Some(dictionary) => {
            let resident = ResidentDictionary::new_async(device, dictionary).await?;
            let run = resident.decompress_resident_async(device, &compressed, &to.buffer);
            run.await?
        }
    };
    first_error(&outcome.errors)?;
    Ok(to.content(compressed.n_bytes, &times(clock, outcome.kernel_ns)))
}

async fn decompress(
    codec: &mut JsCodec,
    pages: &JsPacked,
    target: &Target,
    on_progress: OnProgress,
) -> Result<JsValue> {
    check(&pages.view())?;
    let to = PageBuffer::of(codec.device(), target, pages.n_bytes)?;
    let run = codec.decompress_resident(pages, &to.buffer, on_progress);
    let (errors, timings) = run.await?;
    first_error(&errors)?;
    Ok(to.content(pages.n_bytes, &timing(&timings)))
}

/// A buffer for content: the caller's, or a new one, which is destroyed on drop unless it was passed to the caller.
struct PageBuffer {
    raw: JsValue,
    buffer: Buffer,
    is_ours: bool,
}

impl PageBuffer {
    /// Returns the buffer of `target`, or creates one, for `n_bytes`.
    fn of(device: &GpuDevice, target: &Target, n_bytes: u64) -> Result<Self> {
        if n_bytes > target.limit() {
            let limit = target.limit();
            return Err(Error::OutputLimit { limit });
        }
        let raw = target.buffer();
        if raw.is_undefined() {
            let (raw, buffer) = device.create_page_buffer(n_bytes, target.usage())?;
            let is_ours = true;
            return Ok(Self {
                raw,
                buffer,
                is_ours,
            });
        }
        let buffer = device.buffer_from_js(&raw)?;
        if buffer.n_bytes() < n_bytes {
            return Err(Error::InvalidArgument {
                name: "buffer",
                value: format!("{} bytes for content of {n_bytes}", buffer.n_bytes()),
                expected: "give one as long as the content, rounded up to 4 bytes",
            });
        }
        let is_ours = false;
        Ok(Self {
            raw,
            buffer,
            is_ours,
        })
    }

    /// Creates a plain object: `GpuContent`. The caller owns the buffer afterwards.
    fn content(mut self, n_bytes: u64, timing: &Fields) -> JsValue {
        self.is_ours = false;
        let fields = Fields::new();
        fields.set_buffer(&self.raw);
        fields.set_byte_length(n_bytes as f64);
        fields.set_timing(timing);
        fields.into()
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        if self.is_ours {
            self.raw.unchecked_ref::<RawBuffer>().destroy();
        }
    }
}

/// Converts parts from JavaScript.
fn parts_from_js(device: &GpuDevice, parts: &Array) -> Result<Vec<ResidentPart>> {
    let mut read = memory::with_room(parts.length() as usize)?;
    for part in parts.iter() {
        let part = part.unchecked_ref::<Part>();
        let wrap = |buffer: JsValue| device.buffer_from_js(&buffer);
        let (packed, table) = (wrap(part.packed())?, wrap(part.table())?);
        let [packed_bytes, n_bytes] = [part.packed_bytes(), part.byte_length()].map(|n| n as u64);
        read.push(ResidentPart::new(packed, packed_bytes, table, n_bytes));
    }
    Ok(read)
}

/// Copies blocks and table of a part to new buffers for the page, which are added to `made`. Returns a plain object:
/// `GpuPart`.
fn give_away(
    device: &GpuDevice,
    part: &ResidentPart,
    page_size: u32,
    made: &Array,
) -> Result<Fields> {
    let (packed, blocks) = device.create_page_buffer(part.packed_bytes, 0)?;
    made.push(&packed);
    let table_bytes = table_bytes(part.n_bytes, page_size);
    let (table, entries) = device.create_page_buffer(table_bytes, 0)?;
    made.push(&table);
    let mut stream = device.stream();
    for (to, from, n_bytes) in [
        (&blocks, &part.packed, part.packed_bytes),
        (&entries, &part.table, table_bytes),
    ] {
        stream.copy(Place::Device(to, 0), Place::Device(from, 0), n_bytes)?;
    }
    // Work that the page submits later on this device runs after the copies.
    stream.submit_untimed()?;
    let fields = Fields::new();
    fields.set_packed(&packed);
    fields.set_packed_bytes(part.packed_bytes as f64);
    fields.set_table(&table);
    fields.set_byte_length(part.n_bytes as f64);
    Ok(fields)
}

fn table_bytes(n_bytes: u64, page_size: u32) -> u64 {
    8 * n_bytes.div_ceil(page_size.max(1).into())
}

/// Starts the download of the first bytes of a buffer.
fn download(device: &GpuDevice, buffer: &Buffer, n_bytes: u64) -> Result<crate::gpu::HostBuffer> {
    let host = device.allocate_host_uncleared(n_bytes.max(4), HostUse::Download)?;
    let mut stream = device.stream();
    stream.copy(Place::Host(&host, 0), Place::Device(buffer, 0), n_bytes)?;
    stream.submit_untimed()?;
    Ok(host)
}

fn times(clock: Clock, kernel_ns: Option<u64>) -> Fields {
    timing(&Timings {
        kernel_ns,
        total_ns: clock.elapsed_ns(),
        ..Timings::default()
    })
}

#[wasm_bindgen]
extern "C" {
    type RawBuffer;
    #[wasm_bindgen(method)]
    fn destroy(this: &RawBuffer);
}
