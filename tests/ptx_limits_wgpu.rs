//! The limits of sources also apply to sources for wgpu: deep sources are rejected, or compiled if the stack suffices,
//! and never overflow it.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use pagepress::Error;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, DeviceRequest, EngineChoice, GpuDevice, KernelSource};
use pagepress::kernels::Access;

const MAIN: &str = "\n@compute @workgroup_size(1) fn main() {";
const OUT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n";

fn repeated(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn calls(n: usize) -> String {
    let mut wgsl = format!("{OUT}fn f0() {{ o[0] = 1u; }}\n");
    wgsl += &repeated(n, |i| format!("fn f{}() {{ f{i}(); }}\n", i + 1));
    wgsl + &format!("{MAIN} f{n}(); }}")
}

fn doublings(n: usize) -> String {
    let mut wgsl = format!("{OUT}fn f0() {{ o[0] += 1u; }}\n");
    wgsl += &repeated(n, |i| format!("fn f{}() {{ f{i}(); f{i}(); }}\n", i + 1));
    wgsl + &format!("{MAIN} f{n}(); }}")
}

fn nested(open: &str, n: usize, close: &str) -> String {
    format!(
        "{OUT}{MAIN} {} o[0] = 1u; {} }}",
        open.repeat(n),
        close.repeat(n)
    )
}

fn sum(n: usize) -> String {
    format!("{OUT}{MAIN} o[0] = o[1]{}; }}", " + o[2]".repeat(n))
}

fn structures(n: usize) -> String {
    let types = repeated(n, |i| format!("struct S{} {{ a: S{i}, b: S{i} }}\n", i + 1));
    format!(
        "{OUT}struct S0 {{ a: u32 }}\n{types}{MAIN} var s: S{n}; o[0] = s{}; }}",
        ".a".repeat(n + 1)
    )
}

#[test]
fn deep_sources_are_refused_or_compiled() {
    let request = DeviceRequest {
        engine: EngineChoice::Wgpu,
        allow_software: true,
        ..DeviceRequest::default()
    };
    let device = GpuDevice::open(&request).expect("needs a GPU, a software one will do");
    let compile = |wgsl: &str| {
        let source = KernelSource::new(wgsl, "main", &[Access::ReadWrite]);
        block_on(device.compile_kernel(&source)).map(|_| ())
    };
    for (limit, wgsl) in [
        ("MAX_DEPTH", calls(6_000)),
        ("MAX_TOKENS", calls(20_000)),
        ("MAX_INLINED_TOKENS", doublings(24)),
        ("MAX_OPERATORS", sum(30_000)),
        ("MAX_NESTING", nested("{", 10_000, "}")),
        ("MAX_NESTING", nested("if o[0] < 1u {", 10_000, "}")),
        ("MAX_INLINED_TOKENS", structures(28)),
        (
            "MAX_ZERO_ELEMENTS",
            format!("{OUT}{MAIN} let x = !array<u32, 4294967295>(); }}"),
        ),
        ("MAX_SOURCE_BYTES", " ".repeat(2 << 20)),
    ] {
        let Err(Error::KernelCompile { message, .. }) = compile(&wgsl) else {
            panic!("{limit}: compiled");
        };
        let place = message.split(": ").next().unwrap_or_default();
        assert!(
            message.contains(limit) && place.contains(':'),
            "{limit}: {message}"
        );
    }
    for wgsl in [
        calls(400),
        doublings(8),
        sum(1000),
        nested("{", 120, "}"),
        nested("if o[0] < 1u {", 100, "}"),
        structures(8),
    ] {
        compile(&wgsl).unwrap();
    }
    // Errors of the compiler are the same as without limits.
    let error = compile(&format!("{OUT}{MAIN} oops(); }}")).unwrap_err();
    assert!(error.to_string().contains("3:41: "), "{error}");
}
