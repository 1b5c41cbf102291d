//! Checks that a device's invocations have the elements of cooperative matrices in the order that `src/gpu/wgpu/spirv/elements.rs`
//! assumes. SPIR-V leaves the order to the driver, and Vulkan has no query for it.

use std::borrow::Cow;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use wgsl_ptx::intrinsics::{ELEMENTS_OF, LEFT_OF, MATRIX_OF};

use super::spirv::{Translation, translate};
use crate::gpu::backend::KernelSource;
use crate::kernels::Access;

/// The rest of the kernel. It takes a matrix of the numbers 0 to 255 apart, and makes one of its elements, as sums and as a left factor,
/// which is multiplied by the identity.
const KERNEL: &str = "
enable f16;
enable wgpu_cooperative_matrix;
struct Elements { first: vec4<f32>, second: vec4<f32> }
alias Sum = coop_mat16x16<f32, C>;
alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
var<workgroup> sh_elements: array<f32, 256>;
var<workgroup> sh_sums: array<f32, 256>;
var<workgroup> sh_left: array<f16, 256>;
var<workgroup> sh_numbers: array<f32, 256>;
var<workgroup> sh_identity: array<f16, 256>;
@group(0) @binding(0) var<storage, read_write> found: array<f32>;

fn store(sum: Sum, to: u32, i: u32) {
    workgroupBarrier();
    coopStoreT(sum, &sh_numbers[0], 16);
    workgroupBarrier();
    for (var at = i; at < 256u; at += 32u) {
        found[to + at] = sh_numbers[at];
    }
}

@compute @workgroup_size(32)
fn matrix_elements(@builtin(local_invocation_index) i: u32) {
    for (var at = i; at < 256u; at += 32u) {
        sh_numbers[at] = f32(at);
        sh_identity[at] = select(0.0h, 1.0h, at % 17u == 0u);
    }
    workgroupBarrier();
    let elements = elements_of(coopLoadT<Sum>(&sh_numbers[0], 16), 0u, i);
    for (var at = 0u; at < 4u; at++) {
        found[8u * i + at] = elements.first[at];
        found[8u * i + 4u + at] = elements.second[at];
    }
    let start = f32(16u * (i / 4u) + 2u * (i % 4u));
    let first = vec4(start, start + 1.0, start + 128.0, start + 129.0);
    let made = Elements(first, first + 8.0);
    store(matrix_of(made, 0u, i), 256u, i);
    let identity = coopLoadT<Right>(&sh_identity[0], 16);
    var zeros: Sum;
    store(coopMultiplyAdd(left_of(made, 0u, i), identity, zeros), 512u, i);
}
";

/// Numbers that the kernel writes.
const N_FOUND: usize = 3 * 256;

/// Time after which a device counts as one that does not answer.
const WAIT: Duration = Duration::from_secs(10);

/// Returns the numbers that the kernel writes where elements have the order of `elements_of`.
fn expected() -> impl Iterator<Item = f32> {
    let elements = (0..32_u8).flat_map(|lane| {
        [0, 1, 128, 129, 8, 9, 136, 137].map(|at| at + 16 * (lane / 4) + 2 * (lane % 4))
    });
    elements.chain(0..=255).chain(0..=255).map(f32::from)
}

/// Returns true if kernels may compute with the components of matrices, false on any failure. The device has cooperative matrices of halves
/// and subgroups of 32 invocations, so that each has 8 components or more.
pub(super) fn are_ordered(device: &wgpu::Device, queue: &wgpu::Queue) -> bool {
    use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
    // An error outside of a scope would end the program.
    let scopes = [Validation, OutOfMemory, Internal].map(|kind| device.push_error_scope(kind));
    let found = run(device, queue);
    let errors = scopes.into_iter().rev();
    let n_errors = errors
        .filter_map(|scope| pollster::block_on(scope.pop()))
        .count();
    n_errors == 0 && found.is_some_and(|found| found.into_iter().eq(expected()))
}

/// Returns the kernel's SPIR-V.
fn module() -> Option<Vec<u32>> {
    let wgsl = [KERNEL, ELEMENTS_OF, "\n", MATRIX_OF, "\n", LEFT_OF].concat();
    let source = KernelSource::new(&wgsl, "matrix_elements", &[Access::ReadWrite]);
    let translation = Translation {
        wide_shift: false,
        subgroup: None,
        clears_workgroups: false,
        cooperative: true,
        ordered_elements: true,
    };
    translate(&source, translation).ok()
}

/// Returns what the callback of the only submission sends; `None` if it is not called. Polls without a wait: wgpu panics after waits on drivers that
/// end them without the work, as those do that only compile.
fn answer<T>(device: &wgpu::Device, receiver: &mpsc::Receiver<T>) -> Option<T> {
    const NAP: Duration = Duration::from_micros(50);
    let begin = Instant::now();
    loop {
        let polled = device.poll(wgpu::PollType::Poll).ok()?;
        if let Ok(answer) = receiver.try_recv() {
            return Some(answer);
        }
        if polled.is_queue_empty() || begin.elapsed() > WAIT {
            return None;
        }
        thread::sleep(NAP);
    }
}

fn run(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Vec<f32>> {
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
            name: Cow::Borrowed("matrix_elements"),
            workgroup_size: (0, 0, 0),
        }]),
        spirv: Some(Cow::Owned(module()?)),
        ..wgpu::ShaderModuleDescriptorPassthrough::default()
    };
    // SAFETY: the kernel above accesses only the places of its arrays that its constants name, all of them inside, has loops that end,
    // and has the one binding of the layout below. The device has cooperative matrices of these types, and as many components
    // as the kernel uses, as `open_adapter` checked.
    let module = unsafe { device.create_shader_module_passthrough(descriptor) };
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[super::compile::layout_entry(Access::ReadWrite, 0)],
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("matrix_elements"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * N_FOUND as u64,
            usage,
            mapped_at_creation: false,
        })
    };
    let made = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let mapped = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: made.as_entire_binding(),
        }],
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&made, 0, &mapped, 0, mapped.size());
    queue.submit([encoder.finish()]);
    let (sender, receiver) = mpsc::channel();
    mapped
        .slice(..)
        .map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone if the wait below failed.
            let _ = sender.send(result);
        });
    answer(device, &receiver)?.ok()?;
    let bytes = mapped.slice(..).get_mapped_range().ok()?;
    let (words, _) = bytes.as_chunks::<4>();
    Some(words.iter().map(|&bits| f32::from_le_bytes(bits)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_a_translation() {
        assert!(module().is_some());
        assert_eq!(expected().count(), N_FOUND);
    }
}
