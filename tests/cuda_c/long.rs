//! 64-bit integers, on devices that have them.

use crate::case::{Case, kernel};
use crate::inputs::{floats, ints, words};

pub fn cases() -> Vec<Case> {
    vec![
        long_operators(),
        long_unsigned(),
        long_conversions(),
        long_memory(),
        long_views(),
        long_warps(),
        long_parameters(),
        long_random(),
    ]
}

/// Random numbers of 1 to 64 bits.
fn unsigned(seed: u64, n: usize) -> Vec<u64> {
    let parts = words(seed, 3 * n);
    let number = |part: &[u32]| (u64::from(part[0]) << 32 | u64::from(part[1])) >> (part[2] % 64);
    parts.chunks(3).map(number).collect()
}

/// Random numbers of both signs and 1 to 63 bits.
fn signed(seed: u64, n: usize) -> Vec<i64> {
    let magnitudes = unsigned(seed, n).into_iter().zip(words(seed + 1, n));
    let number = |(magnitude, sign): (u64, u32)| {
        let magnitude = (magnitude >> 1) as i64;
        if sign % 2 == 0 { magnitude } else { -magnitude }
    };
    magnitudes.map(number).collect()
}

/// Adds up the powers of two of the conditions that hold.
fn flags(conditions: &[bool]) -> i64 {
    let bits = conditions.iter().enumerate();
    bits.map(|(n, holds)| i64::from(*holds) << n).sum()
}

fn long_operators() -> Case {
    let n = 100;
    let (mut a, mut b) = (signed(600, n), signed(602, n));
    a[..5].copy_from_slice(&[0, -1, i64::MAX, i64::MIN, 7]);
    b[..5].copy_from_slice(&[-1, 1, 2, 3, 7]);
    for divisor in &mut b {
        *divisor = if *divisor == 0 { 12 } else { *divisor };
    }
    let mut out = Vec::new();
    for (i, (&x, &y)) in (0..).zip(a.iter().zip(&b)) {
        let mut v = x.wrapping_add(i).wrapping_sub(3_000_000_000);
        v = (v.wrapping_mul(7) ^ y) >> 3;
        let steps = v.wrapping_add(v.wrapping_mul(3)) ^ (v - 1);
        let half = (x >> 1).abs();
        let last = match x & 3 {
            0 => i64::MAX,
            1 => i64::MIN,
            _ if x != 0 => i64::MAX & !y,
            _ => 0,
        };
        out.extend([
            x.wrapping_add(y),
            x.wrapping_sub(y),
            x.wrapping_mul(y),
            x / y,
            x % y,
            (x & y) ^ (x | 0x5555_5555_5555_5555),
            (!x).wrapping_sub(-y),
            x << (i & 63),
            x >> (y & 63),
            flags(&[x < y, x <= y, x == y, x != y, x > y, x >= y, x == 0]),
            steps,
            x.signum() * if x != 0 && y != 0 { 10 } else { 20 },
            half.wrapping_add(x.min(y)).wrapping_sub(x.max(5)),
            x.clamp(-1_000_000_000_000, 1_000_000_000_000),
            i64::from(x != 0) + i64::from(y > 0),
            last,
        ]);
    }
    of_arithmetic("long_operators")
        .over(n, 64)
        .input(&a)
        .input(&b)
        .output(out)
        .i32(n)
}

/// Returns the case of a kernel of `long_arithmetic.cu`.
fn of_arithmetic(entry: &'static str) -> Case {
    kernel!("long_arithmetic").entry(entry)
}

fn high_product(x: i128, y: i128) -> u64 {
    ((x * y) >> 64) as u64
}

fn long_unsigned() -> Case {
    let n = 100;
    let (mut a, mut b) = (unsigned(610, n), unsigned(611, n));
    a[..4].copy_from_slice(&[0, u64::MAX, 1 << 63, 1 << 32]);
    for divisor in &mut b {
        *divisor = (*divisor).max(3);
    }
    let mut out = Vec::new();
    for (i, (&x, &y)) in (0u32..).zip(a.iter().zip(&b)) {
        let high = x & !0xffff_ffff;
        let place = if high == 0 {
            0
        } else {
            high.trailing_zeros() + 1
        };
        let zeros = (x >> (i & 63)).leading_zeros();
        out.extend([
            x / y,
            x % y,
            x.wrapping_neg().wrapping_add(!y),
            x.rotate_right(7),
            flags(&[x < y, x <= y, x > y]) as u64,
            u64::from(x.count_ones() + 100 * zeros + 10_000 * place + 64_000_000),
            x.reverse_bits(),
            ((u128::from(x) * u128::from(y)) >> 64) as u64,
            high_product((x as i64).into(), (y as i64).into()),
            x.min(y) ^ x.max(i.into()),
            x % 10 + x / 1_000_000_007,
            u64::MAX - 15,
        ]);
    }
    of_arithmetic("long_unsigned")
        .over(n, 64)
        .input(&a)
        .input(&b)
        .output(out)
        .i32(n)
}

fn long_conversions() -> Case {
    let n = 100;
    let a = ints(620, n, i32::MIN..i32::MAX);
    let f: Vec<f32> = floats(621, n, -1e6..1e6).iter().map(|v| v * 1e7).collect();
    let mut out = Vec::new();
    let mut rounded = Vec::new();
    for (&x, &f) in a.iter().zip(&f) {
        let (u, wide) = (x as u32, i64::from(x));
        let square = wide * wide;
        let narrow = i64::from(square as i8) + 1000 * i64::from((square >> 3) as u16);
        out.extend([
            wide,
            i64::from(u),
            wide,
            square,
            wide + i64::from(u),
            i64::from(u) - 1,
            i64::from((square >> 5) as i32),
            i64::from(square as u32),
            narrow + 1_000_000_000 * i64::from(x as i16),
            f as i64,
            f.abs() as i64,
            flags(&[true, false, true, true, true]),
            1 + 30 + 200 + 3000 + 20_000 + 400_000,
            8 + 80 + 800 + 8000 + 80_000,
            1 << 40,
            i64::from(u << 1) | 1 << (x & 63),
        ]);
        rounded.extend([square as f32, wide as u64 as f32 * 0.5]);
        rounded.push(square as f32 / 3.0 + wide as f32);
    }
    of_arithmetic("long_conversions")
        .over(n, 64)
        .input(&a)
        .input(&f)
        .output(out)
        .output_within(rounded, crate::case::near(1e-6))
        .i32(n)
}

/// A record of `long_memory.cu`: of each the key, the value, the small number and the mask.
#[derive(Clone, Copy)]
struct Record(i32, i64, i16, [u64; 2]);

/// Returns the bytes of records in the layout of CUDA.
fn record_bytes(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Record(key, value, small, mask) in records {
        bytes.extend(i64::from(*key as u32).to_le_bytes());
        bytes.extend(value.to_le_bytes());
        bytes.extend(i64::from(*small as u16).to_le_bytes());
        bytes.extend(mask.iter().flat_map(|word| word.to_le_bytes()));
    }
    bytes
}

fn long_memory() -> Case {
    const PRIMES: [u64; 5] = [
        2,
        0x1_0000_0001,
        18_446_744_073_709_551_557,
        4_294_967_311,
        7,
    ];
    let n = 128;
    let (values, masks) = (signed(630, n), unsigned(632, 2 * n));
    let keys = ints(633, n, -1000..1000);
    let records: Vec<Record> = (0..n)
        .map(|i| {
            Record(
                keys[i],
                values[i],
                keys[i] as i16,
                [masks[2 * i], masks[2 * i + 1]],
            )
        })
        .collect();
    let before = unsigned(634, 2 * n);
    let (mut out, mut sums) = (Vec::new(), before.clone());
    for i in 0..n {
        let (start, t) = (i / 64 * 64, i % 64);
        let tile = |t: usize| records[start + t].1.wrapping_mul(t as i64 + 1);
        let mut sum = 0i64;
        for k in 0..4 {
            let j = k * 3 % 4;
            sum = sum.wrapping_add((tile((t + j) % 64) >> j).wrapping_mul(k as i64 + 1));
        }
        let Record(_, value, small, mask) = records[start + 63 - t];
        let value = value.wrapping_add(sum);
        let base = (-5_000_000_000i64 as u64).wrapping_add(PRIMES[2]);
        let first = base.wrapping_add(1 << 63);
        let second = mask[1] ^ PRIMES[(63 - t) % 5];
        out.push(Record(
            (mask[0] >> 32) as i32 - 1,
            value,
            small,
            [first, second],
        ));
        sums[2 * i] = (sum ^ value) as u64;
        sums[2 * i + 1] = sums[2 * i + 1].wrapping_add(PRIMES[i % 5]);
    }
    // The gaps of a record stay as they were.
    let found = record_bytes(&out);
    kernel!("long_memory")
        .over(n, 64)
        .input(&record_bytes(&records))
        .in_out(&vec![0u8; found.len()], found)
        .in_out(&before, sums)
        .i32(n)
}

fn long_views() -> Case {
    let n = 80;
    let (before, pairs) = (unsigned(640, n), signed(641, n));
    let both = |v: &u64| ((*v >> 32) ^ v) as u32 as i32;
    let next = |v: &u64| v.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let differences = pairs.iter().map(|v| {
        let difference = v.wrapping_sub(i64::from((v >> 32) as u32));
        difference & !(0xffff << 48) | 77 << 48
    });
    kernel!("long_memory")
        .entry("long_views")
        .over(n, 64)
        .in_out(&before, before.iter().map(next).collect::<Vec<_>>())
        .output(before.iter().map(both).collect::<Vec<_>>())
        .input(&pairs)
        .output(differences.collect::<Vec<_>>())
        .i32(n)
}

fn long_warps() -> Case {
    let n = 128;
    let values = signed(650, n);
    let other =
        |i: usize| values[i ^ 5].wrapping_sub(values[if i.is_multiple_of(32) { i } else { i - 1 }]);
    let total = |block: &[i64]| block.iter().fold(0i64, |sum, v| sum.wrapping_add(*v));
    kernel!("long_memory")
        .entry("long_warps")
        .over(n, 64)
        .shared(16)
        .input(&values)
        .output((0..n).map(other).collect::<Vec<_>>())
        .output(values.chunks(64).map(total).collect::<Vec<_>>())
}

fn long_parameters() -> Case {
    let n = 100;
    let (base, shift, factor, offset, last) =
        (-(1i64 << 40), 5, 0x1234_5678_9abc_def1u64, -7, 3u32);
    let (step, start, scale) = (-1_000_003i32, 77_000_000_000i64, 2.5f32);
    let (mask, low, high) = (0xffff_0000_ffff_ff00u64, 0xf000_0000u32, 0x8000_0001u32);
    let mut out = Vec::new();
    for i in 0..n as i64 {
        let v = -(start + i64::from(step) * i) + base + offset;
        out.push((v << shift) + (scale * i as f32) as i64);
        out.push((v as u64).wrapping_mul(factor).cast_signed() & mask.cast_signed());
        out.push(i64::from(high) << 32 | i64::from(low.wrapping_add(last)));
    }
    let halves = |v: u64| [v as u32, (v >> 32) as u32];
    let start = halves(start as u64);
    let mask = halves(mask);
    kernel!("long_parameters")
        .over(n, 64)
        .i32(n)
        .i64(base)
        .u32(shift)
        .words(&[step as u32, 0, start[0], start[1], scale.to_bits(), 0])
        .u64(factor)
        .u32(0)
        .i32(offset)
        .words(&[mask[0], mask[1], low, high])
        .i32(last)
        .output(out)
}

/// Returns the next number of splitmix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn long_random() -> Case {
    const FACTOR: u64 = 6_364_136_223_846_793_005;
    let (n, rounds) = (90, 20);
    let seeds = unsigned(660, n);
    let (mut out, mut uniform) = (Vec::new(), Vec::new());
    for (i, &seed) in seeds.iter().enumerate() {
        let (mut a, mut b, mut c, mut x) = (seed, seed, seed, seed | 1);
        let mut sums = [0u64; 4];
        for _ in 0..rounds {
            a = a
                .wrapping_mul(FACTOR)
                .wrapping_add(1_442_695_040_888_963_407);
            sums[0] = sums[0].wrapping_add(a >> 11);
            sums[1] ^= split_mix(&mut b);
            x ^= x >> 12;
            x ^= x << 25;
            x ^= x >> 27;
            sums[2] = sums[2].wrapping_add(x.wrapping_mul(0x2545_f491_4f6c_dd1d));
            let shifted = (((c >> 18) ^ c) >> 27) as u32;
            let word = shifted.rotate_right((c >> 59) as u32);
            c = c.wrapping_mul(FACTOR).wrapping_add(i as u64 | 1);
            sums[3] = sums[3].wrapping_mul(31).wrapping_add(word.into());
        }
        out.extend(sums);
        uniform.push((split_mix(&mut b) >> 40) as f32 / 16_777_216.0);
    }
    kernel!("long_random")
        .over(n, 64)
        .input(&seeds)
        .output(out)
        .output(uniform)
        .i32(n)
        .i32(rounds)
}
