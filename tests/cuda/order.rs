//! The order of kernels and copies, and waiting for them.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::common::cuda::in_own_process;
use crate::common::pages::mixed;
use crate::common::slow::Slow;
use crate::{request, with_cuda};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, Buffer, GpuDevice, HostMemory, HostUse, Place, Recorder, Sized64, Waitable,
};
use pagepress_test_harness::test;

/// Polls `future` once and returns true if it is pending.
fn waits<T>(future: &mut std::pin::Pin<&mut impl Future<Output = T>>) -> bool {
    let polled = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    matches!(polled, Poll::Pending)
}

/// Runs in a separate process: the driver maps the streams of a process to a few hardware queues, and streams that
/// share a queue wait for each other.
#[test]
fn waiting_yields_and_copies_overlap_kernels() {
    in_own_process("order::waiting_yields_and_copies_overlap_kernels", || {
        let device = &GpuDevice::open(&request()).unwrap();
        let slow = Slow::new(device);
        let bytes = mixed(1 << 20, 3);
        let other = device.allocate_memory(1 << 20).unwrap();
        let up_and_down = || {
            block_on(async {
                device.upload_async(&other, 0, &bytes).await.unwrap();
                let back = device.download_async(&other, 0..1 << 20).await.unwrap();
                assert!(back == bytes);
            });
        };
        // An allocation may make the driver wait for kernels; after this call the pool has all required memory.
        up_and_down();
        let mut running = pin!(slow.launch(&slow.data).unwrap().wait_async());
        assert!(waits(&mut running), "the first poll waits for the device");
        up_and_down();
        assert!(
            waits(&mut running),
            "copies waited for a kernel that has nothing to do with them"
        );
        let kernel_ns = block_on(running).unwrap();
        assert!(kernel_ns.expect("CUDA tells time") > 1_000_000);
        assert_eq!(slow.result(&slow.data), slow.expected());
    });
}

/// Returns memory to the pool while the device still uses it, and reuses it for other work.
#[test]
fn work_on_the_same_memory_keeps_its_order() {
    with_cuda(|device| {
        let slow = Slow::new(device);
        let n_bytes = slow.data.n_bytes();
        block_on(async {
            let first = device.allocate_memory(n_bytes).unwrap();
            let address = first.device_ptr();
            let host = device.allocate_host(n_bytes, HostUse::Download).unwrap();
            let running = slow.launch(&first).unwrap();
            let mut stream = device.stream();
            stream
                .copy(Place::Host(&host, 0), Place::Device(&first, 0), n_bytes)
                .unwrap();
            stream.submit().unwrap();
            drop(first);
            let second = device.allocate_memory(n_bytes).unwrap();
            assert_eq!(second.device_ptr(), address, "the pool gives it again");
            let zeros = vec![0; n_bytes as usize];
            device.upload_async(&second, 0, &zeros).await.unwrap();
            let found = host.read_async(0..n_bytes, <[u8]>::to_vec).await.unwrap();
            assert!(found == slow.expected(), "overwritten before it was read");
            assert!(device.download_async(&second, 0..n_bytes).await.unwrap() == zeros);
            running.wait_async().await.unwrap();
        });
    });
}

/// Host memory may be overwritten only after the device has read it.
#[test]
fn host_memory_is_not_overwritten_under_the_device() {
    with_cuda(|device| {
        const N_BYTES: usize = 64 << 20;
        block_on(async {
            let host = device
                .allocate_host(N_BYTES as u64, HostUse::Upload)
                .unwrap();
            let buffers: Vec<Buffer> = (0..4)
                .map(|_| device.allocate_memory(N_BYTES as u64).unwrap())
                .collect();
            for (i, buffer) in (1u8..).zip(&buffers) {
                host.write_async(0, &vec![i; N_BYTES]).await.unwrap();
                let mut stream = device.stream();
                let (dst, src) = (Place::Device(buffer, 0), Place::Host(&host, 0));
                stream.copy(dst, src, N_BYTES as u64).unwrap();
                stream.submit().unwrap();
            }
            for (i, buffer) in (1u8..).zip(&buffers) {
                let back = device
                    .download_async(buffer, 0..N_BYTES as u64)
                    .await
                    .unwrap();
                assert!(back.iter().all(|&byte| byte == i), "buffer {i}");
            }
        });
    });
}
