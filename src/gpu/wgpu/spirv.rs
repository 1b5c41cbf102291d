//! Translates WGSL to SPIR-V for Vulkan, for kernels without checks, and passes it to the driver unchanged.
//!
//! naga emits `storageBarrier()` with device scope, although WGSL defines workgroup scope. Drivers then flush caches that a
//! workgroup shares anyway, which makes the decoder 1.4 times slower (`docs/decisions/010`). This module calls naga as wgpu does
//! without run-time checks, and narrows the scope of these barriers.

use std::borrow::Cow;
use std::collections::HashMap;

use naga::back::spv;
use wgsl_ptx::intrinsics::FUNNEL;

use crate::gpu::backend::KernelSource;
use crate::kernels::Access;

const HEADER_WORDS: usize = 5;
const BOUND: usize = 3;
const OP_CONSTANT: u32 = 43;
const OP_CONTROL_BARRIER: u32 = 224;
const OP_MEMORY_BARRIER: u32 = 225;
const SCOPE_DEVICE: u32 = 1;
const SCOPE_WORKGROUP: u32 = 2;
const UNIFORM_MEMORY: u32 = 0x40;

/// A function equivalent to [`FUNNEL`] that drivers turn into a single instruction, for devices with 64-bit integers, which
/// WGSL in browsers lacks. It has as many lines, so that the places in messages hold.
const FUNNEL_INT64: &str = "fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return u32(((u64(b) << 32u) | u64(a)) >> s);
}";

/// Returns SPIR-V 1.3 of one entry point, with override constants resolved, without run-time checks.
///
/// # Errors
/// naga's message, with line and column if it has them.
pub(super) fn translate(source: &KernelSource<'_>, int64: bool) -> Result<Vec<u32>, String> {
    let wgsl = if int64 {
        Cow::Owned(source.wgsl.replace(FUNNEL, FUNNEL_INT64))
    } else {
        Cow::Borrowed(source.wgsl)
    };
    let (module, info) = wgsl_ptx::front::read(&wgsl)?;
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
    let pipeline = spv::PipelineOptions {
        entry_point: source.entry.to_owned(),
        shader_stage: naga::ShaderStage::Compute,
    };
    let mut words = spv::write_vec(&module, &info, &options(source), Some(&pipeline))
        .map_err(|e| e.to_string())?;
    set_workgroup_scope(&mut words);
    Ok(words)
}

/// Checks that every variable of the module has the binding that the caller declares: wgpu does not validate passthrough
/// modules.
fn check_bindings(module: &naga::Module, bindings: &[Access]) -> Result<(), String> {
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
fn options(source: &KernelSource<'_>) -> spv::Options<'static> {
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
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        binding_map: binding_map.collect(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: naga::proc::BoundsCheckPolicy::Unchecked,
            buffer: naga::proc::BoundsCheckPolicy::Unchecked,
            image_load: naga::proc::BoundsCheckPolicy::Unchecked,
            binding_array: naga::proc::BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: match source.is_cleared() {
            true => Zeros::Polyfill,
            false => Zeros::None,
        },
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    }
}

/// Returns position and length, in words, of every instruction.
fn instructions(words: &[u32]) -> Vec<(usize, usize)> {
    let mut at = HEADER_WORDS;
    let mut found = Vec::new();
    while at < words.len() {
        let n_words = (words[at] >> 16) as usize;
        if n_words == 0 || at + n_words > words.len() {
            break;
        }
        found.push((at, n_words));
        at += n_words;
    }
    found
}

/// Gives barriers over storage memory workgroup scope instead of device scope. Scopes are ids of constants.
fn set_workgroup_scope(words: &mut Vec<u32>) {
    let all = instructions(words);
    let opcode = |at: usize, words: &[u32]| words[at] & 0xffff;
    let constants: HashMap<u32, (usize, u32)> = all
        .iter()
        .filter(|&&(at, n)| n == 4 && opcode(at, words) == OP_CONSTANT)
        .map(|&(at, _)| (words[at + 2], (at, words[at + 3])))
        .collect();
    let value = |id: u32| constants.get(&id).map(|&(_, value)| value);
    let barriers: Vec<usize> = all
        .iter()
        .filter_map(|&(at, _)| match opcode(at, words) {
            OP_CONTROL_BARRIER => Some(at + 2),
            OP_MEMORY_BARRIER => Some(at + 1),
            _ => None,
        })
        .filter(|&scope| {
            value(words[scope]) == Some(SCOPE_DEVICE)
                && value(words[scope + 1]).is_some_and(|semantics| semantics & UNIFORM_MEMORY != 0)
        })
        .collect();
    let Some(&first) = barriers.first() else {
        return;
    };
    let Some(&(device_at, _)) = constants.get(&words[first]) else {
        return;
    };
    let workgroup = words[BOUND];
    for scope in barriers {
        words[scope] = workgroup;
    }
    words[BOUND] += 1;
    let constant = [
        words[device_at],
        words[device_at + 1],
        workgroup,
        SCOPE_WORKGROUP,
    ];
    words.splice(device_at..device_at, constant);
}

#[cfg(test)]
mod tests {
    use super::*;

    const WGSL: &str = "
        override N: u32 = 1u;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> shared_words: array<u32, 64>;
        @compute @workgroup_size(64)
        fn barriers(@builtin(local_invocation_index) i: u32) {
            data[i] = N;
            storageBarrier();
            shared_words[i] = data[63u - i];
            workgroupBarrier();
            data[i] = shared_words[i ^ 1u];
        }";

    fn scopes(words: &[u32]) -> Vec<(u32, u32)> {
        let all = instructions(words);
        let constants: HashMap<u32, u32> = all
            .iter()
            .filter(|&&(at, n)| n == 4 && words[at] & 0xffff == OP_CONSTANT)
            .map(|&(at, _)| (words[at + 2], words[at + 3]))
            .collect();
        let barriers = all
            .iter()
            .filter(|&&(at, _)| words[at] & 0xffff == OP_CONTROL_BARRIER);
        barriers
            .map(|&(at, _)| (constants[&words[at + 2]], constants[&words[at + 3]]))
            .collect()
    }

    #[test]
    fn storage_barriers_get_workgroup_scope_and_nothing_else_changes() {
        let source =
            KernelSource::new(WGSL, "barriers", &[Access::ReadWrite]).with_overrides(&[("N", 7.0)]);
        let words = translate(&source, false).unwrap();
        let found = scopes(&words);
        assert!(
            found
                .iter()
                .any(|&(_, semantics)| semantics & UNIFORM_MEMORY != 0)
        );
        assert!(
            found.iter().all(|&(scope, _)| scope == SCOPE_WORKGROUP),
            "{found:?}"
        );
        let n_words: usize = instructions(&words).iter().map(|&(_, n)| n).sum();
        assert_eq!(n_words + HEADER_WORDS, words.len());
    }

    #[test]
    fn funnel_becomes_64_bit_arithmetic_in_the_kernels_that_have_it() {
        const OP_TYPE_INT: u32 = 21;
        let has_int64 = |words: &[u32]| {
            instructions(words)
                .iter()
                .any(|&(at, _)| words[at] & 0xffff == OP_TYPE_INT && words[at + 2] == 64)
        };
        for kernel in crate::kernels::codec::KERNELS {
            let source = KernelSource::of(kernel, &[]);
            let has_funnel = matches!(
                kernel.name,
                "lz4_parse"
                    | "lz4_sort"
                    | "lz4_longest"
                    | "lz4_cheapest"
                    | "lz4_emit"
                    | "lz4_tokens"
                    | "lz4_copy"
            );
            assert_eq!(has_funnel, kernel.wgsl.contains("fn funnel("));
            assert!(!has_int64(&translate(&source, false).unwrap()));
            let words = translate(&source, true).unwrap();
            assert_eq!(has_int64(&words), has_funnel, "{}", kernel.name);
        }
    }

    #[test]
    fn a_function_named_funnel_with_another_body_stays() {
        const WGSL: &str = "
            @group(0) @binding(0) var<storage, read_write> data: array<u32>;
            fn funnel(a: u32, b: u32, s: u32) -> u32 {
                return (a << s) | ((b >> 1) >> (31 - s));
            }
            @compute @workgroup_size(1)
            fn main() {
                data[0] = funnel(data[1], data[2], data[3]);
            }";
        let source = KernelSource::new(WGSL, "main", &[Access::ReadWrite]);
        let [portable, int64] = [false, true].map(|int64| translate(&source, int64).unwrap());
        assert_eq!(portable, int64);
    }

    #[test]
    fn errors_carry_the_line() {
        let source = KernelSource::new(
            "@compute @workgroup_size(1)\nfn broken() { oops(); }",
            "broken",
            &[],
        );
        assert!(translate(&source, false).unwrap_err().starts_with("2:"));
    }
}
