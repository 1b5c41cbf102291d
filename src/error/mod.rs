//! One error type for the whole crate: fields, not prose, and a stable code shared with JavaScript.

use crate::lz4::BlockError;
use crate::lz4::frame::Seen;
use crate::ops::Shape;

#[cfg(any(web, web_engine))]
mod js;
#[cfg(test)]
mod tests;

#[cfg(web)]
pub(crate) use js::coded;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, on every engine.
///
/// [`Error::code`] is the name that JavaScript sees as `error.code`; codes never change meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(lz4_only, error(""))]
#[non_exhaustive]
pub enum Error {
    /// A block is not valid LZ4.
    #[error("page {page}: {source}")]
    CorruptPage {
        /// Index of the page in its batch, or of the block in its frame.
        page: usize,
        /// What the decoder found.
        source: BlockError,
    },
    /// A match of a block of a frame starts before the content: the block is not valid, or was compressed with a dictionary
    /// (`lz4 -D`), which a frame need not say. Its code is that of [`Error::CorruptPage`].
    #[error(
        "page {page}: a match reaches {n_bytes} bytes before the content: was it compressed with a dictionary (lz4 -D)?"
    )]
    MatchBeforeContent {
        /// Index of the block in its frame.
        page: usize,
        /// Bytes between the start of the match and the start of the content.
        n_bytes: u64,
    },
    /// The input does not start with an LZ4 frame, legacy frame or skippable frame.
    #[error("not an LZ4 frame: starts with {magic:#010x}{seen}")]
    NotLz4 {
        /// The first four bytes, little-endian; fewer bytes are padded with zeros.
        magic: u32,
        /// What it seems to be instead.
        seen: Seen,
    },
    /// A frame ends before its end mark.
    #[error("truncated LZ4 frame: {needed} more bytes needed at byte {at}")]
    TruncatedFrame {
        /// Offset in the input at which bytes ran out.
        at: u64,
        /// How many more bytes the next field needs at least.
        needed: u64,
    },
    /// A checksum of a frame does not match its data.
    #[error("{what} checksum mismatch: stored {stored:#010x}, computed {computed:#010x}")]
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
    /// The content is not as long as the frame header says.
    #[error("content size mismatch: header says {stored} bytes, content has {actual}")]
    ContentSizeMismatch {
        /// Size in the frame header.
        stored: u64,
        /// Size decoded.
        actual: u64,
    },
    /// The frame needs a dictionary.
    #[error("this frame needs dictionary {id:#010x}; dictionaries are not supported")]
    DictionaryNeeded {
        /// The dictionary id of the frame.
        id: u32,
    },
    /// The output would exceed the limit the caller set.
    #[error("output exceeds the limit of {limit} bytes")]
    OutputLimit {
        /// The limit.
        limit: u64,
    },
    /// The output does not fit in the array of JavaScript that the caller gave. Its code is that of [`Error::OutputLimit`].
    #[cfg(web_files)]
    #[error("the content has at least {needed} bytes, and the array given has {actual}")]
    OutputTooSmall {
        /// Bytes of content, as far as they are known.
        needed: u64,
        /// Bytes of the array.
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
    /// Shapes that an operation cannot take together.
    #[cfg_attr(
        not(lz4_only),
        error("{operation}: shapes {left} and {right} do not fit; {expected}")
    )]
    ShapeMismatch {
        /// The operation, by its public name.
        operation: &'static str,
        /// Shape of the first tensor.
        left: Shape,
        /// Shape of the second tensor, or the shape asked for.
        right: Shape,
        /// How they would fit.
        expected: &'static str,
    },
    /// A slice has not as many elements as the operation needs.
    #[cfg_attr(
        not(lz4_only),
        error("{name} has {actual} elements, {expected} are needed")
    )]
    LengthMismatch {
        /// The argument, by its public name.
        name: &'static str,
        /// Elements needed; [`u64::MAX`] where they are more than that counts.
        expected: u64,
        /// Elements given.
        actual: u64,
    },
    /// A forced backend is not on this machine.
    #[cfg_attr(not(lz4_only), error("backend {backend} is not available: {reason}"))]
    BackendUnavailable {
        /// The backend asked for.
        backend: &'static str,
        /// Why, candidate by candidate.
        reason: String,
    },
    /// The GPU went away and could not be brought back.
    #[cfg_attr(not(lz4_only), error("GPU device lost: {reason}"))]
    DeviceLost {
        /// What the driver said.
        reason: String,
    },
    /// There is not enough memory, on the GPU or on the host.
    #[error("out of memory: {requested} bytes asked for")]
    OutOfMemory {
        /// Size of the allocation that failed.
        requested: u64,
    },
    /// A kernel does not compile.
    #[cfg_attr(not(lz4_only), error("kernel {kernel} does not compile: {message}"))]
    KernelCompile {
        /// Entry point.
        kernel: String,
        /// The compiler's words, with line and column.
        message: String,
    },
    /// The engine refused a call.
    #[cfg_attr(not(lz4_only), error("{engine} engine: {message}"))]
    Engine {
        /// The engine's name.
        engine: &'static str,
        /// Its words.
        message: String,
    },
    /// The caller cancelled the work.
    #[cfg_attr(not(lz4_only), error("cancelled"))]
    Cancelled,
}

impl Error {
    /// Whether this comes of engines and tensors, in a module of the npm package that has neither: with nothing to say of
    /// these, it is smaller.
    const fn is_left_out(&self) -> bool {
        cfg!(lz4_only)
            && matches!(
                self,
                Self::ShapeMismatch { .. }
                    | Self::LengthMismatch { .. }
                    | Self::BackendUnavailable { .. }
                    | Self::DeviceLost { .. }
                    | Self::KernelCompile { .. }
                    | Self::Engine { .. }
                    | Self::Cancelled
            )
    }

    /// An argument that is a number outside its domain.
    pub(crate) fn invalid(name: &'static str, value: u64, expected: &'static str) -> Self {
        Self::InvalidArgument {
            name,
            value: format!("{value}"),
            expected,
        }
    }

    /// The same error; if it says that `bytes` are no frame, with what they are.
    pub(crate) fn having_seen(self, bytes: &[u8]) -> Self {
        match self {
            Self::NotLz4 { magic, .. } => Self::NotLz4 {
                magic,
                seen: Seen::of(bytes),
            },
            other => other,
        }
    }

    /// The stable code, the same in Rust and in JavaScript.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        if self.is_left_out() {
            return "";
        }
        match self {
            Self::CorruptPage { .. } | Self::MatchBeforeContent { .. } => "CORRUPT_PAGE",
            Self::NotLz4 { .. } => "NOT_LZ4",
            Self::TruncatedFrame { .. } => "TRUNCATED_FRAME",
            Self::ChecksumMismatch { .. } => "CHECKSUM_MISMATCH",
            Self::InvalidFrame { .. } => "INVALID_FRAME",
            Self::ContentSizeMismatch { .. } => "CONTENT_SIZE_MISMATCH",
            Self::DictionaryNeeded { .. } => "DICTIONARY_NEEDED",
            Self::OutputLimit { .. } => "OUTPUT_LIMIT",
            #[cfg(web_files)]
            Self::OutputTooSmall { .. } => "OUTPUT_LIMIT",
            Self::InvalidArgument { .. } => "INVALID_ARGUMENT",
            Self::ShapeMismatch { .. } => "SHAPE_MISMATCH",
            Self::LengthMismatch { .. } => "LENGTH_MISMATCH",
            Self::BackendUnavailable { .. } => "BACKEND_UNAVAILABLE",
            Self::DeviceLost { .. } => "DEVICE_LOST",
            Self::OutOfMemory { .. } => "OUT_OF_MEMORY",
            Self::KernelCompile { .. } => "KERNEL_COMPILE",
            Self::Engine { .. } => "ENGINE",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// The error is the source of the other; its kind is the nearest.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error {
            Error::TruncatedFrame { .. } => ErrorKind::UnexpectedEof,
            Error::CorruptPage { .. }
            | Error::MatchBeforeContent { .. }
            | Error::NotLz4 { .. }
            | Error::ChecksumMismatch { .. }
            | Error::InvalidFrame { .. }
            | Error::ContentSizeMismatch { .. } => ErrorKind::InvalidData,
            Error::InvalidArgument { .. }
            | Error::ShapeMismatch { .. }
            | Error::LengthMismatch { .. } => ErrorKind::InvalidInput,
            Error::DictionaryNeeded { .. } | Error::BackendUnavailable { .. } => {
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
