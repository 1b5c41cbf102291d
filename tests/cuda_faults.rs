//! Faults that break a CUDA device, and the state after them. A kernel that traps breaks CUDA for its process, so each
//! of these tests runs in a separate process, one after another.
#![cfg(cuda_engine)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::process::ExitCode;

use common::cuda::in_own_process;
use common::engine::{expected, squares};
use common::pages::mixed;
use pagepress::batch::{Codec, CodecOptions};
use pagepress::gpu::cuda::CudaDevice;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuBatchCompressor, GpuBatchConfig, GpuDevice, KernelArg,
    KernelSource, Waitable,
};
use pagepress::kernels::Access;
use pagepress::lz4::{self, Level};
use pagepress::ptx::{CompiledPtx, PtxParam, PtxParamKind};
use pagepress::{Error, PAGE_SIZE};
use pagepress_test_harness::test;

fn main() -> ExitCode {
    common::harness::run()
}

/// Runs the test `name` in a separate process, or ends it as ignored if CUDA finds no GPU.
fn alone(name: &str, test: impl FnOnce(&GpuDevice)) {
    in_own_process(name, || test(&open()));
}

fn open() -> GpuDevice {
    GpuDevice::open(&DeviceRequest {
        engine: EngineChoice::Cuda,
        ..DeviceRequest::default()
    })
    .unwrap()
}

/// Launches a kernel that is compiled without bounds checks and stores out of bounds.
#[test]
fn a_kernel_that_traps_loses_the_device_and_says_why() {
    const WILD: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<uniform> at: vec4<u32>;
        @compute @workgroup_size(1)
        fn wild() { data[at.x] = 1u; }";
    alone(
        "a_kernel_that_traps_loses_the_device_and_says_why",
        |device| {
            let bystander = open();
            let kept = bystander.allocate_memory(1 << 20).unwrap();
            let error = block_on(async {
                let source = KernelSource::new(WILD, "wild", &[Access::ReadWrite, Access::Uniform]);
                // SAFETY: violated on purpose: the kernel writes out of bounds, in a process that is only for this.
                let source = unsafe { source.without_checks() };
                let kernel = device.compile_kernel(&source).await.unwrap();
                let data = device.allocate_memory(256).unwrap();
                let args = [KernelArg::Buffer(&data), KernelArg::Params(&[1 << 29])];
                let submission = device.launch_kernel(&kernel, [1, 1, 1], &args).unwrap();
                submission.wait_async().await.unwrap_err()
            });
            assert_eq!(error.code(), "DEVICE_LOST");
            // The code depends on the address.
            let codes = [
                "error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)",
                "error 717 (CUDA_ERROR_INVALID_ADDRESS_SPACE)",
            ];
            let words = error.to_string();
            assert!(codes.iter().any(|code| words.contains(code)), "{words}");
            assert_eq!(
                squares(device, 64, false).unwrap_err().code(),
                "DEVICE_LOST"
            );
            // A second device on the same GPU is lost, too.
            assert_eq!(bystander.check().unwrap_err().code(), "DEVICE_LOST");
            drop(kept);
            let again = block_on(device.reopen_async()).unwrap_err();
            assert_eq!(again.code(), "BACKEND_UNAVAILABLE");
            assert!(again.to_string().contains("process anew"), "{again}");
        },
    );
}

/// The pattern of report F082, verbatim: an address computed from a value loaded from shared memory. Each lane stores
/// at its index times a factor; factors that are not multiples of 4 crash.
const F082: &str = "
    .version 7.0
    .target sm_75
    .address_size 64
    .visible .entry f082(.param .u64 out, .param .u64 out_bytes, .param .align 16 .b8 factor[16])
    {
        .shared .align 4 .b8 offsets[128];
        .reg .u64 %base, %offset, %dest;
        .reg .u32 %me, %slot, %value, %scale;
        ld.param.u64 %base, [out];
        cvta.to.global.u64 %base, %base;
        ld.param.u32 %scale, [factor];
        mov.u32 %me, %tid.x;
        mov.u32 %slot, offsets;
        mad.lo.u32 %slot, %me, 4, %slot;
        mul.lo.u32 %value, %me, %scale;
        st.shared.u32 [%slot], %value;
        bar.sync 0;
        ld.shared.u32 %value, [%slot];
        cvt.u64.u32 %offset, %value;
        add.u64 %dest, %base, %offset;
        st.global.u32 [%dest], %me;
        ret;
    }";

fn store_at_multiples_of(device: &CudaDevice, factor: u32) -> Result<Vec<u8>, Error> {
    let param = |binding, kind, min_bytes| PtxParam {
        group: 0,
        binding,
        kind,
        min_bytes,
    };
    let ptx = CompiledPtx {
        text: F082.into(),
        entry: "f082".into(),
        workgroup_size: [32, 1, 1],
        shared_bytes: 128,
        params: vec![
            param(0, PtxParamKind::Storage { writable: true }, 252),
            param(1, PtxParamKind::Uniform { n_bytes: 16 }, 16),
        ],
        waits_by_itself: false,
    };
    block_on(async {
        // SAFETY: the entry point has these parameters and stores below 31 times 8 plus 4 bytes.
        let kernel = unsafe { device.load_ptx(&ptx, &[Access::ReadWrite, Access::Uniform]) }?;
        let out = device.allocate_memory(256)?;
        device.upload_async(&out, 0, &[0xff; 256]).await?;
        let args = [KernelArg::Buffer(&out), KernelArg::Params(&[factor])];
        device
            .launch_kernel(&kernel, [1, 1, 1], &args)?
            .wait_async()
            .await?;
        device.download_async(&out, 0..256).await
    })
}

#[test]
fn f082_is_a_misaligned_address_and_is_called_so() {
    alone("f082_is_a_misaligned_address_and_is_called_so", |device| {
        let cuda = device.as_cuda().unwrap();
        for factor in [4, 8] {
            let found = store_at_multiples_of(cuda, factor).unwrap();
            for lane in 0..32 {
                let at = lane * factor as usize;
                assert_eq!(found[at..at + 4], (lane as u32).to_le_bytes());
            }
        }
        let error = store_at_multiples_of(cuda, 5).unwrap_err();
        assert_eq!(error.code(), "DEVICE_LOST");
        assert!(error.to_string().contains("716"), "{error}");
        assert!(error.to_string().contains("not a multiple"), "{error}");
    });
}

#[test]
fn ptx_that_is_wrong_comes_back_with_the_drivers_log() {
    alone(
        "ptx_that_is_wrong_comes_back_with_the_drivers_log",
        |device| {
            let ptx = CompiledPtx {
                text: F082.replace("mul.lo.u32", "no_such_instruction"),
                entry: "f082".into(),
                workgroup_size: [32, 1, 1],
                shared_bytes: 128,
                params: Vec::new(),
                waits_by_itself: false,
            };
            // SAFETY: the module does not load.
            let error = unsafe { device.as_cuda().unwrap().load_ptx(&ptx, &[]) }.unwrap_err();
            assert_eq!(error.code(), "KERNEL_COMPILE");
            assert!(error.to_string().contains("no_such_instruction"), "{error}");
            assert!(device.check().is_ok());
        },
    );
}

#[test]
fn after_a_trap_forced_cuda_fails_and_auto_goes_on_without() {
    alone(
        "after_a_trap_forced_cuda_fails_and_auto_goes_on_without",
        |device| {
            let bytes = mixed(5000 * PAGE_SIZE, 1);
            let expected = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
            let mut auto = Codec::new(CodecOptions::default()).unwrap();
            assert_eq!(auto.choice().engine, "cuda");
            let mut forced = Codec::with_device(device.clone()).unwrap();
            assert!(store_at_multiples_of(device.as_cuda().unwrap(), 6).is_err());
            let error = forced
                .compress_pages(&bytes, 4096, Level::Fast)
                .unwrap_err();
            assert_eq!(error.code(), "DEVICE_LOST");
            for _ in 0..2 {
                let (found, report) = auto.compress_pages(&bytes, 4096, Level::Fast).unwrap();
                assert!(found == expected, "{}", report.engine);
                assert_ne!(report.engine, "cuda");
            }
        },
    );
}

/// With almost all memory in use, a batch is cut until it fits; work that cannot be cut fails with a typed error.
#[test]
fn memory_that_runs_out_is_said_or_does_with_less() {
    const PIECE: u64 = 1 << 30;
    alone("memory_that_runs_out_is_said_or_does_with_less", |device| {
        let cuda = device.as_cuda().unwrap();
        let (_, total) = cuda.memory_bytes().unwrap();
        let mut taken = Vec::new();
        let error = loop {
            match cuda.allocate_memory(PIECE) {
                Ok(piece) => taken.push(piece),
                Err(error) => break error,
            }
        };
        assert_eq!(error, Error::OutOfMemory { requested: PIECE });
        assert!(taken.len() as u64 * PIECE > total / 2);
        drop(taken.pop());
        assert_eq!(
            cuda.allocate_memory(total + 4).unwrap_err().code(),
            "INVALID_ARGUMENT"
        );
        let bytes = mixed(512 << 20, 1);
        let (pages, _) = bytes.as_chunks::<PAGE_SIZE>();
        // A single job for all pages would need five times their size.
        let config = GpuBatchConfig {
            batch_size: pages.len(),
            ring_buffer_slots: 2,
            ..GpuBatchConfig::default()
        };
        let mut compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
        let found = compressor.compress_batch(pages).unwrap().pages;
        assert!(found == lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap());
        assert!(
            compressor
                .decompress_batch(&found)
                .unwrap()
                .into_pages()
                .unwrap()
                == pages
        );
        drop(taken);
        assert_eq!(squares(device, 64, false).unwrap(), expected(64, 3, 7));
    });
}

/// The device is lost at several times in calls on which all cores work.
#[test]
fn calls_on_all_cores_bring_a_lost_device_back() {
    alone("calls_on_all_cores_bring_a_lost_device_back", |device| {
        let part = mixed(3 << 20, 12);
        let bytes: Vec<u8> = part.iter().copied().cycle().take(130 << 20).collect();
        let expected = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
        let mut codec = Codec::with_device(device.clone()).unwrap();
        for delay in [0, 2, 5, 9, 14, 20] {
            let device = codec.device().unwrap().clone();
            let loser = std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(delay));
                device.destroy();
            });
            let compressed = codec.compress_pages(&bytes, 4096, Level::Fast);
            assert!(compressed.unwrap().0 == expected, "{delay} ms");
            loser.join().unwrap();
            codec.device().unwrap().destroy();
            assert!(
                codec.decompress_pages(&expected).unwrap().0 == bytes,
                "{delay} ms"
            );
        }
    });
}
