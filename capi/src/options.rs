//! Options of frames and contexts, as structures of fixed layout.

use pagepress::batch::{BackendRequest, CodecOptions};
use pagepress::lz4::Level;
use pagepress::lz4::frame::FrameOptions;

use crate::call::Failure;
use crate::dictionary::{self, pp_dictionary};
use crate::memory::variable;
use crate::status::pp_status;

/// Levels of compression, for parameters of type `uint32_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum pp_level {
    /// The quickest level of the engine in use: sequential on the CPU, fast on a GPU.
    PP_LEVEL_AUTO = 0,
    /// A greedy data-parallel parse; the same bytes on every engine.
    PP_LEVEL_FAST = 1,
    /// The ratio of `lz4 -9`; the same bytes on every engine.
    PP_LEVEL_HIGH = 2,
    /// The classic parse of LZ4, on the CPU only.
    PP_LEVEL_SEQUENTIAL = 3,
}

/// Engines, for parameters of type `uint32_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum pp_engine {
    /// A hardware GPU where it is measured to be faster, else the CPU.
    PP_ENGINE_AUTO = 0,
    /// The CPU.
    PP_ENGINE_CPU = 1,
    /// A GPU through Vulkan, Metal or DX12, or an error.
    PP_ENGINE_WGPU = 2,
    /// An NVIDIA GPU through CUDA, or an error.
    PP_ENGINE_CUDA = 3,
}

/// Options of a frame. `pp_frame_options_init` sets the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct pp_frame_options {
    /// A value of `pp_level`. The default is `PP_LEVEL_AUTO`.
    pub level: u32,
    /// Bytes of content in a block, 4096 to 4 MiB. The default is 65536. GPUs compress blocks of at most 65536.
    pub block_size: u32,
    /// Not 0: a checksum of the content ends the frame. The default is 1.
    pub content_checksum: u32,
    /// Not 0: each block has a checksum. The default is 0.
    pub block_checksums: u32,
    /// Not 0: an index for random access follows, in a skippable frame. The default is 0.
    pub index: u32,
    /// Not 0: the header states the size of the content. The default is 1. Ignored by `pp_compressor_open`.
    pub content_size: u32,
    /// Stands before each block; null for none, which is the default.
    pub dictionary: *const pp_dictionary,
    /// Must be 0.
    pub reserved: [u64; 4],
}

/// Options of a context. `pp_context_options_init` sets the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct pp_context_options {
    /// A value of `pp_engine`. The default is `PP_ENGINE_AUTO`.
    pub engine: u32,
    /// Index of the adapter among those of the engine; `UINT32_MAX`, which is the default, for the best one.
    pub adapter: u32,
    /// Not 0: `PP_ENGINE_WGPU` may use a software adapter. The default is 0.
    pub allow_software: u32,
    /// Must be 0.
    pub reserved: [u32; 5],
}

/// Sets all options of a frame to their defaults.
///
/// # Safety
/// `options` points to a `pp_frame_options`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_frame_options_init(options: *mut pp_frame_options) -> pp_status {
    crate::call::call(|| {
        // SAFETY: the caller's guarantee for `options`.
        *unsafe { variable(options, "options") }? = DEFAULT_FRAME;
        Ok(())
    })
}

/// Sets all options of a context to their defaults.
///
/// # Safety
/// `options` points to a `pp_context_options`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_context_options_init(options: *mut pp_context_options) -> pp_status {
    crate::call::call(|| {
        // SAFETY: the caller's guarantee for `options`.
        *unsafe { variable(options, "options") }? = DEFAULT_CONTEXT;
        Ok(())
    })
}

const DEFAULT_FRAME: pp_frame_options = pp_frame_options {
    level: pp_level::PP_LEVEL_AUTO as u32,
    block_size: 65_536,
    content_checksum: 1,
    block_checksums: 0,
    index: 0,
    content_size: 1,
    dictionary: std::ptr::null(),
    reserved: [0; 4],
};

const DEFAULT_CONTEXT: pp_context_options = pp_context_options {
    engine: pp_engine::PP_ENGINE_AUTO as u32,
    adapter: u32::MAX,
    allow_software: 0,
    reserved: [0; 5],
};

/// Returns the level of a number; `auto` is that of the engine.
pub(crate) fn level(number: u32, auto: Level) -> Result<Level, Failure> {
    match number {
        0 => Ok(auto),
        1 => Ok(Level::Fast),
        2 => Ok(Level::High),
        3 => Ok(Level::Sequential),
        _ => Err(Failure::argument(format!(
            "invalid level: {number}; give a value of pp_level, 0 to 3"
        ))),
    }
}

/// Returns the options of the crate for a frame of `content_size` bytes, or of unknown size.
///
/// # Safety
/// `options` is null or points to options whose dictionary is null or a handle that was not freed.
pub(crate) unsafe fn frame_options(
    options: *const pp_frame_options,
    auto: Level,
    content_size: Option<usize>,
) -> Result<FrameOptions, Failure> {
    let given = if options.is_null() {
        DEFAULT_FRAME
    } else {
        // SAFETY: the caller's guarantee for `options`.
        *unsafe { crate::memory::handle(options, "options") }?
    };
    if given.reserved != [0; 4] {
        return Err(Failure::argument(
            "options.reserved is not 0; call pp_frame_options_init first",
        ));
    }
    let content_size = content_size.filter(|_| given.content_size != 0);
    Ok(FrameOptions {
        block_size: given.block_size,
        level: level(given.level, auto)?,
        content_checksum: given.content_checksum != 0,
        block_checksums: given.block_checksums != 0,
        content_size: content_size.map(|size| size as u64),
        index: given.index != 0,
        // SAFETY: the caller's guarantee for the dictionary.
        dictionary: unsafe { dictionary::optional(given.dictionary) }?.cloned(),
    })
}

/// Returns the options of the crate for a context.
///
/// # Safety
/// `options` is null or points to options.
pub(crate) unsafe fn codec_options(
    options: *const pp_context_options,
) -> Result<CodecOptions, Failure> {
    let given = if options.is_null() {
        DEFAULT_CONTEXT
    } else {
        // SAFETY: the caller's guarantee for `options`.
        *unsafe { crate::memory::handle(options, "options") }?
    };
    if given.reserved != [0; 5] {
        return Err(Failure::argument(
            "options.reserved is not 0; call pp_context_options_init first",
        ));
    }
    let backend = match given.engine {
        0 => BackendRequest::Auto,
        1 => BackendRequest::Cpu,
        2 => BackendRequest::Wgpu,
        3 => BackendRequest::Cuda,
        other => {
            return Err(Failure::argument(format!(
                "invalid engine: {other}; give a value of pp_engine, 0 to 3"
            )));
        }
    };
    let adapter_index = (given.adapter != u32::MAX).then_some(given.adapter as usize);
    Ok(CodecOptions {
        backend,
        allow_software: given.allow_software != 0,
        adapter_index,
        ..CodecOptions::default()
    })
}
