//! Functions, references, templates, macros and constants.

use crate::case::{Case, kernel, near};
use crate::inputs::{floats, ints, whole_floats};

pub fn cases() -> Vec<Case> {
    vec![
        macros(),
        defines(),
        template_of_ints(),
        template_of_floats(),
        template_constant(),
        device_functions(),
        references(),
        constants(),
    ]
}

fn macros() -> Case {
    let (width, height) = (50, 6);
    let input = ints(50, width * height, -30..30);
    let of = |i: usize| {
        let mut sum: i32 = (0..height).map(|row| input[row * width + i]).sum();
        for k in 0..6 {
            // The compound assignment evaluates its right side with the old sum.
            sum += k * k + (sum & 3) * (sum & 3);
        }
        sum * 3 + 7 + 2 + 1
    };
    let expected: Vec<i32> = (0..width).map(of).collect();
    let case = kernel!("macros")
        .over(width, 64)
        .input(&input)
        .output(expected);
    case.i32(width).i32(height)
}

fn defines() -> Case {
    let expected: Vec<i32> = (0..64).map(|i| 8 * i + 3).collect();
    kernel!("defines")
        .define("TILE", "8")
        .define("OFFSET", "(1 + 2)")
        .output(expected)
}

fn template_of_ints() -> Case {
    let input = ints(51, 101, -1000..1000);
    let of = |(i, v): (usize, &i32)| v * 2 + (i % 2) as i32 + 1;
    let expected: Vec<i32> = input.iter().enumerate().map(of).collect();
    let case = kernel!("template_type")
        .entry("template_type<int, 2>")
        .over(51, 64);
    case.input(&input).output(expected).i32(101)
}

fn template_of_floats() -> Case {
    let input = whole_floats(52, 130, -1000..1000);
    let of = |(i, v): (usize, &f32)| v * 2.0 + (i % 4) as f32 + 1.0;
    let expected: Vec<f32> = input.iter().enumerate().map(of).collect();
    let case = kernel!("template_type")
        .entry("template_type<float, 4>")
        .over(33, 32);
    case.input(&input).output(expected).i32(130)
}

fn template_constant() -> Case {
    let input = ints(53, 64, -100..100);
    let at = |i: usize| input[i % 64];
    let of = |i: usize| {
        let five: i32 = (0..5).map(|k| at(i + k) * (5 - k as i32)).sum();
        -(five + 2 * at(i + 1) + at(i + 2))
    };
    let expected: Vec<i32> = (0..64).map(of).collect();
    let case = kernel!("template_constant")
        .entry("template_constant<5, true>")
        .over(64, 32);
    case.input(&input).output(expected).i32(64)
}

fn device_functions() -> Case {
    let input = floats(54, 90, -3.0..3.0);
    let of = |&x: &f32| ((x + 1.0) + 2.0) * (x + 1.0) + 3.0 - (0.5 * x * x + 1.0);
    let expected: Vec<f32> = input.iter().map(of).collect();
    let buffers = kernel!("device_functions").over(90, 64).input(&input);
    buffers.output_within(expected, near(1e-5)).i32(90)
}

fn references() -> Case {
    let data = ints(55, 120, 0..5000);
    let (mut after, mut out) = (Vec::new(), Vec::new());
    for pair in data.chunks_exact(2) {
        let (low, high) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        after.extend([low + 1, high]);
        out.push(high % 9 * 1000 + high / 9 + low + 1);
    }
    let case = kernel!("references").over(60, 32);
    case.in_out(&data, after).output(out).i32(120)
}

fn constants() -> Case {
    let input = ints(56, 64, 0..9);
    let weights = [[1, 2, 3, 4], [5, 6, 7, 8], [-1, -2, 0, 0]];
    let total: i32 = weights.iter().flatten().sum();
    let of =
        |(i, &v): (usize, &i32)| (total * v) as f32 * 0.5 + weights[(v & 1) as usize][i & 3] as f32;
    let expected: Vec<f32> = input.iter().enumerate().map(of).collect();
    kernel!("constants")
        .over(64, 32)
        .input(&input)
        .output(expected)
        .i32(64)
}
