//! Every kernel of the crate compiles to PTX with every set of override constants that a job uses, and assembles for
//! every architecture without spilling more than a few registers.
#![cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "common/launches.rs"]
mod launches;
#[path = "../wgsl-ptx/tests/common/ptxas.rs"]
mod ptxas;

use std::collections::BTreeSet;
use std::path::Path;

use launches::launches;
use pagepress::gpu::shaders;
use pagepress::kernels::{
    Access, Arg, AttentionKernel, GemmKernel, Kernel, Launch, LayerNormKernel, QuantizedGemmKernel,
    SoftmaxKernel,
};
use pagepress::ptx::{Bounds, CompiledPtx, PtxOptions, PtxParamKind, compile_wgsl};
use pagepress::tensor::Quantization;
use wgsl_ptx::intrinsics;

fn compile(launch: &Launch, sm: u32, bounds: Bounds) -> CompiledPtx {
    let overrides: Vec<(&str, f64)> = launch
        .overrides
        .iter()
        .map(|&(name, value)| (name, f64::from(value)))
        .collect();
    let options = PtxOptions {
        overrides: &overrides,
        sm,
        is_exact: true,
        bounds,
        clear_workgroup: !launch.kernel.fills_workgroup(),
        halves_as_bfloat16: launch.kernel.is_of_bfloat16(),
        floats_as_tf32: launch.kernel.is_of_tf32(),
        waits_by_itself: true,
        ..PtxOptions::new(launch.kernel.name)
    };
    compile_wgsl(launch.kernel.wgsl, &options)
        .unwrap_or_else(|e| panic!("{}: {e}", launch.kernel.name))
}

#[test]
fn every_kernel_compiles_with_the_bindings_of_the_table() {
    let launches = launches();
    for kernel in shaders::all() {
        assert!(
            launches
                .values()
                .any(|launch| launch.kernel.name == kernel.name),
            "{} is in no job",
            kernel.name
        );
    }
    for (name, launch) in launches {
        let compiled = compile(&launch, 90, Bounds::Unchecked);
        assert_eq!(compiled.entry, launch.kernel.name);
        assert!(compiled.workgroup_size.iter().product::<u32>() >= 1);
        let given = launch.args.iter().find_map(|arg| match arg {
            Arg::Params(words) => Some(4 * words.len() as u32),
            _ => None,
        });
        let access = |kind| match kind {
            PtxParamKind::Storage { writable: false } => Access::Read,
            PtxParamKind::Storage { writable: true } => Access::ReadWrite,
            PtxParamKind::Uniform { n_bytes } => {
                assert_eq!(Some(n_bytes), given, "{name}");
                Access::Uniform
            }
        };
        for param in &compiled.params {
            let binding = param.binding as usize;
            let is_read_only = PtxParamKind::Storage { writable: false };
            assert_eq!(param.group, 0, "{name}");
            // Lengths of chunks are written by one kernel, and read by others.
            assert!(
                access(param.kind) == launch.kernel.bindings[binding]
                    || (name.ends_with("of chunks") && param.kind == is_read_only),
                "{binding} of {name}"
            );
        }
        let used = compiled.params.iter().map(|param| param.binding);
        let all = 0..launch.kernel.bindings.len() as u32;
        assert!(
            used.clone().is_sorted() && (name.ends_with("of chunks") || used.eq(all)),
            "{name}"
        );
    }
}

/// Returns kernels of the public types for sizes of all kinds.
fn named() -> Vec<Box<dyn Kernel>> {
    vec![
        Box::new(GemmKernel::naive(1, 1, 1)),
        Box::new(GemmKernel::naive(1000, 70, 33)),
        Box::new(GemmKernel::tiled(1024, 1024, 1024, 32)),
        Box::new(GemmKernel::tiled(1024, 1024, 1024, 64)),
        Box::new(GemmKernel::tiled(1023, 5, 77, 128)),
        Box::new(GemmKernel::tensor_core(100, 64, 40)),
        Box::new(GemmKernel::tensor_core_tf32(1000, 36, 44)),
        Box::new(QuantizedGemmKernel::new(Quantization::Q4K, 32, 4096, 4096)),
        Box::new(QuantizedGemmKernel::new(Quantization::Q5K, 1, 100, 256)),
        Box::new(QuantizedGemmKernel::new(Quantization::Q6K, 5, 64, 512)),
        Box::new(QuantizedGemmKernel::new(Quantization::F16, 5, 64, 20)),
        Box::new(SoftmaxKernel::new(10, 1000)),
        Box::new(SoftmaxKernel::new(1, 100_000).log()),
        Box::new(LayerNormKernel::new(5, 768)),
        Box::new(LayerNormKernel::new(5, 10).with_columns(true, false)),
        Box::new(AttentionKernel::flash(512, 64)),
        Box::new(
            AttentionKernel::flash(1, 128)
                .with_heads(8, 2)
                .with_keys(9000)
                .causal(),
        ),
        Box::new(AttentionKernel::flash(512, 64).with_window(100)),
    ]
}

#[test]
fn kernels_by_name_have_an_entry_point_and_assemble() {
    let ptxas = ptxas::ptxas();
    for kernel in named() {
        let launch = kernel.launch().unwrap();
        let compiled = kernel.compile(90).unwrap();
        let name = format!("{} {:?}", launch.kernel.name, launch.overrides);
        assert_eq!(compiled.params.len(), launch.args.len(), "{name}");
        let ptx = kernel.emit_ptx().unwrap();
        assert!(
            ptx.contains(&format!(".entry {}(", launch.kernel.name)),
            "{name}"
        );
        let target = match launch.kernel.is_of_tf32() {
            true => ".target sm_80\n",
            false => ".target sm_75\n",
        };
        assert!(ptx.contains(target), "{name}");
        if let Some(ptxas) = &ptxas {
            ptxas::assemble(ptxas, &name, &ptx).unwrap();
        }
    }
}

#[test]
fn exact_kernels_of_tensor_cores_multiply_in_warpgroups() {
    let kernel = GemmKernel::tensor_core(512, 512, 512);
    for (sm, expected) in [(80, 0), (90, 4), (100, 0)] {
        let compiled = kernel.compile_exact(sm).unwrap();
        assert_eq!(compiled.text.matches("wgmma.mma_async").count(), expected);
        let grid = kernel.launch_exact(sm).unwrap().grid;
        assert_eq!(grid, if sm == 90 { [8, 1, 1] } else { [16, 1, 1] });
    }
    assert!(!kernel.compile(90).unwrap().text.contains("wgmma"));
}

#[test]
fn sizes_without_a_kernel_are_typed_errors() {
    let wrong: [Box<dyn Kernel>; 11] = [
        Box::new(GemmKernel::tensor_core(64, 64, 12)),
        Box::new(GemmKernel::tensor_core_tf32(64, 66, 64)),
        Box::new(GemmKernel::tiled(64, 64, 64, 7)),
        Box::new(GemmKernel::naive(0, 64, 64)),
        Box::new(GemmKernel::tiled(1 << 20, 64, 1 << 20, 32)),
        Box::new(QuantizedGemmKernel::new(Quantization::Q4K, 32, 64, 100)),
        Box::new(SoftmaxKernel::new(1, 0)),
        Box::new(LayerNormKernel::new(1 << 16, 1 << 16)),
        Box::new(AttentionKernel::flash(64, 257)),
        Box::new(AttentionKernel::flash(64, 64).with_keys(63).causal()),
        Box::new(AttentionKernel::flash(64, 64).with_window(0)),
    ];
    for kernel in wrong {
        let error = kernel.compile(80).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert_eq!(kernel.emit_ptx(), Err(error));
    }
}

#[test]
fn compute_capabilities_that_nothing_has_are_typed_errors() {
    let kernel = GemmKernel::naive(8, 8, 8);
    for sm in [0, 69, 122, 999, u32::MAX] {
        let error = kernel.compile(sm).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        let text = error.to_string();
        assert!(
            text.contains("sm") && text.contains(&sm.to_string()) && text.contains("70 to 121"),
            "{text}"
        );
    }
    for sm in [70, 75, 88, 121] {
        assert!(kernel.compile(sm).is_ok());
    }
}

/// Returns true if PTX has the instruction. `shf` counts only with two registers: with a high word of 0 it is a shift.
fn has(ptx: &str, instruction: &str) -> bool {
    ptx.lines().any(|line| {
        let high = line.split(", ").nth(2).unwrap_or_default();
        let is_plain = instruction.starts_with("shf") && !high.starts_with('%');
        line.trim_start().starts_with(instruction) && !is_plain
    })
}

#[test]
fn intrinsics_are_lowered_in_the_kernels_that_use_them() {
    let mut found = BTreeSet::new();
    let launches = launches().into_iter();
    for (name, launch) in launches.filter(|(_, launch)| launch.kernel.name.starts_with("lz4_")) {
        let [old, new] = [75, 80].map(|sm| compile(&launch, sm, Bounds::Unchecked));
        let is_warp = new.workgroup_size == [32, 1, 1];
        let has_agree = launch.kernel.name == "lz4_parse" && is_warp;
        let is_copy = launch.kernel.name == "lz4_copy" && is_warp;
        let has_merge = is_copy || (launch.kernel.name == "lz4_tokens_many" && is_warp);
        let has_funnel = launch.kernel.wgsl.contains("fn funnel(");
        for (instruction, expected) in [
            ("redux.sync.max.u32", [false, has_agree]),
            ("redux.sync.or.b32", [false, has_merge]),
            ("shf.r.wrap.b32", [has_funnel; 2]),
        ] {
            let is_there = [&old, &new].map(|compiled| has(&compiled.text, instruction));
            assert_eq!(is_there, expected, "{instruction} in {name}");
            if expected[1] {
                found.insert(instruction);
            }
        }
        // With `redux.sync`, the words of the portable `merge` are not allocated.
        assert!(!is_copy || new.shared_bytes == 0, "{name}");
    }
    assert_eq!(found.len(), 3, "{found:?}");
}

/// `shaders/lib` has copies of the intrinsics, since browsers run the kernels without the compiler.
#[test]
fn the_shader_library_has_the_text_of_each_intrinsic() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders/lib");
    for (file, intrinsic) in [
        ("bits.wgsl", intrinsics::FUNNEL),
        ("agree.wgsl", intrinsics::AGREE),
        ("merge.wgsl", intrinsics::MERGE),
        ("peers.wgsl", intrinsics::PEERS),
        ("address.wgsl", intrinsics::LOAD_WORD),
        ("address.wgsl", intrinsics::LOAD_BYTE),
        ("address.wgsl", intrinsics::STORE_WORD),
        ("address.wgsl", intrinsics::STORE_BYTE),
        ("stage.wgsl", intrinsics::STAGE_LEFT),
        ("stage.wgsl", intrinsics::STAGE_RIGHT),
        ("stage.wgsl", intrinsics::END_STAGE),
        ("stage.wgsl", intrinsics::AWAIT_STAGED),
        ("exp2.wgsl", intrinsics::NORMAL_EXP2),
        ("half.wgsl", intrinsics::HALF),
        ("rounded.wgsl", intrinsics::TWO_HALVES),
        ("elements.wgsl", intrinsics::ELEMENTS_OF),
        ("elements.wgsl", intrinsics::MATRIX_OF),
        ("elements.wgsl", intrinsics::LEFT_OF),
        ("warpgroup.wgsl", intrinsics::AWAIT_PRODUCTS),
        ("warpgroup_halves.wgsl", intrinsics::STAGED_HALF),
        ("warpgroup_halves.wgsl", intrinsics::MULTIPLY_STAGED),
        ("warpgroup_singles.wgsl", intrinsics::STAGED_SINGLE),
        ("warpgroup_singles.wgsl", intrinsics::MULTIPLY_SINGLES),
        ("warpgroup_left.wgsl", intrinsics::GROUP_LEFT),
        ("warpgroup_left.wgsl", intrinsics::MULTIPLY_LEFT),
        ("warpgroup_left.wgsl", intrinsics::BEGIN_TURN),
        ("warpgroup_left.wgsl", intrinsics::END_TURN),
    ] {
        let text = std::fs::read_to_string(library.join(file)).unwrap();
        assert!(text.contains(intrinsic), "{file} lacks:\n{intrinsic}");
    }
}

/// Maximum spill in bytes, as of ptxas 12.9: `lz4_parse` with a dictionary, which keeps masks of warps in registers too, spills most of it outside
/// of its inner loops.
const FEW_BYTES: u32 = 56;

#[test]
fn every_kernel_assembles_and_spills_next_to_nothing() {
    let Some(ptxas) = ptxas::ptxas() else {
        return;
    };
    let mut failures = Vec::new();
    for (name, launch) in launches() {
        for sm in ptxas::TARGETS {
            for bounds in [Bounds::Unchecked, Bounds::Clamp] {
                let kernel = launch.kernel;
                let is_known = sm >= 80 || !(kernel.is_of_bfloat16() || kernel.is_of_tf32());
                if !is_known || (bounds == Bounds::Clamp && sm != 90) {
                    continue;
                }
                let what = format!("{name} sm_{sm} {bounds:?}");
                match ptxas::assemble(&ptxas, &what, &compile(&launch, sm, bounds).text) {
                    Err(error) => failures.push(format!("{what}: {error}")),
                    Ok(report) => {
                        let used = report
                            .lines()
                            .find(|line| line.contains("registers"))
                            .unwrap_or_default();
                        println!("{what}: {used}");
                        let spills = report.lines().filter(|line| line.contains("spill loads"));
                        let is_little = |line: &str| {
                            let stores = line.split(" bytes spill stores").next();
                            let bytes = stores.and_then(|before| before.rsplit(' ').next());
                            bytes.is_some_and(|bytes| {
                                bytes.parse().is_ok_and(|bytes: u32| bytes <= FEW_BYTES)
                            })
                        };
                        // Jobs run these kernels unchecked, those of warpgroups where they multiply, and products with steps ahead in registers
                        // through Vulkan.
                        let is_elsewhere = kernel.name.ends_with("_warpgroup") && sm != 90
                            || kernel.name.ends_with("_ahead");
                        if bounds == Bounds::Clamp || is_elsewhere {
                            continue;
                        }
                        failures.extend(
                            spills
                                .filter(|line| !is_little(line))
                                .map(|line| format!("{what}: {line}")),
                        );
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
