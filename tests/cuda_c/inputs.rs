//! Inputs: numbers that are the same in every run.

use std::ops::Range;

/// A generator of pseudo-random words (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        self.word() % bound
    }
}

pub fn words(seed: u64, n: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.word()).collect()
}

pub fn bytes(seed: u64, n: usize) -> Vec<u8> {
    words(seed, n).into_iter().map(|w| w as u8).collect()
}

pub fn ints(seed: u64, n: usize, range: Range<i32>) -> Vec<i32> {
    let width = range.end.wrapping_sub(range.start) as u32;
    let values = words(seed, n).into_iter();
    values
        .map(|w| range.start.wrapping_add((w % width) as i32))
        .collect()
}

pub fn naturals(seed: u64, n: usize, bound: u32) -> Vec<u32> {
    words(seed, n).into_iter().map(|w| w % bound).collect()
}

/// Numbers of 16 random bits each, evenly distributed over the range.
pub fn floats(seed: u64, n: usize, range: Range<f32>) -> Vec<f32> {
    let width = range.end - range.start;
    let values = words(seed, n).into_iter();
    values
        .map(|w| range.start + width * (w & 0xffff) as f32 / 65536.0)
        .collect()
}

/// Whole numbers as floats, whose sums and products are exact.
pub fn whole_floats(seed: u64, n: usize, range: Range<i32>) -> Vec<f32> {
    ints(seed, n, range).into_iter().map(|v| v as f32).collect()
}
