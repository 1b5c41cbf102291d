//! GGUF files, whole and by parts, and packing numbers.

use std::io::{Cursor, Read, Seek, SeekFrom};

use pagepress::tensor::gguf::GgufFile;
use pagepress::tensor::{Quantization, cpu};

use super::random::{Random, mutated};

/// Files per execution: the input, mutations of it, a header before it with right counts, and its words as numbers.
pub const INPUTS: u64 = 16;

/// Most elements of a tensor that is unpacked.
const LIMIT: usize = 1 << 20;

/// Reads files, which gives the same from memory and from a reader; packs the words of the input.
pub fn gguf(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    read(data, &mut random);
    for _ in 2..INPUTS {
        let mut bytes = mutated(data, &mut random);
        if bytes.len() >= 8 && random.below(4) > 0 {
            bytes[..4].copy_from_slice(b"GGUF");
            bytes[4..8].copy_from_slice(&[3, 0, 0, 0]);
        }
        read(&bytes, &mut random);
    }
    pack(data, &mut random);
    INPUTS
}

fn read(bytes: &[u8], random: &mut Random) {
    let mut reader = Pieces {
        bytes: Cursor::new(bytes),
        most: 1 + random.below(40),
    };
    let (whole, parts) = (GgufFile::from_bytes(bytes), GgufFile::open(&mut reader));
    let (whole, parts) = match (whole, parts) {
        (Ok(whole), Ok(parts)) => (whole, parts),
        (Err(whole), Err(parts)) => {
            assert_eq!(whole.to_string(), parts.to_string());
            return;
        }
        (whole, parts) => panic!("{:?} and {:?}", whole.err(), parts.err()),
    };
    // As text, since NaN differs from itself.
    let [a, b] = [&whole, &parts].map(|file| format!("{:?}", file.metadata()));
    assert_eq!(a, b);
    assert_eq!(whole.tensors(), parts.tensors());
    for tensor in whole.tensors() {
        assert_eq!(whole.tensor(tensor.name()), Some(tensor));
        let Ok(range) = tensor.range() else {
            continue;
        };
        assert!(range.is_empty() || range.end <= bytes.len() as u64);
        let data = tensor.data(bytes).unwrap();
        assert_eq!(tensor.read(&mut reader).unwrap(), data);
        if tensor.shape().n_elements() > LIMIT {
            continue;
        }
        match tensor.to_f32(data) {
            Ok(numbers) => assert_eq!(numbers.len(), tensor.shape().n_elements()),
            Err(_) => assert!(!tensor.is_readable()),
        }
    }
}

/// Packs words as floats: finite ones within the format come back finite.
fn pack(data: &[u8], random: &mut Random) {
    let all = [
        Quantization::Q4K,
        Quantization::Q5K,
        Quantization::Q6K,
        Quantization::Q8_0,
        Quantization::F16,
    ];
    let quantization = all[random.below(all.len())];
    let (words, _) = data.as_chunks::<4>();
    let mut numbers: Vec<f32> = words.iter().map(|&word| f32::from_le_bytes(word)).collect();
    let n = numbers.len() / quantization.block_len() * quantization.block_len();
    numbers.truncate(n.max(quantization.block_len()));
    numbers.resize(n.max(quantization.block_len()), 0.5);
    if random.below(4) > 0 {
        let limit = 10f32.powi(random.below(9) as i32 - 5);
        for x in &mut numbers {
            *x = if x.is_nan() {
                0.0
            } else {
                x.clamp(-limit, limit)
            };
        }
    }
    let Ok(blocks) = cpu::quantize_to_vec(quantization, &numbers) else {
        return;
    };
    let mut found = vec![f32::NAN; numbers.len()];
    cpu::dequantize(quantization, &blocks, &mut found).unwrap();
    let largest = numbers.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    for (x, y) in numbers.iter().zip(found) {
        assert!(
            (x - y).abs() <= largest / 2.0 + 1e-7,
            "{quantization:?} {x} {y}"
        );
    }
}

/// Gives at most so many bytes at once.
struct Pieces<'a> {
    bytes: Cursor<&'a [u8]>,
    most: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = out.len().min(self.most);
        self.bytes.read(&mut out[..n])
    }
}

impl Seek for Pieces<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(to)
    }
}
