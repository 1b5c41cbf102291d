//! The PTX of every program of `tests/in` equals the committed PTX and assembles. After a deliberate change,
//! `PAGEPRESS_WRITE_PTX=1 cargo test --package wgsl-ptx --test snapshots` rewrites `tests/out`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "common/programs.rs"]
mod programs;
#[path = "common/ptxas.rs"]
mod ptxas;

use programs::{Program, folder, programs};
use wgsl_ptx::{Bounds, PtxOptions, compile_wgsl};

fn compile(program: &Program, sm: u32, bounds: Bounds) -> String {
    let options = PtxOptions {
        sm,
        bounds,
        floats_as_tf32: program.has_tf32(),
        ..PtxOptions::new("main")
    };
    compile_wgsl(&program.wgsl, &options)
        .unwrap_or_else(|e| panic!("{}: {e}", program.name))
        .text
}

#[test]
fn the_committed_ptx_is_what_the_compiler_gives() {
    let mut stale = Vec::new();
    for program in programs() {
        let ptx = compile(&program, 80, Bounds::Clamp);
        let path = folder("out").join(format!("{}.ptx", program.name));
        if std::env::var_os("PAGEPRESS_WRITE_PTX").is_some() {
            std::fs::create_dir_all(folder("out")).unwrap();
            std::fs::write(&path, &ptx).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != ptx {
            stale.push(program.name);
        }
    }
    assert!(stale.is_empty(), "not as committed: {stale:?}");
    let n_committed = std::fs::read_dir(folder("out")).unwrap().count();
    assert_eq!(n_committed, programs().len(), "a snapshot without program");
}

/// A constant summand of an index, by name or as a literal, is part of the address.
#[test]
fn constant_summands_of_indexes_cost_no_instruction() {
    let wgsl = "const BASE: u32 = 300;
        var<workgroup> sh_words: array<u32, 500>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
            out[i] = sh_words[i + BASE] + sh_words[i + 301];
        }";
    let options = PtxOptions {
        bounds: Bounds::Unchecked,
        ..PtxOptions::new("main")
    };
    let ptx = compile_wgsl(wgsl, &options).unwrap().text;
    assert!(ptx.contains("+1200]") && ptx.contains("+1204]"), "{ptx}");
}

/// The engine launches such kernels before the ones ahead of them have ended.
#[test]
fn kernels_that_wait_by_themselves_do_so_before_all_else() {
    let wgsl = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) { out[i] = i; }";
    let compiled = |sm, waits_by_itself| {
        let options = PtxOptions {
            sm,
            waits_by_itself,
            ..PtxOptions::new("main")
        };
        let ptx = compile_wgsl(wgsl, &options).unwrap();
        let mut lines = ptx.text.lines().map(str::trim);
        let mut after_declarations = lines.by_ref().skip_while(|line| *line != "{").skip(1);
        let first = after_declarations.find(|line| !line.starts_with('.'));
        let waits = first == Some("griddepcontrol.wait;");
        assert_eq!(ptx.text.contains("griddepcontrol"), waits, "{}", ptx.text);
        assert_eq!(ptx.waits_by_itself, waits);
        waits
    };
    let cases = [
        (80, true),
        (90, false),
        (90, true),
        (100, true),
        (120, true),
    ];
    let found = cases.map(|(sm, waits)| compiled(sm, waits));
    assert_eq!(found, [false, false, true, true, true]);
}

#[test]
fn every_program_assembles() {
    let Some(ptxas) = ptxas::ptxas() else {
        return;
    };
    let mut failures = Vec::new();
    for program in programs() {
        let targets = ptxas::TARGETS.into_iter();
        for sm in targets.filter(|&sm| sm >= 80 || !program.has_tf32()) {
            for bounds in [Bounds::Clamp, Bounds::Unchecked] {
                let name = format!("{} sm_{sm} {bounds:?}", program.name);
                if let Err(error) = ptxas::assemble(&ptxas, &name, &compile(&program, sm, bounds)) {
                    failures.push(format!("{name}: {error}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Only the option makes addresses of them, so that no source reaches memory that it was not given.
#[test]
fn functions_of_addresses_leave_the_buffer_only_with_the_option() {
    let all = programs();
    let program = all.iter().find(|program| program.name == "addresses");
    let program = program.unwrap();
    let compiled = |raw_addresses, bounds| {
        let options = PtxOptions {
            bounds,
            raw_addresses,
            ..PtxOptions::new("main")
        };
        compile_wgsl(&program.wgsl, &options).unwrap().text
    };
    let raw = compiled(true, Bounds::Unchecked);
    for access in [
        "ld.global.b32",
        "ld.global.u8",
        "st.global.b32",
        "st.global.u8",
    ] {
        assert!(raw.contains(access), "{access} in {raw}");
    }
    assert!(raw.contains("mov.b64") && !raw.contains("relaxed"), "{raw}");
    for bounds in [Bounds::Clamp, Bounds::Unchecked] {
        let portable = compiled(false, bounds);
        assert!(
            portable.contains("relaxed") && !portable.contains(".global.u8"),
            "{portable}"
        );
        assert!(!portable.contains("mov.b64"), "{portable}");
    }
    if let Some(ptxas) = ptxas::ptxas() {
        ptxas::assemble(&ptxas, "raw addresses", &raw).unwrap();
    }
}
