//! Deterministic pages for tests: the same bytes on every machine and target.

/// A pseudorandom number generator (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}

/// A generator: its name, and the function from length and seed to a page.
pub type Generator = (&'static str, fn(usize, u64) -> Vec<u8>);

/// The kinds of pages in the committed vectors; the last, [`mixed`], combines the others.
pub const GENERATORS: [Generator; 14] = [
    ("zeros", zeros),
    ("painted", painted),
    ("random", random),
    ("text", text),
    ("memory", memory),
    ("runs", runs),
    ("periodic", periodic),
    ("sparse", sparse),
    ("near_fill", near_fill),
    ("long_matches", long_matches),
    ("far_matches", far_matches),
    ("few_symbols", few_symbols),
    ("shifted_copies", shifted_copies),
    ("mixed", mixed),
];

/// Pages filled with a word of 1 to 8 bytes, and pages with a deviation from such a fill. A fill by 1, 2, 4 or 8 bytes
/// is also a fill by a 64-bit word, which formats and engines handle separately.
pub const WORDS: [Generator; 16] = [
    ("words of 1", |length, seed| words(length, seed, 1)),
    ("words of 2", |length, seed| words(length, seed, 2)),
    ("words of 3", |length, seed| words(length, seed, 3)),
    ("words of 4", |length, seed| words(length, seed, 4)),
    ("words of 5", |length, seed| words(length, seed, 5)),
    ("words of 6", |length, seed| words(length, seed, 6)),
    ("words of 7", |length, seed| words(length, seed, 7)),
    ("words of 8", |length, seed| words(length, seed, 8)),
    ("nearly words of 1", |length, seed| {
        near_words(length, seed, 1)
    }),
    ("nearly words of 2", |length, seed| {
        near_words(length, seed, 2)
    }),
    ("nearly words of 3", |length, seed| {
        near_words(length, seed, 3)
    }),
    ("nearly words of 4", |length, seed| {
        near_words(length, seed, 4)
    }),
    ("nearly words of 5", |length, seed| {
        near_words(length, seed, 5)
    }),
    ("nearly words of 6", |length, seed| {
        near_words(length, seed, 6)
    }),
    ("nearly words of 7", |length, seed| {
        near_words(length, seed, 7)
    }),
    ("nearly words of 8", |length, seed| {
        near_words(length, seed, 8)
    }),
];

/// Returns every kind of page.
pub fn every_generator() -> impl Iterator<Item = Generator> + Clone {
    GENERATORS.into_iter().chain(WORDS)
}

/// Returns a word of `period` bytes in which no two neighbours are equal and no part repeats.
fn word(seed: u64, period: usize) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut word: Vec<u8> = (0..period).map(|_| random.byte()).collect();
    for i in 1..period {
        while word[..i].contains(&word[i]) {
            word[i] = word[i].wrapping_add(1);
        }
    }
    word
}

fn words(length: usize, seed: u64, period: usize) -> Vec<u8> {
    let word = word(seed, period);
    (0..length).map(|i| word[i % period]).collect()
}

/// Returns the page of [`words`] with one deviation, which the seed selects.
fn near_words(length: usize, seed: u64, period: usize) -> Vec<u8> {
    let mut out = words(length, seed / 7, period);
    let mut random = Random::new(seed);
    let Some(last) = length.checked_sub(1) else {
        return out;
    };
    match seed % 7 {
        0 => out[last] ^= 1,
        1 => out[0] ^= 0x80,
        2 => out[random.below(length)] ^= 1 << random.below(8),
        // From the middle on, another word with the same first half.
        3 => {
            let middle = length / 2 / 8 * 8;
            (middle..length).for_each(|i| out[i] ^= u8::from(i % 8 >= 4));
        }
        // One additional byte, so that the remainder is shifted.
        4 => {
            out.insert(random.below(length), 7);
            out.truncate(length);
        }
        // A deviation in the last word only.
        5 => out.iter_mut().rev().take(8).for_each(|byte| *byte ^= 0x55),
        // Words with a counter.
        _ => {
            let counted = out.chunks_exact_mut(8).enumerate();
            counted.for_each(|(i, word)| word[7] ^= (i / 100) as u8);
        }
    }
    out
}

pub fn zeros(length: usize, _seed: u64) -> Vec<u8> {
    vec![0; length]
}

/// Returns bytes of which byte i is (i + seed) mod 251, so that exchanged blocks are detected.
pub fn painted(length: usize, seed: u64) -> Vec<u8> {
    (0..length as u64)
        .map(|i| ((i + seed) % 251) as u8)
        .collect()
}

pub fn random(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..length).map(|_| random.byte()).collect()
}

/// Returns text: words of unequal frequency, with punctuation and line breaks.
pub fn text(length: usize, seed: u64) -> Vec<u8> {
    const WORDS: [&str; 32] = [
        "the",
        "of",
        "and",
        "a",
        "to",
        "in",
        "page",
        "memory",
        "which",
        "compress",
        "window",
        "kernel",
        "he",
        "was",
        "that",
        "it",
        "his",
        "her",
        "with",
        "as",
        "had",
        "for",
        "she",
        "not",
        "at",
        "but",
        "literal",
        "sequence",
        "offset",
        "workgroup",
        "invocation",
        "storage",
    ];
    let mut random = Random::new(seed);
    let mut out = Vec::with_capacity(length + 16);
    while out.len() < length {
        let word = WORDS[random.below(32).min(random.below(32))];
        out.extend_from_slice(word.as_bytes());
        out.extend_from_slice(match random.below(12) {
            0 => b", ",
            1 => b".\n",
            _ => b" ",
        });
    }
    out.truncate(length);
    out
}

/// Returns 8-byte words like those of a heap: pointers into a few regions, small integers, zeros, flags.
pub fn memory(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let base = 0x7f00_0000_0000 | (random.next() & 0xffff_f000);
    let mut out = Vec::with_capacity(length + 8);
    while out.len() < length {
        let word = match random.below(8) {
            0 | 1 => 0,
            2 | 3 => base + 16 * random.below(4096) as u64,
            4 => random.below(256) as u64,
            5 => 1 << random.below(63),
            6 => u64::MAX,
            _ => random.next(),
        };
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.truncate(length);
    out
}

/// Returns runs of one byte, with lengths from 1 to more than one length byte can store.
pub fn runs(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = Vec::with_capacity(length + 600);
    while out.len() < length {
        let longest = [4, 20, 80, 600][random.below(4)];
        let byte = random.byte();
        out.resize(out.len() + 1 + random.below(longest), byte);
    }
    out.truncate(length);
    out
}

/// Returns a repeated period of 1 to 300 bytes, whose length the seed selects.
pub fn periodic(length: usize, seed: u64) -> Vec<u8> {
    let period = 1 + seed as usize % 300;
    let pattern = random(period, seed);
    (0..length).map(|i| pattern[i % period]).collect()
}

/// Returns zeros with a few other bytes.
pub fn sparse(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = vec![0; length];
    if length > 0 {
        for _ in 0..1 + random.below(1 + length / 100) {
            out[random.below(length)] = random.byte();
        }
    }
    out
}

/// Returns a fill of one 8-byte word, with one byte changed for odd seeds.
pub fn near_fill(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed / 2);
    let word = random.next().to_le_bytes();
    let mut out: Vec<u8> = (0..length).map(|i| word[i % 8]).collect();
    if length > 0 && !seed.is_multiple_of(2) {
        out[random.below(length)] ^= 1 << random.below(8);
    }
    out
}

/// Returns a short random start, then long copies from any earlier position.
pub fn long_matches(length: usize, seed: u64) -> Vec<u8> {
    copies(length, seed, 900, 40)
}

/// Returns many short copies from any earlier position: offsets up to the whole page.
pub fn far_matches(length: usize, seed: u64) -> Vec<u8> {
    copies(length, seed, 12, 12)
}

fn copies(length: usize, seed: u64, longest_copy: usize, longest_literals: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = vec![random.byte()];
    while out.len() < length {
        for _ in 0..random.below(longest_literals) {
            out.push(random.byte());
        }
        let from = random.below(out.len());
        for i in 0..4 + random.below(longest_copy) {
            out.push(out[from + i]);
        }
    }
    out.truncate(length);
    out
}

/// Returns bytes of an alphabet of 2 to 5 symbols: matches everywhere, full buckets.
pub fn few_symbols(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let symbols = 2 + random.below(4);
    (0..length)
        .map(|_| b'a' + random.below(symbols) as u8)
        .collect()
}

/// Returns a record repeated at every alignment modulo 8, separated by a counting byte.
pub fn shifted_copies(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let record: Vec<u8> = (0..5 + random.below(120)).map(|_| random.byte()).collect();
    let mut out = Vec::with_capacity(length + record.len());
    let mut count = 0_u8;
    while out.len() < length {
        out.extend_from_slice(&record);
        out.extend(std::iter::repeat_n(count, random.below(8)));
        count = count.wrapping_add(1);
    }
    out.truncate(length);
    out
}

/// Returns pieces of all other kinds.
pub fn mixed(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = Vec::with_capacity(length);
    while out.len() < length {
        let (_, generator) = GENERATORS[random.below(GENERATORS.len() - 1)];
        let piece = 1 + random.below(400);
        out.extend(generator(
            piece.min(length - out.len()),
            random.next() % 1000,
        ));
    }
    out
}

/// Returns lengths at the boundaries of the format, of windows, of words and of a page.
pub fn edge_lengths(page_size: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (1..=30).collect();
    for around in [64, 128, 255, 256 + 15, page_size / 2] {
        lengths.extend(around - 4..=around + 4);
    }
    lengths.extend((60..90).chain(page_size - 20..=page_size));
    lengths.retain(|&length| length <= page_size);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}
