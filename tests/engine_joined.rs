//! Operations that nobody waits for, which the engine may submit together with those that follow: their order, and that they run.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::sync::mpsc::channel;
use std::time::Duration;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, Buffer, EngineChoice, GpuDevice, KernelArg, KernelSource, Waitable};
use pagepress::kernels::Access;
use pagepress::tensor::{GpuTensor, Shape, Step};

const DOUBLE: &str = "
@group(0) @binding(0) var<storage, read_write> values: array<f32>;
@compute @workgroup_size(4)
fn double(@builtin(global_invocation_id) id: vec3<u32>) { values[id.x] *= 2.0; }";

/// Time for the longest test on a busy machine.
const LONG: Duration = Duration::from_secs(120);

const ONES: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

fn times(n: u32) -> Vec<f32> {
    ONES.iter().map(|one| one * n as f32).collect()
}

async fn one(device: &GpuDevice) -> GpuTensor {
    let shape = Shape::new(&[4]).unwrap();
    GpuTensor::from_slice_async(device, &ONES, shape)
        .await
        .unwrap()
}

/// Returns `one` multiplied by `n` in `n` operations; memory of the sums between is used again.
async fn multiple(one: &GpuTensor, n: u32) -> GpuTensor {
    let mut sum = one.apply_async(&[Step::Scale(1.0)]).await.unwrap();
    for _ in 1..n {
        sum = sum.combine_async(&[Step::Add], one).await.unwrap();
    }
    sum
}

#[test]
fn operations_run_in_the_order_of_their_calls() {
    let device = common::engine::open(EngineChoice::Wgpu);
    block_on(async {
        let one = one(&device).await;
        for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 50] {
            let sum = multiple(&one, n).await;
            assert_eq!(
                sum.to_vec_async().await.unwrap(),
                times(n),
                "{n} operations"
            );
        }
        let mut several = Vec::new();
        for n in 1..10 {
            several.push(multiple(&one, n).await);
        }
        for (sum, n) in several.iter().zip(1..) {
            assert_eq!(
                sum.to_vec_async().await.unwrap(),
                times(n),
                "sum {n} of several"
            );
        }
    });
}

#[test]
fn a_kernel_of_the_user_runs_between_operations() {
    let device = common::engine::open(EngineChoice::Wgpu);
    block_on(async {
        let one = one(&device).await;
        let source = KernelSource::new(DOUBLE, "double", &[Access::ReadWrite]);
        let kernel = device.compile_kernel(&source).await.unwrap();
        let sum = multiple(&one, 3).await;
        let args = [KernelArg::Buffer(sum.buffer())];
        let launched = device.launch_kernel(&kernel, [1, 1, 1], &args).unwrap();
        let more = sum.combine_async(&[Step::Add], &one).await.unwrap();
        assert_eq!(more.to_vec_async().await.unwrap(), times(7));
        launched.wait_async().await.unwrap();
    });
}

#[test]
fn wgpu_itself_finds_memory_as_operations_left_it() {
    let device = common::engine::open(EngineChoice::Wgpu);
    let own = device.as_wgpu().unwrap();
    block_on(async {
        let one = one(&device).await;
        let (raw_device, queue) = (own.raw_device().clone(), own.raw_queue().clone());
        for n in 1..8 {
            let sum = multiple(&one, n).await;
            let Buffer::Wgpu(buffer) = sum.buffer() else {
                unreachable!("the device is wgpu's");
            };
            let read = raw_device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let mut encoder =
                raw_device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(buffer.raw().unwrap(), 0, &read, 0, 16);
            queue.submit([encoder.finish()]);
            read.map_async(wgpu::MapMode::Read, .., |done| done.unwrap());
            raw_device
                .poll(wgpu::PollType::wait_indefinitely())
                .unwrap();
            let found: Vec<f32> =
                bytemuck::cast_slice(&read.get_mapped_range(..).unwrap()).to_vec();
            assert_eq!(found, times(n));
        }
    });
}

#[test]
fn threads_pass_results_on_before_they_run() {
    let device = common::engine::open(EngineChoice::Wgpu);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (sender, device) = (sender.clone(), &device);
            scope.spawn(move || {
                block_on(async {
                    let one = one(device).await;
                    for n in 1..60 {
                        let n = n % 7 + thread;
                        sender.send((multiple(&one, n + 1).await, n + 1)).unwrap();
                    }
                });
            });
        }
        drop(sender);
        block_on(async {
            for (sum, n) in receiver {
                assert_eq!(sum.to_vec_async().await.unwrap(), times(n));
            }
        });
    });
}

#[test]
fn a_callback_of_wgpu_may_use_the_device() {
    let device = common::engine::open(EngineChoice::Wgpu);
    let (sender, receiver) = channel();
    // A thread of its own, since it could wait for itself.
    let thread = std::thread::spawn(move || {
        block_on(async {
            let one = one(&device).await;
            let queue = device.as_wgpu().unwrap().raw_queue().clone();
            for n in 2..8 {
                let (called, calls) = channel();
                let given = one.clone();
                drop(multiple(&one, 1).await);
                queue.on_submitted_work_done(move || {
                    called.send(block_on(multiple(&given, n))).unwrap();
                });
                // Nothing polls: a submission runs the callback.
                let sum = loop {
                    drop(multiple(&one, 3).await);
                    if let Ok(sum) = calls.try_recv() {
                        break sum;
                    }
                };
                assert_eq!(sum.to_vec_async().await.unwrap(), times(n));
            }
            sender.send(()).unwrap();
        });
    });
    receiver
        .recv_timeout(LONG)
        .expect("operations in callbacks run");
    // No thread uses the driver when the program ends.
    thread.join().unwrap();
}
