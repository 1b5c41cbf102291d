//! Atomics.

use crate::case::{Case, kernel, near};
use crate::inputs::{floats, ints, naturals, words};

pub fn cases() -> Vec<Case> {
    vec![
        atomic_arithmetic(),
        atomic_extremes(),
        atomic_bits(),
        atomic_exchange(),
        atomic_compare(),
        atomic_wrap(),
        atomic_float(),
        atomic_float_loop(),
        atomic_tickets(),
        atomic_shared(),
        atomic_member(),
        last_block(),
        atomic_vector(),
    ]
}

fn atomic_arithmetic() -> Case {
    let input = ints(100, 300, -1000..1000);
    let (mut sums, mut counts) = ([10, 20, 30, 40, 50], [7, 8, 9u32]);
    let (before, counts_before) = (sums, counts);
    for (i, v) in input.iter().enumerate() {
        sums[i % 4] += v;
        sums[4] -= v;
        counts[(v & 1) as usize] += 1;
        counts[2] = counts[2].wrapping_sub(3);
    }
    kernel!("atomic_arithmetic")
        .over(300, 64)
        .input(&input)
        .in_out(&before, sums.to_vec())
        .in_out(&counts_before, counts.to_vec())
        .i32(300)
}

fn atomic_extremes() -> Case {
    let input = ints(101, 200, -5000..5000);
    let least_of = |r: usize| *input.iter().skip(r).step_by(3).min().unwrap();
    let least: Vec<i32> = (0..3).map(|r| least_of(r).min(100)).collect();
    let greatest = vec![*input.iter().max().unwrap()];
    let unsigned = || input.iter().map(|v| *v as u32);
    let extremes = vec![unsigned().min().unwrap(), unsigned().max().unwrap()];
    kernel!("atomic_extremes")
        .over(200, 64)
        .input(&input)
        .in_out(&[100, 100, 100], least)
        .in_out(&[i32::MIN], greatest)
        .in_out(&[u32::MAX, 0], extremes)
        .i32(200)
}

fn atomic_bits() -> Case {
    let input = words(102, 100);
    let fold = |start: u32, of: fn(u32, u32) -> u32| input.iter().fold(start, |a, v| of(a, *v));
    let out = vec![
        fold(0x00ff_ffff, |a, v| a & (v | 0xff00)),
        fold(0x8000_0000, |a, v| a | (v & 0x0f0f_0f0f)),
        fold(5, |a, v| a ^ v),
    ];
    kernel!("atomic_bits")
        .over(100, 64)
        .input(&input)
        .in_out(&[0x00ff_ffffu32, 0x8000_0000, 5], out)
        .in_out(&[0, 0, 0, 0], vec![-1, -1, -1, 15])
        .i32(100)
}

/// The sum telescopes to the last value of the slot, whatever the order; all inputs are equal, so that it is known.
fn atomic_exchange() -> Case {
    let input = vec![77; 150];
    kernel!("atomic_exchange")
        .over(150, 64)
        .input(&input)
        .in_out(&[5], vec![77])
        .in_out(&[0], vec![72])
        .in_out(&[-1.0f32], vec![2.5f32])
        .i32(150)
}

fn atomic_compare() -> Case {
    let input: Vec<u32> = naturals(103, 90, 65000).iter().map(|v| v + 1).collect();
    let product = input.iter().fold(3, |product, v| product * v % 65521);
    let case = kernel!("atomic_compare").over(90, 32).input(&input);
    case.in_out(&[3u32], vec![product]).i32(90)
}

fn atomic_wrap() -> Case {
    // 200 increments through 0..=9; 200 decrements from 2 through 6..=0.
    let after_decrements = (0..200).fold(2, |v, _| if v == 0 { 6 } else { v - 1 });
    kernel!("atomic_wrap")
        .over(200, 64)
        .in_out(&[0u32, 2], vec![0u32, after_decrements])
        .in_out(&[0; 10], vec![20; 10])
        .i32(200)
}

fn atomic_float() -> Case {
    let input = floats(104, 250, -4.0..4.0);
    let sum = |start: usize, step: usize| {
        let part = input.iter().skip(start).step_by(step);
        part.map(|v| f64::from(*v)).sum::<f64>() as f32
    };
    let mut expected: Vec<f32> = (0..5).map(|r| sum(r, 5)).collect();
    expected.push(sum(0, 1));
    let case = kernel!("atomic_float").over(250, 64).input(&input);
    case.in_out_within(&[0.0f32; 6], expected, near(1e-4))
        .i32(250)
}

fn atomic_float_loop() -> Case {
    let input = floats(105, 140, -9.0..9.0);
    let greatest = |r: usize| {
        input
            .iter()
            .skip(r)
            .step_by(2)
            .fold(-100.0f32, |a, v| a.max(*v))
    };
    let case = kernel!("atomic_float_loop").over(140, 64).input(&input);
    case.in_out(&[-100.0f32; 2], vec![greatest(0), greatest(1)])
        .i32(140)
}

fn atomic_tickets() -> Case {
    kernel!("atomic_tickets")
        .over(100, 32)
        .in_out(&[0u32], vec![200u32])
        .output(vec![1; 200])
        .output(vec![1; 100])
        .i32(100)
}

fn atomic_shared() -> Case {
    let input = ints(106, 1000, 0..5000);
    let mut bins = vec![0; 16];
    input.iter().for_each(|v| bins[(v & 15) as usize] += 1);
    let largest = vec![*input.iter().max().unwrap()];
    kernel!("atomic_shared")
        .launch([3, 1, 1], [64, 1, 1])
        .input(&input)
        .in_out(&[0; 16], bins)
        .in_out(&[0], largest)
        .i32(1000)
}

/// Each of the two elements is a count, a mask and two sums.
fn atomic_member() -> Case {
    let input = ints(107, 120, 0..40);
    let mut totals = vec![0; 8];
    for (i, v) in input.iter().enumerate() {
        let own = i % 2 * 4;
        totals[own] += 1;
        totals[own + 1] |= 1 << (v & 31);
        totals[2 + i % 2] += v;
    }
    let case = kernel!("atomic_member").over(120, 64).input(&input);
    case.in_out(&[0; 8], totals).i32(120)
}

fn last_block() -> Case {
    let input = ints(108, 500, -100..100);
    let partial: Vec<i32> = input.chunks(64).map(|b| b.iter().sum()).collect();
    let total: i32 = partial.iter().sum();
    kernel!("last_block")
        .over(500, 64)
        .input(&input)
        .in_out(&[0; 8], partial)
        .in_out(&[0u32], vec![0u32])
        .output(vec![total])
        .i32(500)
}

fn atomic_vector() -> Case {
    let n = 150;
    let input = ints(109, n, -50..50);
    let mut sums = [0, 0, 9, i32::MIN];
    let floats = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let (before, mut floats_after) = (sums, floats);
    let mut order = vec![0; 16];
    for (i, v) in input.iter().enumerate() {
        sums[0] += v;
        sums[1] += 1;
        sums[3] = sums[3].max(*v);
        floats_after[i % 2 * 4 + 2] += 0.5;
        order[(v & 3) as usize * 4 + (i & 3)] += 2;
    }
    let case = kernel!("atomic_vector").over(n, 64).input(&input);
    let case = case.in_out(&before, sums.to_vec());
    let case = case.in_out(&floats, floats_after.to_vec());
    case.in_out(&[0; 16], order).i32(n)
}
