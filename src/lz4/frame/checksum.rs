//! xxHash32 with seed 0: the checksum of the frame format.
//!
//! Four accumulators take one word of each 16-byte stripe. The multiplication of the words is independent of the
//! accumulators, and is vectorised. The accumulators stay scalar, since each of their steps depends on the last and a
//! vector's latency is longer. Only [`Lanes`] are a vector: they are for work that hides the latency, and take fewer
//! instructions.

const PRIMES: [u32; 5] = [
    0x9e37_79b1,
    0x85eb_ca77,
    0xc2b2_ae3d,
    0x27d4_eb2f,
    0x1656_67b1,
];
pub(crate) const STRIPE_BYTES: usize = 16;

pub(crate) type Stripe = [u8; STRIPE_BYTES];

/// An incremental xxHash32.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    lanes: [u32; 4],
    /// Bytes that do not fill a stripe yet: the first `n_bytes % STRIPE_BYTES` of the array.
    held: Stripe,
    n_bytes: u64,
}

impl Checksum {
    /// Returns the checksum state of no bytes.
    pub(crate) const fn new() -> Self {
        let [first, second, ..] = PRIMES;
        Self {
            lanes: [first.wrapping_add(second), second, 0, first.wrapping_neg()],
            held: [0; _],
            n_bytes: 0,
        }
    }

    /// Adds the next part.
    #[inline(never)]
    pub(crate) fn add(&mut self, mut part: &[u8]) {
        let n_held = self.n_held();
        self.n_bytes += part.len() as u64;
        if n_held > 0 {
            let (start, rest) = part.split_at(part.len().min(STRIPE_BYTES - n_held));
            self.held[n_held..n_held + start.len()].copy_from_slice(start);
            if n_held + start.len() < STRIPE_BYTES {
                return;
            }
            self.lanes = mixed(self.lanes, &[self.held]);
            part = rest;
        }
        let (stripes, rest) = part.as_chunks();
        self.lanes = mixed(self.lanes, stripes);
        self.held[..rest.len()].copy_from_slice(rest);
    }

    /// Returns the checksum of all parts so far.
    #[inline(never)]
    pub(crate) fn value(&self) -> u32 {
        let [first, second, third, fourth, fifth] = PRIMES;
        let mut sum = if self.n_bytes < STRIPE_BYTES as u64 {
            fifth
        } else {
            let turned = self.lanes.iter().zip([1, 7, 12, 18]);
            turned.fold(0, |sum: u32, (lane, bits)| {
                sum.wrapping_add(lane.rotate_left(bits))
            })
        };
        sum = sum.wrapping_add(self.n_bytes as u32);
        let (words, bytes) = self.held[..self.n_held()].as_chunks();
        for word in words {
            let added = sum.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(third));
            sum = added.rotate_left(17).wrapping_mul(fourth);
        }
        for &byte in bytes {
            let added = sum.wrapping_add(u32::from(byte).wrapping_mul(fifth));
            sum = added.rotate_left(11).wrapping_mul(first);
        }
        sum = (sum ^ sum >> 15).wrapping_mul(second);
        sum = (sum ^ sum >> 13).wrapping_mul(third);
        sum ^ sum >> 16
    }

    const fn n_held(&self) -> usize {
        self.n_bytes as usize % STRIPE_BYTES
    }

    /// Returns the accumulators, to go on with whole stripes; `None` inside a stripe.
    pub(crate) fn lanes(&self) -> Option<Lanes> {
        (self.n_held() == 0).then(|| Lanes::new(self.lanes))
    }

    /// Takes over the accumulators after `n_bytes` more, a multiple of [`STRIPE_BYTES`].
    pub(crate) fn advance(&mut self, lanes: Lanes, n_bytes: usize) {
        debug_assert!(n_bytes.is_multiple_of(STRIPE_BYTES));
        self.lanes = lanes.values();
        self.n_bytes += n_bytes as u64;
    }
}

/// The accumulators between two stripes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes(Vector);

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Vector = std::arch::wasm32::v128;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl Lanes {
    fn new([a, b, c, d]: [u32; 4]) -> Self {
        Self(std::arch::wasm32::u32x4(a, b, c, d))
    }

    fn values(self) -> [u32; 4] {
        use std::arch::wasm32::u32x4_extract_lane as lane;
        let Self(all) = self;
        [
            lane::<0>(all),
            lane::<1>(all),
            lane::<2>(all),
            lane::<3>(all),
        ]
    }

    /// Adds a stripe.
    #[inline(always)]
    pub(crate) fn add(&mut self, stripe: &Stripe) {
        use std::arch::wasm32::{i32x4_add, i32x4_mul, i32x4_shl, u32x4_shr, u32x4_splat, v128_or};
        let sum = i32x4_add(self.0, product_vector(stripe));
        let turned = v128_or(i32x4_shl(sum, 13), u32x4_shr(sum, 32 - 13));
        self.0 = i32x4_mul(turned, u32x4_splat(PRIMES[0]));
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Vector = [u32; 4];

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
impl Lanes {
    const fn new(values: [u32; 4]) -> Self {
        Self(values)
    }

    const fn values(self) -> [u32; 4] {
        self.0
    }

    /// Adds a stripe.
    #[inline(always)]
    pub(crate) fn add(&mut self, stripe: &Stripe) {
        step(&mut self.0, &products(stripe));
    }
}

/// Returns the accumulators after `stripes`.
#[cfg(target_arch = "wasm32")]
#[inline(always)]
fn mixed(mut lanes: [u32; 4], stripes: &[Stripe]) -> [u32; 4] {
    for stripe in stripes {
        step(&mut lanes, &products(stripe));
    }
    lanes
}

/// Stripes whose words are multiplied as vectors before the accumulators take them. In scalar code these multiplications would
/// occupy the multiplier for four of the five cycles of a step.
#[cfg(not(target_arch = "wasm32"))]
const BATCH: usize = 32;

#[cfg(not(target_arch = "wasm32"))]
type Products = [[u32; 4]; BATCH];

/// Returns the accumulators after `stripes`.
#[cfg(not(target_arch = "wasm32"))]
fn mixed(mut lanes: [u32; 4], stripes: &[Stripe]) -> [u32; 4] {
    let (batches, rest) = stripes.as_chunks::<BATCH>();
    let multiply = multiplier();
    let mut words = [[0; 4]; BATCH];
    for batch in batches {
        multiply(batch, &mut words);
        for words in &words {
            step(&mut lanes, words);
        }
    }
    for stripe in rest {
        step(&mut lanes, &products(stripe));
    }
    lanes
}

/// Returns the function that multiplies a batch with the widest vectors of the machine. It is not inlined: compilers would
/// use such vectors for the accumulators, too.
#[cfg(not(target_arch = "wasm32"))]
fn multiplier() -> impl Fn(&[Stripe; BATCH], &mut Products) {
    #[inline(always)]
    fn multiply(batch: &[Stripe; BATCH], to: &mut Products) {
        for (to, stripe) in to.iter_mut().zip(batch) {
            *to = products(stripe);
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn with_avx2(batch: &[Stripe; BATCH], to: &mut Products) {
        multiply(batch, to);
    }
    #[inline(never)]
    fn portable(batch: &[Stripe; BATCH], to: &mut Products) {
        multiply(batch, to);
    }
    #[cfg(target_arch = "x86_64")]
    let has_avx2 = is_x86_feature_detected!("avx2");
    move |batch, to| {
        #[cfg(target_arch = "x86_64")]
        if has_avx2 {
            // SAFETY: the processor has AVX2, as was detected above.
            return unsafe { with_avx2(batch, to) };
        }
        portable(batch, to);
    }
}

/// Advances the accumulators by the products of a stripe.
#[inline(always)]
fn step(lanes: &mut [u32; 4], products: &[u32; 4]) {
    for (lane, product) in lanes.iter_mut().zip(products) {
        *lane = lane
            .wrapping_add(*product)
            .rotate_left(13)
            .wrapping_mul(PRIMES[0]);
    }
}

/// Multiplies the words of a stripe by the second prime.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn products(stripe: &Stripe) -> [u32; 4] {
    use std::arch::wasm32::u32x4_extract_lane;
    let products = product_vector(stripe);
    [
        u32x4_extract_lane::<0>(products),
        u32x4_extract_lane::<1>(products),
        u32x4_extract_lane::<2>(products),
        u32x4_extract_lane::<3>(products),
    ]
}

/// Multiplies the words of a stripe by the second prime.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn product_vector(stripe: &Stripe) -> Vector {
    use std::arch::wasm32::{i32x4_mul, u32x4_splat, v128_load};
    // SAFETY: a stripe has the 16 bytes of a vector.
    let words = unsafe { v128_load(stripe.as_ptr().cast()) };
    i32x4_mul(words, u32x4_splat(PRIMES[1]))
}

/// Multiplies the words of a stripe by the second prime.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
fn products(stripe: &Stripe) -> [u32; 4] {
    let (words, _) = stripe.as_chunks();
    std::array::from_fn(|i| u32::from_le_bytes(words[i]).wrapping_mul(PRIMES[1]))
}

/// Returns the checksum of `bytes`.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Checksum::new();
    sum.add(bytes);
    sum.value()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use twox_hash::XxHash32;

    #[test]
    fn parts_sum_up_to_what_xxhash_says() {
        let bytes: Vec<u8> = (0..2000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        for length in (0..300).chain((500..2000).step_by(7)) {
            let whole = &bytes[..length];
            let expected = XxHash32::oneshot(0, whole);
            assert_eq!(checksum(whole), expected, "{length} bytes");
            for step in [1, 3, 15, 16, 17, 40, 512, 1100] {
                let mut sum = Checksum::new();
                whole.chunks(step).for_each(|part| sum.add(part));
                assert_eq!(sum.value(), expected, "{length} bytes by {step}");
            }
            let mut sum = Checksum::new();
            let (stripes, rest) = whole.as_chunks();
            let mut lanes = sum.lanes().expect("no stripe has begun");
            stripes.iter().for_each(|stripe| lanes.add(stripe));
            sum.advance(lanes, length - rest.len());
            sum.add(rest);
            assert_eq!(sum.value(), expected, "{length} bytes by stripes");
            assert_eq!(sum.lanes().is_some(), rest.is_empty());
        }
    }
}
