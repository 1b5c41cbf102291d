//! Loss of the device during calls of every kind.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{GpuBatchCompressor, GpuBatchConfig};
use pagepress::{Error, PAGE_SIZE};

use crate::calls::{CALLS, Content, check};
use crate::common::pages::Random;
use crate::{number, open, request};

/// Time after which a call counts as hung; every call is faster on every machine.
const HANG: Duration = Duration::from_secs(240);

#[test]
fn a_device_lost_in_the_middle_is_an_error_or_brought_back() {
    let content = Arc::new(Content::new(160));
    let n = number("PAGEPRESS_LOST", 100) as usize;
    let mut random = Random::new(7);
    let (mut n_done, mut n_lost) = (0, 0);
    let mut device = open(&request());
    for (i, call) in CALLS.iter().cycle().take(n).enumerate() {
        // Measure the call after its kernels have been compiled.
        (call.run)(&device, &content).unwrap();
        let clock = Instant::now();
        (call.run)(&device, &content).unwrap();
        let took = clock.elapsed();
        let delay = took.mul_f64(random.below(1200) as f64 / 1000.0);
        let (sender, receiver) = channel();
        let (called, at_work) = (Arc::clone(&content), device.clone());
        let caller = thread::spawn(move || {
            let result = (call.run)(&at_work, &called);
            sender.send(()).unwrap();
            result
        });
        thread::sleep(delay);
        device.destroy();
        let ended = receiver.recv_timeout(HANG);
        let what = format!("{} lost after {delay:?} of {took:?}, time {i}", call.name);
        if matches!(ended, Err(std::sync::mpsc::RecvTimeoutError::Timeout)) {
            panic!("{what}: hangs");
        }
        let result = caller.join().unwrap_or_else(|_| panic!("{what}: panics"));
        let error = check(&what, result, &["DEVICE_LOST"]);
        assert!(error.is_none() || !call.recovers, "{what}: {error:?}");
        match error {
            None => n_done += 1,
            Some(_) => n_lost += 1,
        }
        assert!(
            matches!(device.check(), Err(Error::DeviceLost { .. })),
            "{what}"
        );
        device = block_on(device.reopen_async()).unwrap();
    }
    println!("lost {n} times: {n_done} calls succeeded, {n_lost} gave DEVICE_LOST");
}

#[test]
fn a_device_lost_twice_is_brought_back_twice() {
    let content = Content::new(160);
    let (pages, _) = content.bytes.as_chunks::<PAGE_SIZE>();
    let config = GpuBatchConfig {
        batch_size: 32,
        ..GpuBatchConfig::default()
    };
    let mut compressor = GpuBatchCompressor::with_device(open(&request()), config).unwrap();
    for n in 1..=3 {
        compressor.device().destroy();
        assert!(compressor.compress_batch(pages).unwrap().pages == content.packed);
        assert_eq!(compressor.stats().n_devices_lost, n);
    }
}
