//! Parts of C++ beside those of C, names, constants, and the order of evaluation.

use crate::case::{Case, kernel, near};
use crate::inputs::{bytes, ints, whole_floats};

pub fn cases() -> Vec<Case> {
    vec![
        overloads(),
        operators(),
        methods(),
        array_references(),
        friends(),
        deduced_types(),
        limits(),
        constant_overflow(),
        constant_floats(),
        single_evaluation(),
        inlined_returns(),
        loop_locals(),
        names(),
        bool_buffers(),
        small_vectors(),
        struct_parameter(),
        function_object(),
    ]
}

fn overloads() -> Case {
    let input = ints(270, 80, -100..100);
    let of = |&v: &i32| [v * 2 + 21, v * 2 + 10 - (v * 2 + 3), v * 8 + 1];
    let expected: Vec<i32> = input.iter().flat_map(of).collect();
    let reals: Vec<f32> = input.iter().map(|v| *v as f32 * 0.5).collect();
    let case = kernel!("overloads").over(80, 32).input(&input);
    case.output(expected).output(reals).i32(80)
}

fn operators() -> Case {
    let n = 50;
    let (a, b) = (
        whole_floats(271, 3 * n, -9..9),
        whole_floats(272, 3 * n, -9..9),
    );
    let (mut out, mut dots) = (Vec::new(), Vec::new());
    for (a, b) in a.chunks_exact(3).zip(b.chunks_exact(3)) {
        let cross = |k: usize| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        let sum = [0, 1, 2].map(|k| a[k] + 2.0 * b[k] - cross(k));
        out.extend(sum);
        dots.push(sum.iter().zip(a).map(|(s, a)| s * a).sum::<f32>());
    }
    let case = kernel!("operators").over(n, 32).input(&a).input(&b);
    case.output(out).output(dots).i32(n)
}

fn methods() -> Case {
    let input = ints(273, 120, -9..9);
    let (mut out, mut norms) = (Vec::new(), Vec::new());
    for four in input.chunks_exact(4) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| four[k] as f32);
        let (re, im) = (a * c - b * d + 1.0, a - (a * d + b * c));
        norms.extend([re * re + im * im, im]);
        out.push(four.iter().max().unwrap() * 1000 + four.iter().sum::<i32>());
    }
    let case = kernel!("methods").over(30, 32).input(&input);
    case.output(out).output(norms).i32(120)
}

fn deduced_types() -> Case {
    let input = whole_floats(274, 70, -99..99);
    let reals: Vec<f32> = (0..70)
        .map(|i| input[i] * 2.0 + input[(i + 1) % 70])
        .collect();
    let whole: Vec<u32> = input.iter().map(|v| (*v as i32 >> 1) as u32).collect();
    let case = kernel!("deduced_types").over(70, 64).input(&input);
    case.output(whole).output(reals).i32(70)
}

fn limits() -> Case {
    let reals = [
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::EPSILON,
        std::f32::consts::PI,
        f32::INFINITY,
    ];
    let case = kernel!("limits").output(vec![i32::MAX, i32::MIN, -1, 8, 33022]);
    case.output(reals.to_vec())
}

fn constant_overflow() -> Case {
    let out = vec![1 << 30, -(1 << 28), -16, 4, 4, 4452, -31, 3];
    let words = vec![
        2_654_435_761_u32.wrapping_mul(3),
        u32::MAX,
        1,
        u32::MAX,
        1 << 31,
        1 << 31,
        2_147_483_645,
    ];
    kernel!("constant_overflow").output(out).output(words)
}

fn constant_floats() -> Case {
    let out = vec![
        f32::INFINITY,
        f32::NEG_INFINITY,
        1.0 / 3.0,
        1e10,
        16_777_216.0,
        6.5,
        1.0,
    ];
    let case = kernel!("constant_floats").output_within(out, near(1e-6));
    // The sum of 0.1 and 0.2 is 0.3 in single precision, unlike in double.
    case.output(vec![1, -27, 1, 1])
}

fn single_evaluation() -> Case {
    let input = ints(275, 64, 0..500);
    let of = |&v: &i32| {
        let z = v & 7;
        let (x, y) = (2 * z - 2, z - 2);
        let last = y + z - 1;
        let a = [v, -4, 5, 1 + last, 3 * x, last];
        let weighed = a.iter().zip([1, 3, 5, 7, 11, 13]).map(|(a, w)| a * w);
        weighed.sum::<i32>() + 2000 + 200_000
    };
    let expected: Vec<i32> = input.iter().map(of).collect();
    let case = kernel!("single_evaluation").over(64, 32);
    case.input(&input).output(expected).i32(64)
}

fn find(list: &[i32], wanted: i32) -> i32 {
    let at = list.iter().position(|v| *v == wanted);
    at.map_or(-1, |at| at as i32)
}

fn classify(v: i32) -> i32 {
    match v % 4 {
        0 => 10,
        1 => {
            let falling = (1..).map(|k| v - 7 * k).take_while(|w| w + 7 > 10);
            falling.into_iter().find(|w| w % 5 == 0).unwrap_or(20)
        }
        2 => v,
        _ => v + 100,
    }
}

fn inlined_returns() -> Case {
    let input = ints(276, 64, 0..25);
    let mut walked = 0;
    let mut k = 0;
    while find(&input[..16], k) < 12 && k < 30 {
        if find(&input[..8], k + 1) < 0 {
            walked += classify(classify(k));
            if walked > 5000 && find(&input[8..16], k) != -1 {
                break;
            }
        }
        k += classify(k) % 3 + 1;
    }
    let of = |i: usize| {
        let at = input[find(&input[..16], input[i & 15]) as usize];
        walked
            + match classify(i as i32) {
                10 => 1,
                20 => 2 + classify(at) + 4,
                _ => classify(at) + 4,
            }
    };
    let expected: Vec<i32> = (0..64).map(of).collect();
    let case = kernel!("inlined_returns").over(64, 32);
    case.input(&input).output(expected).i32(64)
}

fn loop_locals() -> Case {
    let input = ints(277, 60, 0..1000);
    let of = |i: usize| {
        (0..5).fold(0, |sum, r| {
            let mut bins = [0; 3];
            (0..4).for_each(|k| bins[(input[(i + k * r) % 60] & 0xff) as usize % 3] += 1);
            sum * 3 + bins[0] + 2 * bins[1] + 4 * bins[2] + 6 + 4 * r as i32 + 16
        })
    };
    let expected: Vec<i32> = (0..60).map(of).collect();
    kernel!("loop_locals")
        .over(60, 32)
        .input(&input)
        .output(expected)
        .i32(60)
}

fn names() -> Case {
    let array = ints(278, 50, -20..20);
    let own: Vec<i32> = array
        .iter()
        .map(|v| 3000 + v + 130 + 1 + 8 * 4 + 5)
        .collect();
    let of = |v: &i32| {
        let clamped = (*v as f32 * 0.25).clamp(-1.0, 1.0);
        clamped + clamped + 0.5 * (2.0 - clamped)
    };
    let reals: Vec<f32> = array.iter().map(of).collect();
    let case = kernel!("names")
        .entry("distance")
        .over(50, 32)
        .input(&array);
    case.output(own).output_within(reals, near(1e-6)).i32(50)
}

fn bool_buffers() -> Case {
    let input: Vec<u8> = bytes(279, 90).iter().map(|b| b & 1).collect();
    let at = |i: usize| input.get(i).copied().unwrap_or(0);
    let out: Vec<u8> = (0..90).map(|i| 1 - (at(i) & at(i ^ 1))).collect();
    let next = |i: usize| i / 64 * 64 + (i + 1) % 64;
    let counts: Vec<i32> = (0..90)
        .map(|i| i32::from(at(i) + 2 * at(next(i))))
        .collect();
    let case = kernel!("bool_buffers").over(90, 64).input(&input);
    case.output(out).output(counts).i32(90)
}

fn small_vectors() -> Case {
    let input = bytes(280, 4 * 60);
    let (mut out, mut pairs) = (Vec::new(), Vec::new());
    for p in input.chunks_exact(4) {
        let [x, y, z] = [p[0], p[1], p[2]].map(i32::from);
        out.extend([
            ((x + y + z) / 3) as u8,
            p[0],
            255 - p[1],
            p[3].wrapping_add(10),
        ]);
        pairs.extend([(x - y) as i16, (z * 300) as i16]);
    }
    let case = kernel!("small_vectors").over(60, 32).input(&input);
    case.output(out).output(pairs).i32(60)
}

fn struct_parameter() -> Case {
    let input = whole_floats(281, 70, -40..40);
    let of = |(i, v): (usize, &f32)| {
        let moved = (v * 2.0 + 3.0 - 4.0).clamp(-30.0, 50.0);
        let limit = [5.0, 6.0, 7.0, 8.0][i & 3];
        -(moved + limit * 0.5 + 10.0 + 300.0 - 100.0) + 200.0
    };
    let expected: Vec<f32> = input.iter().enumerate().map(of).collect();
    let bits = f32::to_bits;
    // Pairs of floats are aligned to 8 bytes, as is the struct.
    let settings = [bits(2.0), 3, 5, 6, 7, 8, bits(-30.0), bits(50.0)];
    let weights = [bits(10.0), 0, 0, bits(0.5)];
    let case = kernel!("struct_parameter").over(70, 32).input(&input);
    let case = case.output_within(expected, near(1e-6)).words(&settings);
    let case = case.words(&weights).u32(1).i32(-4).u32(200);
    case.words(&[100, 200, 300]).i32(70)
}

fn function_object() -> Case {
    let input = whole_floats(282, 192, -99..99);
    let least = |b: &[f32]| b.iter().copied().fold(f32::INFINITY, f32::min);
    let expected: Vec<f32> = input.chunks(64).map(least).collect();
    let case = kernel!("function_object").entry("function_object<float, Minimum, 64>");
    let case = case.launch([3, 1, 1], [64, 1, 1]).input(&input);
    case.output(expected).words(&[])
}

fn array_references() -> Case {
    let input = whole_floats(610, 32, -99..99);
    let of = |i: usize| input[i] + input[2 + i % 4];
    let expected: Vec<f32> = (0..32).map(of).collect();
    let case = kernel!("array_references").launch([1, 1, 1], [32, 1, 1]);
    case.input(&input).output(expected)
}

fn friends() -> Case {
    let input = ints(611, 64, -20..20);
    let of = |(i, pair): (usize, &[i32])| {
        let norm = |re: i32, im: i32| re * re + im * im;
        4 * norm(pair[0], pair[1]) * norm(i as i32, -3)
    };
    let expected: Vec<i32> = input.chunks(2).enumerate().map(of).collect();
    let case = kernel!("friends").launch([1, 1, 1], [32, 1, 1]);
    case.input(&input).output(expected)
}
