//! Containers of other formats: Blosc chunks, chunks of HDF5, shuffles.

use pagepress::lz4::Level;
use pagepress::lz4::formats::blosc::{self, BloscOptions, Shuffle};
use pagepress::lz4::formats::{hdf5, shuffle};

use super::random::{Random, mutated};

/// Containers per execution: the input and mutations of it, and mutations of containers of the input, each read in all formats.
pub const INPUTS: u64 = 16;

const LIMIT: u64 = 1 << 20;

/// Reads containers, which gives content within the limit or an error; what is written is read again.
pub fn containers(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    read(data, &mut random);
    for _ in 1..INPUTS / 4 {
        read(&mutated(data, &mut random), &mut random);
    }
    for container in round_trips(data, &mut random) {
        for _ in 0..INPUTS / 4 {
            read(&mutated(&container, &mut random), &mut random);
        }
    }
    INPUTS
}

/// Reads the bytes in all formats.
fn read(bytes: &[u8], random: &mut Random) {
    let size = random.below(20);
    let all = [
        blosc::decompress(bytes, Some(LIMIT)),
        hdf5::decompress_lz4(bytes, Some(LIMIT)),
        hdf5::decompress_bitshuffle(bytes, size, Some(LIMIT)),
        hdf5::decompress_bitshuffle(bytes, 4, Some(LIMIT)),
    ];
    for content in all.into_iter().flatten() {
        assert!(content.len() as u64 <= LIMIT);
    }
    if let Ok(content) = hdf5::bit_unshuffle(bytes, size, Some(random.below(64))) {
        assert_eq!(content.len(), bytes.len());
    }
}

/// Writes the bytes as the content of a container of each format, and returns these.
fn round_trips(bytes: &[u8], random: &mut Random) -> [Vec<u8>; 3] {
    let size = 1 + random.below(20);
    let kind = random.below(3);
    let options = BloscOptions {
        element_size: size,
        shuffle: [Shuffle::None, Shuffle::Byte, Shuffle::Bit][kind],
        block_size: random.below(bytes.len() + 1),
        level: [None, Some(Level::Sequential), Some(Level::High)][random.below(3)],
    };
    let chunk = blosc::compress(bytes, &options).unwrap();
    assert!(chunk.len() <= bytes.len() + 16);
    assert!(
        blosc::decompress(&chunk, None).as_deref() == Ok(bytes),
        "{options:?}"
    );
    let block = 1 + random.below(bytes.len() + 1);
    let lz4 = hdf5::compress_lz4(bytes, Some(block), Level::Sequential).unwrap();
    assert!(hdf5::decompress_lz4(&lz4, None).as_deref() == Ok(bytes));
    let whole = &bytes[..bytes.len() / size * size];
    let elements = Some(8 * random.below(40));
    let bits = hdf5::compress_bitshuffle(whole, size, elements, Level::Sequential).unwrap();
    assert!(hdf5::decompress_bitshuffle(&bits, size, None).as_deref() == Ok(whole));
    let shuffled = shuffle::bit_shuffle(&shuffle::shuffle(bytes, size).unwrap(), size).unwrap();
    let back = shuffle::unshuffle(&shuffle::bit_unshuffle(&shuffled, size).unwrap(), size);
    assert!(back.as_deref() == Ok(bytes));
    [chunk, lz4, bits]
}
