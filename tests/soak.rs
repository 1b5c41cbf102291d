//! Mixed calls for `PAGEPRESS_SOAK_SECONDS` seconds; ignored if it is not set. Results are checked, futures are dropped
//! before they complete, devices are lost. At the end, resident memory may exceed that after the first minute by 5 %
//! (25 % in runs of less than 10 minutes), and the numbers of open files and threads must be equal.
//!
//! `PAGEPRESS_SOAK_ENGINE=cuda` selects CUDA instead of wgpu.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use common::pages::{GENERATORS, Random};
use pagepress::batch::{Codec, CompressWriter, DecompressReader};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{DeviceRequest, EngineChoice, GpuDevice, GpuTensor};
use pagepress::lz4::frame::{self, FrameOptions, SeekableFrame};
use pagepress::lz4::{self, Level};
use pagepress::tensor::{Shape, Step};
use pagepress_test_harness::test;

fn main() -> ExitCode {
    common::harness::run()
}

/// Resources of this process, which are compared after the first minute and at the end.
#[derive(Debug, Clone, Copy)]
struct Held {
    resident_kb: u64,
    files: usize,
    threads: usize,
}

/// Returns the resources of this process; `None` on systems without `/proc`.
fn held() -> Option<Held> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(Held {
        resident_kb: line.trim().trim_end_matches(" kB").parse().ok()?,
        files: fs::read_dir("/proc/self/fd").ok()?.count(),
        threads: fs::read_dir("/proc/self/task").ok()?.count(),
    })
}

struct Soak {
    random: Random,
    device: GpuDevice,
    codec: Codec,
    n_calls: BTreeMap<&'static str, u64>,
}

type Call = (&'static str, fn(&mut Soak));

/// Every kind of call. The last one, the loss of the device, is called more rarely.
const CALLS: [Call; 9] = [
    ("pages", Soak::pages),
    ("pages on the CPU", Soak::pages_on_the_cpu),
    ("frames", Soak::frames),
    ("streams", Soak::streams),
    ("seeks", Soak::seeks),
    ("damaged frames", Soak::damaged_frames),
    ("tensors", Soak::tensors),
    ("dropped futures", Soak::dropped_futures),
    ("lost devices", Soak::lost_devices),
];

fn open() -> GpuDevice {
    let is_cuda = std::env::var("PAGEPRESS_SOAK_ENGINE").is_ok_and(|engine| engine == "cuda");
    let engine = if is_cuda {
        EngineChoice::Cuda
    } else {
        EngineChoice::Wgpu
    };
    let request = DeviceRequest {
        engine,
        allow_software: true,
        ..DeviceRequest::default()
    };
    GpuDevice::open(&request).expect("a GPU, a software one will do")
}

impl Soak {
    fn new() -> Self {
        let device = open();
        Self {
            random: Random::new(1),
            codec: Codec::with_device(device.clone()).unwrap(),
            device,
            n_calls: BTreeMap::new(),
        }
    }

    /// Makes one call of a random kind; the last kind, the loss of a device, is rarer than the others.
    fn call(&mut self) {
        let (name, call) = match self.random.below(64) {
            0 => CALLS[CALLS.len() - 1],
            _ => CALLS[self.random.below(CALLS.len() - 1)],
        };
        call(self);
        *self.n_calls.entry(name).or_default() += 1;
    }

    fn content(&mut self, most: usize) -> Vec<u8> {
        let length = 1 + self.random.below(most);
        let (_, generator) = GENERATORS[self.random.below(GENERATORS.len())];
        generator(length, self.random.next())
    }

    fn page_size(&mut self) -> u32 {
        4096 << self.random.below(5)
    }

    /// Returns a page size and level for the GPU. There are only two, because each needs kernels of its own, which a
    /// software GPU compiles for seconds after each loss of the device.
    fn form(&mut self) -> (u32, Level) {
        [(4096, Level::Fast), (65_536, Level::High)][self.random.below(2)]
    }

    fn options(&mut self) -> FrameOptions {
        let (block_size, level) = self.form();
        FrameOptions {
            block_size,
            level,
            block_checksums: self.random.below(2) == 0,
            index: self.random.below(2) == 0,
            ..FrameOptions::default()
        }
    }

    fn pages(&mut self) {
        let content = self.content(300_000);
        let (page_size, level) = self.form();
        let (pages, _) = self
            .codec
            .compress_pages(&content, page_size, level)
            .unwrap();
        assert!(self.codec.decompress_pages(&pages).unwrap().0 == content);
    }

    fn pages_on_the_cpu(&mut self) {
        let (content, page_size) = (self.content(2_000_000), self.page_size());
        let pages = lz4::compress_pages(&content, page_size, Level::Sequential).unwrap();
        assert!(lz4::decompress_pages(&pages).unwrap() == content);
    }

    fn frames(&mut self) {
        let (content, options) = (self.content(500_000), self.options());
        let (file, _) = self.codec.compress_frame(&content, &options).unwrap();
        assert!(self.codec.decompress_frame(&file, None).unwrap().0 == content);
    }

    fn streams(&mut self) {
        let (content, options) = (self.content(1_000_000), self.options());
        let codec = Codec::with_device(self.device.clone()).unwrap();
        let mut writer = CompressWriter::new(Vec::new(), codec, &options).unwrap();
        for piece in content.chunks(1 + self.random.below(200_000)) {
            writer.write_all(piece).unwrap();
        }
        let (file, _) = writer.finish().unwrap();
        let codec = Codec::with_device(self.device.clone()).unwrap();
        let mut reader = DecompressReader::new(file.as_slice(), codec, None);
        let mut back = Vec::new();
        if self.random.below(4) == 0 {
            // The reader is dropped before the end.
            reader
                .take(content.len() as u64 / 2)
                .read_to_end(&mut back)
                .unwrap();
        } else {
            reader.read_to_end(&mut back).unwrap();
            assert_eq!(back.len(), content.len());
        }
        assert!(content.starts_with(&back));
    }

    fn seeks(&mut self) {
        let (content, options) = (self.content(1_000_000), self.options());
        let file = frame::compress(&content, &options).unwrap();
        let mut file = SeekableFrame::open(Cursor::new(file)).unwrap();
        for _ in 0..8 {
            let start = self.random.below(content.len());
            let end = (start + self.random.below(50_000)).min(content.len());
            let part = file.read_range(start as u64..end as u64).unwrap();
            assert!(part == content[start..end]);
        }
        file.seek(SeekFrom::End(0)).unwrap();
    }

    fn damaged_frames(&mut self) {
        let (content, options) = (self.content(200_000), self.options());
        let mut file = frame::compress(&content, &options).unwrap();
        for _ in 0..1 + self.random.below(4) {
            let at = self.random.below(file.len());
            file[at] = self.random.byte();
        }
        // Any outcome within the limit is accepted: damage to the header can disable the checksums.
        if let Ok((back, _)) = self.codec.decompress_frame(&file, Some(1 << 24)) {
            assert!(back.len() <= 1 << 24);
        }
    }

    fn tensors(&mut self) {
        let n = 1 + self.random.below(100_000);
        let values: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 - 500.0).collect();
        let device = self.device.clone();
        let found = block_on(async {
            let shape = Shape::vector(n);
            let tensor = GpuTensor::from_slice_async(&device, &values, shape).await?;
            tensor
                .apply_async(&[Step::Relu])
                .await?
                .to_vec_async()
                .await
        });
        let expected: Vec<f32> = values.iter().map(|&value| value.max(0.0)).collect();
        assert_eq!(found.unwrap(), expected);
        let (m, k, n) = (17, 1 + self.random.below(200), 33);
        let (a, b) = (vec![1.0; m * k], vec![2.0; k * n]);
        let mut product = vec![0.0; m * n];
        block_on(device.matmul_async(&a, &b, &mut product, m, k, n)).unwrap();
        assert!(product.iter().all(|&sum| sum == 2.0 * k as f32));
    }

    /// Polls futures a few times and drops them; the codec must still work.
    fn dropped_futures(&mut self) {
        let content = self.content(300_000);
        let (page_size, level) = self.form();
        let n_polls = self.random.below(4);
        let context = &mut Context::from_waker(Waker::noop());
        let expected = lz4::compress_pages(&content, page_size, level).unwrap();
        {
            let mut call = pin!(self.codec.compress_pages_async(&content, page_size, level));
            for _ in 0..n_polls {
                if call.as_mut().poll(context).is_ready() {
                    break;
                }
            }
        }
        {
            let mut call = pin!(self.codec.decompress_pages_async(&expected));
            for _ in 0..n_polls {
                if call.as_mut().poll(context).is_ready() {
                    break;
                }
            }
        }
        let (pages, _) = self
            .codec
            .compress_pages(&content, page_size, level)
            .unwrap();
        assert!(pages == expected);
    }

    fn lost_devices(&mut self) {
        let (content, options) = (self.content(300_000), self.options());
        self.device.destroy();
        // The codec reopens the device, or continues on the CPU.
        let (file, _) = self.codec.compress_frame(&content, &options).unwrap();
        assert!(frame::decompress(&file, None).unwrap() == content);
        self.device = block_on(self.device.reopen_async()).unwrap();
        self.codec = Codec::with_device(self.device.clone()).unwrap();
    }
}

#[test]
fn mixed_calls_leave_nothing_behind() {
    let Ok(seconds) = std::env::var("PAGEPRESS_SOAK_SECONDS") else {
        common::harness::ignore("PAGEPRESS_SOAK_SECONDS says how long it runs");
    };
    let length = Duration::from_secs(seconds.parse().expect("a number of seconds"));
    let until_settled = Duration::from_secs(60).min(length / 2);
    let mut soak = Soak::new();
    // Each kind once, so that the first minute includes all.
    CALLS.iter().for_each(|(_, call)| call(&mut soak));
    let begin = Instant::now();
    let mut settled = None;
    while begin.elapsed() < length {
        soak.call();
        if settled.is_none() && begin.elapsed() >= until_settled {
            settled = held();
        }
    }
    let end = held();
    println!("{:?} in {:?}", soak.n_calls, begin.elapsed());
    let (Some(settled), Some(end)) = (settled, end) else {
        println!("no /proc: what is held was not compared");
        return;
    };
    println!("after {until_settled:?}: {settled:?}\nat the end: {end:?}");
    assert_eq!(end.files, settled.files, "files are left open");
    assert_eq!(end.threads, settled.threads, "threads are left");
    // In a short run, the largest content of each kind may come only after the first measurement.
    let percent = if length < Duration::from_secs(600) {
        125
    } else {
        105
    };
    let most = settled.resident_kb * percent / 100;
    assert!(end.resident_kb <= most, "{} kB of {most}", end.resident_kb);
}
