//! Bytes that are no file, or break its rules: errors, soon and without much memory.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::time::Instant;

use pagepress::tensor::gguf::GgufFile;

use crate::build::{ARRAY, BOOL, File, STRING, U8, U32, array, string};
use crate::files::{NAMES, file};

/// Reads a file, and the data of its tensors, in both ways.
fn read(bytes: &[u8]) -> Option<usize> {
    let whole = GgufFile::from_bytes(bytes);
    let parts = GgufFile::open(Cursor::new(bytes));
    let (whole, parts) = match (whole, parts) {
        (Ok(whole), Ok(parts)) => (whole, parts),
        (Err(whole), Err(parts)) => {
            assert_eq!(whole.to_string(), parts.to_string());
            return None;
        }
        (whole, parts) => panic!("{:?} {:?}", whole.err(), parts.err()),
    };
    assert_eq!(whole.tensors(), parts.tensors());
    for tensor in whole.tensors() {
        assert_eq!(whole.tensor(tensor.name()), Some(tensor));
        let Ok(range) = tensor.range() else {
            continue;
        };
        assert!(range.is_empty() || range.end <= bytes.len() as u64);
        let data = tensor.data(bytes).unwrap();
        assert_eq!(tensor.to_f32(data).is_ok(), tensor.is_readable());
    }
    for (key, value) in whole.metadata() {
        // NaN differs from itself.
        assert_eq!(
            format!("{:?}", whole.value(key)),
            format!("{:?}", Some(value))
        );
    }
    Some(whole.tensors().len())
}

#[test]
fn every_truncation_is_an_error_or_has_fewer_data() {
    for name in NAMES {
        let bytes = file(name);
        let Ok(whole) = GgufFile::from_bytes(&bytes) else {
            continue;
        };
        let ends = whole
            .tensors()
            .iter()
            .map(|tensor| tensor.range().unwrap().end);
        let end = ends.max().unwrap_or(0);
        for n in 0..bytes.len() {
            let found = GgufFile::from_bytes(&bytes[..n]);
            if end > 0 {
                assert_eq!(found.is_ok(), n as u64 >= end, "{name} {n}");
            }
            if let Err(error) = found {
                assert_eq!(error.code(), "INVALID_GGUF");
            }
        }
        for n in (0..bytes.len()).step_by(37) {
            read(&bytes[..n]);
        }
    }
}

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn mutated_headers_are_read_or_refused() {
    let mut random = Random(88_172_645_463_325_252);
    let everything = file("everything");
    let end = GgufFile::from_bytes(&everything).unwrap().tensors()[0]
        .range()
        .unwrap()
        .start as usize;
    let small = File::default()
        .key("a", U32, &[1, 0, 0, 0])
        .key("b", ARRAY, &array(ARRAY, 1, &array(BOOL, 2, &[0, 1])))
        .key("general.alignment", U32, &[32, 0, 0, 0])
        .tensor("x", &[4, 2], 0, 0)
        .tensor("y", &[32], 8, 32)
        .data(&[1; 66]);
    let small = small.bytes();
    let (mut n_read, started) = (0, Instant::now());
    for i in 0..100_000 {
        let (bytes, end) = match i % 20 {
            0 => (&everything, end),
            _ => (&small, small.len()),
        };
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(end);
            bytes[at] = match random.below(4) {
                0 => bytes[at] ^ 1 << random.below(8),
                1 => [0, 1, 127, 128, 255][random.below(5)],
                _ => random.below(256) as u8,
            };
        }
        n_read += usize::from(read(&bytes).is_some());
    }
    println!("{n_read} of 100000 are read, in {:?}", started.elapsed());
    assert!(n_read > 1000 && n_read < 99_000);
}

#[track_caller]
fn refused(file: &File, text: &str) {
    let bytes = file.bytes();
    assert!(read(&bytes).is_none());
    let error = GgufFile::from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn seeds_of_the_fuzz_target_are_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/gguf");
    for (name, n_tensors) in [("seed_tensors", 4), ("seed_nested", 0)] {
        let bytes = std::fs::read(format!("{folder}/{name}")).unwrap();
        assert_eq!(read(&bytes), Some(n_tensors), "{name}");
    }
}

#[test]
fn broken_rules_are_named() {
    let file = File::default;
    assert_eq!(read(&file().bytes()), Some(0));
    let versions = [(0, "version 0x0"), (1, "version 0x1"), (4, "version 0x4")];
    for (version, text) in versions {
        refused(&File { version, ..file() }, text);
    }
    let big = File {
        version: 3 << 24,
        ..file()
    };
    refused(&big, "big-endian");
    let many = File {
        n_tensors: u64::MAX,
        ..file()
    };
    refused(&many, "number of tensors 0xffffffffffffffff at byte 8");
    refused(
        &File {
            n_keys: 1 << 60,
            ..file()
        },
        "number of keys",
    );
    refused(&file().key("a", 13, &[0; 8]), "type of a value 0xd");
    refused(&file().key("a", BOOL, &[2]), "truth value 0x2");
    refused(
        &file().key("a", STRING, &string(&[b'a', 0xff])),
        "not UTF-8: 0xff",
    );
    let long = [&u64::MAX.to_le_bytes(), b"abc".as_slice()].concat();
    refused(
        &file().key("a", STRING, &long),
        "the file ends inside a field",
    );
    refused(
        &file().key(&"k".repeat(65_536), U8, &[1]),
        "length of a name",
    );
    refused(
        &file().key("a", ARRAY, &array(U8, 1 << 40, &[])),
        "length of an array",
    );
    refused(
        &file().key("a", ARRAY, &array(13, 1, &[0; 8])),
        "type of values",
    );
    let mut deep = array(U8, 1, &[1]);
    for _ in 0..4 {
        deep = array(ARRAY, 1, &deep);
    }
    refused(&file().key("a", ARRAY, &deep), "deeper than");
    let twice = file()
        .key("a", U8, &[1])
        .key("b", U8, &[1])
        .key("a", U8, &[2]);
    refused(&twice, "key that an earlier one equals, with index 0x2");
    for bad in [0, 3, 48] {
        let alignment = file().key("general.alignment", U32, &[bad, 0, 0, 0]);
        refused(&alignment, "alignment");
    }
    refused(
        &file().key("general.alignment", U8, &[32]),
        "alignment of another type",
    );
}

#[test]
fn broken_tensors_are_named() {
    let file = || File::default().data(&[0; 64]);
    assert_eq!(read(&file().tensor("x", &[16], 0, 0).bytes()), Some(1));
    refused(&file().tensor("x", &[16], 0, 32), "beyond the end");
    refused(&file().tensor("x", &[17], 0, 0), "beyond the end");
    refused(&file().tensor("x", &[8], 0, 4), "not aligned");
    refused(
        &file().tensor("x", &[8], 0, u64::MAX - 31),
        "beyond the end",
    );
    refused(
        &file().tensor("x", &[1, 1, 1, 1, 1], 0, 0),
        "number of axes 0x5",
    );
    refused(&file().tensor("x", &[16], 8, 0), "not whole blocks");
    refused(&file().tensor("x", &[1 << 40, 1 << 40], 0, 0), "shape");
    refused(&file().tensor("x", &[0, 1 << 62], 0, 0), "shape");
    refused(&file().tensor("x", &[1 << 60], 28, 0), "beyond the end");
    let twice = file().tensor("x", &[4], 0, 0).tensor("x", &[8], 0, 32);
    refused(
        &twice,
        "tensor with the name of an earlier one, with index 0x1",
    );
}

/// Counts that the size of a file allows, but its content does not, must not reserve memory of their size; many empty values are
/// read in a time of their number.
#[test]
fn large_counts_cost_what_is_read() {
    let started = Instant::now();
    let bytes = vec![0xff; 32 << 20];
    let n = (bytes.len() / 8) as u64;
    let value = [array(STRING, n, &[]), bytes].concat();
    refused(
        &File::default().key("a", ARRAY, &value),
        "the file ends inside",
    );
    let empty = array(STRING, 1 << 20, &vec![0; 8 << 20]);
    let file = File::default().key("a", ARRAY, &empty);
    assert_eq!(read(&file.bytes()), Some(0));
    let mut file = File::default();
    for i in 0..50_000 {
        file = file.tensor(&format!("{i}"), &[0], 0, 0);
    }
    assert_eq!(read(&file.bytes()), Some(50_000));
    println!("{:?}", started.elapsed());
}

/// A file of 1 TiB: a few bytes, and zeros behind them.
struct Sparse {
    start: Vec<u8>,
    at: u64,
    n_read: u64,
}

impl Read for Sparse {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        out.fill(0);
        let start = self.start.get(self.at as usize..).unwrap_or_default();
        let n = start.len().min(out.len());
        out[..n].copy_from_slice(&start[..n]);
        self.at += out.len() as u64;
        self.n_read += out.len() as u64;
        Ok(out.len())
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(off) => (1u64 << 40).saturating_add_signed(off),
            SeekFrom::Current(off) => self.at.saturating_add_signed(off),
        };
        Ok(self.at)
    }
}

#[test]
fn headers_end_at_256_mib() {
    let text = |n: u64| File::default().key("a", STRING, &n.to_le_bytes());
    let numbers = |n: u64| File::default().key("a", ARRAY, &array(U32, n, &[]));
    for file in [text(1 << 38), numbers(1 << 36)] {
        let mut reader = Sparse {
            start: file.bytes(),
            at: 0,
            n_read: 0,
        };
        let error = GgufFile::open(&mut reader).unwrap_err().to_string();
        assert!(error.contains("header above 256 MiB"), "{error}");
        assert!(reader.n_read <= 1 << 20);
    }
}
