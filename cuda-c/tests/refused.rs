//! Every refused construct has an error with its place and a remedy.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a fault is a panic"
)]

use cuda_c::{CudaOptions, compile_cuda};

/// Body of a kernel `k(int *out, float *x, int n)`, place of the error, and words of its message.
const BODIES: &[(&str, (u32, u32), &str)] = &[
    ("double d = 1.0;", (2, 1), "narrow_f64"),
    ("long long v = 1;", (2, 1), "64-bit"),
    ("long v = 1;", (2, 1), "64-bit"),
    ("unsigned long long v = 1;", (2, 1), "64-bit"),
    ("half h;", (2, 1), "16-bit floats"),
    ("int v = 5000000000;", (2, 9), "64 bits"),
    ("asm(\"nop;\");", (2, 1), "inline assembly"),
    ("goto end;", (2, 1), "goto"),
    ("try { } catch (...) { }", (2, 1), "exceptions"),
    ("int (*f)(int) = 0;", (2, 5), "function pointers"),
    ("printf(\"%d\", n);", (2, 1), "printf"),
    ("int *p = (int *)malloc(4);", (2, 17), "malloc"),
    ("k<<<1, 1>>>(out, x, n);", (2, 2), "dynamic parallelism"),
    ("k(out, x, n);", (2, 1), "is a kernel"),
    ("auto f = [](int a) { return a; };", (2, 10), "lambdas"),
    ("float v = tex2D(0, 1.0f, 2.0f);", (2, 11), "textures"),
    (
        "int *p = n > 1 ? out : (int *)x;",
        (2, 16),
        "different buffers",
    ),
    (
        "int *p = out; if (n > 1) p = (int *)x;",
        (2, 28),
        "two buffers",
    ),
    ("missing(n);", (2, 1), "missing is not a function"),
    ("out[0] = missing;", (2, 10), "missing is not declared"),
    ("out.x = 1;", (2, 4), "has no member x"),
    ("x[0] = x % 2;", (2, 10), "%"),
    ("x[0] = x[0] % 2.0f;", (2, 13), "fmodf"),
    ("int v[n];", (2, 7), "not a constant"),
    ("int v[0];", (2, 7), "not an array length"),
    (
        "switch (n) { case 1: break; case 1: break; }",
        (2, 34),
        "occurs twice",
    ),
    ("break;", (2, 1), "outside of a loop"),
    ("atomicAdd(&n, 1);", (2, 1), "local variable"),
    ("atomicAdd(out, 1, 2);", (2, 1), "takes 2 arguments"),
    (
        "extern __shared__ int s[]; s[0] = 1;",
        (2, 23),
        "shared_bytes",
    ),
    (
        "if (threadIdx.x < 5) __syncthreads();",
        (2, 17),
        "threadIdx.x on line 2",
    ),
    (
        "int t = threadIdx.x;\nfor (int i = 0; i < t; i++) { __syncthreads(); }",
        (3, 19),
        "threadIdx.x on line 2",
    ),
    (
        "#include \"mine.h\"\n",
        (2, 1),
        "paste what the kernel needs",
    ),
    ("#error not this way\n", (2, 1), "not this way"),
    ("int v = 08;", (2, 9), "not a number"),
    ("int v = ;", (2, 9), "expected an expression"),
    ("union { int i; float f[4]; } u;", (2, 1), "a union"),
    ("int &r = out[0]; int **p;", (2, 24), "pointers"),
    (
        "__ballot_sync(~0u, n) ? out[0] = 1 : __any_sync(~0u, n);",
        (2, 38),
        "a statement of its own",
    ),
    ("float4 a = make_float4(1, 2);", (2, 12), "make no float4"),
];

fn refused(source: &str) -> cuda_c::Error {
    match compile_cuda(source, &CudaOptions::new("k").block([64, 1, 1])) {
        Ok(_) => panic!("compiles:\n{source}"),
        Err(error) => error,
    }
}

#[test]
fn constructs_outside_of_the_subset_are_refused_with_their_place() {
    let mut wrong = Vec::new();
    for (body, place, words) in BODIES {
        let source = format!("__global__ void k(int *out, float *x, int n) {{\n{body}\n}}\n");
        match compile_cuda(&source, &CudaOptions::new("k").block([64, 1, 1])) {
            Ok(_) => wrong.push(format!("{body}: compiles")),
            Err(error)
                if (error.line, error.column) != *place || !error.message.contains(words) =>
            {
                wrong.push(format!("{body}: {error}"));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn members_without_length_are_refused() {
    let source =
        "struct S { int a; int rest[]; };\n__global__ void k(int *out, S s) { out[0] = s.a; }";
    let error = refused(source);
    assert_eq!((error.line, error.column), (1, 23), "{error}");
    assert!(error.message.contains("no length"), "{error}");
}

#[test]
fn recursion_is_refused() {
    let source = "__device__ int f(int n) { return n < 2 ? n : f(n - 1); }\n__global__ void k(int *out) { out[0] = f(out[1]); }";
    let error = refused(source);
    assert_eq!(error.line, 1, "{error}");
    assert!(error.message.contains("recursion"), "{error}");
}

#[test]
fn options_out_of_range_are_refused() {
    let source = "__global__ void k(int *out) { out[0] = 1; }";
    for (options, words) in [
        (CudaOptions::new("k").block([0, 1, 1]), "a block"),
        (CudaOptions::new("k").block([1025, 1, 1]), "a block"),
        (
            CudaOptions::new("k").block([u32::MAX, u32::MAX, u32::MAX]),
            "a block",
        ),
        (
            CudaOptions::new("k").shared_bytes(u32::MAX),
            "dynamic shared memory",
        ),
        (CudaOptions::new("other"), "it has: k"),
        (CudaOptions::new("k<4>"), "takes 0 arguments"),
        (CudaOptions::new(""), "the name of a kernel"),
    ] {
        let error = compile_cuda(source, &options).unwrap_err();
        assert!(error.message.contains(words), "{error}");
    }
}

/// Sources that are small and would take a naive compiler long, or overflow its stack.
#[test]
fn limits_are_errors() {
    let kernel = |body: &str| format!("__global__ void k(int *out) {{ {body} }}");
    let mut macros = "#define A0 1+1+1+1\n".to_owned();
    for n in 1..40 {
        macros.push_str(&format!("#define A{n} A{0}+A{0}+A{0}\n", n - 1));
    }
    let mut doubling = String::new();
    for n in (0..40).rev() {
        let next = if n == 39 {
            "return v + 1;".to_owned()
        } else {
            format!("return f{0}(v) + f{0}(v + 1);", n + 1)
        };
        doubling.push_str(&format!("__device__ int f{n}(int v) {{ {next} }}\n"));
    }
    let falls: String = (0..400)
        .map(|n| format!("case {n}: out[{n}] = out[{n}] * 3 + out[0];"))
        .collect();
    for (source, compiles) in [
        (
            kernel(&format!(
                "out[0] = {}1{};",
                "(".repeat(50_000),
                ")".repeat(50_000)
            )),
            false,
        ),
        (kernel(&format!("out[0] = {}1;", "-".repeat(50_000))), false),
        (
            kernel(&format!("out[0] = 1{};", "+1".repeat(20_000))),
            false,
        ),
        (kernel(&"{".repeat(50_000)), false),
        (
            kernel(&format!("{}out[0] = 1;", "if (out[0]) ".repeat(5_000))),
            false,
        ),
        (format!("{macros}{}", kernel("out[0] = A39;")), false),
        // Functions are compiled once, however often they are called.
        (format!("{doubling}{}", kernel("out[0] = f0(1);")), true),
        (kernel(&format!("switch (out[0]) {{ {falls} }}")), false),
        (kernel("int v[4][99999999][99999999]; out[0] = 1;"), false),
        (
            format!("{}{}", "namespace a {".repeat(10_000), "}".repeat(10_000)),
            false,
        ),
        ("x".repeat(2 << 20), false),
        ("; ".repeat(200_000), false),
    ] {
        let start = std::time::Instant::now();
        let result = compile_cuda(&source, &CudaOptions::new("k"));
        assert_eq!(
            result.is_ok(),
            compiles,
            "{:?}: {}",
            result.err(),
            &source[..source.len().min(200)]
        );
        assert!(
            start.elapsed().as_secs() < 20,
            "{:?}: {}",
            start.elapsed(),
            &source[..200]
        );
    }
}

#[test]
fn errors_in_options_have_no_place() {
    let source = "// A comment.\n__global__ void k(int *out) { out[0] = WIDTH; }";
    let with = |entry: &str, block, value: &str| {
        let defines = [("WIDTH", value)];
        let options = CudaOptions::new(entry).block(block).defines(&defines);
        compile_cuda(source, &options).map(drop)
    };
    assert_eq!(with("k", [64, 1, 1], "3"), Ok(()));
    for (entry, block, value, words) in [
        ("other", [64, 1, 1], "3", "no kernel other; it has: k"),
        ("k<", [64, 1, 1], "3", "the entry k<"),
        ("k", [u32::MAX; 3], "3", "use 1 to 1024"),
        ("k", [64, 1, 1], "/*", "the macro WIDTH"),
    ] {
        let error = with(entry, block, value).expect_err(words);
        assert_eq!((error.line, error.column), (0, 0), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.with_line(source), error.to_string());
    }
    let options = CudaOptions::new("k").defines(&[("1X", "2")]);
    let error = compile_cuda(source, &options).expect_err("1X");
    assert_eq!(
        error.to_string(),
        "the macro 1X: its name is not an identifier"
    );
    let error = with("k", [64, 1, 1], "nothing").expect_err("nothing");
    assert_eq!(error.line, 2, "{error}");
    assert!(
        error
            .with_line(source)
            .ends_with("WIDTH; }\n                                       ^"),
        "{}",
        error.with_line(source)
    );
}
