//! Barriers and warp functions among returns, breaks and bounds that the compiler must prove uniform or predicate.

use crate::case::{Case, kernel};
use crate::inputs::{Random, ints};

pub fn cases() -> Vec<Case> {
    vec![
        uniform_return(),
        return_in_barrier_loop(),
        break_on_shared(),
        device_return_then_barrier(),
        bound_from_written_buffer(),
        warp_after_return(),
        warp_rows(),
        reused_counter(),
    ]
}

fn uniform_return() -> Case {
    let input = ints(290, 256, -100..100);
    let of = |i: usize| match i / 64 {
        3 => -5,
        1 => input[64 + 63 - i % 64],
        block => input[block * 64 + (i + 2) % 64],
    };
    let expected: Vec<i32> = (0..256).map(of).collect();
    let case = kernel!("uniform_return")
        .launch([4, 1, 1], [64, 1, 1])
        .input(&input);
    case.in_out(&[-5; 256], expected).i32(3).i32(1)
}

fn return_in_barrier_loop() -> Case {
    let mut input = ints(291, 128, 0..9);
    // The thread that counts stays to the end.
    input[63] = 99;
    input[127] = 99;
    let total = |r: i32| (r + 1) * (r + 2) / 2;
    let of = |v: &i32| if *v < 6 { total(*v) } else { -total(5) };
    let expected: Vec<i32> = input.iter().map(of).collect();
    let case = kernel!("return_in_barrier_loop").launch([2, 1, 1], [64, 1, 1]);
    case.input(&input).output(expected).i32(6)
}

fn break_on_shared() -> Case {
    let n = 150;
    let mut input = ints(292, 3 * n, 8..50);
    input[130] = 7;
    input[140] = 7;
    input[n + 5] = 7;
    let case = kernel!("break_on_shared").launch([3, 1, 1], [64, 1, 1]);
    case.input(&input).output(vec![130, 5, -1]).i32(n)
}

fn device_return_then_barrier() -> Case {
    let input = ints(293, 128, 0..40);
    let steps = |v: i32| {
        let (mut v, mut k) = (v, 0);
        while v != 0 && k < 12 {
            v -= if v > 3 { 3 } else { 1 };
            k += 1;
        }
        k
    };
    let published = |i: usize| (steps(input[i]) - 4).max(-1);
    let expected: Vec<i32> = (0..128).map(|i| published(i ^ 5)).collect();
    let case = kernel!("device_return_then_barrier").launch([2, 1, 1], [64, 1, 1]);
    case.input(&input).output(expected)
}

fn bound_from_written_buffer() -> Case {
    let rounds = [2, 0, 5];
    let input = ints(294, 96, -100..100);
    let of = |i: usize| {
        let n = rounds[i / 32];
        input[i / 32 * 32 + (i + n) % 32] + n as i32
    };
    let expected: Vec<i32> = (0..96).map(of).collect();
    let case = kernel!("bound_from_written_buffer").launch([3, 1, 1], [32, 1, 1]);
    let case = case.in_out(&rounds.map(|n| n as i32), vec![-1; 3]);
    case.input(&input).output(expected)
}

fn warp_after_return() -> Case {
    let input = ints(295, 96, -100..100);
    let pair = |i: usize| input[i] + input[i ^ 1];
    let expected: Vec<i32> = (0..96).map(|i| pair(i) + pair(i ^ 8)).collect();
    kernel!("warp_after_return")
        .over(96, 64)
        .input(&input)
        .output(expected)
        .i32(96)
}

fn warp_rows() -> Case {
    let n_rows = 7;
    let mut random = Random::new(296);
    let mut offsets = vec![0];
    for row in 0..n_rows {
        offsets.push(offsets[row] + random.below(90) as i32);
    }
    let values = ints(297, offsets[n_rows] as usize + 1, -100..100);
    let sum = |ends: &[i32]| values[ends[0] as usize..ends[1] as usize].iter().sum();
    let sums: Vec<i32> = offsets.windows(2).map(sum).collect();
    let case = kernel!("warp_rows").launch([2, 1, 1], [64, 1, 1]);
    case.input(&offsets).input(&values).output(sums).i32(n_rows)
}

fn reused_counter() -> Case {
    let input = ints(620, 64, -99..99);
    let of = |t: usize| input[..=t].iter().sum::<i32>() * 1000 + 64 + 3 * t as i32 + 3;
    let expected: Vec<i32> = (0..64).map(of).collect();
    kernel!("reused_counter").input(&input).output(expected)
}
