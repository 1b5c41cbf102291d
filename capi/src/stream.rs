//! Frames in parts: memory stays bounded, however long the content is.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};

use pagepress::batch::{Codec, FrameCompression, FrameDecompression};
use pollster::block_on;

use crate::buffer::pp_buffer;
use crate::call::{Failure, call, value};
use crate::context::{codec_like, pp_context};
use crate::dictionary::{self, pp_dictionary};
use crate::memory::{handle, input, variable};
use crate::options::{frame_options, pp_frame_options};
use crate::status::pp_status;

/// A frame that is being written. Calls from several threads take turns.
#[derive(Debug)]
pub struct pp_compressor(Mutex<Stream<FrameCompression>>);

/// Frames that are being read. Calls from several threads take turns.
#[derive(Debug)]
pub struct pp_decompressor(Mutex<Stream<FrameDecompression>>);

/// A stream with its engine.
#[derive(Debug)]
struct Stream<S> {
    session: S,
    codec: Codec,
    /// True after the end and after an error.
    is_over: bool,
}

impl<S> Stream<S> {
    fn new(session: S, codec: Codec) -> Mutex<Self> {
        Mutex::new(Self {
            session,
            codec,
            is_over: false,
        })
    }

    /// Runs one step; no other may follow the last one, or an error.
    fn step(
        &mut self,
        is_last: bool,
        step: impl FnOnce(&mut S, &mut Codec, &mut Vec<u8>) -> pagepress::Result<()>,
    ) -> Result<Vec<u8>, Failure> {
        if self.is_over {
            return Err(Failure::argument(
                "the stream has ended or failed; open another one",
            ));
        }
        self.is_over = true;
        let mut out = Vec::new();
        step(&mut self.session, &mut self.codec, &mut out)?;
        self.is_over = is_last;
        Ok(out)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> Result<MutexGuard<'_, T>, Failure> {
    mutex.lock().map_err(|_| {
        Failure::argument("an earlier call on this stream had an internal error; open another one")
    })
}

/// Starts a frame on the engine of `context`, of which the stream opens its own; null is the CPU. `options` may be null for the
/// defaults; the header states no size. `*compressor` is null after an error.
///
/// # Safety
/// `context` is null or was not closed; `options` is null or points to options; `compressor` points to a pointer. Free the stream
/// with `pp_compressor_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compressor_open(
    context: *const pp_context,
    options: *const pp_frame_options,
    compressor: *mut *mut pp_compressor,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (out, codec, options) = unsafe {
            let out = variable(compressor, "compressor")?;
            *out = std::ptr::null_mut();
            let codec = codec_like(context)?;
            let options = frame_options(options, codec.auto_level(false), None)?;
            (out, codec, options)
        };
        let session = FrameCompression::new(&options, None)?;
        *out = Box::into_raw(Box::new(pp_compressor(Stream::new(session, codec))));
        Ok(())
    })
}

/// Adds content. `*buffer` has the compressed bytes of complete parts, 16 MiB of content on the CPU and 128 MiB on a GPU; it may be
/// empty, and is null after an error.
///
/// # Safety
/// `compressor` was not freed; `source` has `source_size` bytes; `buffer` points to a pointer. Free the buffer with `pp_buffer_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compressor_write(
    compressor: *const pp_compressor,
    source: *const c_void,
    source_size: usize,
    buffer: *mut *mut pp_buffer,
) -> pp_status {
    // SAFETY: the guarantees of this function's caller.
    let content = || unsafe { input(source, source_size, "source") };
    // SAFETY: the guarantees of this function's caller.
    unsafe {
        compressor_step(compressor, buffer, false, || {
            let content = content()?;
            Ok(
                move |session: &mut FrameCompression, codec: &mut Codec, out: &mut Vec<u8>| {
                    block_on(session.push_async(codec, content, out))
                },
            )
        })
    }
}

/// Compresses all content so far, so that it can be decompressed. Frequent calls lower the ratio. `*buffer` is as for
/// `pp_compressor_write`.
///
/// # Safety
/// As `pp_compressor_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compressor_flush(
    compressor: *const pp_compressor,
    buffer: *mut *mut pp_buffer,
) -> pp_status {
    // SAFETY: the guarantees of this function's caller.
    unsafe {
        compressor_step(compressor, buffer, false, || {
            Ok(
                |session: &mut FrameCompression, codec: &mut Codec, out: &mut Vec<u8>| {
                    block_on(session.flush_async(codec, out))
                },
            )
        })
    }
}

/// Ends the frame. `*buffer` has its last bytes. Only `pp_compressor_free` may follow.
///
/// # Safety
/// As `pp_compressor_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compressor_finish(
    compressor: *const pp_compressor,
    buffer: *mut *mut pp_buffer,
) -> pp_status {
    // SAFETY: the guarantees of this function's caller.
    unsafe {
        compressor_step(compressor, buffer, true, || {
            Ok(
                |session: &mut FrameCompression, codec: &mut Codec, out: &mut Vec<u8>| {
                    block_on(session.finish_async(codec, out))
                },
            )
        })
    }
}

/// Runs a step of a compressor and gives its output to the caller.
///
/// # Safety
/// As [`pp_compressor_write`] for `compressor` and `buffer`.
unsafe fn compressor_step<F>(
    compressor: *const pp_compressor,
    buffer: *mut *mut pp_buffer,
    is_last: bool,
    step: impl FnOnce() -> Result<F, Failure>,
) -> pp_status
where
    F: FnOnce(&mut FrameCompression, &mut Codec, &mut Vec<u8>) -> pagepress::Result<()>,
{
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (buffer, compressor) = unsafe {
            let buffer = variable(buffer, "buffer")?;
            *buffer = std::ptr::null_mut();
            (buffer, handle(compressor, "compressor")?)
        };
        let out = lock(&compressor.0)?.step(is_last, step()?)?;
        *buffer = pp_buffer::handle(out);
        Ok(())
    })
}

/// Frees a stream. Null is ignored. The frame is truncated unless `pp_compressor_finish` was called.
///
/// # Safety
/// `compressor` is null or was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compressor_free(compressor: *mut pp_compressor) {
    if !compressor.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller guarantees that it was not freed.
        value((), || drop(unsafe { Box::from_raw(compressor) }));
    }
}

/// Starts to read frames on the engine of `context`, of which the stream opens its own; null is the CPU. `dictionary` may be null.
/// Content above `limit` bytes is `PP_OUTPUT_LIMIT`; `UINT64_MAX` is no limit. `*decompressor` is null after an error.
///
/// # Safety
/// `context` is null or was not closed; `dictionary` is null or was not freed; `decompressor` points to a pointer. Free the stream
/// with `pp_decompressor_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompressor_open(
    context: *const pp_context,
    dictionary: *const pp_dictionary,
    limit: u64,
    decompressor: *mut *mut pp_decompressor,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (out, mut codec, dictionary) = unsafe {
            let out = variable(decompressor, "decompressor")?;
            *out = std::ptr::null_mut();
            (out, codec_like(context)?, dictionary::optional(dictionary)?)
        };
        if let Some(dictionary) = dictionary {
            codec = codec.with_dictionary(dictionary.clone());
        }
        let session = FrameDecompression::new(&codec, Some(limit));
        *out = Box::into_raw(Box::new(pp_decompressor(Stream::new(session, codec))));
        Ok(())
    })
}

/// Adds compressed bytes. `*buffer` has the content that they complete: all of it, so pass pieces of a few MiB. It may be empty, and is null
/// after an error.
///
/// # Safety
/// `decompressor` was not freed; `source` has `source_size` bytes; `buffer` points to a pointer. Free the buffer with
/// `pp_buffer_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompressor_write(
    decompressor: *const pp_decompressor,
    source: *const c_void,
    source_size: usize,
    buffer: *mut *mut pp_buffer,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (buffer, decompressor, bytes) = unsafe {
            let buffer = variable(buffer, "buffer")?;
            *buffer = std::ptr::null_mut();
            (
                buffer,
                handle(decompressor, "decompressor")?,
                input(source, source_size, "source")?,
            )
        };
        let out = lock(&decompressor.0)?.step(false, |session, codec, out| {
            session.push(bytes);
            while block_on(session.advance_async(codec, out))? {}
            Ok(())
        })?;
        *buffer = pp_buffer::handle(out);
        Ok(())
    })
}

/// Ends the input: `PP_TRUNCATED_FRAME` inside a frame. Only `pp_decompressor_free` may follow.
///
/// # Safety
/// `decompressor` was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompressor_finish(decompressor: *const pp_decompressor) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantee for `decompressor`.
        let decompressor = unsafe { handle(decompressor, "decompressor") }?;
        let finish =
            |session: &mut FrameDecompression, _: &mut Codec, _: &mut Vec<u8>| session.finish();
        lock(&decompressor.0)?.step(true, finish)?;
        Ok(())
    })
}

/// Frees a stream. Null is ignored.
///
/// # Safety
/// `decompressor` is null or was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompressor_free(decompressor: *mut pp_decompressor) {
    if !decompressor.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller guarantees that it was not freed.
        value((), || drop(unsafe { Box::from_raw(decompressor) }));
    }
}
