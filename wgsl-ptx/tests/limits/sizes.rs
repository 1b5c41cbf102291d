//! Long texts, large numbers of one construct, and types and workgroups beyond any device.

use super::{MAIN, OUT, answer, compiles, is_refused, refused, repeated};

#[test]
fn much_of_one_thing() {
    let large = format!("{MAIN} }}\n{}", "/".repeat(2 << 20));
    refused("two megabytes", &large, &["1048576 (MAX_SOURCE_BYTES)"]);
    let name = "x".repeat(500_000);
    refused(
        "a long name",
        &format!("{MAIN} let y = {name}; }}"),
        &["2:"],
    );
    compiles(
        "a long name that is known",
        &format!("{MAIN} let {name} = 1u; }}"),
    );
    answer(
        "a long number",
        &format!("{MAIN} let y = {}; }}", "1".repeat(500_000)),
    );
    answer(
        "a long fraction",
        &format!("{MAIN} let y = 0x1.{}p-3; }}", "1".repeat(500_000)),
    );
    let cases = repeated(2_000, |i| format!("case {i}u {{ o[1] = {i}u; }} "));
    compiles(
        "2,000 cases",
        &format!("{OUT}{MAIN} switch o[0] {{ {cases} default {{ }} }} }}"),
    );
    let cases = repeated(15_000, |i| format!("{i}u,"));
    compiles(
        "15,000 values",
        &format!("{OUT}{MAIN} switch o[0] {{ case {cases} {{ o[1] = 1u; }} default {{ }} }} }}"),
    );
    let variables = repeated(3_000, |i| format!("var<private> v{i}: u32;\n"));
    refused(
        "variables",
        &format!("{variables}{MAIN} }}"),
        &["1024 (MAX_VARIABLES)"],
    );
    let members = repeated(6_000, |i| format!("m{i}: u32,"));
    refused(
        "members",
        &format!("struct S {{ {members} }}{MAIN} }}"),
        &["4096 (MAX_MEMBERS)"],
    );
    let wgsl = format!(
        "{OUT}{MAIN} {} }}",
        "for (var i = 0u; i < 9u; i++) { } ".repeat(25_000)
    );
    answer("25,000 loops", &wgsl);
    let wgsl = format!(
        "{OUT}{MAIN} {} }}",
        "for (var i = 0u; i < o[0]; i++) { } ".repeat(1_500)
    );
    compiles("1500 loops", &wgsl);
    let wgsl = format!("{OUT}{MAIN} {} }}", "o[0] += o[1] * 3u; ".repeat(45_000));
    answer("45,000 statements", &wgsl);
    let wgsl = format!("{OUT}{MAIN} {} }}", "o[0] += o[1] * 3u; ".repeat(2_500));
    compiles("2500 statements", &wgsl);
    let statements = "f(); ".repeat(100_000);
    answer(
        "100,000 calls",
        &format!("{OUT}fn f() {{ o[0] += 1u; }}{MAIN} {statements} }}"),
    );
    let lets = repeated(2_000, |i| format!("let x{} = x{i} * 3u + o[{i}]; ", i + 1));
    compiles(
        "2,000 names",
        &format!("{OUT}{MAIN} let x0 = o[0]; {lets} o[0] = x2000; }}"),
    );
    let constants = repeated(400, |i| format!("const c{} = c{i} + c{i};\n", i + 1));
    refused(
        "constants",
        &format!("{OUT}const c0 = 0u;\n{constants}{MAIN} o[0] = c400; }}"),
        &["MAX_INLINED_TOKENS"],
    );
}

#[test]
fn large_values() {
    let sizes = [
        "4294967295",
        "4294967295u",
        "0xffffffffu",
        "1073741823",
        "268435455u",
        "65536 * 65535",
    ];
    for n in sizes {
        for space in ["private", "workgroup"] {
            let wgsl = format!(
                "{OUT}var<{space}> a: array<u32, {n}>;{MAIN} a[o[0]] = 1u; o[1] = a[o[2]]; }}"
            );
            is_refused(space, &wgsl);
        }
        let two = format!(
            "{OUT}var<workgroup> a: array<u32, {n}>; var<workgroup> b: array<u32, {n}>;{MAIN} a[o[0]] = 1u; b[o[2]] = 2u; }}"
        );
        is_refused("twice", &two);
        is_refused(
            "local",
            &format!("{OUT}{MAIN} var a: array<u32, {n}>; a[o[0]] = 1u; o[1] = a[2]; }}"),
        );
        is_refused(
            "uniform",
            &format!(
                "{OUT}@group(0) @binding(1) var<uniform> a: array<vec4<u32>, {n}>;{MAIN} o[1] = a[o[2]].x; }}"
            ),
        );
        for zero in [
            "let z = !array<u32, N>();",
            "const z = -array<i32, N>();",
            "let z = array<u32, N>()[o[0]];",
            "const_assert all(array<bool, N>());",
            "let z = select(A(), A(), true);",
        ] {
            let wgsl = format!("{OUT}const N = {n}; alias A = array<u32, N>;{MAIN} {zero} }}");
            refused(zero, &wgsl, &["65536 (MAX_ZERO_ELEMENTS)"]);
        }
    }
    let storage = format!(
        "{OUT}@group(0) @binding(1) var<storage, read_write> a: array<u32, 200000000>;{MAIN} a[o[0]] = 1u; }}"
    );
    compiles("storage", &storage);
    for call in ["max(4294967295u, 1u)", "select(1u, 4294967295u, true)"] {
        let wgsl = format!("{OUT}{MAIN} let z = !array<u32, {call}>(); }}");
        refused(call, &wgsl, &["MAX_ZERO_ELEMENTS"]);
    }
    let overridden = "override N: u32 = 4294967295u; var<workgroup> a: array<u32, N>;";
    is_refused(
        "override",
        &format!("{OUT}{overridden}{MAIN} a[o[0]] = 1u; }}"),
    );
    compiles(
        "zeros of a plain size",
        &format!(
            "{OUT}const N = 8u; {MAIN} var a = array<u32, N * N + (1u << 4u)>(); a[o[0]] = 1u; o[1] = a[o[2]]; }}"
        ),
    );
    // Sums whose parts share their parts.
    let doubled =
        |kind: &str, n: usize| repeated(n, |i| format!("{kind} a{} = array(a{i}, a{i});\n", i + 1));
    for kind in ["const", "let", "var"] {
        for n in [12, 27] {
            let wgsl = format!(
                "{OUT}{MAIN} {kind} a0 = array(1u, 2u);\n{} let x = a{n}; o[0] = x{}; }}",
                doubled(kind, n),
                "[0]".repeat(n + 1)
            );
            answer(kind, &wgsl);
            let wgsl = format!(
                "{OUT}{MAIN} {kind} a0 = array(1, 2);\n{} let x = a{n}; o[0] = u32(x{}); }}",
                doubled(kind, n),
                "[o[0]]".repeat(n + 1)
            );
            answer(kind, &wgsl);
        }
    }
    let wgsl = format!(
        "{OUT}const a0 = array(1, 2);\n{}{MAIN} let x = a27; o[0] = u32(x{}); }}",
        doubled("const", 27),
        "[o[0]]".repeat(28)
    );
    refused("constants of constants", &wgsl, &["MAX_INLINED_TOKENS"]);
    let huge = "struct S { @size(200000000) a: u32 }";
    let wgsl = format!(
        "{OUT}{huge}{MAIN} let x = array(S(1), S(2), S(3), S(4), S(5)); o[0] = x[o[1]].a; }}"
    );
    is_refused("a sparse constant", &wgsl);
}

#[test]
fn workgroups_beyond_any_device() {
    for size in [
        "16384, 16384, 16",
        "65536, 65536",
        "16384, 16384, 16384",
        "2048",
        "4294967295, 4294967295, 4294967295",
    ] {
        let wgsl = format!("@compute @workgroup_size({size}) fn main() {{ }}");
        answer(size, &wgsl).unwrap();
    }
}
