//! Contexts: an engine that stays open between calls.

use std::ffi::{CString, c_char};
use std::sync::{Mutex, MutexGuard};

use pagepress::batch::{Codec, CodecOptions};
use pagepress::lz4::PackedPages;

use crate::call::{Failure, call, value};
use crate::memory::{handle, variable};
use crate::options::{codec_options, pp_context_options};
use crate::status::pp_status;

/// An open engine. Calls from several threads take turns.
#[derive(Debug)]
pub struct pp_context {
    work: Mutex<Work>,
    engine: CString,
    reason: CString,
}

/// Codec and memory of a context, for one call at a time.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) codec: Codec,
    /// A frame before it is copied to the caller's memory.
    pub(crate) frame: Vec<u8>,
    /// Blocks and table of a batch.
    pub(crate) pages: PackedPages,
}

impl Work {
    fn new(options: CodecOptions) -> Result<Self, Failure> {
        Ok(Self {
            codec: Codec::new(options)?,
            frame: Vec::new(),
            pages: PackedPages::default(),
        })
    }

    /// Opens the CPU, for calls without a context.
    fn cpu() -> Result<Self, Failure> {
        Self::new(CodecOptions {
            backend: pagepress::batch::BackendRequest::Cpu,
            ..CodecOptions::default()
        })
    }
}

/// Runs `work` in a context, or on the CPU if `context` is null.
///
/// # Safety
/// `context` is null or a context that was not closed.
pub(crate) unsafe fn with<T>(
    context: *const pp_context,
    work: impl FnOnce(&mut Work) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if context.is_null() {
        return work(&mut Work::cpu()?);
    }
    // SAFETY: the caller's guarantee for `context`.
    let context = unsafe { handle(context, "context") }?;
    let mut guard = context.lock()?;
    work(&mut guard)
}

impl pp_context {
    fn lock(&self) -> Result<MutexGuard<'_, Work>, Failure> {
        self.work.lock().map_err(|_| {
            Failure::argument(
                "an earlier call on this context had an internal error; close it and open another",
            )
        })
    }
}

/// Returns a codec of its own for a stream, with the options of a context, or on the CPU if `context` is null.
///
/// # Safety
/// `context` is null or a context that was not closed.
pub(crate) unsafe fn codec_like(context: *const pp_context) -> Result<Codec, Failure> {
    if context.is_null() {
        return Ok(Work::cpu()?.codec);
    }
    // SAFETY: the caller's guarantee for `context`.
    let context = unsafe { handle(context, "context") }?;
    let options = context.lock()?.codec.options().clone();
    Ok(Codec::new(options)?)
}

/// Opens an engine. `options` may be null for the defaults. `*context` is null after an error.
///
/// # Safety
/// `options` is null or points to options; `context` points to a pointer. Close the context with `pp_context_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_context_open(
    options: *const pp_context_options,
    context: *mut *mut pp_context,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantee for `context`.
        let out = unsafe { variable(context, "context") }?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller's guarantee for `options`.
        let work = Work::new(unsafe { codec_options(options) }?)?;
        let choice = work.codec.choice();
        let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
        let (engine, reason) = (text(choice.engine), text(&choice.reason));
        let work = Mutex::new(work);
        *out = Box::into_raw(Box::new(pp_context {
            work,
            engine,
            reason,
        }));
        Ok(())
    })
}

/// Closes a context. Null is ignored.
///
/// # Safety
/// `context` is null or a context that was not closed, and that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_context_close(context: *mut pp_context) {
    if !context.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller guarantees that it was not closed.
        value((), || drop(unsafe { Box::from_raw(context) }));
    }
}

/// Returns the engine that was chosen: "cpu", "wgpu" or "cuda"; null for null. Valid until the context is closed. With
/// `PP_ENGINE_AUTO` a call still runs on the CPU where that is measured to be faster.
///
/// # Safety
/// `context` is null or a context that was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_context_engine(context: *const pp_context) -> *const c_char {
    // SAFETY: the caller's guarantee for `context`.
    unsafe { handle(context, "context") }
        .map_or(std::ptr::null(), |context| context.engine.as_ptr())
}

/// Returns the reason for the choice of the engine; null for null. Valid until the context is closed.
///
/// # Safety
/// `context` is null or a context that was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_context_reason(context: *const pp_context) -> *const c_char {
    // SAFETY: the caller's guarantee for `context`.
    unsafe { handle(context, "context") }
        .map_or(std::ptr::null(), |context| context.reason.as_ptr())
}
