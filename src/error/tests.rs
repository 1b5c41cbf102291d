//! Tests of error messages.

use super::*;
use crate::lz4::BlockError;
use crate::lz4::frame::DetectedFormat;

#[test]
fn texts_have_all_fields() {
    let texts = [
        (
            Error::CorruptPage {
                page: 3,
                source: BlockError::ZeroOffset,
            },
            "page 3: a match has offset 0",
        ),
        (
            Error::MatchBeforeContent {
                page: 0,
                n_bytes: 9,
            },
            "page 0: a match starts 9 bytes before the output: was it compressed with a dictionary (lz4 -D)?",
        ),
        (
            Error::NotLz4 {
                magic: 0x8b1f,
                detected: DetectedFormat::Other("gzip"),
            },
            "not an LZ4 frame: starts with 0x00008b1f; it is gzip",
        ),
        (
            Error::TruncatedFrame { at: 70, needed: 4 },
            "truncated LZ4 frame: expected 4 more bytes at byte 70",
        ),
        (
            Error::ChecksumMismatch {
                what: "block",
                stored: 1,
                computed: u32::MAX,
            },
            "block checksum mismatch: expected 0x00000001, computed 0xffffffff",
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
            Error::InvalidContainer {
                format: crate::lz4::formats::Container::Blosc,
                what: "block size",
                value: 16,
                at: 8,
            },
            "invalid Blosc chunk: block size 0x10 at byte 8",
        ),
        (
            Error::OtherCompressor {
                format: crate::lz4::formats::Container::Blosc,
                name: "zstd",
            },
            "this Blosc chunk is compressed with zstd, not with LZ4",
        ),
        (
            Error::ContentSizeMismatch {
                stored: 10,
                actual: 11,
            },
            "content size mismatch: expected 10 bytes, found 11",
        ),
        (
            Error::DictionaryNeeded { id: 5 },
            "dictionary 0x00000005 is needed; give the dictionary that the data was compressed with",
        ),
        (
            Error::WrongDictionary {
                expected: 5,
                actual: 6,
            },
            "dictionary 0x00000005 is needed, the given one is 0x00000006; give the dictionary that the data was compressed with",
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
            "out of memory: cannot allocate 8 bytes",
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
        (
            Error::InvalidGguf {
                what: "version",
                value: 9,
                at: 4,
            },
            "invalid GGUF file: version 0x9 at byte 4",
        ),
        (Error::Cancelled, "cancelled"),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
    }
    for (detected, text) in [
        (DetectedFormat::Unknown, ""),
        (
            DetectedFormat::Block { n_bytes: 7 },
            "; it is a raw LZ4 block of 7 bytes: set the format to \"block\"",
        ),
        (
            DetectedFormat::SizePrefixed { n_bytes: 7 },
            "; it is an LZ4 block after its size, 7 bytes: set the format to \"size-prefixed\"",
        ),
    ] {
        assert_eq!(detected.to_string(), text);
    }
}

#[cfg(cuda_engine)]
#[test]
fn errors_of_the_compiler_keep_their_texts_and_codes() {
    use crate::ptx::{PtxOptions, compile_wgsl};
    let fails = |wgsl, sm| {
        let options = PtxOptions {
            sm,
            ..PtxOptions::new("main")
        };
        compile_wgsl(wgsl, &options).unwrap_err()
    };
    for (error, expected) in [
        (
            fails("fn main() {\n    oops();\n}", 75),
            "kernel main does not compile: 2:5: ",
        ),
        (
            fails("", 1),
            "invalid sm: 1; give a compute capability times ten, from 70 to 121",
        ),
    ] {
        let (text, code) = (error.to_string(), error.code());
        let error = Error::from(error);
        assert!(text.starts_with(expected), "{text}");
        assert_eq!((error.to_string(), error.code()), (text, code));
    }
}
