//! One error type for the whole crate: fields, not prose, and a stable code shared with JavaScript.

use std::fmt;

use crate::lz4::BlockError;
use crate::lz4::frame::Seen;
use crate::tensor::Shape;
use crate::text::fill;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, on every engine.
///
/// [`Error::code`] is the name that JavaScript sees as `error.code`; codes never change meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A block is not valid LZ4.
    CorruptPage {
        /// Index of the page in its batch, or of the block in its frame.
        page: usize,
        /// What the decoder found.
        source: BlockError,
    },
    /// The input does not start with an LZ4 frame, legacy frame or skippable frame.
    NotLz4 {
        /// The first four bytes, little-endian; fewer bytes are padded with zeros.
        magic: u32,
        /// What it seems to be instead.
        seen: Seen,
    },
    /// A frame ends before its end mark.
    TruncatedFrame {
        /// Offset in the input at which bytes ran out.
        at: u64,
        /// How many more bytes the next field needs at least.
        needed: u64,
    },
    /// A checksum of a frame does not match its data.
    ChecksumMismatch {
        /// `"header"`, `"block"` or `"content"`.
        what: &'static str,
        /// The checksum in the frame.
        stored: u32,
        /// The checksum of the data.
        computed: u32,
    },
    /// A frame header or block header breaks the frame format.
    InvalidFrame {
        /// The field, for example `"version"`, `"reserved bit"`, `"block size"`.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Offset in the input of the field.
        at: u64,
    },
    /// The content is not as long as the frame header says.
    ContentSizeMismatch {
        /// Size in the frame header.
        stored: u64,
        /// Size decoded.
        actual: u64,
    },
    /// The frame needs a dictionary.
    DictionaryNeeded {
        /// The dictionary id of the frame.
        id: u32,
    },
    /// The output would exceed the limit the caller set.
    OutputLimit {
        /// The limit.
        limit: u64,
    },
    /// An argument has a value outside its domain.
    InvalidArgument {
        /// The argument, by its public name.
        name: &'static str,
        /// The value given.
        value: String,
        /// The domain or remedy.
        expected: &'static str,
    },
    /// Shapes that an operation cannot take together.
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
    LengthMismatch {
        /// The argument, by its public name.
        name: &'static str,
        /// Elements needed.
        expected: u64,
        /// Elements given.
        actual: u64,
    },
    /// A forced backend is not on this machine.
    BackendUnavailable {
        /// The backend asked for.
        backend: &'static str,
        /// Why, candidate by candidate.
        reason: String,
    },
    /// The GPU went away and could not be brought back.
    DeviceLost {
        /// What the driver said.
        reason: String,
    },
    /// The GPU has not enough memory.
    OutOfMemory {
        /// Size of the allocation that failed.
        requested: u64,
    },
    /// A kernel does not compile.
    KernelCompile {
        /// Entry point.
        kernel: String,
        /// The compiler's words, with line and column.
        message: String,
    },
    /// The engine refused a call.
    Engine {
        /// The engine's name.
        engine: &'static str,
        /// Its words.
        message: String,
    },
    /// The caller cancelled the work.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Error {
    /// What it says, in one sentence.
    pub(crate) fn text(&self) -> String {
        let (template, names, [a, b]): (&str, [&str; 3], [u64; 2]) = match self {
            Self::CorruptPage { page, source } => {
                ("page #: $", [source.text(), "", ""], [*page as u64, 0])
            }
            Self::NotLz4 { magic, seen } => {
                let template = "not an LZ4 frame: starts with &$";
                return fill(template, &[&seen.text()], &[(*magic).into()]);
            }
            Self::TruncatedFrame { at, needed } => (
                "truncated LZ4 frame: # more bytes needed at byte #",
                [""; 3],
                [*needed, *at],
            ),
            Self::ChecksumMismatch {
                what,
                stored,
                computed,
            } => (
                "$ checksum mismatch: stored &, computed &",
                [what, "", ""],
                [(*stored).into(), (*computed).into()],
            ),
            Self::InvalidFrame { what, value, at } => (
                "invalid LZ4 frame: $ % at byte #",
                [what, "", ""],
                [*value, *at],
            ),
            Self::ContentSizeMismatch { stored, actual } => (
                "content size mismatch: header says # bytes, content has #",
                [""; 3],
                [*stored, *actual],
            ),
            Self::DictionaryNeeded { id } => (
                "this frame needs dictionary &; dictionaries are not supported",
                [""; 3],
                [(*id).into(), 0],
            ),
            Self::OutputLimit { limit } => {
                ("output exceeds the limit of # bytes", [""; 3], [*limit, 0])
            }
            Self::InvalidArgument {
                name,
                value,
                expected,
            } => ("invalid $: $; $", [name, value, expected], [0; 2]),
            Self::ShapeMismatch {
                operation,
                left,
                right,
                expected,
            } => {
                let template = "$: shapes $ and $ do not fit; $";
                return fill(
                    template,
                    &[operation, &left.text(), &right.text(), expected],
                    &[],
                );
            }
            Self::LengthMismatch {
                name,
                expected,
                actual,
            } => (
                "$ has # elements, # are needed",
                [name, "", ""],
                [*actual, *expected],
            ),
            Self::BackendUnavailable { backend, reason } => (
                "backend $ is not available: $",
                [backend, reason, ""],
                [0; 2],
            ),
            Self::DeviceLost { reason } => ("GPU device lost: $", [reason, "", ""], [0; 2]),
            Self::OutOfMemory { requested } => (
                "out of GPU memory: # bytes asked for",
                [""; 3],
                [*requested, 0],
            ),
            Self::KernelCompile { kernel, message } => (
                "kernel $ does not compile: $",
                [kernel, message, ""],
                [0; 2],
            ),
            Self::Engine { engine, message } => ("$ engine: $", [engine, message, ""], [0; 2]),
            Self::Cancelled => ("cancelled", [""; 3], [0; 2]),
        };
        fill(template, &names, &[a, b])
    }

    /// An argument that is a number outside its domain.
    pub(crate) fn invalid(name: &'static str, value: u64, expected: &'static str) -> Self {
        Self::InvalidArgument {
            name,
            value: fill("#", &[], &[value]),
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
        match self {
            Self::CorruptPage { .. } => "CORRUPT_PAGE",
            Self::NotLz4 { .. } => "NOT_LZ4",
            Self::TruncatedFrame { .. } => "TRUNCATED_FRAME",
            Self::ChecksumMismatch { .. } => "CHECKSUM_MISMATCH",
            Self::InvalidFrame { .. } => "INVALID_FRAME",
            Self::ContentSizeMismatch { .. } => "CONTENT_SIZE_MISMATCH",
            Self::DictionaryNeeded { .. } => "DICTIONARY_NEEDED",
            Self::OutputLimit { .. } => "OUTPUT_LIMIT",
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

/// An `Error` of JavaScript with the property `code`.
#[cfg(all(target_arch = "wasm32", feature = "wgpu"))]
impl From<Error> for wasm_bindgen::JsValue {
    fn from(error: Error) -> Self {
        let value = js_sys::Error::new(&error.text());
        // An object that was made here is neither frozen nor a proxy.
        let _ = js_sys::Reflect::set(&value, &"code".into(), &error.code().into());
        value.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_all_fields() {
        let texts = [
            (
                Error::CorruptPage {
                    page: 3,
                    source: BlockError::ZeroOffset,
                },
                "page 3: match offset is zero",
            ),
            (
                Error::NotLz4 {
                    magic: 0x8b1f,
                    seen: Seen::Other("gzip"),
                },
                "not an LZ4 frame: starts with 0x00008b1f; it is gzip",
            ),
            (
                Error::TruncatedFrame { at: 70, needed: 4 },
                "truncated LZ4 frame: 4 more bytes needed at byte 70",
            ),
            (
                Error::ChecksumMismatch {
                    what: "block",
                    stored: 1,
                    computed: u32::MAX,
                },
                "block checksum mismatch: stored 0x00000001, computed 0xffffffff",
            ),
            (
                Error::InvalidFrame {
                    what: "version",
                    value: 2,
                    at: 4,
                },
                "invalid LZ4 frame: version 0x2 at byte 4",
            ),
            (
                Error::ContentSizeMismatch {
                    stored: 10,
                    actual: 11,
                },
                "content size mismatch: header says 10 bytes, content has 11",
            ),
            (
                Error::DictionaryNeeded { id: 5 },
                "this frame needs dictionary 0x00000005; dictionaries are not supported",
            ),
            (
                Error::OutputLimit { limit: 9 },
                "output exceeds the limit of 9 bytes",
            ),
            (
                Error::invalid("page size", 1, "give more"),
                "invalid page size: 1; give more",
            ),
            (
                Error::BackendUnavailable {
                    backend: "GPU",
                    reason: "none".into(),
                },
                "backend GPU is not available: none",
            ),
            (
                Error::DeviceLost {
                    reason: "gone".into(),
                },
                "GPU device lost: gone",
            ),
            (
                Error::OutOfMemory { requested: 8 },
                "out of GPU memory: 8 bytes asked for",
            ),
            (
                Error::KernelCompile {
                    kernel: "emit".into(),
                    message: "1:1".into(),
                },
                "kernel emit does not compile: 1:1",
            ),
            (
                Error::Engine {
                    engine: "wgpu",
                    message: "no".into(),
                },
                "wgpu engine: no",
            ),
            (Error::Cancelled, "cancelled"),
        ];
        for (error, text) in texts {
            assert_eq!(error.to_string(), text);
        }
        for (seen, text) in [
            (Seen::Unknown, ""),
            (
                Seen::Block { n_bytes: 7 },
                "; it is a raw LZ4 block of 7 bytes: give the format \"block\"",
            ),
            (
                Seen::SizePrefixed { n_bytes: 7 },
                "; it is an LZ4 block with its size, 7 bytes, in front: give the format \"size-prefixed\"",
            ),
        ] {
            assert_eq!(seen.to_string(), text);
        }
    }
}
