//! Chunks at addresses of device memory, on a stream of other CUDA code.
#![cfg(cuda_engine)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::process::ExitCode;

use common::chunks::{
    CANARY, Memory, block_of, chunks, codes, corrupt_blocks, lengths_64, sizes, words_64,
};
use common::cuda::need_cuda;
use common::foreign::{Foreign, ok};
use cudarc::driver::sys;
use pagepress::Error;
use pagepress::batch::{CompressChunks, CopyPieces, CudaChunks, DecompressChunks};
use pagepress::gpu::cuda::CudaDevice;
use pagepress_test_harness::test;

fn main() -> ExitCode {
    common::harness::run()
}

/// A batch in device memory, inputs and outputs with canaries between them.
struct Batch {
    n: u64,
    inputs: u64,
    input_bytes: u64,
    outputs: u64,
    output_bytes: u64,
    memory: Memory,
    /// Address of the memory of the outputs.
    at: u64,
}

impl Batch {
    fn new(foreign: &mut Foreign, items: &[Vec<u8>], rooms: Vec<usize>) -> Self {
        let n = items.len() as u64;
        let from = Memory::of(items, 1);
        let memory = Memory::with_rooms(rooms, 2);
        let base = foreign.upload(&from.bytes);
        let at = foreign.upload(&memory.bytes);
        let moved = |memory: &Memory, base: u64| {
            let starts = memory.starts.iter().map(|start| base + start);
            words_64(&starts.collect::<Vec<_>>())
        };
        Self {
            n,
            inputs: foreign.upload(&moved(&from, base)),
            input_bytes: foreign.upload(&lengths_64(items)),
            outputs: foreign.upload(&moved(&memory, at)),
            output_bytes: foreign.memory(8 * n, CANARY),
            memory,
            at,
        }
    }

    fn compress(&self, scratch: u64, scratch_bytes: u64) -> CompressChunks {
        CompressChunks {
            n: self.n,
            chunks: self.inputs,
            chunk_bytes: self.input_bytes,
            blocks: self.outputs,
            block_bytes: self.output_bytes,
            scratch,
            scratch_bytes,
        }
    }

    /// Downloads the outputs, and checks that nothing else was written. Returns their lengths.
    fn take(&mut self, foreign: &Foreign) -> Vec<usize> {
        let lengths = sizes(&foreign.download(self.output_bytes, 8 * self.n as usize));
        self.memory.bytes = foreign.download(self.at, self.memory.bytes.len());
        self.memory.check_canaries(&lengths);
        lengths
    }
}

fn rooms(items: &[Vec<u8>], max_bytes: usize) -> Vec<usize> {
    vec![max_bytes + max_bytes / 255 + 16; items.len()]
}

fn round_trip(max_bytes: usize, n: usize, scratch_chunks: u64) {
    need_cuda();
    let device = CudaDevice::open(0).unwrap();
    let codec = CudaChunks::new(&device, max_bytes as u32).unwrap();
    let mut foreign = Foreign::new();
    let mut items = chunks(n, max_bytes, 9);
    items.insert(7, vec![5; max_bytes + 1]);
    let mut batch = Batch::new(&mut foreign, &items, rooms(&items, max_bytes));
    let scratch_bytes = codec.compress_scratch_bytes(scratch_chunks);
    let scratch = foreign.memory(scratch_bytes, 0xee);
    // SAFETY: all arrays have their elements, and outlive the work.
    unsafe { codec.compress(&batch.compress(scratch, scratch_bytes), foreign.handle()) }.unwrap();
    let lengths = batch.take(&foreign);
    assert_eq!(lengths[7], 0, "too long");
    let mut blocks = Vec::new();
    for (i, item) in items.iter().enumerate().filter(|(i, _)| *i != 7) {
        let block = batch.memory.item(i, lengths[i]);
        assert!(
            block == block_of(item, max_bytes),
            "chunk {i} of {}",
            item.len()
        );
        blocks.push(block.to_vec());
    }
    items.remove(7);
    let mut expected: Vec<Result<Vec<u8>, u32>> = items.into_iter().map(Ok).collect();
    for (i, (block, code)) in corrupt_blocks(max_bytes).into_iter().enumerate() {
        blocks.insert(2 * i, block);
        expected.insert(2 * i, Err(code));
    }
    let mut capacities: Vec<usize> = expected
        .iter()
        .enumerate()
        .map(|(i, item)| match item {
            Ok(item) if i % 4 == 3 => item.len(),
            _ => max_bytes,
        })
        .collect();
    let last = expected.len() - 1;
    capacities[last] = expected[last].as_ref().unwrap().len() - 1;
    expected[last] = Err(2);
    let capacity_words: Vec<u64> = capacities.iter().map(|&n| n as u64).collect();
    let mut batch = Batch::new(&mut foreign, &blocks, capacities);
    let statuses = foreign.memory(4 * batch.n, CANARY);
    let scratch_bytes = codec.decompress_scratch_bytes(scratch_chunks);
    let call = DecompressChunks {
        n: batch.n,
        blocks: batch.inputs,
        block_bytes: batch.input_bytes,
        chunks: batch.outputs,
        capacities: foreign.upload(&words_64(&capacity_words)),
        chunk_bytes: batch.output_bytes,
        statuses,
        scratch: foreign.memory(scratch_bytes, 0xee),
        scratch_bytes,
    };
    // SAFETY: all arrays have their elements, and outlive the work.
    unsafe { codec.decompress(&call, foreign.handle()) }.unwrap();
    let lengths = batch.take(&foreign);
    let statuses = codes(&foreign.download(statuses, 4 * blocks.len()));
    for (i, item) in expected.iter().enumerate() {
        let found = match statuses[i] {
            0 => Ok(batch.memory.item(i, lengths[i]).to_vec()),
            code => Err(code),
        };
        assert!(
            found == *item,
            "block {i} of {}: {:?}, {:?}",
            blocks[i].len(),
            found.map(|chunk| chunk.len()),
            item.as_ref().map(Vec::len)
        );
    }
    // Without sizes and statuses.
    let call = DecompressChunks {
        chunk_bytes: 0,
        statuses: 0,
        ..call
    };
    foreign.set(batch.at, CANARY, batch.memory.bytes.len() as u64);
    // SAFETY: as above.
    unsafe { codec.decompress(&call, foreign.handle()) }.unwrap();
    let again = foreign.download(batch.at, batch.memory.bytes.len());
    assert!(again == batch.memory.bytes);
}

#[test]
fn chunks_up_to_4_kib_round_trip() {
    round_trip(4096, 3000, 3000);
}

#[test]
fn chunks_up_to_5000_bytes_round_trip() {
    round_trip(5000, 400, 400);
}

#[test]
fn chunks_up_to_64_kib_round_trip() {
    round_trip(65_536, 300, 300);
}

#[test]
fn little_scratch_memory_takes_more_launches() {
    round_trip(4096, 700, 97);
    round_trip(65_536, 40, 1);
}

/// Work before and after is on the same stream, and nothing waits between.
#[test]
fn work_runs_in_the_order_of_the_stream() {
    need_cuda();
    let device = CudaDevice::open(0).unwrap();
    let codec = CudaChunks::new(&device, 4096).unwrap();
    let mut foreign = Foreign::new();
    let items = chunks(500, 4096, 5);
    let mut batch = Batch::new(&mut foreign, &items, rooms(&items, 4096));
    let n_bytes = batch.memory.bytes.len() as u64;
    let from = Memory::of(&items, 1);
    let good = foreign.upload(&from.bytes);
    let starts: Vec<u64> = from.starts.iter().map(|start| start + good).collect();
    // The addresses come to their array on the stream, behind copies of gigabytes.
    let addresses = foreign.upload(&words_64(&starts));
    let slow = [foreign.memory(2 << 30, 1), foreign.memory(2 << 30, 2)];
    foreign.set(batch.inputs, 0, 8 * batch.n);
    foreign.wait();
    let result = foreign.memory(n_bytes, 0);
    let scratch_bytes = codec.compress_scratch_bytes(batch.n);
    let scratch = foreign.memory(scratch_bytes, 0);
    foreign.wait();
    for _ in 0..4 {
        foreign.copy(slow[0], slow[1], 2 << 30);
    }
    foreign.copy(batch.inputs, addresses, 8 * batch.n);
    let call = batch.compress(scratch, scratch_bytes);
    // SAFETY: all arrays have their elements when the stream gets there, and outlive the work.
    unsafe { codec.compress(&call, foreign.handle()) }.unwrap();
    // SAFETY: the stream was not destroyed.
    let pending = unsafe { sys::cuStreamQuery(foreign.stream) };
    assert_eq!(
        pending,
        sys::CUresult::CUDA_ERROR_NOT_READY,
        "the call waited"
    );
    foreign.copy(result, batch.at, n_bytes);
    foreign.set(batch.at, 0, n_bytes);
    foreign.set(batch.inputs, 0, 8 * batch.n);
    foreign.wait();
    batch.at = result;
    let lengths = batch.take(&foreign);
    for (i, item) in items.iter().enumerate() {
        assert!(
            batch.memory.item(i, lengths[i]) == block_of(item, 4096),
            "chunk {i}"
        );
    }
}

#[test]
fn two_streams_run_one_codec_at_once() {
    need_cuda();
    let device = CudaDevice::open(0).unwrap();
    let codec = CudaChunks::new(&device, 65_536).unwrap();
    let run = |seed: u64| {
        let mut foreign = Foreign::new();
        let items = chunks(200, 65_536, seed);
        let mut batch = Batch::new(&mut foreign, &items, rooms(&items, 65_536));
        let scratch_bytes = codec.compress_scratch_bytes(batch.n);
        let scratch = foreign.memory(scratch_bytes, 0);
        for _ in 0..5 {
            let call = batch.compress(scratch, scratch_bytes);
            // SAFETY: all arrays have their elements, and outlive the work.
            unsafe { codec.compress(&call, foreign.handle()) }.unwrap();
        }
        let lengths = batch.take(&foreign);
        for (i, item) in items.iter().enumerate() {
            assert!(
                batch.memory.item(i, lengths[i]) == block_of(item, 65_536),
                "chunk {i}"
            );
        }
    };
    std::thread::scope(|scope| {
        for seed in [1, 2] {
            scope.spawn(move || run(seed));
        }
    });
}

/// Nothing is allocated and nothing waits, so a stream can capture the call.
#[test]
fn a_graph_captures_the_call() {
    need_cuda();
    let device = CudaDevice::open(0).unwrap();
    let codec = CudaChunks::new(&device, 4096).unwrap();
    let mut foreign = Foreign::new();
    let items = chunks(300, 4096, 6);
    let mut batch = Batch::new(&mut foreign, &items, rooms(&items, 4096));
    let scratch_bytes = codec.compress_scratch_bytes(batch.n);
    let scratch = foreign.memory(scratch_bytes, 0);
    foreign.wait();
    let (mut graph, mut executable) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    let call = batch.compress(scratch, scratch_bytes);
    // SAFETY: all arrays have their elements, and outlive the work, as do the variables.
    unsafe {
        ok(sys::cuStreamBeginCapture_v2(foreign.stream, mode));
        codec.compress(&call, foreign.handle()).unwrap();
        ok(sys::cuStreamEndCapture(foreign.stream, &raw mut graph));
        ok(sys::cuGraphInstantiateWithFlags(
            &raw mut executable,
            graph,
            0,
        ));
        for _ in 0..3 {
            ok(sys::cuGraphLaunch(executable, foreign.stream));
        }
    }
    let lengths = batch.take(&foreign);
    for (i, item) in items.iter().enumerate() {
        assert!(
            batch.memory.item(i, lengths[i]) == block_of(item, 4096),
            "chunk {i}"
        );
    }
    // SAFETY: the stream is done, and both are destroyed once.
    unsafe {
        ok(sys::cuGraphExecDestroy(executable));
        ok(sys::cuGraphDestroy(graph));
    }
}

/// Pieces of 0 to 300 bytes and longer ones, to targets without a gap between them.
#[test]
fn pieces_are_copied_behind_each_other() {
    need_cuda();
    let device = CudaDevice::open(0).unwrap();
    let codec = CudaChunks::new(&device, 4096).unwrap();
    let mut foreign = Foreign::new();
    let mut items: Vec<Vec<u8>> = (0..300).map(|n| vec![n as u8; n]).collect();
    items.extend(chunks(3000, 70_000, 7));
    let from = Memory::of(&items, 1);
    let base = foreign.upload(&from.bytes);
    let expected: Vec<u8> = items.concat();
    // An odd address, and canaries around.
    let at = foreign.memory(expected.len() as u64 + 14, CANARY) + 7;
    let ends = items.iter().scan(0, |end, item| {
        let start = *end;
        *end += item.len() as u64;
        Some(at + start)
    });
    let sources = from.starts.iter().map(|start| base + start);
    let call = CopyPieces {
        n: items.len() as u64,
        sources: foreign.upload(&words_64(&sources.collect::<Vec<_>>())),
        piece_bytes: foreign.upload(&lengths_64(&items)),
        targets: foreign.upload(&words_64(&ends.collect::<Vec<_>>())),
    };
    // SAFETY: the arrays have an element for each piece, and all memory stays until the stream was waited for.
    unsafe { codec.copy(&call, foreign.handle()) }.unwrap();
    let found = foreign.download(at - 7, expected.len() + 14);
    assert!(found[7..][..expected.len()] == expected, "pieces");
    let around = [&found[..7], &found[7 + expected.len()..]].concat();
    assert!(around.iter().all(|&byte| byte == CANARY), "{around:?}");
}

#[test]
fn wrong_arguments_are_typed_errors() {
    need_cuda();
    let device = CudaDevice::open(0).unwrap();
    for max_bytes in [0, 65_537, u32::MAX] {
        let error = CudaChunks::new(&device, max_bytes).unwrap_err();
        assert!(matches!(error, Error::InvalidArgument { .. }), "{error}");
    }
    let codec = CudaChunks::new(&device, 4096).unwrap();
    let mut foreign = Foreign::new();
    let items = chunks(30, 4096, 6);
    let batch = Batch::new(&mut foreign, &items, rooms(&items, 4096));
    let scratch_bytes = codec.compress_scratch_bytes(batch.n);
    let scratch = foreign.memory(scratch_bytes, 0);
    let right = batch.compress(scratch, scratch_bytes);
    let wrong = [
        CompressChunks { chunks: 0, ..right },
        CompressChunks {
            chunk_bytes: right.chunk_bytes + 4,
            ..right
        },
        CompressChunks {
            n: u64::MAX,
            ..right
        },
        CompressChunks {
            scratch: 0,
            ..right
        },
        CompressChunks {
            scratch_bytes: 1000,
            ..right
        },
        CompressChunks {
            scratch: u64::MAX - 1000,
            ..right
        },
    ];
    for call in wrong {
        // SAFETY: arguments that are refused are not used.
        let error = unsafe { codec.compress(&call, foreign.handle()) }.unwrap_err();
        assert!(matches!(error, Error::InvalidArgument { .. }), "{error}");
    }
    // A stream of another context.
    let (mut context, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the variables outlive the calls; the stream is destroyed with its context.
    unsafe {
        ok(sys::cuCtxCreate_v4(
            &raw mut context,
            std::ptr::null_mut(),
            0,
            0,
        ));
        ok(sys::cuStreamCreate(&raw mut stream, 1));
        let error = codec.compress(&right, stream as u64).unwrap_err();
        assert!(error.to_string().contains("another context"), "{error}");
        ok(sys::cuCtxDestroy_v2(context));
    }
    // SAFETY: all arrays have their elements, and outlive the work. No chunks need no arrays.
    unsafe {
        codec.compress(&right, foreign.handle()).unwrap();
        codec
            .compress(
                &CompressChunks {
                    n: 0,
                    chunks: 0,
                    ..right
                },
                foreign.handle(),
            )
            .unwrap();
    }
    foreign.wait();
}

/// Prints the throughput beside that of resident pages, with `PAGEPRESS_CHUNKS_FILE=FILE`, which is repeated to a gigabyte.
#[test]
fn throughput_of_a_file() {
    need_cuda();
    let Some(path) = std::env::var_os("PAGEPRESS_CHUNKS_FILE") else {
        return;
    };
    let file = std::fs::read(path).unwrap();
    let content: Vec<u8> = file.iter().copied().cycle().take(1 << 30).collect();
    common::chunk_rates::print(&content);
}
