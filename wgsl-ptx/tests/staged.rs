//! Asynchronous copies to workgroup memory, workgroup memory whose size a launch states, matrices of bfloat16, and products of
//! warpgroups.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/programs.rs"]
mod programs;
#[path = "common/ptxas.rs"]
mod ptxas;

use wgsl_ptx::{Bounds, CompiledPtx, PtxOptions, compile_wgsl, intrinsics};

/// Copies two steps of 512 bytes from each factor, the second while the first is read.
const STEPS: &str = "
    alias Part = vec4<f16>;
    struct Halves { first: Part, second: Part }
    @group(0) @binding(0) var<storage, read> left: array<Halves>;
    @group(0) @binding(1) var<storage, read> right: array<Halves>;
    @group(0) @binding(2) var<storage, read_write> sums: array<vec4<f16>>;
    var<workgroup> sh_staged: array<vec4<f16>, 256>;

    fn stage(step: u32, i: u32) {
        stage_left(128 * step + 2 * i, 32 * step + i, i < 30);
        stage_right(128 * step + 64 + 2 * i, 32 * step + i, true);
        end_stage();
    }

    @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
        stage(0u, i);
        stage(1u, i);
        await_staged(1u);
        sums[i] = sh_staged[2 * i] + sh_staged[64 + 2 * i];
        await_staged(0u);
        sums[32 + i] = sh_staged[128 + 2 * i] + sh_staged[192 + 2 * i];
    }";

/// The same of single precision: a part of a unit is any vector of 8 bytes.
fn steps_of_singles() -> CompiledPtx {
    let wgsl = source()
        .replace("enable f16;", "")
        .replace("vec4<f16>", "vec2<f32>");
    let options = PtxOptions {
        sm: 80,
        bounds: Bounds::Unchecked,
        ..PtxOptions::new("main")
    };
    compile_wgsl(&wgsl, &options).unwrap()
}

fn source() -> String {
    [
        "enable f16;\n",
        intrinsics::STAGE_LEFT,
        "\n",
        intrinsics::STAGE_RIGHT,
        "\n",
        intrinsics::END_STAGE,
        "\n",
        intrinsics::AWAIT_STAGED,
        STEPS,
    ]
    .concat()
}

fn steps(sm: u32, bounds: Bounds) -> CompiledPtx {
    let options = PtxOptions {
        sm,
        bounds,
        ..PtxOptions::new("main")
    };
    compile_wgsl(&source(), &options).unwrap()
}

fn assembles(ptx: &CompiledPtx) {
    if let Some(ptxas) = ptxas::ptxas() {
        ptxas::assemble(&ptxas, "staged", &ptx.text).unwrap();
    }
}

#[test]
fn a_stage_is_copied_while_another_is_read() {
    let ptx = steps(80, Bounds::Unchecked);
    let count = |text: &str| ptx.text.matches(text).count();
    assert_eq!(count("cp.async.cg.shared.global"), 4);
    // A copy that always takes place has no number of bytes.
    assert_eq!(count("], 16;"), 2);
    assert_eq!(count("cp.async.commit_group;"), 2);
    let waits = ["cp.async.wait_group 1;", "cp.async.wait_group 0;"];
    assert_eq!(waits.map(count), [1, 1]);
    assembles(&ptx);
    let ptx = steps_of_singles();
    assert_eq!(ptx.text.matches("cp.async.cg.shared.global").count(), 4);
    assembles(&ptx);
}

#[test]
fn copies_that_are_checked_or_unknown_to_the_target_are_loads_and_stores() {
    for (sm, bounds) in [(75, Bounds::Unchecked), (80, Bounds::Clamp)] {
        let ptx = steps(sm, bounds);
        assert!(!ptx.text.contains("cp.async"), "{sm} {bounds:?}");
        assembles(&ptx);
    }
}

#[test]
fn the_launch_states_workgroup_memory_beyond_48_kib() {
    for (n_words, launched) in [(12 << 10, 0), ((12 << 10) + 1, (48 << 10) + 4)] {
        let wgsl = format!(
            "var<workgroup> words: array<u32, {n_words}>;
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {{
                words[{n_words} - 1 - i] = out[i];
                workgroupBarrier();
                out[i] = words[i];
            }}"
        );
        let ptx = compile_wgsl(&wgsl, &PtxOptions::new("main")).unwrap();
        assert_eq!(ptx.shared_bytes, 4 * n_words);
        assert_eq!(ptx.launched_shared_bytes(), launched);
        let is_external = ptx
            .text
            .contains(".extern .shared .align 16 .b8 main_workgroup[];");
        assert_eq!(is_external, launched > 0);
        assembles(&ptx);
    }
}

/// Factors that lie along the terms of the sums are loaded as matrices, others by element.
#[test]
fn singles_are_multiplied_as_tf32_where_the_options_say_so() {
    for (load_a, load_b, n_matrices) in [
        ("coopLoadT", "coopLoad", 4),
        ("coopLoad", "coopLoad", 2),
        ("coopLoad", "coopLoadT", 0),
    ] {
        let wgsl = format!(
            "enable wgpu_cooperative_matrix;
            var<workgroup> singles: array<f32, 768>;
            @compute @workgroup_size(32) fn main() {{
                let a = {load_a}<coop_mat16x16<f32, A>>(&singles[0]);
                let b = {load_b}<coop_mat16x16<f32, B>>(&singles[256]);
                let c = coopLoad<coop_mat16x16<f32, C>>(&singles[512]);
                coopStore(coopMultiplyAdd(a, b, c), &singles[512]);
            }}"
        );
        let options = PtxOptions {
            sm: 80,
            floats_as_tf32: true,
            ..PtxOptions::new("main")
        };
        let ptx = compile_wgsl(&wgsl, &options).unwrap();
        let count = |text: &str| ptx.text.matches(text).count();
        assert_eq!(count(".m16n8k8.row.col.f32.tf32.tf32.f32"), 4);
        assert_eq!(count("ldmatrix.sync.aligned.m8n8.x4.shared"), n_matrices);
        // Every element is rounded.
        assert_eq!(count("fma.rn.f32"), 16);
        assembles(&ptx);
    }
}

#[test]
fn halves_are_multiplied_as_bfloat16_where_the_options_say_so() {
    let wgsl = "enable f16; enable wgpu_cooperative_matrix;
        var<workgroup> halves: array<f16, 512>;
        var<workgroup> sums: array<f32, 256>;
        @compute @workgroup_size(32) fn main() {
            let a = coopLoad<coop_mat16x16<f16, A>>(&halves[0]);
            let b = coopLoad<coop_mat16x16<f16, B>>(&halves[256]);
            let c = coopLoad<coop_mat16x16<f32, C>>(&sums[0]);
            coopStore(coopMultiplyAdd(a, b, c), &sums[0]);
        }";
    for (halves_as_bfloat16, expected) in
        [(false, ".f32.f16.f16.f32"), (true, ".f32.bf16.bf16.f32")]
    {
        let options = PtxOptions {
            sm: 80,
            halves_as_bfloat16,
            ..PtxOptions::new("main")
        };
        let ptx = compile_wgsl(wgsl, &options).unwrap();
        assert_eq!(ptx.text.matches(expected).count(), 2);
        assembles(&ptx);
    }
}

#[test]
fn warpgroups_multiply_on_the_one_architecture_that_can() {
    let ptx = of_warpgroups("warpgroups", 90, true, Bounds::Unchecked);
    let count = |text: &str| ptx.text.matches(text).count();
    assert!(ptx.text.starts_with(".version 8.0\n.target sm_90a\n"));
    // Five calls of four products of 16 terms.
    assert_eq!(
        count("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"),
        16
    );
    assert_eq!(
        count("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16"),
        4
    );
    for (orders, n) in [("0, 0;", 7), ("0, 1;", 4), ("1, 0;", 4), ("1, 1;", 4)] {
        assert_eq!(count(&format!(", 1, 1, 1, {orders}")), n, "{orders}");
    }
    // The first product of the first call takes the place of the sums.
    assert_eq!(count(", 0, 1, 1, 0, 0;"), 1);
    assert_eq!(count("wgmma.fence.sync.aligned;"), 5);
    assert_eq!(count("wgmma.commit_group.sync.aligned;"), 5);
    let waits = ["wait_group.sync.aligned 3;", "wait_group.sync.aligned 0;"];
    assert_eq!(waits.map(count), [1, 1]);
    // Writes to workgroup memory are visible to the products, and blocks of lines begin where they can.
    assert!(count("fence.proxy.async.shared::cta;") > 0);
    assert_eq!(count(".shared .align 1024 .b8"), 1);
    // The second warpgroup begins after the first one's turn.
    assert_eq!(["bar.sync %r", "bar.arrive %r"].map(count), [1, 1]);
    assembles(&ptx);
    for (sm, is_exact, bounds) in [
        (90, false, Bounds::Unchecked),
        (90, true, Bounds::Clamp),
        (80, true, Bounds::Unchecked),
        (100, true, Bounds::Unchecked),
    ] {
        for name in ["warpgroups", "warpgroups_left"] {
            let ptx = of_warpgroups(name, sm, is_exact, bounds);
            let is_portable = !ptx.text.contains("wgmma") && !ptx.text.contains("bar.arrive");
            assert!(is_portable, "{name} {sm} {is_exact} {bounds:?}");
            assert!(ptx.text.contains(&format!(".target sm_{sm}\n")));
            assembles(&ptx);
        }
    }
}

#[test]
fn left_factors_of_warpgroups_stay_in_registers() {
    let ptx = of_warpgroups("warpgroups_left", 90, true, Bounds::Unchecked);
    let count = |text: &str| ptx.text.matches(text).count();
    assert_eq!(count("cvt.rn.f16x2.f32"), 16);
    let in_registers = |n: u32, order: u32| {
        let instruction = format!("wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16");
        let lines = ptx.text.lines().filter(|line| {
            line.contains(&instruction) && line.ends_with(&format!(", 1, 1, 1, {order};"))
        });
        lines.filter(|line| line.matches('{').count() == 2).count()
    };
    assert_eq!([in_registers(64, 1), in_registers(32, 0)], [4, 4]);
    // Workgroup memory has the factors alone.
    assert_eq!(ptx.shared_bytes, 16 << 10);
    assembles(&ptx);
}

#[test]
fn warpgroups_multiply_singles_where_the_options_say_so() {
    let all = programs::programs();
    let program = all.iter().find(|one| one.name == "warpgroups_tf32");
    let compile = |floats_as_tf32| {
        let options = PtxOptions {
            sm: 90,
            is_exact: true,
            bounds: Bounds::Unchecked,
            floats_as_tf32,
            ..PtxOptions::new("main")
        };
        compile_wgsl(&program.unwrap().wgsl, &options).unwrap()
    };
    let instruction = "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32";
    for (floats_as_tf32, n) in [(true, 4), (false, 0)] {
        let ptx = compile(floats_as_tf32);
        assert_eq!(ptx.text.matches(instruction).count(), n);
        assembles(&ptx);
    }
}

fn of_warpgroups(name: &str, sm: u32, is_exact: bool, bounds: Bounds) -> CompiledPtx {
    let all = programs::programs();
    let program = all.iter().find(|program| program.name == name);
    let options = PtxOptions {
        sm,
        is_exact,
        bounds,
        ..PtxOptions::new("main")
    };
    compile_wgsl(&program.unwrap().wgsl, &options).unwrap()
}
