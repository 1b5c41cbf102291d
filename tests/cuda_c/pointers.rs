//! Pointers, structs, vectors, arrays, and buffers of elements of every size.

use crate::case::{Case, kernel, near};
use crate::inputs::{bytes, floats, ints, whole_floats, words};

pub fn cases() -> Vec<Case> {
    vec![
        pointer_walk(),
        pointer_arguments(),
        struct_buffer(),
        struct_local(),
        byte_buffer(),
        byte_update(),
        short_buffer(),
        vectors(),
        vector_array(),
        casts(),
        local_arrays(),
        constant_table(),
        address_of(),
        index_2d(),
        index_3d(),
        chosen_pointer(),
        volatile_restrict(),
        ping_pong(),
        pointer_to_row(),
        many_buffers(),
    ]
}

fn pointer_walk() -> Case {
    let (length, n) = (7, 40);
    let input = ints(60, length * n, -20..20);
    let of = |row: &[i32]| {
        let sum = row.iter().fold(0, |sum, v| sum * 3 + v);
        let top = row.iter().max().unwrap();
        let last_top = row.iter().rposition(|v| v == top).unwrap();
        [sum + row[length - 1], last_top as i32]
    };
    let expected: Vec<i32> = input.chunks_exact(length).flat_map(of).collect();
    let case = kernel!("pointer_walk")
        .over(n, 32)
        .input(&input)
        .output(expected);
    case.i32(length).i32(n)
}

fn pointer_arguments() -> Case {
    let input = ints(61, 128, -50..50);
    let of = |i: usize| {
        let four: i32 = input[i & !3..][..4].iter().sum();
        let sixteen: i32 = input[i & !15..][..16].iter().sum();
        let whole: i32 = (0..6).map(|k| i as i32 + k * k).sum();
        let local = whole - (i as i32 + 4) - (i as i32 + 9) - 5 - 4;
        four + 10 * sixteen + 100 * local
    };
    let expected: Vec<i32> = (0..100).map(of).collect();
    let case = kernel!("pointer_arguments").launch([2, 1, 1], [64, 1, 1]);
    case.input(&input).output(expected).i32(100)
}

/// Elements are floats x, y, an integer, and two floats: all as words, since a buffer has one type here.
fn struct_buffer() -> Case {
    let reals = whole_floats(62, 60 * 4, -100..100);
    let (mut sources, mut expected) = (Vec::new(), Vec::new());
    for (i, r) in reals.chunks_exact(4).enumerate() {
        let word = |v: f32| v.to_bits();
        sources.extend([word(r[0]), word(r[1]), i as u32, word(r[2]), word(r[3])]);
        let moved = r[0] + 0.5 * r[1];
        let id = 2 * i as u32 + 1;
        expected.extend([word(moved), word(-r[1]), id, word(r[0]), word(r[2])]);
    }
    let case = kernel!("struct_buffer").over(60, 32).output(expected);
    case.input(&sources).f32(0.5).i32(60)
}

fn struct_local() -> Case {
    let input = ints(63, 64, -50..50);
    let of = |(i, &v): (usize, &i32)| {
        let mut corners = [[v - 4, 1], [v + 14, 24]];
        corners[i & 1][1] *= 5;
        let mut weights = [3, 0];
        weights[i & 1] += 2;
        let ends = corners[0][0] + 10 * corners[0][1] + 100 * corners[1][0] + 1000 * corners[1][1];
        ends + v + 7 * weights[0] + 11 * weights[1]
    };
    let expected: Vec<i32> = input.iter().enumerate().map(of).collect();
    kernel!("struct_local")
        .over(64, 32)
        .input(&input)
        .output(expected)
        .i32(64)
}

fn byte_buffer() -> Case {
    let input = bytes(64, 203);
    let inverted: Vec<u8> = input.iter().map(|b| 255 - b).collect();
    let next = |i: usize| input[(i + 1) % 203];
    let differences: Vec<i8> = (0..203)
        .map(|i| input[i].wrapping_sub(next(i)) as i8)
        .collect();
    let buffers = kernel!("byte_buffer").over(203, 64).input(&input);
    buffers.output(inverted).output(differences).i32(203)
}

fn byte_update() -> Case {
    let text: Vec<u8> = "Bytes of one word, Each changed by a thread of its own; {z}.".into();
    let upper: Vec<u8> = text.to_ascii_uppercase();
    let counts = bytes(65, text.len());
    let after: Vec<u8> = counts.iter().map(|c| c.wrapping_add(201) >> 1).collect();
    let n = text.len();
    kernel!("byte_update")
        .over(n, 32)
        .in_out(&text, upper)
        .in_out(&counts, after)
        .i32(n)
}

fn short_buffer() -> Case {
    let a: Vec<i16> = words(66, 97).into_iter().map(|w| w as i16).collect();
    let b: Vec<u16> = words(67, 97).into_iter().map(|w| w as u16).collect();
    let pairs = || a.iter().zip(&b);
    let sums: Vec<i16> = pairs().map(|(a, b)| a.wrapping_add(*b as i16)).collect();
    let products: Vec<u16> = pairs().map(|(a, b)| (*a as u16).wrapping_mul(*b)).collect();
    let buffers = kernel!("short_buffer").over(97, 64).input(&a).input(&b);
    buffers.output(sums).output(products).i32(97)
}

fn vectors() -> Case {
    let n = 50;
    let (a, b) = (
        whole_floats(68, 4 * n, -20..20),
        whole_floats(69, 2 * n, -20..20),
    );
    let c = ints(70, 4 * n, -100..100);
    let (mut out, mut pairs) = (Vec::new(), Vec::new());
    for i in 0..n {
        let [x, y, z, w] = [0, 1, 2, 3].map(|k| a[4 * i + k]);
        let (x, w) = (x + b[2 * i], w * b[2 * i + 1]);
        out.extend([x + 2.0 * y + 3.0 * z + 4.0 * w, x, y - z, w]);
        let [p, q, r, s] = [0, 1, 2, 3].map(|k| c[4 * i + k]);
        pairs.extend([(p + q) as u32, (r * s) as u32]);
    }
    let buffers = kernel!("vectors").over(n, 32).input(&a).input(&b).input(&c);
    buffers.output(out).output(pairs).i32(n)
}

fn vector_array() -> Case {
    let n = 50;
    let input = whole_floats(71, 2 * n, -99..99);
    let at = |i: usize, k: usize| input.get(2 * i + k).copied().unwrap_or(0.0);
    let of = |i: usize| {
        let mirrored = i / 32 * 32 + 31 - i % 32;
        [at(mirrored, 1), at(mirrored, 0) + at(i, 0)]
    };
    let expected: Vec<f32> = (0..n).flat_map(of).collect();
    let places: Vec<i32> = (0..n).map(|i| (i % 32) as i32 + 100 + 20000).collect();
    let case = kernel!("vector_array").over(n, 32).input(&input);
    case.output(expected).output(places).i32(n)
}

fn casts() -> Case {
    let values = floats(72, 128, -9.0..9.0);
    let reversed = values
        .chunks_exact(4)
        .flat_map(|four| four.iter().rev().copied());
    let copies: Vec<f32> = reversed.collect();
    let of = |(i, v): (usize, &f32)| {
        let flipped = v.to_bits() ^ 0x8000_0000;
        match i % 4 {
            0 => (flipped >> 1) as i32,
            1 => (values[i - 1].to_bits() >> 23) as i32,
            _ => flipped as i32,
        }
    };
    let out: Vec<i32> = values.iter().enumerate().map(of).collect();
    kernel!("casts")
        .over(32, 32)
        .input(&values)
        .output(out)
        .output(copies)
        .i32(128)
}

fn local_arrays() -> Case {
    let input = ints(73, 80, 0..30);
    let of = |(i, &v): (usize, &i32)| {
        let mut grid = [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| v * r + c));
        grid[(v & 1) as usize][3] = -9;
        // The order is 3, 1, 2, 0.
        let sorted = [grid[2][3], grid[2][1], grid[2][2], grid[2][0]];
        grid[0][3] + grid[1][3] * 10 + sorted[i & 3] * 100 + [1, 3, 5][i % 3]
    };
    let expected: Vec<i32> = input.iter().enumerate().map(of).collect();
    kernel!("local_arrays")
        .over(80, 32)
        .input(&input)
        .output(expected)
        .i32(80)
}

fn constant_table() -> Case {
    let input = ints(74, 60, 0..1_000_000);
    let digit =
        |(i, v): (usize, &i32)| v / 10_i32.pow(i as u32 % 5) % 10 + [7, 8, 9, 250][i & 3] * 100 + 5;
    let out: Vec<i32> = input.iter().enumerate().map(digit).collect();
    let filtered = |i: usize| {
        let [a, b, c] = [0, 1, 2].map(|k| input[(i + k) % 60] as f32);
        if i & 1 == 0 {
            0.25 * a + 0.5 * b + 0.25 * c
        } else {
            c - a
        }
    };
    let expected: Vec<f32> = (0..60).map(filtered).collect();
    let case = kernel!("constant_table")
        .over(60, 32)
        .input(&input)
        .output(out);
    case.output_within(expected, near(1e-5)).i32(60)
}

fn address_of() -> Case {
    let data = ints(75, 80, -100..100);
    let reversed: Vec<i32> = data.iter().rev().copied().collect();
    let of = |i: usize| {
        let total = 5 + reversed[i];
        i as i32 * 1000 + total * 2 + total + 1
    };
    let expected: Vec<i32> = (0..40).map(of).collect();
    let case = kernel!("address_of").over(40, 32);
    case.in_out(&data, reversed).output(expected).i32(80)
}

fn index_2d() -> Case {
    let (width, height) = (21, 13);
    let input = ints(76, width * height, 0..1000);
    let of = |i: usize| {
        let (x, y) = (i % width, i / width);
        input[x * height + y] + ((y % 4) * 8 + x % 8) as i32 * 1000 + 12_000_000
    };
    let expected: Vec<i32> = (0..width * height).map(of).collect();
    let case = kernel!("index_2d").launch([3, 4, 1], [8, 4, 1]);
    case.input(&input).output(expected).i32(width).i32(height)
}

fn index_3d() -> Case {
    let [nx, ny, nz] = [9, 5, 7];
    let of = |i: usize| {
        let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
        let block = ((z / 4) * 3 + y / 2) * 3 + x / 4;
        let thread = ((z % 4) * 2 + y % 2) * 4 + x % 4;
        (block * 1000 + thread) as i32
    };
    let expected: Vec<i32> = (0..nx * ny * nz).map(of).collect();
    let case = kernel!("index_3d")
        .launch([3, 3, 2], [4, 2, 4])
        .output(expected);
    case.i32(nx).i32(ny).i32(nz)
}

fn chosen_pointer() -> Case {
    let (a, b) = (ints(77, 64, -9..9), ints(78, 64, -9..9));
    let of = |i: usize| a[(i & 1) * 32 + i / 2] + 1000 * b[i];
    let expected: Vec<i32> = (0..64).map(of).collect();
    let case = kernel!("chosen_pointer").over(64, 32).input(&a).input(&b);
    case.output(expected).i32(1).i32(64)
}

fn volatile_restrict() -> Case {
    let input = whole_floats(79, 100, -99..99);
    let of = |i: usize| input.get(i ^ 1).copied().unwrap_or(0.0) * 2.0;
    let expected: Vec<f32> = (0..100).map(of).collect();
    kernel!("volatile_restrict")
        .over(100, 64)
        .input(&input)
        .output(expected)
        .i32(100)
}

fn ping_pong() -> Case {
    let input = ints(57, 128, -50..50);
    let round = |row: Vec<i32>| (0..64).map(|t| row[(t + 1) & 63] + row[t]).collect();
    let rounds = |row: &[i32]| (0..5).fold(row.to_vec(), |row, _| round(row));
    let expected: Vec<i32> = input.chunks(64).flat_map(rounds).collect();
    let case = kernel!("ping_pong").launch([2, 1, 1], [64, 1, 1]);
    case.input(&input).output(expected).i32(5)
}

fn pointer_to_row() -> Case {
    let input = ints(58, 80, -50..50);
    let of = |grid: &[i32]| {
        let sums = grid.chunks(8).map(|row| row.iter().sum::<i32>());
        let corners = (0..4).map(|r| grid[8 * r] + grid[8 * r + 15]);
        sums.chain(corners).chain([160 + 8]).collect::<Vec<i32>>()
    };
    let expected: Vec<i32> = input.chunks(40).flat_map(of).collect();
    let case = kernel!("pointer_to_row").launch([2, 1, 1], [32, 1, 1]);
    case.input(&input).output(expected)
}

fn many_buffers() -> Case {
    let inputs: Vec<Vec<i32>> = (0..8).map(|k| ints(600 + k, 64, -99..99)).collect();
    let sum = |i: usize| inputs.iter().map(|input| input[i]).sum();
    let signed = |k: usize, value: i32| if k.is_multiple_of(2) { value } else { -value };
    let difference = |i: usize| (0..8).map(|k| signed(k, inputs[k][i])).sum();
    let case = inputs
        .iter()
        .fold(kernel!("many_buffers"), |case, input| case.input(input));
    let differences: Vec<i32> = (0..64).map(difference).collect();
    case.output((0..64).map(sum).collect::<Vec<i32>>())
        .output(differences)
}
