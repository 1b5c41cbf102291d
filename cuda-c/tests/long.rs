//! 64-bit integers are refused without the option `int64`, and compile to every language with it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a fault is a panic"
)]

use cuda_c::{CompiledCuda, CudaOptions, CudaParamKind, ScalarKind, compile_cuda, kernels};

fn with(body: &str, int64: bool) -> cuda_c::Result<CompiledCuda> {
    let source = format!("__global__ void k(int *out, float *x, int n) {{\n{body}\n}}\n");
    compile_cuda(&source, &CudaOptions::new("k").int64(int64))
}

/// Writes a kernel in every language, and reads its WGSL.
fn check(file: &str, compiled: &CompiledCuda) {
    let wgsl = compiled.wgsl().unwrap();
    if std::env::var_os("PAGEPRESS_SHOW").is_some() {
        println!("// {file}\n{wgsl}");
    }
    if let Err(error) = naga::front::wgsl::parse_str(&wgsl) {
        panic!("{file}: {}", error.emit_to_string(&wgsl));
    }
    let ptx = wgsl_ptx::PtxOptions::new(&compiled.entry);
    if let Err(error) = wgsl_ptx::compile_wgsl(&wgsl, &ptx) {
        panic!("{file}: {error}\n{wgsl}");
    }
    #[cfg(feature = "spirv")]
    assert!(!compiled.spirv().unwrap().is_empty());
    #[cfg(feature = "msl")]
    assert!(compiled.msl().unwrap().contains("long"), "{file}");
    #[cfg(feature = "hlsl")]
    assert!(compiled.hlsl().unwrap().contains("int64_t"), "{file}");
}

#[test]
fn kernels_with_64_bit_integers_compile_to_every_language() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cuda_c/kernels");
    let mut n_kernels = 0;
    for name in ["arithmetic", "memory", "parameters", "random"] {
        let file = format!("{folder}/long_{name}.cu");
        let source = std::fs::read_to_string(&file).unwrap();
        for kernel in kernels(&source, &[]).unwrap() {
            for subgroups in [false, true] {
                let options = CudaOptions::new(&kernel.name)
                    .block([64, 1, 1])
                    .shared_bytes(64)
                    .subgroups(subgroups);
                let error = compile_cuda(&source, &options).expect_err(&kernel.name);
                assert!(error.message.contains("int64"), "{file}: {error}");
                match compile_cuda(&source, &options.int64(true)) {
                    Ok(_) if subgroups => {}
                    Ok(compiled) => check(&file, &compiled),
                    Err(error) => panic!("{file}: {error}"),
                }
                n_kernels += 1;
            }
        }
    }
    assert!(n_kernels >= 14, "{n_kernels}");
}

#[test]
fn constants_and_types_of_64_bits_need_the_option() {
    for body in [
        "long v = 1;",
        "unsigned long long v = n;",
        "int64_t v = n;",
        "ulong v = n;",
        "longlong2 v = make_longlong2(1, n);",
        "out[0] = 1L;",
        "out[0] = 5000000000 >> 10;",
        "out[0] = 0x100000000 != 0;",
        "out[0] = __popcll(n);",
        "out[0] = __float2ll_rz(x[0]);",
        "out[0] = llabs(n);",
        "out[0] = n < LLONG_MAX;",
    ] {
        let error = with(body, false).expect_err(body);
        assert_eq!(error.line, 2, "{body}: {error}");
        assert!(error.message.contains("int64"), "{body}: {error}");
        if let Err(error) = with(body, true) {
            panic!("{body}: {error}");
        }
    }
}

#[test]
fn what_has_no_64_bits_is_refused_with_the_option() {
    for (body, words) in [
        ("switch (1L * n) { case 1: break; }", "switch"),
        ("__shared__ long v; atomicAdd(&v, 1L);", "64-bit"),
        ("out[0] = __reduce_add_sync(~0u, 1L);", "use shuffles"),
        ("int v[1L << 33];", "not an array length"),
    ] {
        let error = with(body, true).expect_err(body);
        assert!(error.message.contains(words), "{body}: {error}");
    }
}

#[test]
fn scalars_of_64_bits_are_aligned_in_the_uniform() {
    let source = "struct S { int a; long b; float c; };
        __global__ void k(int n, long a, float f, unsigned long long b, char c, S s, int m, long *out) {
            out[n] = a + b + c + s.a + s.b + m;
        }";
    let compiled = compile_cuda(source, &CudaOptions::new("k").int64(true)).unwrap();
    let scalar = |offset, kind| CudaParamKind::Scalar { offset, kind };
    let kinds: Vec<CudaParamKind> = compiled.params.iter().map(|param| param.kind).collect();
    assert_eq!(
        kinds,
        [
            scalar(0, ScalarKind::I32),
            scalar(8, ScalarKind::I64),
            scalar(16, ScalarKind::F32),
            scalar(24, ScalarKind::U64),
            scalar(32, ScalarKind::I32),
            CudaParamKind::Struct {
                offset: 40,
                n_bytes: 24
            },
            scalar(64, ScalarKind::I32),
            CudaParamKind::Buffer {
                binding: 0,
                writable: true,
                element_bytes: 8
            },
        ]
    );
    assert_eq!(compiled.uniform_bytes, 72);
}
