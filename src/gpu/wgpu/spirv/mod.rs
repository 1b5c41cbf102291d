//! Translates WGSL to SPIR-V for Vulkan, for kernels without checks, and passes it to the driver unchanged.
//!
//! naga emits `storageBarrier()` with device scope, although WGSL defines workgroup scope. Drivers then flush caches that a
//! workgroup shares anyway, which makes the decoder 1.4 times slower (`docs/decisions/010`). This module calls naga as wgpu does
//! without run-time checks, and narrows the scope of these barriers.
//!
//! NVIDIA's compiler delays loads from read-only buffers until their values are used, even beyond barriers. Kernels of cooperative
//! matrices load factors steps ahead, so their buffers are not declared read-only (`docs/decisions/056`).
//!
//! Some intrinsics of `wgsl-ptx` become shorter here, too: a shift of word pairs, and operations of subgroups.
//!
//! WGSL has no bfloat16. Kernels that take it are written for halves, and their matrices get the type here.

mod edits;
mod elements;
mod subgroups;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use naga::Module;
use naga::back::spv;
use naga::valid::ModuleInfo;
use wgsl_ptx::intrinsics::FUNNEL;

use crate::gpu::backend::KernelSource;
use crate::kernels::Access;

/// A function equivalent to [`FUNNEL`] that NVIDIA's driver compiles to a single instruction, where the device has 64-bit integers, which
/// WGSL in browsers lacks. Others need more instructions for it than for [`FUNNEL`]. It has as many lines, so that the places in
/// messages hold.
const FUNNEL_INT64: &str = "fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return u32(((u64(b) << 32u) | u64(a)) >> s);
}";

/// Properties of a translation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Translation {
    /// The device has 64-bit integers, and shifts them in one instruction.
    pub(super) wide_shift: bool,
    /// Invocations of a subgroup, if all subgroups have as many, consecutive ones, and operations of a subgroup are to be used.
    pub(super) subgroup: Option<u32>,
    /// The driver clears workgroup memory. Else the first invocation does, by a store for each word.
    pub(super) clears_workgroups: bool,
    /// The kernel may use cooperative matrices.
    pub(super) cooperative: bool,
    /// The device's invocations have the components of matrices in the order of `elements_of`.
    pub(super) ordered_elements: bool,
}

/// Returns SPIR-V of one entry point, with override constants resolved, without run-time checks.
///
/// # Errors
/// naga's message, with line and column if it has them.
pub(super) fn translate(
    source: &KernelSource<'_>,
    translation: Translation,
) -> Result<Vec<u32>, String> {
    let wgsl = if translation.wide_shift {
        Cow::Owned(source.wgsl.replace(FUNNEL, FUNNEL_INT64))
    } else {
        Cow::Borrowed(source.wgsl)
    };
    let has_elements = translation.ordered_elements && elements::has_elements(&wgsl);
    let wgsl = match has_elements {
        true => elements::without_workgroup_memory(&wgsl, source.is_of_bfloat16()).into(),
        false => wgsl,
    };
    let (mut module, mut info) = resolved(&wgsl, source)?;
    if let Some(size) = translation.subgroup
        && let Some(wgsl) = subgroups::with_operations(&wgsl, n_invocations(&module), size)
    {
        (module, info) = resolved(&wgsl, source)?;
    }
    let pipeline = spv::PipelineOptions {
        entry_point: source.entry.to_owned(),
        shader_stage: naga::ShaderStage::Compute,
    };
    let mut options = options(source, translation);
    // Functions are found by their names.
    options.flags.set(spv::WriterFlags::DEBUG, has_elements);
    let mut words =
        spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|e| e.to_string())?;
    edits::set_workgroup_scope(&mut words);
    if translation.cooperative {
        edits::leave_out_non_writable(&mut words);
    }
    if source.is_of_bfloat16() {
        words = edits::with_bfloat16(&words);
    }
    if has_elements {
        words = elements::with_components(&words, source.wgsl)?;
    }
    Ok(words)
}

/// Returns the module of a text of `source`, whose bindings are checked, with override constants resolved.
fn resolved(wgsl: &str, source: &KernelSource<'_>) -> Result<(Module, ModuleInfo), String> {
    let (module, info) = wgsl_ptx::front::read(wgsl)?;
    check_bindings(&module, source.bindings)?;
    let overrides = source
        .overrides
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    let entry = Some((naga::ShaderStage::Compute, source.entry));
    let (module, info) =
        naga::back::pipeline_constants::process_overrides(&module, &info, entry, &overrides)
            .map_err(|e| e.to_string())?;
    Ok((module.into_owned(), info.into_owned()))
}

/// Returns the invocations of a workgroup of a module that has one entry point, with override constants resolved.
fn n_invocations(module: &Module) -> u32 {
    let sizes = module.entry_points.iter().map(|entry| entry.workgroup_size);
    sizes.flatten().fold(1, u32::saturating_mul)
}

/// Checks that every variable of the module has the binding that the caller declares: wgpu does not validate passthrough
/// modules.
fn check_bindings(module: &Module, bindings: &[Access]) -> Result<(), String> {
    for (_, variable) in module.global_variables.iter() {
        let Some(at) = &variable.binding else {
            continue;
        };
        let access = match variable.space {
            naga::AddressSpace::Uniform => Some(Access::Uniform),
            naga::AddressSpace::Storage { access }
                if access.contains(naga::StorageAccess::STORE) =>
            {
                Some(Access::ReadWrite)
            }
            naga::AddressSpace::Storage { .. } => Some(Access::Read),
            _ => None,
        };
        if at.group != 0 || access.is_none() || bindings.get(at.binding as usize).copied() != access
        {
            let name = variable.name.as_deref().unwrap_or("variable");
            return Err(format!(
                "{name} is @group({}) @binding({}), {access:?}; given: {bindings:?}",
                at.group, at.binding
            ));
        }
    }
    Ok(())
}

/// Returns the options that wgpu uses on Vulkan with its checks off. Bindings have no gaps, so they keep their numbers.
fn options(source: &KernelSource<'_>, translation: Translation) -> spv::Options<'static> {
    use spv::ZeroInitializeWorkgroupMemoryMode as Zeros;
    let binding_map = (0..source.bindings.len() as u32).map(|binding| {
        let at = naga::ResourceBinding { group: 0, binding };
        (
            at,
            spv::BindingInfo {
                descriptor_set: 0,
                binding,
                binding_array_size: None,
            },
        )
    });
    spv::Options {
        // Drivers with cooperative matrices have Vulkan 1.3.
        lang_version: if translation.cooperative {
            (1, 6)
        } else {
            (1, 3)
        },
        flags: spv::WriterFlags::empty(),
        binding_map: binding_map.collect(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: naga::proc::BoundsCheckPolicy::Unchecked,
            buffer: naga::proc::BoundsCheckPolicy::Unchecked,
            image_load: naga::proc::BoundsCheckPolicy::Unchecked,
            binding_array: naga::proc::BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: match source.is_cleared() {
            true if translation.clears_workgroups => Zeros::Native,
            true => Zeros::Polyfill,
            false => Zeros::None,
        },
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    }
}
