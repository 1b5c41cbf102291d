//! The streaming reader.

use std::io::Read;

use pagepress::batch::{BackendRequest, Codec, CodecOptions, DecompressReader};
use pagepress::lz4::frame::decompress;

use super::LIMIT;
use super::random::{Random, mutated};
use super::repair::repair_file;

/// Streams per execution.
pub const INPUTS: u64 = 8;

/// Returns its bytes in pieces of varying sizes.
struct Pieces<'a> {
    rest: &'a [u8],
    random: Random,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = [1, 7, 4096, 100_000][self.random.below(4)];
        let n = 1 + self.random.below(most);
        let n = n.min(self.rest.len()).min(buffer.len());
        let (piece, rest) = self.rest.split_at(n);
        buffer[..n].copy_from_slice(piece);
        self.rest = rest;
        Ok(n)
    }
}

/// Reads streams in pieces of varying sizes: a valid one returns its content, a damaged one an error, and no content
/// after it.
pub fn reader(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    one(data, &mut random);
    for i in 1..INPUTS {
        let mut bytes = mutated(data, &mut random);
        if i % 2 == 0 {
            repair_file(&mut bytes);
        }
        one(&bytes, &mut random);
    }
    INPUTS
}

fn one(bytes: &[u8], random: &mut Random) {
    let whole = decompress(bytes, Some(LIMIT));
    let codec = Codec::new(CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    });
    let pieces = Pieces {
        rest: bytes,
        random: Random::of(bytes),
    };
    let mut reader = DecompressReader::new(pieces, codec.unwrap(), Some(LIMIT));
    let mut content = Vec::new();
    let most = [3, 100, 5000, 300_000][random.below(4)];
    let mut buffer = vec![0; 1 + random.below(most)];
    let failed = loop {
        match reader.read(&mut buffer) {
            Ok(0) => break false,
            Ok(n) => content.extend_from_slice(&buffer[..n]),
            Err(_) => break true,
        }
    };
    match whole {
        Ok(whole) => assert!(!failed && content == whole, "other content"),
        Err(error) => assert!(failed, "no error, though {error}"),
    }
    // After an error, only the error; after the end, nothing.
    for _ in 0..3 {
        match reader.read(&mut buffer) {
            Ok(n) => assert!(n == 0 && !failed, "{n} bytes after an error"),
            Err(_) => assert!(failed),
        }
    }
}
