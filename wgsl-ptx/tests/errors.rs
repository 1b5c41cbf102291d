//! Errors name the construct that cannot be compiled with its line and column; nothing panics.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "common/programs.rs"]
mod programs;

use programs::programs;
use wgsl_ptx::{Bounds, Error, PtxOptions, compile_wgsl};

#[track_caller]
fn fails(wgsl: &str, options: &PtxOptions<'_>, expected: &[&str]) {
    let Err(Error::KernelCompile { kernel, message }) = compile_wgsl(wgsl, options) else {
        panic!("compiled: {wgsl}");
    };
    assert_eq!(kernel, options.entry);
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[track_caller]
fn main_fails(wgsl: &str, expected: &[&str]) {
    fails(wgsl, &PtxOptions::new("main"), expected);
}

#[test]
fn errors_of_the_source_carry_line_and_column() {
    main_fails(
        "@compute @workgroup_size(1)\nfn main() { oops(); }",
        &["2:13: ", "oops"],
    );
    main_fails(
        "@compute @workgroup_size(1)\nfn main() {\n    let a: u32 = 1.5;\n}",
        &["3:"],
    );
    main_fails("fn main() {}", &["no @compute function"]);
    main_fails(
        "@compute @workgroup_size(1) fn other() {}",
        &["there are: other"],
    );
}

#[test]
fn names_of_any_script_compile() {
    let wgsl = "@compute @workgroup_size(1) fn größe() {}";
    let compiled = compile_wgsl(wgsl, &PtxOptions::new("größe")).unwrap();
    assert_eq!(compiled.entry, "gr$f6$dfe");
    assert!(compiled.text.contains(".entry gr$f6$dfe("));
}

#[test]
fn override_constants_without_a_value_are_named_with_their_line() {
    for (wgsl, key) in [
        ("\noverride gain: f32;", "gain"),
        ("\n@id(1300) override gain: f32;", "1300"),
    ] {
        let wgsl = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<f32>;{wgsl}
@compute @workgroup_size(1) fn main() {{ out[0] = gain; }}"
        );
        let text = compile_wgsl(&wgsl, &PtxOptions::new("main"))
            .unwrap_err()
            .to_string();
        assert!(text.contains("2:"), "{text}");
        let expected = format!("override constant gain has no default: give a value for {key:?}");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn override_constants_must_be_known_and_given() {
    let wgsl = "override N: u32;\n@compute @workgroup_size(N) fn main() {}";
    main_fails(wgsl, &["N"]);
    let options = PtxOptions {
        overrides: &[("M", 1.0)],
        ..PtxOptions::new("main")
    };
    fails(wgsl, &options, &["M"]);
    let options = PtxOptions {
        overrides: &[("N", 64.0)],
        ..PtxOptions::new("main")
    };
    assert_eq!(
        compile_wgsl(wgsl, &options).unwrap().workgroup_size,
        [64, 1, 1]
    );
}

#[test]
fn sizes_computed_before_other_constants_need_a_name() {
    let unnamed = "override N: u32 = 4u;
var<workgroup> words: array<u32, N + 1>;
override M: u32 = N * 2;
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(1) fn main() { output[0] = words[0] + M; }";
    main_fails(unnamed, &["3:", "give that size a name"]);
    let named = unnamed
        .replace(
            "var<workgroup>",
            "override SIZE: u32 = N + 1; var<workgroup>",
        )
        .replace("u32, N + 1>", "u32, SIZE>");
    assert!(compile_wgsl(&named, &PtxOptions::new("main")).is_ok());
}

#[test]
fn what_kernels_cannot_have_is_named_where_it_is() {
    let texture = "@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(1)
fn main() {
    output[0] = textureLoad(picture, vec2(0, 0), 0).x;
}";
    main_fails(texture, &["1:", "texture"]);
    let double = "@group(0) @binding(0) var<storage, read_write> output: array<f64>;
@compute @workgroup_size(1)
fn main() {
    output[0] = 1.0lf +
        exp(output[1]);
}";
    main_fails(double, &["5:9: ", "Exp of f64 is not supported"]);
    let unused = "@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(1) fn main() { output[0] = 1.0; }";
    assert_eq!(
        compile_wgsl(unused, &PtxOptions::new("main"))
            .unwrap()
            .params
            .len(),
        1
    );
}

#[test]
fn limits_are_named_with_their_values() {
    let uniform = "struct Large { words: array<vec4<u32>, 300> }
@group(0) @binding(0) var<uniform> large: Large;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(1) fn main() { output[0] = large.words[1].x; }";
    main_fails(uniform, &["4816 bytes", "4096"]);
    let shared = "var<workgroup> words: array<u32, 58113>;
@compute @workgroup_size(1) fn main() { words[0] = 1u; }";
    main_fails(shared, &["1:1: ", "232452 bytes", "232448"]);
    main_fails("@compute @workgroup_size(64, 32) fn main() {}", &["2048"]);
}

/// Compiles every program with a piece cut out: naga rejects most, and the compiler compiles or rejects the others.
#[test]
fn damaged_sources_do_not_panic() {
    let mut n_compiled = 0;
    let mut n_refused = 0;
    for program in programs() {
        let words: Vec<&str> = program.wgsl.split_inclusive(char::is_whitespace).collect();
        for (i, length) in (0..words.len())
            .step_by(11)
            .zip([1, 2, 3, 5, 8].into_iter().cycle())
        {
            let end = (i + length).min(words.len());
            let damaged = words[..i].concat() + &words[end..].concat();
            let bounds = if i % 2 == 0 {
                Bounds::Clamp
            } else {
                Bounds::Unchecked
            };
            let options = PtxOptions {
                bounds,
                ..PtxOptions::new("main")
            };
            match compile_wgsl(&damaged, &options) {
                Ok(_) => n_compiled += 1,
                Err(Error::KernelCompile { .. }) => n_refused += 1,
                Err(other) => panic!("{}: {other}", program.name),
            }
        }
    }
    println!("{n_compiled} compiled, {n_refused} refused");
    assert!(n_compiled > 10 && n_refused > 100);
}

/// Compiles a kernel with a body and variables of module scope for a workgroup of `n` invocations.
fn cooperative_fails(n: u32, globals: &str, body: &str, options: &PtxOptions<'_>, expected: &str) {
    let wgsl = format!(
        "enable f16; enable wgpu_cooperative_matrix;
        var<workgroup> halves: array<f16, 512>;
        {globals}
        @compute @workgroup_size({n}) fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"
    );
    fails(&wgsl, options, &[expected]);
}

#[test]
fn cooperative_matrices_need_what_the_hardware_has() {
    let sm_80 = PtxOptions {
        sm: 80,
        ..PtxOptions::new("main")
    };
    let whole = "coopStore(coopLoad<coop_mat16x16<f16, C>>(&halves[0]), &halves[256]);";
    cooperative_fails(
        33,
        "",
        whole,
        &sm_80,
        "make the workgroup's 33 invocations a multiple of 32",
    );
    let sm_70 = PtxOptions { sm: 70, ..sm_80 };
    cooperative_fails(32, "", whole, &sm_70, "compute capability 7.5");
    let small = "coopStore(coopLoad<coop_mat8x8<f16, C>>(&halves[0]), &halves[256]);";
    cooperative_fails(32, "", small, &sm_80, "other than 16x16 elements");
    let single = "var<workgroup> singles: array<f32, 256>;";
    let factor = "let a = coopLoad<coop_mat16x16<f32, A>>(&singles[0]);
        coopStore(a, &singles[0]);";
    cooperative_fails(32, single, factor, &sm_80, "use f16");
    let tf32 = PtxOptions {
        floats_as_tf32: true,
        ..sm_80
    };
    let tf32_of_sm_75 = PtxOptions { sm: 75, ..tf32 };
    cooperative_fails(32, single, factor, &tf32_of_sm_75, "compute capability 8.0");
    let doubled = "let a = coopLoad<coop_mat16x16<f32, A>>(&singles[0]);
        coopStore(a + a, &singles[0]);";
    cooperative_fails(32, single, doubled, &tf32, "that are factors");
    let mixed = "let a = coopLoad<coop_mat16x16<f32, A>>(&singles[0]);
        let b = coopLoad<coop_mat16x16<f16, B>>(&halves[0]);
        let c = coopLoad<coop_mat16x16<f32, C>>(&singles[0]);
        coopStore(coopMultiplyAdd(a, b, c), &singles[0]);";
    cooperative_fails(32, single, mixed, &tf32, "f16 and f32");
    let short = "var<workgroup> short: array<f16, 7>;";
    let load = "coopStore(coopLoad<coop_mat16x16<f16, C>>(&short[0]), &halves[0]);";
    cooperative_fails(32, short, load, &sm_80, "shorter than a row");
    let shared = "var<workgroup> matrix: coop_mat16x16<f16, C>;";
    cooperative_fails(
        32,
        shared,
        "coopStore(matrix, &halves[0]);",
        &sm_80,
        "that invocations share",
    );
    let divergent =
        "if i < 16 { coopStore(coopLoad<coop_mat16x16<f16, C>>(&halves[0]), &halves[256]); }";
    cooperative_fails(32, "", divergent, &sm_80, "uniform");
    let multiply = "let a = coopLoad<coop_mat16x16<f16, A>>(&halves[0]);
        let b = coopLoad<coop_mat16x16<f16, B>>(&halves[0]);
        let c = coopLoad<coop_mat16x16<f16, C>>(&halves[256]);
        coopStore(coopMultiplyAdd(a, b, c), &halves[256]);";
    let of_bfloat16 = PtxOptions {
        halves_as_bfloat16: true,
        ..sm_80
    };
    cooperative_fails(32, "", multiply, &of_bfloat16, "bfloat16");
    let negated = "coopStore(-coopLoad<coop_mat16x16<f16, C>>(&halves[0]), &halves[256]);";
    cooperative_fails(32, "", negated, &sm_80, "");
}
