//! Round trips on all instruction sets.

use pagepress::lz4::{Encoder, Level, Parse, decompress_block};

use super::random::Random;

/// Least round trips per execution: two contents, three levels, two block sizes.
pub const INPUTS: u64 = 12;

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];
const SIZES: [u32; 7] = [4096, 8192, 16_384, 32_768, 65_536, 100_000, 1 << 20];

/// Compresses contents with every instruction set of this machine at every level: the blocks are equal, and decode to
/// the content here and in liblz4.
pub fn round_trip(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    let contents = [data.to_vec(), expanded(data)];
    let mut n = 0;
    for content in &contents {
        for size in [SIZES[random.below(2)], SIZES[random.below(SIZES.len())]] {
            for level in LEVELS {
                let block = &content[..content.len().min(size as usize)];
                n += one(block, &Parse::new(size, level).unwrap());
            }
        }
    }
    n
}

fn one(content: &[u8], parse: &Parse) -> u64 {
    let mut first: Option<Vec<u8>> = None;
    let mut n = 0;
    for mut encoder in Encoder::for_all_instructions(parse, None) {
        // The second call reuses a hash table.
        for _ in 0..2 {
            let mut block = Vec::new();
            encoder.compress_block(content, &mut block).unwrap();
            match &first {
                Some(first) => assert!(*first == block, "other bytes"),
                None => first = Some(block),
            }
        }
        n += 1;
    }
    let block = first.unwrap();
    let mut decoded = vec![0xa5; content.len()];
    assert_eq!(decompress_block(&block, &mut decoded), Ok(()));
    assert!(decoded == content, "other content");
    if !content.is_empty() {
        decoded.fill(0xa5);
        let n_theirs = lzzzz::lz4::decompress(&block, &mut decoded);
        assert!(
            n_theirs.is_ok_and(|n| n == content.len()) && decoded == content,
            "liblz4 gives other content"
        );
    }
    n
}

/// Expands bytes to content with matches: some become literals, others copies of earlier content.
fn expanded(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = data.iter().copied();
    while let Some(byte) = rest.next() {
        let n = usize::from(byte & 31);
        match byte >> 5 {
            0..=2 => out.extend(rest.by_ref().take(n)),
            3 => out.extend(std::iter::repeat_n(byte, n * 16)),
            _ => {
                let low = usize::from(rest.next().unwrap_or(0));
                let offset = 1 + (low | usize::from(byte & 0x60) << 4);
                for _ in 0..4 + n * (1 + low % 7) {
                    let from = out
                        .len()
                        .checked_sub(offset)
                        .and_then(|at| out.get(at).copied());
                    out.push(from.unwrap_or(byte));
                }
            }
        }
        if out.len() > 1 << 18 {
            break;
        }
    }
    out
}
