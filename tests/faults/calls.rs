//! Calls of every kind on a device. Each checks its result, or returns the error.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use pagepress::batch::{
    Codec, ResidentDictionary, compress_resident_async, decompress_resident_async,
};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, GpuBatchCompressor, GpuBatchConfig, GpuCommandBatch, GpuDevice, GpuMatmulCache,
    HostMemory, HostUse, KernelArg, KernelSource, Waitable,
};
use pagepress::kernels::Access;
use pagepress::lz4::frame::{self, FrameOptions, StreamError};
use pagepress::lz4::{self, Dictionary, Level, PackedPages};
use pagepress::tensor::{GpuTensor, Reduction, Shape, Step, WeightLayout, cpu};
use pagepress::{Error, PAGE_SIZE, Result};

use crate::common::pages::{Random, mixed};

/// Rows and columns of matrices.
const SIDE: usize = 96;

/// Inputs of the calls and the expected outputs.
pub struct Content {
    pub bytes: Vec<u8>,
    pub packed: PackedPages,
    pub dictionary: Dictionary,
    /// The pages with the dictionary before each.
    pub behind: PackedPages,
    pub options: FrameOptions,
    pub frame: Vec<u8>,
    pub matrix: Vec<f32>,
    pub square: Vec<f32>,
}

impl Content {
    pub fn new(n_pages: usize) -> Self {
        let bytes = mixed(n_pages * PAGE_SIZE, 3);
        let options = FrameOptions {
            block_size: 4096,
            ..FrameOptions::default()
        };
        let mut random = Random::new(4);
        let number = |_| random.below(2001) as f32 / 1000.0 - 1.0;
        let matrix: Vec<f32> = (0..SIDE * SIDE).map(number).collect();
        let mut square = vec![0.0; SIDE * SIDE];
        cpu::matmul(&matrix, &matrix, &mut square, SIDE, SIDE, SIDE).unwrap();
        let dictionary = Dictionary::new(&bytes[..20_000]);
        Self {
            behind: dictionary
                .compress_pages(&bytes, 4096, Level::Fast)
                .unwrap(),
            dictionary,
            packed: lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap(),
            frame: frame::compress(&bytes, &options).unwrap(),
            bytes,
            options,
            matrix,
            square,
        }
    }

    fn compressor(&self, device: &GpuDevice) -> GpuBatchCompressor {
        let config = GpuBatchConfig {
            batch_size: 128,
            ..GpuBatchConfig::default()
        };
        GpuBatchCompressor::with_device(device.clone(), config).unwrap()
    }

    fn is_square(&self, found: &[f32]) {
        assert_eq!(found.len(), self.square.len());
        for (found, exact) in found.iter().zip(&self.square) {
            assert!((found - exact).abs() < 1e-3, "{found} {exact}");
        }
    }
}

/// A writer that allocates no memory: it compares what is written with the expected bytes.
pub struct Expect<'a>(pub &'a [u8]);

impl Write for Expect<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let (now, later) = self.0.split_at(bytes.len());
        assert!(now == bytes, "other bytes");
        self.0 = later;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns a file of these bytes; only the first call with the same bytes allocates memory.
pub fn file(bytes: &[u8]) -> Cursor<&'static [u8]> {
    static FILES: Mutex<Vec<&[u8]>> = Mutex::new(Vec::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = files.iter().copied().find(|file| *file == bytes);
    Cursor::new(found.unwrap_or_else(|| {
        files.push(Box::leak(bytes.to_vec().into_boxed_slice()));
        files[files.len() - 1]
    }))
}

/// A call under test.
pub struct Call {
    pub name: &'static str,
    /// True if the call reopens a lost device, and cuts its work if memory is short.
    pub recovers: bool,
    pub run: fn(&GpuDevice, &Content) -> Result<()>,
}

macro_rules! calls {
    ($($recovers:literal $name:ident),* $(,)?) => {
        pub const CALLS: &[Call] = &[
            $(Call { name: stringify!($name), recovers: $recovers, run: $name }),*
        ];
    };
}

calls!(
    true compress_batch,
    true decompress_batch,
    true compress_frame,
    true decompress_frame,
    true compress_stream,
    true decompress_stream,
    false pinned,
    false resident,
    false slices,
    false tensors,
    false command_batch,
    false weights,
    false own_kernel,
    true with_dictionary,
    false resident_dictionary,
    true pages_into,
    true frame_back_into,
);

fn compress_batch(device: &GpuDevice, content: &Content) -> Result<()> {
    let (pages, _) = content.bytes.as_chunks::<PAGE_SIZE>();
    let found = content.compressor(device).compress_batch(pages)?;
    assert!(found.pages == content.packed, "other blocks");
    Ok(())
}

fn decompress_batch(device: &GpuDevice, content: &Content) -> Result<()> {
    let found = content
        .compressor(device)
        .decompress_batch(&content.packed)?;
    let pages = found.into_pages()?;
    assert!(pages.as_flattened() == content.bytes, "other pages");
    Ok(())
}

fn compress_frame(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut codec = Codec::with_device(device.clone())?;
    let (found, _) = codec.compress_frame(&content.bytes, &content.options)?;
    assert!(found == content.frame, "another frame");
    Ok(())
}

fn decompress_frame(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut codec = Codec::with_device(device.clone())?;
    let (found, _) = codec.decompress_frame(&content.frame, None)?;
    assert!(found == content.bytes, "other content");
    Ok(())
}

fn pages_into(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut codec = Codec::with_device(device.clone())?;
    let mut found = PackedPages::default();
    let compressed = codec.compress_pages_into(&content.bytes, 4096, Level::Fast, &mut found);
    if compressed.is_err() {
        assert!(found == PackedPages::default(), "what failed is there");
    }
    compressed?;
    assert!(found == content.packed, "other blocks");
    Ok(())
}

fn frame_back_into(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut codec = Codec::with_device(device.clone())?;
    let mut out = Vec::new();
    if out.try_reserve_exact(content.bytes.len()).is_err() {
        return Err(Error::OutOfMemory { requested: 0 });
    }
    out.resize(content.bytes.len(), 0);
    let (length, _) = codec.decompress_frame_into(&content.frame, &mut out)?;
    assert!(length == out.len() && out == content.bytes, "other content");
    Ok(())
}

/// Converts an error of `std::io` to the error of the crate inside it, or to `OutOfMemory` if the system reports that.
pub fn of_io<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| {
        let kind = error.kind();
        match error
            .into_inner()
            .and_then(|inner| inner.downcast::<Error>().ok())
        {
            Some(error) => *error,
            None if kind == std::io::ErrorKind::OutOfMemory => Error::OutOfMemory { requested: 0 },
            None => panic!("{kind}"),
        }
    })
}

pub fn of_stream<T>(result: Result<T, StreamError>) -> Result<T> {
    result.map_err(|error| match error {
        StreamError::Codec(error) => error,
        StreamError::Read(error) | StreamError::Write(error) => {
            of_io::<()>(Err(error)).unwrap_err()
        }
        other => panic!("{other}"),
    })
}

fn compress_stream(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut codec = Codec::with_device(device.clone())?;
    let (input, mut out) = (file(&content.bytes), Expect(&content.frame));
    let go_on = |_| ControlFlow::Continue(());
    of_stream(codec.compress_stream(input, &mut out, &content.options, go_on))?;
    assert!(out.0.is_empty(), "a frame that ends early");
    Ok(())
}

fn decompress_stream(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut codec = Codec::with_device(device.clone())?;
    let (input, mut out) = (file(&content.frame), Expect(&content.bytes));
    let go_on = |_| ControlFlow::Continue(());
    of_stream(codec.decompress_stream(input, &mut out, None, go_on))?;
    assert!(out.0.is_empty(), "content that ends early");
    Ok(())
}

fn pinned(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut compressor = content.compressor(device);
    block_on(async {
        let n_bytes = content.bytes.len() as u64;
        let pages = device.allocate_host(n_bytes, HostUse::Upload)?;
        pages.write_async(0, &content.bytes).await?;
        let n_pages = content.bytes.len() / PAGE_SIZE;
        let found = compressor.compress_pinned_async(&pages, n_pages).await?;
        let n_found: usize = found.parts.iter().map(|part| part.table.len()).sum();
        assert_eq!(n_found, n_pages);
        let packed_bytes = content.packed.packed.len() as u64;
        let packed = device.allocate_host(packed_bytes.next_multiple_of(8), HostUse::Upload)?;
        // Blocks consist of whole words, and new host memory is zeroed.
        packed.write_async(0, &content.packed.packed).await?;
        let out = device.allocate_host(n_bytes, HostUse::Download)?;
        let table = &content.packed.table;
        let (errors, _) = compressor
            .decompress_pinned_async(&packed, packed_bytes, table, &out)
            .await?;
        assert!(errors.iter().all(Option::is_none));
        let is_same = |bytes: &[u8]| bytes == content.bytes;
        assert!(out.read_async(0..n_bytes, is_same).await?, "other pages");
        Ok(())
    })
}

fn resident(device: &GpuDevice, content: &Content) -> Result<()> {
    block_on(async {
        let n_bytes = content.bytes.len() as u64;
        let pages = device.allocate_memory(n_bytes)?;
        device.upload_async(&pages, 0, &content.bytes).await?;
        let packed = compress_resident_async(device, &pages, n_bytes, 4096, Level::Fast).await?;
        let back = device.allocate_memory(n_bytes)?;
        let outcome = decompress_resident_async(device, &packed, &back).await?;
        let found = device.download_async(&back, 0..n_bytes).await?;
        assert!(outcome.errors.iter().all(Option::is_none));
        assert!(found == content.bytes, "other pages");
        Ok(())
    })
}

fn with_dictionary(device: &GpuDevice, content: &Content) -> Result<()> {
    let codec = Codec::with_device(device.clone())?;
    let mut codec = codec.with_dictionary(content.dictionary.clone());
    let (found, _) = codec.compress_pages(&content.bytes, 4096, Level::Fast)?;
    assert!(found == content.behind, "other blocks");
    let (back, _) = codec.decompress_pages(&found)?;
    assert!(back == content.bytes, "other pages");
    Ok(())
}

fn resident_dictionary(device: &GpuDevice, content: &Content) -> Result<()> {
    block_on(async {
        let on_device = ResidentDictionary::new_async(device, &content.dictionary).await?;
        let n_bytes = content.bytes.len() as u64;
        let pages = device.allocate_memory(n_bytes)?;
        device.upload_async(&pages, 0, &content.bytes).await?;
        let level = Level::Fast;
        let packed = on_device.compress_resident_async(device, &pages, n_bytes, 4096, level);
        let packed = packed.await?;
        let back = device.allocate_memory(n_bytes)?;
        let outcome = on_device.decompress_resident_async(device, &packed, &back);
        let outcome = outcome.await?;
        let found = device.download_async(&back, 0..n_bytes).await?;
        assert!(outcome.errors.iter().all(Option::is_none));
        assert!(found == content.bytes, "other pages");
        Ok(())
    })
}

fn slices(device: &GpuDevice, content: &Content) -> Result<()> {
    let mut found = vec![0.0; SIDE * SIDE];
    device.matmul(
        &content.matrix,
        &content.matrix,
        &mut found,
        SIDE,
        SIDE,
        SIDE,
    )?;
    content.is_square(&found);
    let mut twice = vec![0.0; found.len()];
    device.vec_add(&found, &found, &mut twice)?;
    assert!(
        twice
            .iter()
            .zip(&found)
            .all(|(twice, once)| *twice == 2.0 * once)
    );
    Ok(())
}

fn tensors(device: &GpuDevice, content: &Content) -> Result<()> {
    block_on(async {
        let shape = Shape::new(&[SIDE, SIDE])?;
        let a = GpuTensor::from_slice_async(device, &content.matrix, shape).await?;
        let product = a.matmul_async(&a).await?;
        let twice = product.combine_async(&[Step::Add], &product).await?;
        let half = twice.apply_async(&[Step::Scale(0.5)]).await?;
        content.is_square(&half.to_vec_async().await?);
        let rows = a
            .softmax_async()
            .await?
            .reduce_async(Reduction::Sum, &[1])
            .await?;
        assert!(
            rows.to_vec_async()
                .await?
                .iter()
                .all(|sum| (sum - 1.0).abs() < 1e-4)
        );
        Ok(())
    })
}

fn command_batch(device: &GpuDevice, content: &Content) -> Result<()> {
    block_on(async {
        let mut batch = GpuCommandBatch::new(device.clone());
        let a = batch.upload(&content.matrix);
        let product = batch.matmul(a, a, SIDE, SIDE, SIDE);
        let twice = batch.scale(product, 2.0);
        let half = batch.scale(twice, 0.5);
        batch.execute().await?;
        content.is_square(&batch.read(half).await?);
        content.is_square(&batch.read(product).await?);
        Ok(())
    })
}

fn weights(device: &GpuDevice, content: &Content) -> Result<()> {
    block_on(async {
        let mut cache = GpuMatmulCache::new(device.clone());
        let matrix = &content.matrix;
        cache
            .upload_weight_async("w", matrix, SIDE, SIDE, WeightLayout::InputRows)
            .await?;
        let mut found = vec![0.0; SIDE * SIDE];
        cache.matmul_async("w", matrix, &mut found, SIDE).await?;
        content.is_square(&found);
        Ok(())
    })
}

fn own_kernel(device: &GpuDevice, content: &Content) -> Result<()> {
    const WGSL: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn invert(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = ~data[id.x]; }";
    block_on(async {
        let source = KernelSource::new(WGSL, "invert", &[Access::ReadWrite]);
        let kernel = device.compile_kernel(&source).await?;
        let bytes = &content.bytes[..64 << 10];
        let data = device.allocate_memory(bytes.len() as u64)?;
        device.upload_async(&data, 0, bytes).await?;
        let grid = [bytes.len() as u32 / 256, 1, 1];
        let launched = device.launch_kernel(&kernel, grid, &[KernelArg::Buffer(&data)])?;
        launched.wait_async().await?;
        device.synchronize_async().await?;
        let found = device.download_async(&data, 0..bytes.len() as u64).await?;
        assert!(
            found.iter().zip(bytes).all(|(found, byte)| *found == !byte),
            "other bytes"
        );
        Ok(())
    })
}

/// Returns the error of `result`, which must have one of `codes`, or `None` if the call succeeded.
pub fn check(what: &str, result: Result<()>, codes: &[&str]) -> Option<Error> {
    let error = result.err()?;
    assert!(codes.contains(&error.code()), "{what}: {error:?}");
    Some(error)
}
