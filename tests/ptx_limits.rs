//! Sources that would take hours or overflow the stack are compiled soon, or rejected soon with the name and the number
//! of the limit, and the position.
#![cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::time::{Duration, Instant};

use pagepress::Error;
use pagepress::ptx::{PtxOptions, compile_wgsl};

/// Time limit for builds without optimisation on busy machines; optimised builds need a tenth of a second.
const SOON: Duration = Duration::from_secs(10);

const MAIN: &str = "\n@compute @workgroup_size(1) fn main() {";
const OUT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n";

/// Compiles on a thread with a stack of 2 MiB, the default of threads. Returns the error message, or `None` if it
/// compiles.
#[track_caller]
fn answer(name: &str, wgsl: &str) -> Option<String> {
    let started = Instant::now();
    let compiled = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let thread = thread.spawn_scoped(scope, || compile_wgsl(wgsl, &PtxOptions::new("main")));
        thread.unwrap().join().unwrap()
    });
    let took = started.elapsed();
    println!("{name}: {} bytes, {took:?}", wgsl.len());
    assert!(took < SOON, "{name} took {took:?}");
    match compiled {
        Ok(_) => None,
        Err(Error::KernelCompile { message, .. }) => {
            println!("    {}", message.lines().next().unwrap_or_default());
            assert!(message.len() < 10_000, "{name}: {} bytes", message.len());
            Some(message)
        }
        Err(other) => panic!("{name}: {other}"),
    }
}

/// Asserts that the source is rejected, with or without a position, and returns the message.
#[track_caller]
fn is_refused(name: &str, wgsl: &str) -> String {
    match answer(name, wgsl) {
        Some(message) => message,
        None => panic!("{name} compiled"),
    }
}

/// Asserts that the source is rejected with a position and with these words.
#[track_caller]
fn refused(name: &str, wgsl: &str, words: &[&str]) {
    let message = is_refused(name, wgsl);
    let place = message.split(": ").next().unwrap_or_default();
    let is_place = place
        .split_once(':')
        .is_some_and(|(line, column)| line.parse::<u32>().is_ok() && column.parse::<u32>().is_ok());
    assert!(is_place, "{name}: where? {message}");
    for part in words {
        assert!(
            message.contains(part),
            "{name}: {part:?} is not in {message:?}"
        );
    }
}

#[track_caller]
fn compiles(name: &str, wgsl: &str) {
    if let Some(message) = answer(name, wgsl) {
        panic!("{name}: {message}");
    }
}

fn repeated(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

#[test]
fn calls_that_multiply() {
    for (name, body) in [("empty", ""), ("one store", "o[0] += 1u;")] {
        let mut wgsl = format!("{OUT}fn f0() {{ {body} }}\n");
        wgsl += &repeated(24, |i| format!("fn f{}() {{ f{i}(); f{i}(); }}\n", i + 1));
        wgsl += &format!("{MAIN} f24(); }}");
        let words = ["f19 has ", "tokens", "1048576 (MAX_INLINED_TOKENS)"];
        refused(name, &wgsl, &words[1..]);
    }
    // Within the limit of tokens after inlining.
    let mut wgsl = format!("{OUT}fn f0() {{ }}\n");
    wgsl += &repeated(15, |i| format!("fn f{}() {{ f{i}(); f{i}(); }}\n", i + 1));
    wgsl += &format!("{MAIN} f15(); }}");
    compiles("fifteen doublings", &wgsl);
}

#[test]
fn calls_in_a_row() {
    let chain = |n: usize, name: &dyn Fn(usize) -> usize| {
        let mut wgsl = format!("{OUT}fn f{}() {{ o[0] = 1u; }}\n", name(n));
        wgsl += &repeated(n, |i| {
            format!("fn f{}() {{ f{}(); }}\n", name(n - 1 - i), name(n - i))
        });
        wgsl + &format!("{MAIN} f{}(); }}", name(0))
    };
    let words = ["use each other", "512 (MAX_DEPTH)"];
    refused("7,000 calls deep", &chain(7_000, &|i| i), &words);
    // Lines in reverse order.
    let mut reversed: Vec<String> = chain(7_000, &|i| i).lines().map(str::to_owned).collect();
    reversed.reverse();
    refused("7,000 calls deep, reversed", &reversed.join("\n"), &words);
    refused("too many", &chain(20_000, &|i| i), &["131072 (MAX_TOKENS)"]);
    compiles("500 calls deep", &chain(500, &|i| i));
    let mut reversed: Vec<String> = chain(500, &|i| i).lines().map(str::to_owned).collect();
    reversed.reverse();
    compiles("500 calls deep, reversed", &reversed.join("\n"));
    let mut cycle = repeated(7_000, |i| {
        format!("fn f{i}() {{ f{}(); }}\n", (i + 1) % 7_000)
    });
    cycle += &format!("{MAIN} f0(); }}");
    refused("a cycle", &cycle, &[]);
}

#[test]
fn structures_in_each_other() {
    let nested = |n: usize| {
        let wgsl = "struct S0 { a: u32, b: u32 }\n".to_owned();
        wgsl + &repeated(n, |i| format!("struct S{} {{ a: S{i}, b: S{i} }}\n", i + 1))
    };
    let words = ["tokens", "MAX_INLINED_TOKENS"];
    for body in [
        "var s: S28; o[0] = s.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a;",
        "",
    ] {
        refused(
            "28 structures",
            &format!("{OUT}{}{MAIN} {body} }}", nested(28)),
            &words,
        );
    }
    refused(
        "zero",
        &format!("{}const z = S28();{MAIN} }}", nested(28)),
        &words,
    );
    let wgsl = format!(
        "{OUT}{}{MAIN} var s: S12; let t = s; o[0] = t.a.a.b.a.a.a.a.a.a.a.a.a.a; }}",
        nested(12)
    );
    compiles("12 structures", &wgsl);
    let deep = "struct S0 { a: u32 }\n".to_owned()
        + &repeated(100, |i| format!("struct S{} {{ a: S{i} }}\n", i + 1));
    let wgsl = format!(
        "{OUT}{deep}{MAIN} var s: S100; o[0] = s{}; }}",
        ".a".repeat(101)
    );
    refused("100 structures deep", &wgsl, &["64 (MAX_TYPE_NESTING)"]);
    let aliases = "alias A0 = u32;\n".to_owned()
        + &repeated(3_000, |i| format!("alias A{} = array<A{i}, 1>;\n", i + 1));
    refused(
        "aliases",
        &format!("{aliases}{MAIN} }}"),
        &["64 (MAX_TYPE_NESTING)"],
    );
    let aliases = "alias A0 = u32;\n".to_owned()
        + &repeated(30, |i| {
            format!(
                "alias A{} = {}A{i}{};\n",
                i + 1,
                "array<".repeat(100),
                ",1>".repeat(100)
            )
        });
    refused(
        "aliases of deep types",
        &format!("{aliases}{MAIN} var a: A30; }}"),
        &["MAX_TYPE_NESTING"],
    );
}

#[test]
fn operators_in_a_row() {
    let words = ["1024 (MAX_OPERATORS)", "`let`"];
    for (name, start, one, end) in [
        ("sum", "o[0] = o[1]", " + o[2]", ";"),
        ("constants", "o[0] = 1u", " + 1u", ";"),
        ("minus", "let x = ", "-", "1;"),
        ("not", "let x = ", "!", "true;"),
        ("inverted", "o[0] = ", "~", "o[1];"),
        ("addresses", "let p = ", "&*", "&o[1];"),
        ("dereferenced", "", "*", "p = 1u;"),
        ("members", "let x = o", ".x", ";"),
        ("indices", "let x = o", "[0]", ";"),
        ("and", "let x = true", " && o[0] < o[1]", ";"),
        ("less", "let x = 1", " < 2", ";"),
        ("shifted", "o[0] = o[1]", " << o[2]", ";"),
        ("compared", "let x = o[0]", " == o[2]", ";"),
    ] {
        refused(
            name,
            &format!("{OUT}{MAIN} {start}{}{end} }}", one.repeat(30_000)),
            &words,
        );
    }
    for n in [150, 330] {
        let wgsl = format!("{OUT}{MAIN} o[0] = o[1]{}; }}", " + o[2]".repeat(n));
        compiles("a sum", &wgsl);
    }
    let wgsl = format!("{OUT}{MAIN} o[0] = {}o[1]; }}", "~".repeat(1000));
    compiles("1000 inversions", &wgsl);
    // Nested sums.
    let mut nested = "1u".to_owned();
    for _ in 0..100 {
        nested = format!("({nested}){}", "+ o[0]".repeat(20));
    }
    refused(
        "sums of sums",
        &format!("{OUT}{MAIN} o[0] = {nested}; }}"),
        &words,
    );
    // Operators in separate elements of a list are not nested.
    let list = vec!["1 + 2 * 3 - 4"; 2000].join(", ");
    let wgsl = format!("{OUT}{MAIN} let a = array({list}); o[0] = u32(a[o[1]]); }}");
    compiles("a long list", &wgsl);
}

#[test]
fn brackets_in_each_other() {
    let words = ["160 (MAX_NESTING)"];
    for (name, open, close) in [
        ("parentheses", "(", ")"),
        ("calls", "abs(", ")"),
        ("indices", "o[", "]"),
        ("vectors", "vec2(", ",1u).x"),
    ] {
        for n in [170, 30_000] {
            let wgsl = format!(
                "{OUT}{MAIN} o[0] = {}1u{}; }}",
                open.repeat(n),
                close.repeat(n)
            );
            refused(name, &wgsl, &words);
            refused(
                name,
                &format!("{OUT}{MAIN} o[0] = {}", open.repeat(n)),
                &words,
            );
        }
        let wgsl = format!(
            "{OUT}{MAIN} o[0] = {}1u{}; }}",
            open.repeat(120),
            close.repeat(120)
        );
        compiles(name, &wgsl);
    }
    for (name, open, close) in [
        ("blocks", "{", "}"),
        ("if", "if o[0] < 9u {", "}"),
        ("else", "if o[0] < 9u { } else {", "}"),
        ("loops", "loop { break;", "}"),
        ("for", "for (var i = 0; i < 2; i++) {", "}"),
        ("switch", "switch o[0] { default {", "}}"),
    ] {
        for n in [170, 20_000] {
            let wgsl = format!("{OUT}{MAIN} {}{} }}", open.repeat(n), close.repeat(n));
            refused(name, &wgsl, &words);
            refused(name, &format!("{OUT}{MAIN} {}", open.repeat(n)), &words);
        }
        // naga accepts 126 nested braces.
        let n = if name == "switch" { 60 } else { 120 };
        let wgsl = format!(
            "{OUT}{MAIN} {} o[0] = 1u; {} }}",
            open.repeat(n),
            close.repeat(n)
        );
        answer(name, &wgsl);
    }
    let chain = |n: usize| {
        format!(
            "{OUT}{MAIN} if o[0] < 1u {{ }} {} }}",
            "else if o[1] < 2u { o[2] = 3u; } ".repeat(n)
        )
    };
    let blocks = "else if o[1] < 2u { { } } ".repeat(3_000);
    let wgsl = format!("{OUT}{MAIN} if o[0] < 1u {{ }} {blocks} }}");
    refused("else if with blocks", &wgsl, &words);
    refused("else if", &chain(20_000), &words);
    compiles("150 times else if", &chain(150));
    for n in [170, 20_000] {
        let wgsl = format!(
            "var<private> a: {}u32{};{MAIN} }}",
            "array<".repeat(n),
            ",1>".repeat(n)
        );
        refused("templates", &wgsl, &["more than the limit"]);
        answer(
            "open templates",
            &format!("var<private> a: {}", "array<".repeat(n)),
        );
        answer(
            "templates in brackets",
            &format!("var<private> a: {}", "array<(".repeat(n)),
        );
        answer("attributes", &format!("{}{MAIN} }}", "@size(".repeat(n)));
    }
    for comment in [
        "/*".repeat(300_000),
        "/*".repeat(100_000) + &"*/".repeat(100_000),
        "/*é".repeat(1000),
    ] {
        answer("comments", &format!("{MAIN} }}{comment}"));
    }
    answer("closing", &"}])>".repeat(100_000));
    answer("names before brackets", &"a<".repeat(100_000));
    answer("shifts", &(">()".repeat(300_000)));
}

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
fn loops_that_multiply() {
    let mut body = "o[0] += 1u;".to_owned();
    for i in 0..8 {
        body = format!("for (var i{i} = 0u; i{i} < 16u; i{i}++) {{ {body} }}");
        compiles("loops in loops", &format!("{OUT}{MAIN} {body} }}"));
    }
    let mut wgsl = format!("{OUT}fn f0() {{ o[0] += 1u; }}\n");
    wgsl += &repeated(12, |i| {
        format!(
            "fn f{}() {{ for (var i = 0u; i < 16u; i++) {{ f{i}(); }} for (var i = 0u; i < 2u; i++) {{ f{i}(); }} }}\n",
            i + 1
        )
    });
    wgsl += &format!("{MAIN} f12(); }}");
    answer("loops of calls", &wgsl);
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
    // Arrays of which each contains the previous one twice.
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
