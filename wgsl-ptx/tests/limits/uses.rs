//! Declarations that use each other: calls, structures and constants in chains, and loops of calls, whose work multiplies.

use super::{MAIN, OUT, answer, compiles, refused, repeated};

#[test]
fn calls_that_multiply() {
    for (name, body) in [("empty", ""), ("one store", "o[0] += 1u;")] {
        let mut wgsl = format!("{OUT}fn f0() {{ {body} }}\n");
        wgsl += &repeated(24, |i| format!("fn f{}() {{ f{i}(); f{i}(); }}\n", i + 1));
        wgsl += &format!("{MAIN} f24(); }}");
        let words = ["f19 has ", "tokens", "1048576 (MAX_INLINED_TOKENS)"];
        refused(name, &wgsl, &words[1..]);
    }
    // Within what the text may multiply to.
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
    // Callers before those they call.
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
