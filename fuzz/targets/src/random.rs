//! Pseudorandom numbers and mutations that depend only on the input.

pub struct Random(u64);

impl Random {
    /// Returns a generator seeded by `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
        for &byte in bytes.iter().take(4096) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Self(state | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.next() % n as u64) as usize
        }
    }
}

/// Returns the bytes with one to four changes.
pub fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const TELLING: [u8; 12] = [0, 1, 4, 5, 0x0f, 0xf0, 0xff, 0xfe, 0x7f, 0x80, 0x10, 0x1f];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(8) {
            _ if bytes.is_empty() => bytes.push(random.next() as u8),
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = TELLING[random.below(TELLING.len())],
            3 => bytes[at] = random.next() as u8,
            4 => bytes.insert(at, TELLING[random.below(TELLING.len())]),
            5 => {
                let n = 1 + random.below(8);
                bytes.drain(at..(at + n).min(bytes.len()));
            }
            6 => {
                let n = (1 + random.below(64)).min(bytes.len() - at);
                let to = random.below(bytes.len());
                let piece = bytes[at..at + n].to_vec();
                bytes.splice(to..to, piece);
            }
            _ => {
                let word = [0u32, 1, u32::MAX, 1 << 31, 0x7fff_ffff, 4 << 20, 65_536, 12];
                let word = word[random.below(word.len())].to_le_bytes();
                for (to, from) in bytes[at..].iter_mut().zip(word) {
                    *to = from;
                }
            }
        }
    }
    bytes
}
