//! Chunks of all lengths, their blocks, and blocks that are corrupt, in memory with gaps between them.

use pagepress::lz4::{Level, Parse, compress_block};

use super::pages::{GENERATORS, Random};

/// Byte of memory that nothing may write.
pub const CANARY: u8 = 0xa5;

/// Returns `n` chunks of at most `max_bytes`, of all kinds of content; the first ones have the lengths at which something changes.
pub fn chunks(n: usize, max_bytes: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let edges = [
        0,
        1,
        4,
        7,
        8,
        11,
        12,
        13,
        14,
        16,
        24,
        255,
        270,
        max_bytes - 1,
        max_bytes,
    ];
    let lengths = edges.into_iter().chain((0..).map(|i| match i % 3 {
        0 => max_bytes,
        _ => random.below(max_bytes + 1),
    }));
    let kinds = GENERATORS.iter().cycle();
    let made = lengths.zip(kinds).take(n).enumerate();
    made.map(|(i, (length, (_, generate)))| generate(length.min(max_bytes), seed + i as u64))
        .collect()
}

/// Returns the page size whose parse the blocks of chunks have.
pub fn page_size(max_bytes: usize) -> u32 {
    max_bytes.next_power_of_two().max(4096) as u32
}

/// Returns the block of a chunk, as the CPU makes it.
pub fn block_of(chunk: &[u8], max_bytes: usize) -> Vec<u8> {
    let parse = Parse::new(page_size(max_bytes), Level::Fast).unwrap();
    let mut block = Vec::new();
    compress_block(chunk, &parse, &mut block).unwrap();
    if block.len() < chunk.len() {
        return block;
    }
    literals(chunk)
}

/// Returns a block that is one run of literals.
pub fn literals(chunk: &[u8]) -> Vec<u8> {
    let n = chunk.len();
    let mut block = vec![(n.min(15) as u8) << 4];
    if n >= 15 {
        block.extend(vec![255; (n - 15) / 255]);
        block.push(((n - 15) % 255) as u8);
    }
    block.extend_from_slice(chunk);
    block
}

/// Memory in which each item has room of its own, at any address, with canaries between.
pub struct Memory {
    pub bytes: Vec<u8>,
    pub starts: Vec<u64>,
    rooms: Vec<usize>,
}

impl Memory {
    /// Lays out rooms of these sizes.
    pub fn with_rooms(rooms: Vec<usize>, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut bytes = vec![CANARY; 64];
        let mut starts = Vec::new();
        for &room in &rooms {
            bytes.resize(bytes.len() + 1 + random.below(9), CANARY);
            starts.push(bytes.len() as u64);
            bytes.resize(bytes.len() + room, CANARY);
        }
        bytes.resize((bytes.len() + 64).next_multiple_of(4), CANARY);
        Self {
            bytes,
            starts,
            rooms,
        }
    }

    /// Lays out items one behind the other.
    pub fn of(items: &[Vec<u8>], seed: u64) -> Self {
        let mut memory = Self::with_rooms(items.iter().map(Vec::len).collect(), seed);
        for (item, &start) in items.iter().zip(&memory.starts) {
            memory.bytes[start as usize..][..item.len()].copy_from_slice(item);
        }
        memory
    }

    /// Returns the bytes of an item of `n` bytes.
    pub fn item(&self, i: usize, n: usize) -> &[u8] {
        assert!(
            n <= self.rooms[i],
            "item {i} of {n} bytes in {}",
            self.rooms[i]
        );
        &self.bytes[self.starts[i] as usize..][..n]
    }

    /// Checks that nothing was written outside of the first `lengths[i]` bytes of each item.
    pub fn check_canaries(&self, lengths: &[usize]) {
        let mut end = 0;
        let starts = self.starts.iter().map(|&start| start as usize);
        for (start, length) in starts.zip(lengths).chain([(self.bytes.len(), &0)]) {
            let between = &self.bytes[end..start];
            assert!(
                between.iter().all(|&byte| byte == CANARY),
                "written from {end} to {start}: {between:?}"
            );
            end = start + length;
        }
    }
}

/// Returns words of 64 bits as bytes.
pub fn words_64(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the lengths of items as bytes.
pub fn lengths_64(items: &[Vec<u8>]) -> Vec<u8> {
    words_64(
        &items
            .iter()
            .map(|item| item.len() as u64)
            .collect::<Vec<_>>(),
    )
}

/// Returns sizes of 64 bits.
pub fn sizes(bytes: &[u8]) -> Vec<usize> {
    let words = bytes.chunks_exact(8);
    words
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()) as usize)
        .collect()
}

/// Returns codes of 32 bits.
pub fn codes(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

/// Returns corrupt blocks, with the code of the error that each has in a capacity of `max_bytes`.
pub fn corrupt_blocks(max_bytes: usize) -> Vec<(Vec<u8>, u32)> {
    let long = literals(&vec![7; max_bytes + 1]);
    vec![
        (vec![], 6),
        (vec![0x10], 1),
        (vec![0xf0, 255], 1),
        (vec![0x10, 1, 0, 0, 0], 3),
        (vec![0x10, 1, 2, 0, 0], 4),
        (vec![0x10, 1, 1, 0], 1),
        (vec![0x1f, 1, 1, 0, 255, 255, 255], 1),
        (long, 2),
        (vec![0x55; 4 * max_bytes + 100], 6),
    ]
}
