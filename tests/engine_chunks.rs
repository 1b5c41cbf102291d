//! Jobs of chunks on each engine, with positions in a buffer in place of addresses. `tests/cuda_chunks.rs` has those at addresses.
#![cfg(all(gpu_engine, not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;
#[path = "common/jobs.rs"]
mod jobs;

use common::chunks::{
    Memory, block_of, chunks, codes, corrupt_blocks, lengths_64, literals, sizes, words_64,
};
use pagepress::Error;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, DeviceRequest, GpuDevice, KernelSource};
use pagepress::internals::Job;
use pagepress::internals::Limits;
use pagepress::internals::lz4::{
    compress_chunks_job, copy_pieces_job, decompress_chunks_job, max_chunks_per_job,
};
use pagepress::kernels::{Arg, Slot};

/// Memory of inputs and outputs, and the buffers of a job.
struct Run<'a> {
    device: &'a GpuDevice,
    job: Job,
    buffers: jobs::Buffers,
}

impl<'a> Run<'a> {
    fn new(device: &'a GpuDevice, mut job: Job, memory: &[u8]) -> Self {
        for (slot, n_bytes) in &mut job.buffers {
            if *slot == Slot::Memory {
                *n_bytes = memory.len() as u64;
            }
        }
        let buffers = jobs::buffers_of(device, &job);
        let run = Self {
            device,
            job,
            buffers,
        };
        run.give(Slot::Memory, memory);
        run
    }

    fn give(&self, slot: Slot, bytes: &[u8]) {
        block_on(self.device.upload_async(&self.buffers[&slot], 0, bytes)).unwrap();
    }

    fn take(&self, slot: Slot, range: std::ops::Range<u64>) -> Vec<u8> {
        block_on(self.device.download_async(&self.buffers[&slot], range)).unwrap()
    }

    fn launch(&self) {
        for launch in &self.job.launches {
            let binds_part = launch.args.iter().any(|arg| matches!(arg, Arg::Slice(..)));
            assert!(!binds_part, "jobs of chunks bind whole buffers");
            let source = KernelSource::of(launch.kernel, &[]);
            block_on(jobs::run(self.device, source, launch, &self.buffers));
        }
    }
}

fn device() -> GpuDevice {
    GpuDevice::open(&DeviceRequest {
        allow_software: true,
        ..DeviceRequest::default()
    })
    .expect("needs a GPU, a software one will do")
}

/// Returns inputs and outputs in one memory.
fn joined(inputs: &Memory, outputs: &Memory) -> (Vec<u8>, Vec<u64>) {
    let bytes = [&inputs.bytes[..], &outputs.bytes].concat();
    let moved = outputs.starts.iter();
    let starts = moved.map(|start| start + inputs.bytes.len() as u64);
    (bytes, starts.collect())
}

fn blocks_are_those_of_the_cpu(max_bytes: usize, n: usize) {
    let device = device();
    let mut items = chunks(n, max_bytes, 3);
    // One that is too long, whose neighbours are not affected.
    items.insert(5, vec![1; max_bytes + 1]);
    let inputs = Memory::of(&items, 1);
    let room = max_bytes + max_bytes / 255 + 16;
    let mut outputs = Memory::with_rooms(vec![room; items.len()], 2);
    let (bytes, starts) = joined(&inputs, &outputs);
    let job = compress_chunks_job(items.len() as u32, max_bytes as u32, Limits::WEBGPU).unwrap();
    let run = Run::new(&device, job, &bytes);
    run.give(Slot::Inputs, &words_64(&inputs.starts));
    run.give(Slot::InputBytes, &lengths_64(&items));
    run.give(Slot::Outputs, &words_64(&starts));
    run.launch();
    let lengths = sizes(&run.take(Slot::OutputBytes, 0..8 * items.len() as u64));
    outputs.bytes = run.take(Slot::Memory, inputs.bytes.len() as u64..bytes.len() as u64);
    outputs.check_canaries(&lengths);
    assert_eq!(lengths[5], 0, "too long");
    for (i, item) in items.iter().enumerate().filter(|(i, _)| *i != 5) {
        let block = outputs.item(i, lengths[i]);
        assert!(
            block == block_of(item, max_bytes),
            "chunk {i} of {}",
            item.len()
        );
    }
    assert_eq!(
        run.take(Slot::Memory, 0..inputs.bytes.len() as u64),
        inputs.bytes
    );
}

#[test]
fn blocks_of_chunks_up_to_4_kib() {
    blocks_are_those_of_the_cpu(4096, 60);
}

#[test]
fn blocks_of_chunks_up_to_5000_bytes() {
    blocks_are_those_of_the_cpu(5000, 20);
}

#[test]
fn blocks_of_chunks_up_to_64_kib() {
    blocks_are_those_of_the_cpu(65_536, 30);
}

fn chunks_return(max_bytes: usize, n: usize) {
    let device = device();
    let items = chunks(n, max_bytes, 4);
    let mut blocks: Vec<Vec<u8>> = items.iter().map(|item| block_of(item, max_bytes)).collect();
    // Literals in place of a block that shrinks.
    blocks[n - 1] = literals(&items[n - 1]);
    let mut expected: Vec<Result<Vec<u8>, u32>> = items.into_iter().map(Ok).collect();
    // Corrupt blocks between the others.
    for (i, (block, code)) in corrupt_blocks(max_bytes).into_iter().enumerate() {
        blocks.insert(2 * i, block);
        expected.insert(2 * i, Err(code));
    }
    // A capacity that is too small for its block.
    let capacities: Vec<usize> = expected
        .iter()
        .enumerate()
        .map(|(i, item)| match item {
            Ok(item) if i % 4 == 3 => item.len(),
            _ => max_bytes,
        })
        .collect();
    let mut capacities = capacities;
    let last = expected.len() - 1;
    capacities[last] = expected[last].as_ref().unwrap().len() - 1;
    expected[last] = Err(2);
    let inputs = Memory::of(&blocks, 1);
    let mut outputs = Memory::with_rooms(capacities.clone(), 2);
    let (bytes, starts) = joined(&inputs, &outputs);
    let job = decompress_chunks_job(blocks.len() as u32, max_bytes as u32).unwrap();
    let run = Run::new(&device, job, &bytes);
    run.give(Slot::Inputs, &words_64(&inputs.starts));
    run.give(Slot::InputBytes, &lengths_64(&blocks));
    run.give(Slot::Outputs, &words_64(&starts));
    let capacities: Vec<u64> = capacities.iter().map(|&n| n as u64).collect();
    run.give(Slot::Capacities, &words_64(&capacities));
    run.launch();
    let lengths = sizes(&run.take(Slot::OutputBytes, 0..8 * blocks.len() as u64));
    let statuses = codes(&run.take(Slot::Statuses, 0..4 * blocks.len() as u64));
    outputs.bytes = run.take(Slot::Memory, inputs.bytes.len() as u64..bytes.len() as u64);
    outputs.check_canaries(&lengths);
    for (i, item) in expected.iter().enumerate() {
        let found = match statuses[i] {
            0 => Ok(outputs.item(i, lengths[i]).to_vec()),
            code => Err(code),
        };
        assert!(
            found == *item,
            "block {i} of {} bytes: {:?}, {:?}",
            blocks[i].len(),
            found.map(|chunk| chunk.len()),
            item.as_ref().map(Vec::len)
        );
    }
}

#[test]
fn chunks_up_to_4_kib_return() {
    chunks_return(4096, 60);
}

#[test]
fn chunks_up_to_5000_bytes_return() {
    chunks_return(5000, 24);
}

#[test]
fn chunks_up_to_64_kib_return() {
    chunks_return(65_536, 24);
}

#[test]
fn sizes_that_no_job_has_are_refused() {
    for max_bytes in [0, 65_537, u32::MAX] {
        let refused = [
            compress_chunks_job(1, max_bytes, Limits::WEBGPU),
            decompress_chunks_job(1, max_bytes),
        ];
        for outcome in refused {
            let error = outcome.expect_err("no job has these chunks");
            assert!(matches!(error, Error::InvalidArgument { .. }), "{error}");
        }
    }
    for max_bytes in [1, 4096, 4097, 65_536] {
        let most = max_chunks_per_job(max_bytes).unwrap();
        compress_chunks_job(most, max_bytes, Limits::WEBGPU).unwrap();
        decompress_chunks_job(most, max_bytes).unwrap();
        compress_chunks_job(most + 1, max_bytes, Limits::WEBGPU).expect_err("too many chunks");
        decompress_chunks_job(0, max_bytes).expect_err("no chunks");
    }
}

/// Pieces of 0 to 300 bytes and some longer ones, at all alignments of sources and targets.
#[test]
fn pieces_are_copied_at_any_alignment() {
    let device = device();
    let mut items: Vec<Vec<u8>> = (0..300).map(|n| vec![n as u8; n]).collect();
    items.extend(chunks(20, 5000, 7));
    for (i, item) in items.iter_mut().enumerate() {
        for (k, byte) in item.iter_mut().enumerate() {
            *byte ^= (k + i) as u8;
        }
    }
    let inputs = Memory::of(&items, 5);
    let mut outputs = Memory::with_rooms(items.iter().map(Vec::len).collect(), 6);
    let (bytes, starts) = joined(&inputs, &outputs);
    let run = Run::new(
        &device,
        copy_pieces_job(items.len() as u32).unwrap(),
        &bytes,
    );
    run.give(Slot::Inputs, &words_64(&inputs.starts));
    run.give(Slot::InputBytes, &lengths_64(&items));
    run.give(Slot::Outputs, &words_64(&starts));
    run.launch();
    outputs.bytes = run.take(Slot::Memory, inputs.bytes.len() as u64..bytes.len() as u64);
    let lengths: Vec<usize> = items.iter().map(Vec::len).collect();
    outputs.check_canaries(&lengths);
    for (i, item) in items.iter().enumerate() {
        assert_eq!(outputs.item(i, item.len()), item, "piece {i}");
    }
}
