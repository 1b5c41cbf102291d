//! Shared memory and barriers.

use crate::case::{Case, kernel, near};
use crate::inputs::{floats, ints, naturals, whole_floats};

pub fn cases() -> Vec<Case> {
    vec![
        shared_reverse(),
        dynamic_shared(),
        dynamic_shared_bytes(),
        shared_2d(),
        shared_struct(),
        return_before_barrier(),
        barrier_in_loop(),
        barrier_in_branch(),
        divergent_loop_then_barrier(),
        shared_flag(),
        barrier_in_function(),
        block_bound(),
        barrier_votes(),
        shared_scalar(),
        tiles_in_loop(),
    ]
}

/// A launch of `n_blocks` blocks of `block` threads.
fn blocks(case: Case, n_blocks: u32, block: u32) -> Case {
    case.launch([n_blocks, 1, 1], [block, 1, 1])
}

/// Results of `of` for each block of `block` elements.
fn by_block<T>(input: &[T], block: usize, of: impl Fn(&[T]) -> Vec<T>) -> Vec<T> {
    input.chunks(block).flat_map(of).collect()
}

fn shared_reverse() -> Case {
    let data = ints(80, 256, -1000..1000);
    let reversed = by_block(&data, 128, |b| b.iter().rev().copied().collect());
    blocks(kernel!("shared_reverse"), 2, 128).in_out(&data, reversed)
}

fn dynamic_shared() -> Case {
    let input = floats(81, 100, 0.0..9.0);
    let keys = ints(82, 100, 0..1000);
    let order = |i: usize| keys.get(i).map_or(0, |k| k & 63);
    let value = |i: usize| input.get(i).copied().unwrap_or(-1.0);
    let out: Vec<f32> = (0..100)
        .map(|i| value(i / 64 * 64 + order(i) as usize))
        .collect();
    let found: Vec<i32> = (0..100).map(|i| order(i / 64 * 64 + 63 - i % 64)).collect();
    let case = kernel!("dynamic_shared").over(100, 64).shared(512);
    case.input(&input)
        .input(&keys)
        .output(out)
        .output(found)
        .i32(100)
}

fn dynamic_shared_bytes() -> Case {
    let input = ints(83, 96, -100..100);
    let expected = by_block(&input, 32, |b| {
        (0..b.len())
            .map(|t| b[t] - if t > 0 { b[t - 1] } else { 0 })
            .collect()
    });
    let case = blocks(kernel!("dynamic_shared_bytes"), 3, 32).shared(128);
    case.input(&input).output(expected)
}

fn shared_2d() -> Case {
    let input = ints(84, 192, -1000..1000);
    let expected = by_block(&input, 64, |b| {
        let of = |i: usize| {
            let (x, y) = (i % 8, i / 8);
            let next = (x + 1) % 8;
            b[x * 8 + y] * 10 + (y as i32 - x as i32) + (b[next * 8 + y] >> 2)
        };
        (0..64).map(of).collect()
    });
    let case = kernel!("shared_2d").launch([3, 1, 1], [8, 8, 1]);
    case.input(&input).output(expected)
}

fn shared_struct() -> Case {
    let input = floats(85, 128, -1.0..1.0);
    let ranked = |block: usize| {
        let mut order: Vec<i32> = (0..64).map(|k| (block * 64 + k) as i32).collect();
        order.sort_by(|a, b| input[*a as usize].total_cmp(&input[*b as usize]));
        order
    };
    let expected: Vec<i32> = (0..2).flat_map(ranked).collect();
    let case = blocks(kernel!("shared_struct"), 2, 64);
    case.input(&input).output(expected).i32(128)
}

fn return_before_barrier() -> Case {
    let n = 100;
    let input: Vec<i32> = ints(86, n, 0..100).iter().map(|v| v * 3).collect();
    // Sums of a pair are alike modulo 3, so that both threads of a pair return or none.
    let shifted: Vec<i32> = input
        .iter()
        .enumerate()
        .map(|(i, v)| v + (i as i32 / 4) % 2)
        .collect();
    let at = |i: usize| shifted.get(i).copied().unwrap_or(0);
    let sum = |i: usize| at(i) + at(i / 64 * 64 + (i + 1) % 64);
    let of = |i: usize| {
        let (own, other) = (sum(i), sum(i ^ 1));
        match (own % 3, other % 3) {
            (0, _) => -1,
            // The neighbour returned: its element is still its input.
            (_, 0) => at(i ^ 1) * 2 + own,
            _ => other * 2 + own,
        }
    };
    let expected: Vec<i32> = (0..n).map(of).collect();
    let case = kernel!("return_before_barrier").over(n, 64);
    case.input(&shifted).output(expected).i32(n)
}

fn barrier_in_loop() -> Case {
    let input = ints(87, 128, 0..100);
    let expected = by_block(&input, 64, |b| {
        let mut tile = b.to_vec();
        for r in 0..5 {
            let next = |t: usize| (tile[(t + r + 1) % 64] * 3 + tile[t]) & 0xffff;
            tile = (0..64).map(next).collect();
        }
        // Each element of a tree's level keeps its own partial sum.
        let partial = |t: usize, step: usize| tile.iter().skip(t).step_by(step).sum::<i32>();
        let first = partial(0, 1);
        let (second, third) = (first, first + 1);
        (0..64).map(|t| [first, second, third][t % 3]).collect()
    });
    let case = blocks(kernel!("barrier_in_loop"), 2, 64);
    case.input(&input).output(expected).i32(5)
}

fn barrier_in_branch() -> Case {
    let input = ints(88, 256, -100..100);
    let of = |i: usize| {
        let (base, t) = (i / 64 * 64, i % 64);
        let from = if i / 64 % 2 == 1 {
            63 - t
        } else {
            (t + 2) % 64
        };
        input[base + from]
    };
    let expected: Vec<i32> = (0..256).map(of).collect();
    let case = blocks(kernel!("barrier_in_branch"), 4, 64);
    case.input(&input).output(expected).i32(2)
}

fn divergent_loop_then_barrier() -> Case {
    let input = ints(89, 128, 0..5000);
    let steps = |v: i32| {
        let (mut v, mut steps) = (v, 0);
        while v > 1 && v % 7 != 0 {
            v = if v & 1 == 1 { v - 1 } else { v / 2 };
            steps += 1;
        }
        steps
    };
    let of = |i: usize| steps(input[i]) * 100 + steps(input[i / 64 * 64 + (i + 32) % 64]);
    let expected: Vec<i32> = (0..128).map(of).collect();
    let case = blocks(kernel!("divergent_loop_then_barrier"), 2, 64);
    case.input(&input).output(expected)
}

fn shared_flag() -> Case {
    // Each thread follows a link to a lower thread, or to itself.
    let steps = naturals(90, 128, 6);
    let links: Vec<i32> = (0..128)
        .map(|i| (i % 64 - steps[i as usize] as i32).max(0))
        .collect();
    let root = |i: usize| {
        let (base, mut t) = (i / 64 * 64, i % 64);
        while links[base + t] as usize != t {
            t = links[base + t] as usize;
        }
        t as i32
    };
    let labels: Vec<i32> = (0..128).map(root).collect();
    let case = blocks(kernel!("shared_flag"), 2, 64);
    case.input(&links).output(labels).output(vec![1, 1])
}

fn barrier_in_function() -> Case {
    let input = ints(91, 128, -20..20);
    let expected = by_block(&input, 64, |b| {
        let mut v = b.to_vec();
        for bit in 0..6 {
            let mask = 1 << bit;
            let of = |t: usize| match t & mask {
                0 => v[t] + v[t ^ mask],
                _ => v[t] - v[t ^ mask],
            };
            v = (0..64).map(of).collect();
        }
        v
    });
    let case = blocks(kernel!("barrier_in_function"), 2, 64);
    case.input(&input).output(expected)
}

fn block_bound() -> Case {
    let rounds = vec![0, 3, 7, 1];
    let input = ints(92, 128, -100..100);
    let of = |i: usize| {
        let (block, t) = (i / 32, i % 32);
        let n = rounds[block];
        input[block * 32 + (t + 5 * n as usize) % 32] + n * (n - 1) / 2
    };
    let expected: Vec<i32> = (0..128).map(of).collect();
    let case = blocks(kernel!("block_bound"), 4, 32);
    case.input(&rounds).input(&input).output(expected)
}

fn barrier_votes() -> Case {
    let mut input = ints(93, 192, -100..100);
    input[..64].iter_mut().for_each(|v| *v = (*v).min(80));
    input[70] = 99;
    let expected = by_block(&input, 64, |b| {
        let positive = b.iter().filter(|v| **v > 0).count() as i32;
        let any_large = i32::from(b.iter().any(|v| *v > 90));
        let all_small = i32::from(b.iter().all(|v| *v < 95));
        vec![positive * 4 + any_large * 2 + all_small; 64]
    });
    let case = blocks(kernel!("barrier_votes"), 3, 64);
    case.input(&input).output(expected)
}

fn shared_scalar() -> Case {
    let input = whole_floats(94, 150, -50..50);
    let expected = by_block(&input, 64, |b| {
        let mean = b.iter().sum::<f32>() / b.len() as f32;
        b.iter().map(|v| v - mean).collect()
    });
    let case = kernel!("shared_scalar").over(150, 64);
    case.input(&input)
        .output_within(expected, near(1e-5))
        .i32(150)
}

fn tiles_in_loop() -> Case {
    let input = whole_floats(95, 110, -50..50);
    let of = |row: usize| {
        let kept = input
            .iter()
            .enumerate()
            .filter(|(i, _)| i % 32 % (row + 1) == 0);
        kept.map(|(_, v)| v).sum::<f32>()
    };
    let expected: Vec<f32> = (0..40).map(of).collect();
    let case = kernel!("tiles_in_loop").over(40, 32);
    case.input(&input).output(expected).i32(110).i32(40)
}
