//! Waiting for a device that does not finish.

use std::time::{Duration, Instant};

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, GpuDevice, HostMemory, HostUse, KernelArg, KernelSource, Place,
    Recorder, Waitable,
};
use pagepress::kernels::Access;

use crate::calls::{CALLS, Content};
use crate::{child, open, request};

/// A kernel for seconds of work on a software adapter, in launches that are short enough for drivers.
const SLOW: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn slow(@builtin(global_invocation_id) id: vec3<u32>) {
        var x = id.x;
        for (var i = 0u; i < 60000u; i++) { x = x * 1664525u + 1013904223u + (x >> 7u); }
        data[id.x & 63u] = x;
    }";

/// Records work that takes many times the limit of the test.
async fn slow_stream(device: &GpuDevice) -> <GpuDevice as Backend>::Stream {
    let source = KernelSource::new(SLOW, "slow", &[Access::ReadWrite]);
    let kernel = device.compile_kernel(&source).await.unwrap();
    let data = device.allocate_memory(256).unwrap();
    // Wait for the clearing of new memory, which is not to be measured.
    device.synchronize_async().await.unwrap();
    let (n_launches, n_workgroups) = match device.info().is_software() {
        true => (4, 128),
        false => (2000, 1024),
    };
    let mut stream = device.stream();
    for _ in 0..n_launches {
        let args = [KernelArg::Buffer(&data)];
        stream.launch(&kernel, [n_workgroups, 1, 1], &args).unwrap();
    }
    stream
}

fn with_limit(limit: Duration) -> GpuDevice {
    open(&DeviceRequest {
        wait_limit: Some(limit),
        ..request()
    })
}

#[test]
fn a_device_without_progress_is_lost_after_the_limit() {
    child::alone(
        "waits::a_device_without_progress_is_lost_after_the_limit",
        None,
        &[],
        || {
            let patient = with_limit(Duration::from_secs(600));
            let clock = Instant::now();
            block_on(async {
                let stream = slow_stream(&patient).await;
                stream.submit().unwrap().wait_async().await.unwrap();
            });
            let took = clock.elapsed();
            println!("the work takes {took:?}");
            let limit = took / 20;
            for way in 0..3 {
                let device = with_limit(limit);
                let error = block_on(async {
                    let mut stream = slow_stream(&device).await;
                    let host = device.allocate_host(256, HostUse::Download).unwrap();
                    let data = device.allocate_memory(256).unwrap();
                    let (to, from) = (Place::Host(&host, 0), Place::Device(&data, 0));
                    stream.copy(to, from, 256).unwrap();
                    let submission = stream.submit().unwrap();
                    match way {
                        0 => submission.wait_async().await.unwrap_err(),
                        1 => host.read_async(0..4, |_| ()).await.unwrap_err(),
                        _ => device.synchronize_async().await.unwrap_err(),
                    }
                });
                assert_eq!(error.code(), "DEVICE_LOST", "{error}");
                assert!(error.to_string().contains("wait_limit"), "{error}");
                assert_eq!(device.check().unwrap_err().code(), "DEVICE_LOST");
                if device.name() == "cuda" {
                    // Hung work in a CUDA context cannot be cancelled.
                    return;
                }
                let again = block_on(device.reopen_async()).unwrap();
                assert!(again.check().is_ok());
            }
        },
    );
}

#[test]
fn work_that_goes_on_is_waited_for() {
    let content = Content::new(16);
    // Far longer than one submission, far shorter than all together.
    let device = with_limit(Duration::from_secs(20));
    for call in CALLS {
        (call.run)(&device, &content).unwrap();
    }
}
