//! Compiles WGSL for a device, once for each source.

use super::kernel::WgpuKernel;
use super::shared::Shared;
use crate::gpu::backend::KernelSource;
use crate::kernels::Access;
use crate::{Error, Result};

/// Returns the kernel of `source` from the cache, or compiles it.
pub(super) async fn compile(shared: &Shared, source: &KernelSource<'_>) -> Result<WgpuKernel> {
    if let Some(kernel) = shared.kernels.find(source) {
        return Ok(kernel);
    }
    let failed = |message: String| {
        shared.faults.look(&shared.device);
        shared.faults.explain(Error::KernelCompile {
            kernel: source.entry.to_owned(),
            message,
        })
    };
    shared.faults.check()?;
    let (layout, pipeline) = made(shared, source).await.map_err(failed)?;
    shared.faults.check()?;
    let kernel = WgpuKernel::new(shared.id, source, pipeline, layout);
    shared.kernels.keep(source, kernel.clone());
    Ok(kernel)
}

type Made = (wgpu::BindGroupLayout, wgpu::ComputePipeline);

/// A shader module with its layout and pipeline, or the compiler's message.
#[cfg(not(target_arch = "wasm32"))]
type MadeOf = std::result::Result<(wgpu::ShaderModule, Made), String>;

/// Compiles layout and pipeline of `source`, or returns the compiler's message with line and column.
#[cfg(not(target_arch = "wasm32"))]
async fn made(shared: &Shared, source: &KernelSource<'_>) -> std::result::Result<Made, String> {
    // On a thread with a large enough stack for the compiler, if the source is within its limits.
    let (made, errors) = wgsl_ptx::front::check(source.wgsl)?.run(|| make(shared, source))?;
    let (module, made) = made?;
    match errors.await.into_iter().flatten().next() {
        None => Ok(made),
        Some(error) => {
            // The same message as on every engine. Only wgpu reports limits of the device.
            wgsl_ptx::front::read(source.wgsl).map(drop)?;
            let found = module.get_compilation_info().await;
            Err(describe(&found).unwrap_or_else(|| error.to_string()))
        }
    }
}

/// Compiles layout and pipeline of `source`, or returns the compiler's message. A browser enforces limits of its own.
#[cfg(target_arch = "wasm32")]
async fn made(shared: &Shared, source: &KernelSource<'_>) -> std::result::Result<Made, String> {
    // The pipeline reports the error; the scope keeps it from being reported twice.
    let scope = shared
        .device
        .push_error_scope(wgpu::ErrorFilter::Validation);
    let module = module(shared, source)?;
    let (layout, pipeline_layout) = layouts(shared, source);
    let errors = scope.pop();
    let descriptor = descriptor_of(shared, source, &module, &pipeline_layout);
    match super::answer::create_pipeline(&shared.device, &descriptor).await {
        Ok(pipeline) => Ok((layout, pipeline)),
        Err(error) => {
            let found = describe(&module.get_compilation_info().await);
            let told = errors.await.map(|error| error.to_string());
            Err(found
                .or(told)
                .unwrap_or_else(|| super::answer::message(&error)))
        }
    }
}

/// Creates module, layout and pipeline of `source`, and returns them with wgpu's errors.
#[cfg(not(target_arch = "wasm32"))]
fn make(
    shared: &Shared,
    source: &KernelSource<'_>,
) -> (
    MadeOf,
    impl Future<Output = [Option<wgpu::Error>; 2]> + use<>,
) {
    let scope = shared
        .device
        .push_error_scope(wgpu::ErrorFilter::Validation);
    let internal = shared.device.push_error_scope(wgpu::ErrorFilter::Internal);
    let made = module(shared, source).map(|module| {
        let (layout, pipeline_layout) = layouts(shared, source);
        let descriptor = descriptor_of(shared, source, &module, &pipeline_layout);
        let pipeline = shared.device.create_compute_pipeline(&descriptor);
        (module, (layout, pipeline))
    });
    // Both scopes are closed before the first await: they belong to this thread.
    let (internal, scope) = (internal.pop(), scope.pop());
    (made, async { [internal.await, scope.await] })
}

/// Returns the compiler's messages with line and column, if there are any.
fn describe(found: &wgpu::CompilationInfo) -> Option<String> {
    let lines = found
        .messages
        .iter()
        .map(|message| match &message.location {
            Some(at) => format!(
                "{}:{}: {}",
                at.line_number, at.line_position, message.message
            ),
            None => message.message.clone(),
        });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns true if a source may use cooperative matrices: no source can without the name of the extension.
#[cfg(not(target_arch = "wasm32"))]
fn uses_cooperative_matrices(wgsl: &str) -> bool {
    wgsl.contains("wgpu_cooperative_matrix")
}

#[cfg(not(target_arch = "wasm32"))]
fn module(
    shared: &Shared,
    source: &KernelSource<'_>,
) -> std::result::Result<wgpu::ShaderModule, String> {
    use std::borrow::Cow;
    let unchecked = shared.leaves_out_checks(source);
    let cooperative = uses_cooperative_matrices(source.wgsl);
    if cooperative && !unchecked {
        return Err(
            "cooperative matrices have no bounds checks on this engine: guarantee that none is needed by \
             KernelSource::without_checks"
                .into(),
        );
    }
    if source.is_of_bfloat16() && !shared.capabilities.bfloat16_matrices {
        return Err(
            "the device has no matrices of bfloat16: see Capabilities::bfloat16_matrices".into(),
        );
    }
    if shared.passes_spirv(source) {
        let translation = super::spirv::Translation {
            wide_shift: shared.capabilities.int64 && shared.info.has_wide_shift(),
            subgroup: (shared.info.uniform_subgroup()).filter(|_| shared.capabilities.subgroups),
            clears_workgroups: shared.capabilities.clears_workgroups,
            cooperative,
            ordered_elements: shared.capabilities.matrix_elements,
        };
        let words = super::spirv::translate(source, translation)?;
        let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
            label: Some(source.entry),
            entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
                name: Cow::Borrowed(source.entry),
                workgroup_size: (0, 0, 0),
            }]),
            spirv: Some(Cow::Owned(words)),
            ..wgpu::ShaderModuleDescriptorPassthrough::default()
        };
        // SAFETY: naga wrote the SPIR-V from a validated module with the bindings of `source`, in which functions replaced intrinsics
        // that return the same on a device with such integers and subgroups. Workgroup memory has initializers only where
        // `limits::clears_workgroups` found that the device takes them. Then only the scope of barriers
        // was narrowed to the one that WGSL specifies, promises not to write a buffer were left out, matrices got a type of the
        // same size that the device has, as checked above, and functions of elements became accesses to components of matrices of
        // 16x16, of which each of the 32 invocations of a subgroup has 8, on devices where `matrix_elements` found them. It lacks checks
        // of accesses, divisors and loops: the code that made the source unchecked guaranteed in an `unsafe` call that the kernel
        // needs none.
        return Ok(unsafe { shared.device.create_shader_module_passthrough(descriptor) });
    }
    let descriptor = descriptor(source);
    if unchecked {
        // SAFETY: the code that made the source unchecked guaranteed in an `unsafe` call that the kernel needs no
        // checks of accesses, divisors and loops.
        return Ok(unsafe {
            shared
                .device
                .create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        });
    }
    Ok(shared.device.create_shader_module(descriptor))
}

#[cfg(target_arch = "wasm32")]
fn module(
    shared: &Shared,
    source: &KernelSource<'_>,
) -> std::result::Result<wgpu::ShaderModule, String> {
    Ok(shared.device.create_shader_module(descriptor(source)))
}

fn descriptor<'a>(source: &KernelSource<'a>) -> wgpu::ShaderModuleDescriptor<'a> {
    wgpu::ShaderModuleDescriptor {
        label: Some(source.entry),
        source: wgpu::ShaderSource::Wgsl(source.wgsl.into()),
    }
}

/// Returns the layouts of the bindings and of the pipeline.
fn layouts(
    shared: &Shared,
    source: &KernelSource<'_>,
) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let entries: Vec<_> = source
        .bindings
        .iter()
        .zip(0u32..)
        .map(|(access, i)| layout_entry(*access, i))
        .collect();
    let layout = shared
        .device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(source.entry),
            entries: &entries,
        });
    let pipeline_layout = shared
        .device
        .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(source.entry),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
    (layout, pipeline_layout)
}

fn descriptor_of<'a>(
    shared: &Shared,
    source: &KernelSource<'a>,
    module: &'a wgpu::ShaderModule,
    layout: &'a wgpu::PipelineLayout,
) -> wgpu::ComputePipelineDescriptor<'a> {
    // Overrides of a passthrough module are resolved in its SPIR-V already.
    let resolved = shared.passes_spirv(source);
    wgpu::ComputePipelineDescriptor {
        label: Some(source.entry),
        layout: Some(layout),
        module,
        entry_point: Some(source.entry),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: if resolved { &[] } else { source.overrides },
            zero_initialize_workgroup_memory: source.is_cleared(),
        },
        cache: None,
    }
}

pub(super) fn layout_entry(access: Access, binding: u32) -> wgpu::BindGroupLayoutEntry {
    let ty = match access {
        Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
        Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
        Access::Uniform => wgpu::BufferBindingType::Uniform,
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}
