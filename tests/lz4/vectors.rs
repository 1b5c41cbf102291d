//! Committed test vectors, which pin the canonical bytes.
//!
//! `tests/vectors/blocks.json` has, for recipes of `tests/common/pages.rs`, the block (in hexadecimal if it is short)
//! and its xxHash32. After a deliberate change of the parse, `PAGEPRESS_WRITE_VECTORS=1 cargo test --test lz4_vectors`
//! rewrites the file.

use crate::common::{naive, pages::GENERATORS};
use pagepress::lz4::{Level, Parse, compress_block};
use serde_json::{Value, json};
use twox_hash::XxHash32;

const ABOUT: &str = "Canonical LZ4 blocks of generated pages. generator, length, seed: the content, see \
tests/common/pages.rs; page_size, level: the parameters of the parse; content_xxh32, block_xxh32: hashes with seed 0; \
block: the bytes in hexadecimal, of short blocks.";
/// Longest block in bytes that is written out in full.
const SHORT: usize = 80;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn vector(generator: usize, length: usize, seed: u64, page_size: u32, level: Level) -> Value {
    let (name, generate) = GENERATORS[generator];
    let content = generate(length, seed);
    let parse = Parse::new(page_size, level).expect("in range");
    let mut block = Vec::new();
    compress_block(&content, &parse, &mut block).expect("fits");
    assert!(
        block == naive::compress_block(&content, &parse),
        "{name} {length} {page_size}"
    );
    let mut vector = json!({
        "generator": name,
        "length": length,
        "seed": seed,
        "page_size": page_size,
        "level": format!("{level:?}").to_lowercase(),
        "content_xxh32": format!("{:08x}", XxHash32::oneshot(0, &content)),
        "block_length": block.len(),
        "block_xxh32": format!("{:08x}", XxHash32::oneshot(0, &block)),
    });
    if block.len() <= SHORT {
        vector["block"] = hex(&block).into();
    }
    vector
}

fn vectors() -> Vec<Value> {
    let mut vectors = Vec::new();
    for level in [Level::Fast, Level::High, Level::Sequential] {
        for generator in 0..GENERATORS.len() {
            for length in [1, 12, 13, 63, 200, 4096] {
                vectors.push(vector(generator, length, length as u64, 4096, level));
            }
            for page_size in [8192, 16_384, 32_768, 65_536] {
                vectors.push(vector(generator, page_size as usize, 7, page_size, level));
            }
        }
        vectors.push(vector(3, 300_000, 7, 1 << 20, level));
        vectors.push(vector(13, 100_000, 7, 100_000, level));
    }
    vectors
}

#[test]
fn the_encoder_writes_the_committed_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/blocks.json");
    let vectors = vectors();
    if std::env::var_os("PAGEPRESS_WRITE_VECTORS").is_some() {
        let lines: Vec<String> = vectors
            .iter()
            .map(|vector| format!("    {vector}"))
            .collect();
        let about = json!(ABOUT);
        let text = format!(
            "{{\n  \"about\": {about},\n  \"vectors\": [\n{}\n  ]\n}}\n",
            lines.join(",\n")
        );
        std::fs::write(path, text).expect("writes");
    }
    let text = std::fs::read_to_string(path).expect("the vectors are committed");
    let committed: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let committed = committed["vectors"].as_array().expect("there are vectors");
    assert_eq!(committed.len(), vectors.len());
    for (committed, vector) in committed.iter().zip(&vectors) {
        assert_eq!(committed, vector);
    }
}
