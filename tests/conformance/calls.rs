//! The calls that compress: those of codecs, and those on a device.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use pagepress::batch::{Codec, CompressWriter, compress_resident_async};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuBatchCompressor, GpuBatchConfig, GpuDevice, HostMemory, HostUse};
use pagepress::lz4::frame::FrameOptions;
use pagepress::lz4::{Level, PackedPages, PageEntry};

type PagesCall<'a> = dyn FnMut(&[u8], u32, Level) -> PackedPages + 'a;
type FrameCall<'a> = dyn FnMut(&[u8], &FrameOptions) -> Vec<u8> + 'a;

/// A call that compresses to pages or to a frame.
pub enum Call<'a> {
    Pages(Box<PagesCall<'a>>),
    Frame(Box<FrameCall<'a>>),
}

pub type Calls<'a> = Vec<(&'static str, Call<'a>)>;

pub fn pages<'a>(
    name: &'static str,
    call: impl FnMut(&[u8], u32, Level) -> PackedPages + 'a,
) -> (&'static str, Call<'a>) {
    (name, Call::Pages(Box::new(call)))
}

pub fn frames<'a>(
    name: &'static str,
    call: impl FnMut(&[u8], &FrameOptions) -> Vec<u8> + 'a,
) -> (&'static str, Call<'a>) {
    (name, Call::Frame(Box::new(call)))
}

/// Returns the calls of a codec.
pub fn calls_of_codecs<'a>(open: impl Fn() -> Codec + Clone + 'a) -> Calls<'a> {
    let [mut for_pages, mut for_frames, mut for_streams] = [open(), open(), open()];
    vec![
        pages("Codec::compress_pages", move |bytes, page_size, level| {
            for_pages.compress_pages(bytes, page_size, level).unwrap().0
        }),
        frames("Codec::compress_frame", move |bytes, options| {
            for_frames.compress_frame(bytes, options).unwrap().0
        }),
        frames("Codec::compress_stream", move |bytes, options| {
            let mut out = Vec::new();
            let input = Cursor::new(bytes.to_vec());
            let go_on = |_| ControlFlow::Continue(());
            let done = for_streams.compress_stream(input, &mut out, options, go_on);
            assert_eq!(done.unwrap().0.bytes_out, out.len() as u64);
            out
        }),
        frames("CompressWriter", move |bytes, options| {
            let mut writer = CompressWriter::new(Vec::new(), open(), options).unwrap();
            bytes
                .chunks(12_345)
                .for_each(|piece| writer.write_all(piece).unwrap());
            writer.finish().unwrap().0
        }),
    ]
}

/// Returns the calls on a device.
pub fn calls_of_devices(device: &GpuDevice) -> Calls<'_> {
    let batch = |async_dma| {
        let config = GpuBatchConfig {
            batch_size: 20,
            async_dma,
            ..GpuBatchConfig::default()
        };
        GpuBatchCompressor::with_device(device.clone(), config).unwrap()
    };
    let [mut fresh, mut in_turn, mut reusing, mut pinned] = [true, false, true, true].map(batch);
    let mut reused = PackedPages::default();
    vec![
        pages("compress_resident", |bytes, page_size, level| {
            resident(device, bytes, page_size, level)
        }),
        pages("GpuBatchCompressor::compress_batch", move |bytes, _, _| {
            fresh.compress_batch(bytes.as_chunks().0).unwrap().pages
        }),
        pages("GpuBatchCompressor without overlap", move |bytes, _, _| {
            in_turn.compress_batch(bytes.as_chunks().0).unwrap().pages
        }),
        pages(
            "GpuBatchCompressor::compress_batch_reusing",
            move |bytes, _, _| {
                let held = std::mem::take(&mut reused);
                let result = reusing.compress_batch_reusing(bytes.as_chunks().0, held);
                reused = result.unwrap().pages;
                reused.clone()
            },
        ),
        pages("GpuBatchCompressor::compress_pinned", move |bytes, _, _| {
            compress_pinned(&mut pinned, bytes)
        }),
    ]
}

/// Returns true if a call accepts such content: batches consist of whole pages of 4 KiB, at the configured level.
pub fn takes(name: &str, n_bytes: usize, page_size: u32, level: Level) -> bool {
    let is_batch = name.starts_with("GpuBatchCompressor");
    !is_batch || (page_size == 4096 && level == Level::Fast && n_bytes.is_multiple_of(4096))
}

fn resident(device: &GpuDevice, bytes: &[u8], page_size: u32, level: Level) -> PackedPages {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0xee);
    block_on(async {
        let pages = device.allocate_memory(padded.len() as u64).unwrap();
        device.upload_async(&pages, 0, &padded).await.unwrap();
        let n_bytes = bytes.len() as u64;
        let made = compress_resident_async(device, &pages, n_bytes, page_size, level);
        let made = made.await.unwrap();
        assert_eq!(made.parts.len(), 1);
        let part = &made.parts[0];
        let packed = match part.packed_bytes {
            0 => Vec::new(),
            n => device.download_async(&part.packed, 0..n).await.unwrap(),
        };
        let n_pages = bytes.len().div_ceil(page_size as usize) as u64;
        let words = device
            .download_async(&part.table, 0..8 * n_pages)
            .await
            .unwrap();
        let words: &[[u32; 2]] = &words
            .chunks_exact(8)
            .map(|e| [0, 4].map(|at| u32::from_le_bytes(e[at..at + 4].try_into().unwrap())))
            .collect::<Vec<_>>();
        let entries = words
            .iter()
            .map(|&words| PageEntry::from_words(words, &packed).unwrap());
        PackedPages {
            table: entries.collect(),
            packed,
            page_size,
            n_bytes,
            dictionary_id: 0,
        }
    })
}

fn compress_pinned(compressor: &mut GpuBatchCompressor, bytes: &[u8]) -> PackedPages {
    let n_bytes = bytes.len() as u64;
    let device = compressor.device().clone();
    block_on(async {
        let host = device.allocate_host(n_bytes, HostUse::Upload).unwrap();
        host.write_async(0, bytes).await.unwrap();
        let made = compressor
            .compress_pinned_async(&host, bytes.len() / 4096)
            .await
            .unwrap();
        let (mut packed, mut table) = (Vec::new(), Vec::new());
        for part in &made.parts {
            let base = packed.len() as u64;
            let blocks = part
                .packed
                .read_async(0..part.packed_bytes, <[u8]>::to_vec)
                .await;
            packed.extend(blocks.unwrap());
            table.extend(part.table.iter().map(|entry| PageEntry {
                offset: entry.offset + base,
                ..*entry
            }));
        }
        PackedPages {
            packed,
            table,
            page_size: 4096,
            n_bytes,
            dictionary_id: 0,
        }
    })
}
