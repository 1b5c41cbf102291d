//! Control flow, functions, templates, macros.

use crate::case::{Case, kernel, near};
use crate::inputs::{floats, ints, naturals, words};

pub fn cases() -> Vec<Case> {
    vec![
        switch_fallthrough(),
        switch_in_loop(),
        do_while(),
        do_while_continue(),
        nested_loops(),
        comma_operator(),
        ternary_chain(),
        increments(),
        short_circuit(),
        shadowing(),
        early_return(),
        grid_stride(),
        loop_forms(),
        float_loop(),
    ]
}

/// A case of one output element for each input element.
fn mapped(case: Case, input: &[i32], of: impl Fn(i32) -> i32) -> Case {
    let expected: Vec<i32> = input.iter().map(|&v| of(v)).collect();
    case.over(input.len(), 64)
        .input(input)
        .output(expected)
        .i32(input.len())
}

fn switch_fallthrough() -> Case {
    let input: Vec<i32> = (0..96).map(|i| i % 16 - 8).collect();
    let of = |(i, &v): (usize, &i32)| match v {
        0 => 11,
        1 => 10,
        2 | 3 if i & 1 == 1 => 100,
        2 | 3 => 2 * 11100 + 1,
        5 => 1,
        -7 => -1,
        _ => 2 * 10000 + 1,
    };
    let expected: Vec<i32> = input.iter().enumerate().map(of).collect();
    kernel!("switch_fallthrough")
        .over(96, 32)
        .input(&input)
        .output(expected)
        .i32(96)
}

fn switch_in_loop() -> Case {
    let programs = words(30, 128);
    let run = |&program: &u32| {
        let (mut code, mut accumulator, mut steps) = (program, 0i32, 0);
        // A step of 3 may jump past 8, after which no test of the kernel stops; such programs are all zeros then.
        while steps != 8 && steps < 64 {
            let op = code & 15;
            code >>= 4;
            steps += 1;
            match op {
                0 => continue,
                1 => accumulator += 1,
                2 => accumulator -= 1,
                3 => accumulator *= 2,
                4 => {
                    accumulator = -accumulator;
                    continue;
                }
                5 => accumulator += 2,
                13.. => steps += 2,
                _ => accumulator += op as i32,
            }
            accumulator += 100;
        }
        (steps == 8).then_some(accumulator)
    };
    let runnable: Vec<u32> = programs.into_iter().filter(|p| run(p).is_some()).collect();
    let expected: Vec<i32> = runnable.iter().filter_map(run).collect();
    let n = runnable.len();
    kernel!("switch_in_loop")
        .over(n, 32)
        .input(&runnable)
        .output(expected)
        .i32(n)
}

fn do_while() -> Case {
    let input: Vec<u32> = naturals(31, 80, 5000).into_iter().map(|v| v + 1).collect();
    let of = |&start: &u32| {
        let (mut v, mut steps) = (start, 0);
        loop {
            v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
            steps += 1;
            if steps > 500 || v == 1 {
                return steps;
            }
        }
    };
    let expected: Vec<i32> = input.iter().map(of).collect();
    kernel!("do_while")
        .over(80, 64)
        .input(&input)
        .output(expected)
        .i32(80)
}

fn do_while_continue() -> Case {
    let input = ints(32, 70, 0..40);
    mapped(kernel!("do_while_continue"), &input, |v| {
        // The body runs once even for zero.
        (1..=v).filter(|k| k % 3 != 0).sum()
    })
}

fn nested_loops() -> Case {
    let input = ints(33, 64, 0..14);
    mapped(kernel!("nested_loops"), &input, |limit| {
        let mut count = 0i32;
        for a in (1..limit).filter(|a| a % 5 != 4) {
            let mut last = 20;
            for b in 1..=20 {
                if (a + b) % 3 == 0 {
                    continue;
                }
                if a * b > 60 {
                    last = b;
                    break;
                }
                let falling = (0..=b).rev().step_by(2);
                count += falling.filter(|&c| c != 3).sum::<i32>();
            }
            count ^= last;
        }
        count
    })
}

fn comma_operator() -> Case {
    let input = ints(34, 50, 0..60);
    mapped(kernel!("comma_operator"), &input, |v| {
        let (a, mut c) = (v + 2, 0);
        let (mut lo, mut hi) = (0, a);
        while lo < hi {
            c = (c + hi - lo) ^ lo;
            lo += 1;
            hi -= 1;
        }
        (a + 1) * (v - 1) + c
    })
}

fn ternary_chain() -> Case {
    let input = ints(35, 60, 0..90);
    let lookup = input.clone();
    mapped(kernel!("ternary_chain"), &input, move |v| {
        let grade = (v / 10 + 1).min(4);
        let odd = v % 2 == 1;
        let picked = if odd { v } else { -v };
        let shown = if picked > 0 { picked } else { 3 - picked };
        let element = lookup.get(v as usize).copied().unwrap_or(-5);
        let calls = if odd { 1 } else { 10 };
        grade + 10 * shown + 10000 * calls + if v > 20 { element } else { 0 }
    })
}

fn increments() -> Case {
    let input = ints(36, 40, -50..50);
    mapped(kernel!("increments"), &input, |v| {
        let list = [v + 1, 2, v, v + 1];
        let real = 5;
        list[0] + list[1] * 100 + list[2] * 3 + list[3] * 7 + 3 * 1000 + 3 * 10000 + real + 255
    })
}

fn short_circuit() -> Case {
    let input = ints(37, 64, -4..16);
    mapped(kernel!("short_circuit"), &input, |v| {
        let mut calls = 0;
        let mut bump = |result: bool| {
            calls += 1;
            result
        };
        let a = v > 10 && bump(true);
        let b = v > 10 || bump(false);
        let c = (v & 1 != 0 && bump(v & 2 != 0) && bump(true)) || bump(v & 4 != 0);
        let mut hits = 0;
        if v != 0 && 100 / v > 9 {
            hits = 3;
        }
        while hits < 7 && bump(hits != 5) {
            hits += 1;
        }
        i32::from(a) + 2 * i32::from(b) + 4 * i32::from(c) + 8 * calls + 1000 * hits
    })
}

fn shadowing() -> Case {
    let input = ints(38, 64, -100..100);
    mapped(kernel!("shadowing"), &input, |x| {
        let total = x + 100 + 3 + 21;
        total + total % 2 + x
    })
}

fn early_return() -> Case {
    let input = ints(39, 100, 0..150);
    let divisor = |v: i32| match v {
        ..2 => 0,
        _ => (2..=v).find(|d| v % d == 0).unwrap(),
    };
    let place = |wanted: i32| {
        let at = input[..64].iter().position(|&v| v == wanted);
        at.map_or(-1, |at| (at / 16 * 100 + at % 16) as i32)
    };
    let of = |(i, &v): (usize, &i32)| {
        let at = place(i as i32);
        match v % 7 {
            0 => [-1, at],
            _ if i % 5 != 0 => [divisor(v), at],
            _ => [divisor(v), at + 10000],
        }
    };
    let expected: Vec<i32> = input.iter().enumerate().flat_map(of).collect();
    kernel!("early_return")
        .over(100, 32)
        .input(&input)
        .output(expected)
        .i32(100)
}

fn grid_stride() -> Case {
    let input = ints(40, 500, -100..100);
    let of = |(i, &v): (usize, &i32)| v * 2 + i32::from(i >= 128);
    let expected: Vec<i32> = input.iter().enumerate().map(of).collect();
    let case = kernel!("grid_stride").launch([2, 1, 1], [64, 1, 1]);
    case.input(&input).output(expected).i32(500)
}

fn loop_forms() -> Case {
    let input = ints(41, 70, -100..100);
    let of = |i: usize| {
        let near: i32 = (0..8).map(|j| input[(i + j) % 70]).sum();
        // Pairs (0, 8), (1, 7), (2, 6), (3, 5); the fourth decrement meets in the middle.
        let pairs: i32 = (0..4).map(|a| a * (8 - a)).sum();
        let sum = near - 45 + pairs;
        (sum ^ 3 ^ 2 ^ 1) - 1
    };
    let expected: Vec<i32> = (0..70).map(of).collect();
    kernel!("loop_forms")
        .over(70, 32)
        .input(&input)
        .output(expected)
        .i32(70)
}

fn float_loop() -> Case {
    let input = floats(42, 64, 0.01..400.0);
    let roots: Vec<f32> = input.iter().map(|v| v.sqrt()).collect();
    let buffers = kernel!("float_loop").over(64, 32).input(&input);
    buffers
        .output_within(roots, near(1e-5))
        .output(vec![1i32; 64])
        .i32(64)
}
