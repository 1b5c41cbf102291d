//! Kernels as modules of naga.

use std::borrow::Cow;

use naga::Module;
use naga::back::pipeline_constants::process_overrides;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use pagepress::kernels::{KernelInfo, Launch};

/// Returns true for kernels on matrix units, which only CUDA runs.
pub fn has_matrices(kernel: &KernelInfo) -> bool {
    let enables = |name: &str| kernel.wgsl.contains(&format!("enable {name};"));
    enables("f16") || enables("wgpu_cooperative_matrix")
}

/// Parses and validates a kernel.
pub fn parse(kernel: &KernelInfo) -> (Module, ModuleInfo) {
    let capabilities = if has_matrices(kernel) {
        Capabilities::SHADER_FLOAT16
            | Capabilities::SHADER_FLOAT16_IN_FLOAT32
            | Capabilities::COOPERATIVE_MATRIX
            | Capabilities::SUBGROUP
    } else {
        Capabilities::default()
    };
    let module = naga::front::wgsl::parse_str(kernel.wgsl)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(kernel.wgsl)));
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(kernel.wgsl)));
    (module, info)
}

/// Returns the module of a kernel with the overrides of a launch.
pub fn specialized<'a>(
    module: &'a Module,
    info: &'a ModuleInfo,
    launch: &Launch,
) -> (Cow<'a, Module>, Cow<'a, ModuleInfo>) {
    let constants = launch
        .overrides
        .iter()
        .map(|&(name, value)| (name.to_owned(), f64::from(value)))
        .collect();
    let entry = Some((naga::ShaderStage::Compute, launch.kernel.name));
    process_overrides(module, info, entry, &constants)
        .unwrap_or_else(|error| panic!("{} {:?}: {error}", launch.kernel.name, launch.overrides))
}
