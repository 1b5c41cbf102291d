//! Integers: arithmetic, conversions, literals.

use crate::case::{Case, kernel, near};
use crate::inputs::{floats, ints, naturals, words};

pub fn cases() -> Vec<Case> {
    vec![
        signed_division(),
        unsigned_wrap(),
        shifts(),
        compound_assignment(),
        integer_promotion(),
        mixed_sign(),
        bit_intrinsics(),
        byte_permute(),
        min_max(),
        literals(),
        booleans(),
        index_types(),
    ]
}

fn signed_division() -> Case {
    let mut a = ints(1, 200, -1000..1000);
    let mut b = ints(2, 200, 1..40);
    for i in (0..200).step_by(3) {
        b[i] = -b[i];
    }
    a[..4].copy_from_slice(&[7, -7, 7, -7]);
    b[..4].copy_from_slice(&[2, 2, -2, -2]);
    let quotients: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
    let remainders: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a % b).collect();
    kernel!("signed_division")
        .over(200, 64)
        .input(&a)
        .input(&b)
        .output(quotients)
        .output(remainders)
        .i32(200)
}

fn unsigned_wrap() -> Case {
    let (a, b) = (words(3, 150), words(4, 150));
    let of = |(&x, &y): (&u32, &u32)| {
        [
            x.wrapping_add(y.wrapping_mul(2_654_435_761)),
            x.wrapping_sub(y),
            x.wrapping_mul(x).wrapping_mul(y),
            x.wrapping_neg() ^ y.wrapping_neg(),
        ]
    };
    let expected: Vec<u32> = a.iter().zip(&b).flat_map(of).collect();
    let buffers = kernel!("unsigned_wrap").over(150, 32).input(&a).input(&b);
    buffers.output(expected).i32(150)
}

fn shifts() -> Case {
    let values: Vec<i32> = words(5, 128).into_iter().map(|w| w as i32).collect();
    let amounts: Vec<u32> = (0..128).map(|i| i % 40).collect();
    let of = |(&v, &s): (&i32, &u32)| {
        [
            v >> s.min(31),
            (v as u32).checked_shr(s).unwrap_or(0) as i32,
            v.checked_shl(s).unwrap_or(0),
            (1u32 << (s & 31) | 1u32 << (31 - s % 32)) as i32,
            -4,
        ]
    };
    let expected: Vec<i32> = values.iter().zip(&amounts).flat_map(of).collect();
    let buffers = kernel!("shifts")
        .over(128, 64)
        .input(&values)
        .input(&amounts);
    buffers.output(expected).i32(128)
}

fn compound_assignment() -> Case {
    let data = ints(6, 100, -5000..5000);
    let reals = floats(7, 100, -8.0..8.0);
    let whole = |(i, &start): (usize, &i32)| {
        let i = i as i32;
        let mut v = (start + 17 - i) * 3 / 2 % 1000;
        v = (v << 3) >> 1;
        v = ((v & 0x7fff) | 0x10) ^ 0x55;
        v += i;
        v ^ (v >> 4)
    };
    let real = |(i, &start): (usize, &f32)| (start + 1.25) * 4.0 / 2.0 + i as f32;
    let expected: Vec<i32> = data.iter().enumerate().map(whole).collect();
    let expected_reals: Vec<f32> = reals.iter().enumerate().map(real).collect();
    kernel!("compound_assignment")
        .over(100, 64)
        .in_out(&data, expected)
        .in_out_within(&reals, expected_reals, near(1e-5))
        .i32(100)
}

fn integer_promotion() -> Case {
    let input = words(8, 120);
    let of = |&w: &u32| {
        let (mut a, mut b) = (w as u8, (w >> 8) as u8);
        let mut c = (w >> 16) as i8;
        let s = (w as i16).wrapping_add(30000);
        let u = ((w >> 16) as u16).wrapping_sub(40000);
        let mut out = [0; 8];
        out[0] = i32::from(a) + i32::from(b);
        out[1] = i32::from(a.wrapping_add(b));
        out[2] = i32::from(c) * 3 - i32::from(b);
        c = c.wrapping_mul(3);
        out[3] = i32::from(c);
        out[4] = i32::from(s);
        out[5] = i32::from(u);
        out[6] = !i32::from(a);
        a = a.wrapping_add(1);
        b = b.wrapping_sub(1);
        out[7] = (i32::from(a) << 8) + i32::from(b) - i32::from(i32::from(a) < i32::from(c));
        out
    };
    let expected: Vec<i32> = input.iter().flat_map(of).collect();
    kernel!("integer_promotion")
        .over(120, 64)
        .input(&input)
        .output(expected)
        .i32(120)
}

fn mixed_sign() -> Case {
    let a = ints(9, 130, -100..100);
    let mut b = naturals(10, 130, 200);
    for i in (0..130).step_by(5) {
        b[i] = u32::MAX - i as u32;
    }
    let of = |(&a, &b): (&i32, &u32)| {
        let unsigned = a as u32;
        [
            i32::from(unsigned < b),
            (unsigned / (b | 1)) as i32,
            (unsigned.wrapping_add(b) >> 1) as i32,
            i32::from(a < b as i32),
            i32::from((-a) as u32 > 5),
            ((if a > 0 { unsigned } else { b }) / 2) as i32,
        ]
    };
    let expected: Vec<i32> = a.iter().zip(&b).flat_map(of).collect();
    let buffers = kernel!("mixed_sign").over(130, 64).input(&a).input(&b);
    buffers.output(expected).i32(130)
}

fn bit_intrinsics() -> Case {
    let mut input = words(11, 100);
    input[..4].copy_from_slice(&[0, 1, u32::MAX, 0x8000_0000]);
    let of = |&v: &u32| {
        let signed = i64::from(v as i32);
        [
            v.count_ones() as i32,
            v.leading_zeros() as i32,
            if v == 0 {
                0
            } else {
                v.trailing_zeros() as i32 + 1
            },
            v.reverse_bits() as i32,
            ((u64::from(v) * 0x9e37_79b9) >> 32) as i32,
            ((signed * -123_456_789) >> 32) as i32,
            ((v & 0xfff) * 77 + (v & 0xff) * 3) as i32,
            31 - (v | 1).leading_zeros() as i32,
        ]
    };
    let expected: Vec<i32> = input.iter().flat_map(of).collect();
    kernel!("bit_intrinsics")
        .over(100, 64)
        .input(&input)
        .output(expected)
        .i32(100)
}

fn byte_permute() -> Case {
    let (a, b) = (words(12, 96), words(13, 96));
    let of = |(i, (&a, &b)): (usize, (&u32, &u32))| {
        let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
        let pick = |selector: [usize; 4]| u32::from_le_bytes(selector.map(|s| bytes[s]));
        let joined = u64::from(b) << 32 | u64::from(a);
        [
            pick([3, 2, 1, 0]),
            pick([1, 3, 5, 7]),
            ((joined << (i & 31)) >> 32) as u32,
            (joined >> (i & 31)) as u32,
        ]
    };
    let expected: Vec<u32> = a.iter().zip(&b).enumerate().flat_map(of).collect();
    let buffers = kernel!("byte_permute").over(96, 32).input(&a).input(&b);
    buffers.output(expected).i32(96)
}

fn min_max() -> Case {
    let a = ints(14, 90, -100..100);
    let b = naturals(15, 90, 300);
    let c = floats(16, 90, -2.0..2.0);
    let reals = |&c: &f32| [c.min(0.5), c.max(0.25), c.abs().max(1.0)];
    let whole = |(&a, &b): (&i32, &u32)| {
        [
            a.min(10),
            a.max(-10),
            b.min(100) as i32,
            a.abs(),
            a.clamp(-50, 50),
        ]
    };
    let expected_reals: Vec<f32> = c.iter().flat_map(reals).collect();
    let expected: Vec<i32> = a.iter().zip(&b).flat_map(whole).collect();
    kernel!("min_max")
        .over(90, 64)
        .input(&a)
        .input(&b)
        .input(&c)
        .output(expected_reals)
        .output(expected)
        .i32(90)
}

fn literals() -> Case {
    let whole = vec![
        127,
        15,
        11,
        65,
        10,
        4_000_000_000u32 as i32,
        1_000_000,
        21,
        650,
        3,
        1,
        i32::MIN,
    ];
    let reals = vec![1000.0f32, 0.5, 2.0, 0.0125, 3.0, 3.0];
    kernel!("literals").output(whole).output(reals)
}

fn booleans() -> Case {
    let input = ints(17, 70, -2..9);
    let of = |&x: &i32| {
        let (set, odd) = (x != 0, x & 1 == 1);
        let bit = |value: bool, at: i32| i32::from(value) << at;
        bit(set && odd, 0)
            + bit(set || odd, 1)
            + bit(!set && !odd, 2)
            + bit(set != odd, 3)
            + bit(x == 0, 4)
            + bit(set == odd, 5)
            + bit(x > 3, 6)
            + bit(set, 7)
    };
    let expected: Vec<i32> = input.iter().map(of).collect();
    kernel!("booleans")
        .over(70, 32)
        .input(&input)
        .output(expected)
        .i32(70)
}

fn index_types() -> Case {
    let input = words(18, 100);
    let of = |&w: &u32| {
        let mix = u32::from(w as u8)
            .wrapping_add(u32::from(w as u16).wrapping_mul(3))
            .wrapping_add(i32::from(w as i8) as u32);
        mix ^ ((w as i32) >> 3) as u32 ^ i32::from(w as i16) as u32
    };
    let expected: Vec<u32> = input.iter().map(of).collect();
    let reals: Vec<f32> = input.iter().map(|&w| f32::from(w as u8) / 2.0).collect();
    let buffers = kernel!("index_types").over(100, 64).input(&input);
    buffers.output(expected).output(reals).u32(100)
}
