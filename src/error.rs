//! One error type for the whole crate: fields, not prose, and a stable code shared with JavaScript.

use std::fmt;

use crate::lz4::BlockError;
use crate::lz4::frame::Seen;
use crate::text::Part::{Hex, Number, Text, Word};
use crate::text::{number, text};

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
        match self {
            Self::CorruptPage { page, source } => text(&[
                Text("page "),
                Number(*page as u64),
                Text(": "),
                Text(source.text()),
            ]),
            Self::NotLz4 { magic, seen } => text(&[
                Text("not an LZ4 frame: starts with "),
                Word(*magic),
                Text(&seen.text()),
            ]),
            Self::TruncatedFrame { at, needed } => text(&[
                Text("truncated LZ4 frame: "),
                Number(*needed),
                Text(" more bytes needed at byte "),
                Number(*at),
            ]),
            Self::ChecksumMismatch {
                what,
                stored,
                computed,
            } => text(&[
                Text(what),
                Text(" checksum mismatch: stored "),
                Word(*stored),
                Text(", computed "),
                Word(*computed),
            ]),
            Self::InvalidFrame { what, value, at } => text(&[
                Text("invalid LZ4 frame: "),
                Text(what),
                Text(" "),
                Hex(*value),
                Text(" at byte "),
                Number(*at),
            ]),
            Self::ContentSizeMismatch { stored, actual } => text(&[
                Text("content size mismatch: header says "),
                Number(*stored),
                Text(" bytes, content has "),
                Number(*actual),
            ]),
            Self::DictionaryNeeded { id } => text(&[
                Text("this frame needs dictionary "),
                Word(*id),
                Text("; dictionaries are not supported"),
            ]),
            Self::OutputLimit { limit } => text(&[
                Text("output exceeds the limit of "),
                Number(*limit),
                Text(" bytes"),
            ]),
            Self::InvalidArgument {
                name,
                value,
                expected,
            } => text(&[
                Text("invalid "),
                Text(name),
                Text(": "),
                Text(value),
                Text("; "),
                Text(expected),
            ]),
            other => other.text_of_engines(),
        }
    }

    /// The same of what only engines say.
    fn text_of_engines(&self) -> String {
        match self {
            Self::BackendUnavailable { backend, reason } => text(&[
                Text("backend "),
                Text(backend),
                Text(" is not available: "),
                Text(reason),
            ]),
            Self::DeviceLost { reason } => text(&[Text("GPU device lost: "), Text(reason)]),
            Self::OutOfMemory { requested } => text(&[
                Text("out of GPU memory: "),
                Number(*requested),
                Text(" bytes asked for"),
            ]),
            Self::KernelCompile { kernel, message } => text(&[
                Text("kernel "),
                Text(kernel),
                Text(" does not compile: "),
                Text(message),
            ]),
            Self::Engine { engine, message } => {
                text(&[Text(engine), Text(" engine: "), Text(message)])
            }
            _ => "cancelled".into(),
        }
    }

    /// An argument that is a number outside its domain.
    pub(crate) fn invalid(name: &'static str, value: u64, expected: &'static str) -> Self {
        Self::InvalidArgument {
            name,
            value: number(value),
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
            Error::InvalidArgument { .. } => ErrorKind::InvalidInput,
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
