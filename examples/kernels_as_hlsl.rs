//! Writes the kernels of the crate, in every variant that jobs choose, as HLSL into a folder, as wgpu translates them for DX12.
//!
//! `kernels_as_hlsl FOLDER MINOR` writes for shader model `6.MINOR`. The first line of each file is a comment with the name of the variant, the
//! second one with the name of the entry point: `scripts/checks/hlsl.mjs` compiles the files by Microsoft's compiler.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a program of the tests"
)]

#[path = "../tests/common/launches.rs"]
mod launches;
#[path = "../tests/common/modules.rs"]
mod modules;

use std::path::Path;

use naga::back::hlsl::{BindTarget, BindingMap, Options, PipelineOptions, ShaderModel, Writer};
use pagepress::kernels::{Access, KernelInfo, Launch};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, minor] = arguments.as_slice() else {
        panic!("kernels_as_hlsl FOLDER MINOR");
    };
    let model = match minor.as_str() {
        "0" => ShaderModel::V6_0,
        "2" => ShaderModel::V6_2,
        "6" => ShaderModel::V6_6,
        _ => panic!("no shader model 6.{minor} here: 0, 2 or 6"),
    };
    let launches = launches::launches_on(&[launches::USUAL]);
    for (number, (name, launch)) in launches.iter().enumerate() {
        let (text, entry) = translate(launch, model);
        let file = format!("{}-{number}.hlsl", launch.kernel.name);
        let text = format!("// {name}\n// {entry}\n{text}");
        std::fs::write(Path::new(folder).join(file), text).unwrap();
    }
    eprintln!("{} files", launches.len());
}

/// Returns the HLSL of a launch's kernel, and the name of its entry point there.
fn translate(launch: &Launch, model: ShaderModel) -> (String, String) {
    let kernel = launch.kernel;
    let stage = naga::ShaderStage::Compute;
    let (module, info) = modules::parse(kernel);
    let (module, info) = modules::specialized(&module, &info, launch);
    let options = Options {
        shader_model: model,
        special_constants_binding: Some(after_uniforms(kernel)),
        binding_map: bindings(kernel),
        fake_missing_bindings: false,
        // As the engine asks: kernels of jobs are trusted.
        restrict_indexing: false,
        force_loop_bounding: false,
        zero_initialize_workgroup_memory: !kernel.fills_workgroup(),
        ..Options::default()
    };
    let pipeline = PipelineOptions {
        entry_point: Some((stage, kernel.name.to_owned())),
    };
    let mut text = String::new();
    let mut reflection = Writer::new(&mut text, &options, &pipeline)
        .write(&module, &info, None)
        .unwrap();
    let entry = reflection.entry_point_names.pop().unwrap().unwrap();
    (text, entry)
}

/// Returns the registers of a kernel's bindings: as in wgpu, those of each kind in order.
fn bindings(kernel: &KernelInfo) -> BindingMap {
    let mut counts = [0; 3];
    let binding = |(index, access): (usize, &Access)| {
        let kind = match access {
            Access::Uniform => 0,
            Access::Read => 1,
            Access::ReadWrite => 2,
        };
        let register = counts[kind];
        counts[kind] += 1;
        let target = BindTarget {
            register,
            ..BindTarget::default()
        };
        let binding = u32::try_from(index).unwrap();
        (naga::ResourceBinding { group: 0, binding }, target)
    };
    kernel.bindings.iter().enumerate().map(binding).collect()
}

/// Returns the register of the constants in which wgpu passes the number of workgroups.
fn after_uniforms(kernel: &KernelInfo) -> BindTarget {
    let is_uniform = |access: &&Access| **access == Access::Uniform;
    let n_uniforms = kernel.bindings.iter().filter(is_uniform).count();
    BindTarget {
        register: u32::try_from(n_uniforms).unwrap(),
        ..BindTarget::default()
    }
}
