//! Conversion of arguments from JavaScript and results to JavaScript, and their TypeScript types.

use js_sys::{Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::batch::Timings;
use crate::batch::pipeline::js::JsPacked;
use crate::js_bytes::JsBytes;
use crate::lz4::frame::FramePages;
use crate::lz4::{BlockError, Dictionary, PageEntry};
use crate::web::table::{entries, read_entry};
use crate::{Error, Result, memory};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** The browser's `GPUDevice` and `GPUBuffer`, where types for WebGPU are installed. */
export type PageDevice = typeof globalThis extends { GPUDevice: { prototype: infer D } } ? D : object;
export type PageBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer B } } ? B : object;

/** Times of a call in nanoseconds; see `Timings` in the Rust documentation. */
export interface GpuTiming {
  readonly uploadNs: number | null;
  readonly kernelNs: number | null;
  readonly readbackNs: number | null;
  readonly totalNs: number;
}

/** Compressed pages: blocks, and two table words per page. */
export interface GpuPackedPages {
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly table: Uint32Array<ArrayBuffer>;
  readonly timing: GpuTiming;
}

/** Pages and their status: 0, or the code of the error of a corrupt page. */
export interface GpuCheckedPages {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly status: Uint8Array<ArrayBuffer>;
  readonly timing: GpuTiming;
}

/** Compressed pages in GPU memory. */
export interface GpuPart {
  readonly packed: PageBuffer;
  readonly packedBytes: number;
  readonly table: PageBuffer;
  readonly byteLength: number;
}

export interface GpuParts {
  readonly parts: GpuPart[];
  readonly ratio: number;
  readonly timing: GpuTiming;
}

/** Destination of content: the start of `buffer`, or of a new buffer with `usage` and the usages that kernels and copies need. */
export interface GpuTarget {
  readonly buffer: PageBuffer | undefined;
  readonly usage: number;
  readonly maxOutputSize: number;
}

/** Content at the start of a buffer. */
export interface GpuContent {
  readonly buffer: PageBuffer;
  readonly byteLength: number;
  readonly timing: GpuTiming;
}

/** Blocks of a frame. */
export interface GpuBlocks {
  readonly blocks: Uint8Array<ArrayBuffer>;
  readonly timing: GpuTiming;
}

/** The content of a frame. */
export interface GpuFrameContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly timing: GpuTiming;
}

/** Called after each job with the number of bytes of processed pages and of their blocks. The return value `false` cancels the call. */
export type GpuProgress = (pageBytes: number, blockBytes: number) => unknown;
"#;

/// Decodes the entries of a table.
pub(super) fn read_table(table: &Uint32Array) -> Result<Vec<PageEntry>> {
    let mut words: Vec<u32> = memory::zeros(table.length() as usize)?;
    table.copy_to(&mut words);
    let entries = entries(&words)?;
    let mut read = memory::with_room(entries.len())?;
    // The GPU reads the words of fill pages.
    read.extend(entries.iter().map(|&words| read_entry(words, &[])));
    Ok(read)
}

/// Returns the pages of a frame and its content checksum; `None` if its blocks are not pages or have more than `limit`
/// bytes of content. `dictionary` is the one of the frame, if it has one.
pub(super) fn read_frame(
    bytes: JsBytes,
    limit: u64,
    dictionary: Option<Dictionary>,
) -> Result<Option<(JsPacked, Option<u32>)>> {
    let read = |at: usize, to: &mut [u8]| bytes.read_into(at, to);
    let frame = FramePages::read(bytes.len(), &read, dictionary.as_ref())?;
    let frame = frame.filter(|frame| frame.n_bytes <= limit);
    Ok(frame.map(|frame| {
        let pages = JsPacked {
            bytes,
            is_frame: true,
            table: frame.table,
            page_size: frame.page_size,
            n_bytes: frame.n_bytes,
            dictionary,
        };
        (pages, frame.content_checksum)
    }))
}

/// Returns the memory for `n_bytes` of content: the start of `into`, or a new array.
pub(super) fn destination(into: Option<Uint8Array>, n_bytes: usize) -> Result<JsBytes> {
    match into {
        Some(into) => Ok(JsBytes::new(JsBytes::new(into).part(0..n_bytes)?)),
        None => JsBytes::zeros(n_bytes),
    }
}

/// Returns the error of the first corrupt page.
pub(super) fn first_error(errors: &[Option<BlockError>]) -> Result<()> {
    let mut errors = errors.iter().enumerate();
    match errors.find_map(|(page, error)| Some((page, (*error)?))) {
        Some((page, source)) => Err(Error::CorruptPage { page, source }),
        None => Ok(()),
    }
}

/// Creates a plain object with the times.
pub(super) fn timing(timings: &Timings) -> Fields {
    let ns = |ns: Option<u64>| ns.map_or(JsValue::NULL, |ns| JsValue::from(ns as f64));
    let fields = Fields::new();
    fields.set_upload_ns(&ns(timings.upload_ns));
    fields.set_kernel_ns(&ns(timings.kernel_ns));
    fields.set_readback_ns(&ns(timings.readback_ns));
    fields.set_total_ns(timings.total_ns as f64);
    fields
}

/// Creates a plain object: `GpuPackedPages`.
pub(super) fn packed_pages(packed: JsBytes, table: &[u32], timings: &Timings) -> JsValue {
    let fields = Fields::new();
    fields.set_packed(&packed.into_array());
    fields.set_table(&Uint32Array::from(table));
    fields.set_timing(&timing(timings));
    fields.into()
}

/// Creates a plain object: `GpuCheckedPages`.
pub(super) fn checked_pages(
    bytes: JsBytes,
    errors: &[Option<BlockError>],
    timings: &Timings,
) -> Result<JsValue> {
    let mut status = memory::with_room(errors.len())?;
    status.extend(
        errors
            .iter()
            .map(|error| error.map_or(0, |error| error as u8)),
    );
    let fields = Fields::new();
    fields.set_bytes(&bytes.into_array());
    fields.set_status(&Uint8Array::from(status.as_slice()));
    fields.set_timing(&timing(timings));
    Ok(fields.into())
}

#[wasm_bindgen]
extern "C" {
    /// A plain JavaScript object.
    #[wasm_bindgen(js_name = Object)]
    pub(super) type Fields;
    #[wasm_bindgen(constructor, js_class = "Object")]
    pub(super) fn new() -> Fields;
    #[wasm_bindgen(method, setter, js_name = uploadNs)]
    fn set_upload_ns(this: &Fields, ns: &JsValue);
    #[wasm_bindgen(method, setter, js_name = kernelNs)]
    fn set_kernel_ns(this: &Fields, ns: &JsValue);
    #[wasm_bindgen(method, setter, js_name = readbackNs)]
    fn set_readback_ns(this: &Fields, ns: &JsValue);
    #[wasm_bindgen(method, setter, js_name = totalNs)]
    fn set_total_ns(this: &Fields, ns: f64);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_timing(this: &Fields, timing: &Fields);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_packed(this: &Fields, packed: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_table(this: &Fields, table: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_bytes(this: &Fields, bytes: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_blocks(this: &Fields, blocks: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_buffer(this: &Fields, buffer: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_ratio(this: &Fields, ratio: f64);
    #[wasm_bindgen(method, setter)]
    fn set_status(this: &Fields, status: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_parts(this: &Fields, parts: &JsValue);
    #[wasm_bindgen(method, setter, js_name = packedBytes)]
    pub(super) fn set_packed_bytes(this: &Fields, n_bytes: f64);
    #[wasm_bindgen(method, setter, js_name = byteLength)]
    pub(super) fn set_byte_length(this: &Fields, n_bytes: f64);
    #[wasm_bindgen(method, setter, js_name = inUse)]
    pub(super) fn set_in_use(this: &Fields, n_bytes: f64);
    #[wasm_bindgen(method, setter)]
    pub(super) fn set_pooled(this: &Fields, n_bytes: f64);

    /// Destination of content: a JavaScript object.
    #[wasm_bindgen(typescript_type = "GpuTarget")]
    pub type Target;
    #[wasm_bindgen(method, getter)]
    pub(super) fn buffer(this: &Target) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(super) fn usage(this: &Target) -> u32;
    #[wasm_bindgen(method, getter, js_name = maxOutputSize)]
    fn max_output_size(this: &Target) -> f64;

    /// A part of compressed pages: a JavaScript object.
    pub(super) type Part;
    #[wasm_bindgen(method, getter)]
    pub(super) fn packed(this: &Part) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = packedBytes)]
    pub(super) fn packed_bytes(this: &Part) -> f64;
    #[wasm_bindgen(method, getter)]
    pub(super) fn table(this: &Part) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = byteLength)]
    pub(super) fn byte_length(this: &Part) -> f64;
}

impl Target {
    /// Returns the maximum number of bytes of content.
    pub(super) fn limit(&self) -> u64 {
        self.max_output_size() as u64
    }
}
