//! The crate's error type: fields for programs, a message that names the value and the remedy, and a stable code shared
//! with JavaScript.

use crate::lz4::BlockError;
use crate::lz4::formats::Container;
use crate::lz4::frame::DetectedFormat;
use crate::ops::Shape;

#[cfg(any(web, web_engine))]
mod js;
#[cfg(test)]
mod tests;

#[cfg(web)]
pub(crate) use js::coded;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of any engine.
///
/// JavaScript sees [`Error::code`] as `error.code`; codes never change meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(any(lz4_only, no_snapshot), error(""))]
#[non_exhaustive]
pub enum Error {
    /// A block is not valid LZ4.
    #[error("page {page}: {source}")]
    CorruptPage {
        /// Index of the page in its batch, or of the block in its frame.
        page: usize,
        /// The error of the decoder.
        source: BlockError,
    },
    /// A match in a block of a frame starts before the content: the block is invalid, or was compressed with a
    /// dictionary (`lz4 -D`), which a frame need not state. Its code is that of [`Error::CorruptPage`].
    #[error(
        "page {page}: a match starts {n_bytes} bytes before the output: was it compressed with a dictionary (lz4 -D)?"
    )]
    MatchBeforeContent {
        /// Index of the block in its frame.
        page: usize,
        /// Bytes between the start of the match and the start of the content.
        n_bytes: u64,
    },
    /// The input does not start with an LZ4 frame, legacy frame or skippable frame.
    #[error("not an LZ4 frame: starts with {magic:#010x}{detected}")]
    NotLz4 {
        /// The first four bytes, little-endian; fewer bytes are padded with zeros.
        magic: u32,
        /// The detected format.
        detected: DetectedFormat,
    },
    /// A frame ends before its end mark.
    #[error("truncated LZ4 frame: expected {needed} more bytes at byte {at}")]
    TruncatedFrame {
        /// Offset in the input at which bytes ran out.
        at: u64,
        /// Bytes that the next field needs at least.
        needed: u64,
    },
    /// A checksum of a frame does not match its data.
    #[error("{what} checksum mismatch: expected {stored:#010x}, computed {computed:#010x}")]
    ChecksumMismatch {
        /// `"header"`, `"block"` or `"content"`.
        what: &'static str,
        /// The checksum in the frame.
        stored: u32,
        /// The checksum of the data.
        computed: u32,
    },
    /// A frame header or block header breaks the frame format.
    #[error("invalid LZ4 frame: {what} {value:#x} at byte {at}")]
    InvalidFrame {
        /// The field, for example `"version"`, `"reserved bit"`, `"block size"`.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Offset in the input of the field.
        at: u64,
    },
    /// A container of LZ4 blocks, such as a Blosc chunk, breaks its format. Its code is that of [`Error::InvalidFrame`].
    #[cfg_attr(
        any(not(lz4_only), web_formats),
        error("invalid {format}: {what} {value:#x} at byte {at}")
    )]
    InvalidContainer {
        /// The format.
        format: Container,
        /// The field, for example `"version"`, `"block size"`.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Offset in the input of the field.
        at: u64,
    },
    /// A container holds data of another compressor than LZ4. Its code is that of [`Error::NotLz4`].
    #[cfg_attr(
        any(not(lz4_only), web_formats),
        error("this {format} is compressed with {name}, not with LZ4")
    )]
    OtherCompressor {
        /// The format.
        format: Container,
        /// The compressor, for example `"zstd"`.
        name: &'static str,
    },
    /// The content has another size than the frame header states.
    #[error("content size mismatch: expected {stored} bytes, found {actual}")]
    ContentSizeMismatch {
        /// Size in the frame header.
        stored: u64,
        /// Size decoded.
        actual: u64,
    },
    /// The frame or batch of pages was compressed with a dictionary, and none was given.
    #[error(
        "dictionary {id:#010x} is needed; give the dictionary that the data was compressed with"
    )]
    DictionaryNeeded {
        /// The dictionary id of the frame or batch.
        id: u32,
    },
    /// The frame or batch of pages was compressed with another dictionary than the given one.
    #[error(
        "dictionary {expected:#010x} is needed, the given one is {actual:#010x}; give the dictionary that the data was compressed with"
    )]
    WrongDictionary {
        /// The dictionary id of the frame or batch.
        expected: u32,
        /// The id of the given dictionary.
        actual: u32,
    },
    /// The output would exceed the caller's limit.
    #[error("output exceeds the limit of {limit} bytes")]
    OutputLimit {
        /// The limit.
        limit: u64,
    },
    /// The result does not fit in the memory of the caller. Its code is that of [`Error::OutputLimit`].
    #[error("the output has {actual} bytes, expected at least {needed}")]
    OutputTooSmall {
        /// Bytes of the result, as far as known.
        needed: u64,
        /// Bytes of the caller's memory.
        actual: u64,
    },
    /// An argument has a value outside its domain.
    #[error("invalid {name}: {value}; {expected}")]
    InvalidArgument {
        /// The argument, by its public name.
        name: &'static str,
        /// The value given.
        value: String,
        /// The domain or remedy.
        expected: &'static str,
    },
    /// An operation does not accept these shapes together.
    #[cfg_attr(
        not(lz4_only),
        error("{operation}: shapes {left} and {right} do not fit; {expected}")
    )]
    ShapeMismatch {
        /// The operation, by its public name.
        operation: &'static str,
        /// Shape of the first tensor.
        left: Shape,
        /// Shape of the second tensor, or the requested shape.
        right: Shape,
        /// The shapes that would fit.
        expected: &'static str,
    },
    /// A slice has another number of elements than the operation needs.
    #[cfg_attr(
        not(lz4_only),
        error("{name} has {actual} elements, expected {expected}")
    )]
    LengthMismatch {
        /// The argument, by its public name.
        name: &'static str,
        /// Elements needed; [`u64::MAX`] if the number overflows.
        expected: u64,
        /// Elements given.
        actual: u64,
    },
    /// The requested backend is not available on this machine.
    #[cfg_attr(not(lz4_only), error("backend {backend} is not available: {reason}"))]
    BackendUnavailable {
        /// The requested backend.
        backend: &'static str,
        /// The reason for each candidate.
        reason: String,
    },
    /// The GPU was lost and could not be reopened.
    #[cfg_attr(not(lz4_only), error("GPU device lost: {reason}"))]
    DeviceLost {
        /// The driver's message.
        reason: String,
    },
    /// There is not enough memory, on the GPU or on the host.
    #[error("out of memory: cannot allocate {requested} bytes")]
    OutOfMemory {
        /// Size of the allocation that failed.
        requested: u64,
    },
    /// A kernel does not compile.
    #[cfg_attr(not(lz4_only), error("kernel {kernel} does not compile: {message}"))]
    KernelCompile {
        /// Entry point.
        kernel: String,
        /// The compiler's message, with line and column.
        message: String,
    },
    /// An engine rejected a call.
    #[cfg_attr(not(lz4_only), error("{engine} engine: {message}"))]
    Engine {
        /// The engine's name.
        engine: &'static str,
        /// Its message.
        message: String,
    },
    /// Bytes are no snapshot, or a damaged one.
    #[cfg_attr(not(no_snapshot), error("not a snapshot, or a damaged one: {what}"))]
    InvalidSnapshot {
        /// The rule that they break.
        what: &'static str,
    },
    /// A page of a snapshot has other content than its hash says. Its code is that of [`Error::ChecksumMismatch`].
    #[cfg_attr(
        not(no_snapshot),
        error("page {page} of the snapshot is damaged: its content has another hash")
    )]
    PageMismatch {
        /// Index of the page in the image.
        page: usize,
    },
    /// A snapshot continues another version than the given one. Ids are hexadecimal digits, as
    /// [`ContentHash`](crate::snapshot::ContentHash) displays them.
    #[cfg_attr(
        not(no_snapshot),
        error(
            "the snapshot continues version {needed}, which is needed to read it; the given version is {}",
            .given.as_deref().unwrap_or("none")
        )
    )]
    WrongBase {
        /// Id of the version that the snapshot continues.
        needed: String,
        /// Id of the given version, if there was one.
        given: Option<String>,
    },
    /// Bytes are no GGUF file, or one that breaks the format.
    #[cfg_attr(
        not(lz4_only),
        error("invalid GGUF file: {what} {value:#x} at byte {at}")
    )]
    InvalidGguf {
        /// The field or the rule, for example `"version"`, `"length of an array"`.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Offset in the file of the field, or of the list that it is in.
        at: u64,
    },
    /// The caller cancelled the work.
    #[cfg_attr(not(lz4_only), error("cancelled"))]
    Cancelled,
}

impl Error {
    /// Returns true for the errors of engines and tensors in the npm package's CPU module, which has neither: without
    /// their messages it is smaller.
    const fn is_left_out(&self) -> bool {
        let is_snapshot = matches!(
            self,
            Self::InvalidSnapshot { .. } | Self::PageMismatch { .. } | Self::WrongBase { .. }
        );
        cfg!(no_snapshot) && is_snapshot
            || cfg!(lz4_only)
                && matches!(
                    self,
                    Self::ShapeMismatch { .. }
                        | Self::LengthMismatch { .. }
                        | Self::BackendUnavailable { .. }
                        | Self::DeviceLost { .. }
                        | Self::KernelCompile { .. }
                        | Self::Engine { .. }
                        | Self::InvalidGguf { .. }
                        | Self::Cancelled
                )
    }

    /// Returns the error of a numeric argument outside its domain.
    pub(crate) fn invalid(name: &'static str, value: u64, expected: &'static str) -> Self {
        Self::InvalidArgument {
            name,
            value: format!("{value}"),
            expected,
        }
    }

    /// Adds the detected format of `bytes` if the error is [`Error::NotLz4`].
    pub(crate) fn with_detected_format(self, bytes: &[u8]) -> Self {
        match self {
            Self::NotLz4 { magic, .. } => Self::NotLz4 {
                magic,
                detected: DetectedFormat::of(bytes),
            },
            other => other,
        }
    }

    /// Returns the stable code, which is the same in Rust and in JavaScript.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        if self.is_left_out() {
            return "";
        }
        match self {
            Self::CorruptPage { .. } | Self::MatchBeforeContent { .. } => "CORRUPT_PAGE",
            Self::NotLz4 { .. } | Self::OtherCompressor { .. } => "NOT_LZ4",
            Self::TruncatedFrame { .. } => "TRUNCATED_FRAME",
            Self::ChecksumMismatch { .. } => "CHECKSUM_MISMATCH",
            Self::InvalidFrame { .. } | Self::InvalidContainer { .. } => "INVALID_FRAME",
            Self::ContentSizeMismatch { .. } => "CONTENT_SIZE_MISMATCH",
            Self::DictionaryNeeded { .. } => "DICTIONARY_NEEDED",
            Self::WrongDictionary { .. } => "WRONG_DICTIONARY",
            Self::OutputLimit { .. } => "OUTPUT_LIMIT",
            Self::OutputTooSmall { .. } => "OUTPUT_LIMIT",
            Self::InvalidArgument { .. } => "INVALID_ARGUMENT",
            Self::ShapeMismatch { .. } => "SHAPE_MISMATCH",
            Self::LengthMismatch { .. } => "LENGTH_MISMATCH",
            Self::BackendUnavailable { .. } => "BACKEND_UNAVAILABLE",
            Self::DeviceLost { .. } => "DEVICE_LOST",
            Self::OutOfMemory { .. } => "OUT_OF_MEMORY",
            Self::KernelCompile { .. } => "KERNEL_COMPILE",
            Self::Engine { .. } => "ENGINE",
            Self::InvalidSnapshot { .. } => "INVALID_SNAPSHOT",
            Self::PageMismatch { .. } => "CHECKSUM_MISMATCH",
            Self::WrongBase { .. } => "WRONG_BASE",
            Self::InvalidGguf { .. } => "INVALID_GGUF",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// Converts an error of the compiler to the variant of the same name, text and code.
#[cfg(cuda_engine)]
impl From<wgsl_ptx::Error> for Error {
    fn from(error: wgsl_ptx::Error) -> Self {
        match error {
            wgsl_ptx::Error::KernelCompile { kernel, message } => {
                Self::KernelCompile { kernel, message }
            }
            wgsl_ptx::Error::InvalidArgument {
                name,
                value,
                expected,
            } => Self::InvalidArgument {
                name,
                value,
                expected,
            },
            // A later version of the compiler may have more.
            other => Self::Engine {
                engine: "wgsl-ptx",
                message: other.to_string(),
            },
        }
    }
}

/// Wraps the error as the source of an I/O error of the nearest kind.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error {
            Error::TruncatedFrame { .. } => ErrorKind::UnexpectedEof,
            Error::InvalidSnapshot { .. }
            | Error::InvalidGguf { .. }
            | Error::PageMismatch { .. }
            | Error::CorruptPage { .. }
            | Error::MatchBeforeContent { .. }
            | Error::NotLz4 { .. }
            | Error::ChecksumMismatch { .. }
            | Error::InvalidFrame { .. }
            | Error::InvalidContainer { .. }
            | Error::ContentSizeMismatch { .. } => ErrorKind::InvalidData,
            Error::InvalidArgument { .. }
            | Error::DictionaryNeeded { .. }
            | Error::WrongDictionary { .. }
            | Error::ShapeMismatch { .. }
            | Error::WrongBase { .. }
            | Error::LengthMismatch { .. } => ErrorKind::InvalidInput,
            Error::OtherCompressor { .. } | Error::BackendUnavailable { .. } => {
                ErrorKind::Unsupported
            }
            Error::OutOfMemory { .. } => ErrorKind::OutOfMemory,
            _ => ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}
