//! Pages in buffers of the page on the codec's device: only sizes and statuses leave the GPU.

use super::codec::WebCodec;
use super::pages::first_error;
use crate::batch::js::JsCodec;
use crate::batch::{
    ResidentPages, ResidentPart, Timings, compress_resident_async, decompress_resident_async,
};
use crate::clock::Clock;
use crate::gpu::{Backend, Buffer, GpuDevice, Place, Recorder};
use crate::js::Value;
use crate::web::call::{Call, Done};
use crate::web::level;
use crate::web::memory::taken;
use crate::{Error, Result};

#[link(wasm_import_module = "js")]
unsafe extern "C" {
    /// A buffer of so many bytes that `maker` makes; 0 if it does not.
    safe fn make_buffer(maker: u32, n_bytes: f64) -> u32;
}

/// Numbers of a part: buffer of blocks, their bytes, buffer of the table, bytes of the pages.
type PartNumbers = [f64; 4];

/// Compresses the first `n_bytes` of `buffer`. `maker` makes a buffer of so many bytes, with the usages `STORAGE` and
/// `COPY_DST`. The bytes of what the call gives are two numbers for each part: the bytes of its blocks and of its pages.
/// Its blocks are in the next buffer that `maker` made, its table is in the one after.
///
/// # Safety
/// The codec is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn compress_resident(
    codec: *const WebCodec,
    buffer: u32,
    n_bytes: f64,
    page_size: u32,
    flags: u32,
    maker: u32,
) -> *mut Call {
    let (buffer, maker) = (Value::new(buffer), Value::new(maker));
    // SAFETY: this function's contract.
    unsafe { &*codec }.call(async move |codec| {
        let clock = Clock::start();
        let compress = async |codec: &JsCodec| {
            let device = codec.device();
            let pages = lend(device, buffer)?;
            let maker = maker.ok_or_else(no_buffer)?;
            let (n_bytes, level) = (n_bytes as u64, level(flags));
            let compressed =
                compress_resident_async(device, &pages, n_bytes, page_size, level).await?;
            let mut parts = Vec::new();
            for part in &compressed.parts {
                let table_bytes = 8 * part.n_bytes.div_ceil(page_size.into());
                give_away(device, &part.packed, part.packed_bytes, &maker)?;
                give_away(device, &part.table, table_bytes, &maker)?;
                let numbers = [part.packed_bytes as f64, part.n_bytes as f64];
                parts.extend_from_slice(bytemuck::bytes_of(&numbers));
            }
            Ok(done(clock, compressed.kernel_ns, parts))
        };
        match compress(codec).await {
            Err(error) => Err(codec.after(error).await),
            done => done,
        }
    })
}

/// Decompresses parts, given as [`PartNumbers`], into `buffer`, one after the other; fails with `CORRUPT_PAGE` once all
/// sound pages are there.
///
/// # Safety
/// The codec is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn decompress_resident(
    codec: *const WebCodec,
    parts: *mut u8,
    n_parts_bytes: usize,
    page_size: u32,
    buffer: u32,
) -> *mut Call {
    // SAFETY: this function's contract.
    let (codec, parts) = unsafe { (&*codec, taken(parts, n_parts_bytes)) };
    let buffer = Value::new(buffer);
    let (parts, _) = parts.as_chunks::<{ size_of::<PartNumbers>() }>();
    let parts = parts.iter().map(|part| {
        let [packed, packed_bytes, table, n_bytes]: PartNumbers =
            bytemuck::pod_read_unaligned(part);
        let [packed, table] = [packed, table].map(|number| Value::new(number as u32));
        (packed, packed_bytes as u64, table, n_bytes as u64)
    });
    let parts: Vec<_> = parts.collect();
    codec.call(async move |codec| {
        let clock = Clock::start();
        let decompress = async |codec: &JsCodec| {
            let device = codec.device();
            let mut given = Vec::new();
            for (packed, packed_bytes, table, n_bytes) in parts {
                let (packed, table) = (lend(device, packed)?, lend(device, table)?);
                given.push(ResidentPart::new(packed, packed_bytes, table, n_bytes));
            }
            let pages = lend(device, buffer)?;
            let compressed = ResidentPages::new(given, page_size);
            let outcome = decompress_resident_async(device, &compressed, &pages).await?;
            first_error(&outcome.errors)?;
            Ok(done(clock, outcome.kernel_ns, Vec::new()))
        };
        match decompress(codec).await {
            Err(error) => Err(codec.after(error).await),
            done => done,
        }
    })
}

fn lend(device: &GpuDevice, buffer: Option<Value>) -> Result<Buffer> {
    let buffer = buffer.ok_or_else(no_buffer)?;
    device.as_web().lend_buffer(buffer).map(Buffer::from)
}

/// Copies the first bytes of `buffer` to one of the page's own, of just that size.
fn give_away(device: &GpuDevice, buffer: &Buffer, n_bytes: u64, maker: &Value) -> Result<()> {
    let made = Value::new(make_buffer(maker.number(), n_bytes as f64));
    let made = lend(
        device,
        Some(made.ok_or(Error::OutOfMemory { requested: n_bytes })?),
    )?;
    let mut stream = device.stream();
    stream.copy(Place::Device(&made, 0), Place::Device(buffer, 0), n_bytes)?;
    // What the page does with it on this device comes after the copy.
    stream.submit_untimed()
}

fn done(clock: Clock, kernel_ns: Option<u64>, bytes: Vec<u8>) -> Done {
    Done {
        timings: Timings {
            kernel_ns,
            total_ns: clock.elapsed_ns(),
            ..Timings::default()
        },
        number: 0.0,
        bytes,
    }
}

fn no_buffer() -> Error {
    Error::Engine {
        engine: "wasm",
        message: "no buffer was given".into(),
    }
}
