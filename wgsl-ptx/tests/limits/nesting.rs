//! Expressions and brackets that recursive parsers would follow to the end of the stack.

use super::{MAIN, OUT, answer, compiles, refused};

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
    // Sums in the places of a sum.
    let mut nested = "1u".to_owned();
    for _ in 0..100 {
        nested = format!("({nested}){}", "+ o[0]".repeat(20));
    }
    refused(
        "sums of sums",
        &format!("{OUT}{MAIN} o[0] = {nested}; }}"),
        &words,
    );
    // Beside each other they are no chain.
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
        // naga takes 126 braces.
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
