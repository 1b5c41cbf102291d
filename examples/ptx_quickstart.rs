//! Two ways to PTX, neither of which needs a GPU: a kernel built by hand, and one compiled from WGSL.
//!
//! `cargo run --features cuda --example ptx_quickstart`

use pagepress::ptx::{
    Address, Comparison, Ordering, PtxKernel, PtxModule, PtxOptions, PtxType, Space, Special,
    compile_wgsl,
};

const SCALE: &str = "
struct Params { n: u32, factor: f32 }
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.n {
        output[id.x] = input[id.x] * params.factor;
    }
}";

/// `data[i] += 1` for i below n.
fn increment() -> PtxKernel {
    let mut kernel = PtxKernel::new("increment");
    kernel.workgroup_size([256, 1, 1]);
    let data = kernel.param(PtxType::U64, "data");
    let n = kernel.param(PtxType::U32, "n");
    let workgroup = kernel.special(Special::Workgroup(0));
    let thread = kernel.special(Special::Thread(0));
    let index = kernel.mad(workgroup, 256u32, thread);
    let inside = kernel.compare(Comparison::Lt, index, n);
    kernel.if_then(inside, |kernel| {
        let start = kernel.to_global(data);
        let element = kernel.indexed(&Address::new(Space::Global, start), index, 4);
        let value = kernel.load(PtxType::U32, Ordering::Weak, &element);
        let sum = kernel.add(value, 1u32);
        kernel.store(PtxType::U32, Ordering::Weak, &element, sum);
    });
    kernel.ret();
    kernel
}

fn main() -> pagepress::Result<()> {
    let mut module = PtxModule::new(80);
    module.kernel(increment());
    println!("// Built by hand\n{}", module.emit()?);

    let compiled = compile_wgsl(SCALE, &PtxOptions::new("scale"))?;
    println!("// Compiled from WGSL\n{}", compiled.text);
    println!(
        "// Workgroups of {:?} invocations; bindings:",
        compiled.workgroup_size
    );
    for param in &compiled.params {
        println!(
            "// @group({}) @binding({}): {:?}",
            param.group, param.binding, param.kind
        );
    }
    Ok(())
}
