//! Every call that compresses, with every kind of page, at every block size and level, with whole pages and short last
//! ones. The output is decoded by independent decoders: liblz4, and for pages also the naive decoder.

use std::io::Cursor;
use std::ops::ControlFlow;

use lzzzz::lz4f::{self, BlockMode, BlockSize, PreferencesBuilder};
use pagepress::batch::{BackendRequest, Codec, CodecOptions, DecompressReader};
use pagepress::gpu::Backend;
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, Level, PackedPages, PageEntry, PageKind};

use crate::calls::{Call, Calls, calls_of_codecs, calls_of_devices, frames, pages, takes};
use crate::common::lz4_command::lz4_ok;
use crate::common::naive;
use crate::common::pages::every_generator;
use crate::subject::{PAGE_SIZES, Subject};

/// Lengths of short last pages: boundaries of words, of fills and of the format.
const TAILS: [usize; 14] = [1, 3, 4, 7, 8, 9, 12, 13, 15, 16, 24, 1000, 2048, 4095];

/// Decodes each block with liblz4 and with the naive decoder; fill pages are expanded here.
fn read_pages(pages: &PackedPages, what: &str) -> Vec<u8> {
    let page_size = pages.page_size as usize;
    let mut content = Vec::with_capacity(pages.n_bytes as usize);
    for (i, entry) in pages.table.iter().enumerate() {
        let length = page_size.min(pages.n_bytes as usize - content.len());
        let start = entry.offset as usize;
        let block = &pages.packed[start..start + entry.length as usize];
        match entry.kind {
            PageKind::Stored => content.extend_from_slice(block),
            PageKind::Fill(word) => {
                assert_eq!(block, word.to_le_bytes(), "{what}: page {i}");
                content.extend((0..length).map(|at| block[at % 8]));
            }
            PageKind::Lz4 => {
                let mut page = vec![0xcd; length];
                let n = lzzzz::lz4::decompress(block, &mut page);
                assert_eq!(n.ok(), Some(length), "{what}: liblz4 on page {i}");
                let naive = naive::decompress_block(block, length);
                assert_eq!(naive.as_ref(), Ok(&page), "{what}: page {i}");
                content.extend(page);
            }
        }
    }
    content
}

fn read_frame(frame: &[u8], what: &str) -> Vec<u8> {
    let mut content = Vec::new();
    let read = lz4f::decompress_to_vec(frame, &mut content);
    read.unwrap_or_else(|error| panic!("{what}: liblz4: {error}"));
    content
}

/// Fails with the position of the first difference and the kind of its page.
fn assert_content(found: &[u8], expected: &[u8], page_size: u32, kinds: &[String], what: &str) {
    if found == expected {
        return;
    }
    let same = found
        .iter()
        .zip(expected)
        .take_while(|(a, b)| a == b)
        .count();
    let page = same / page_size as usize;
    let kind = kinds.get(page).map_or("no page", String::as_str);
    panic!(
        "{what}: {} bytes of {}, differs at byte {same}, page {page}: {kind}",
        found.len(),
        expected.len()
    );
}

/// Compresses `content` with every call, and decodes and compares the output.
fn check(
    calls: &mut Calls<'_>,
    content: &Content,
    level: Level,
    frames: &mut Vec<(Vec<u8>, usize)>,
) {
    let Content {
        bytes,
        page_size,
        kinds,
    } = content;
    for (name, call) in calls {
        if !takes(name, bytes.len(), *page_size, level) {
            continue;
        }
        let what = format!("{name}, {page_size}, {level:?}, {} bytes", bytes.len());
        match call {
            Call::Pages(call) => {
                let found = call(bytes, *page_size, level);
                assert_eq!(found.n_bytes, bytes.len() as u64, "{what}");
                assert_content(&read_pages(&found, &what), bytes, *page_size, kinds, &what);
            }
            Call::Frame(call) => {
                let odd = frames.len() % 2 == 1;
                let options = FrameOptions {
                    block_size: *page_size,
                    level,
                    block_checksums: odd,
                    index: !odd,
                    content_size: odd.then_some(bytes.len() as u64),
                    ..FrameOptions::default()
                };
                let found = call(bytes, &options);
                assert_content(&read_frame(&found, &what), bytes, *page_size, kinds, &what);
                frames.push((found, bytes.len()));
            }
        }
    }
}

/// Content to compress.
struct Content {
    bytes: Vec<u8>,
    page_size: u32,
    /// Kind of each page.
    kinds: Vec<String>,
}

/// Returns a page of every kind, then a short page if `tail` is set.
fn every_kind(page_size: u32, seed: u64, tail: Option<usize>) -> Content {
    let mut content = Content {
        bytes: Vec::new(),
        page_size,
        kinds: Vec::new(),
    };
    for (i, (name, make)) in every_generator().enumerate() {
        content
            .bytes
            .extend(make(page_size as usize, seed + i as u64));
        content.kinds.push(name.into());
    }
    if let Some(length) = tail {
        let n = every_generator().count();
        content.push_tail(length, (seed as usize + length) % n, seed);
    }
    content
}

impl Content {
    fn push_tail(&mut self, length: usize, kind: usize, seed: u64) {
        let (name, make) = every_generator().nth(kind).unwrap();
        self.bytes.extend(make(length, seed));
        self.kinds.push(format!("{name}, {length} bytes"));
    }
}

/// Decodes all frames, concatenated, with the real command, which verifies every checksum.
fn through_the_command(frames: &[(Vec<u8>, usize)]) {
    let joined: Vec<u8> = frames.iter().flat_map(|(frame, _)| frame.clone()).collect();
    let content = lz4_ok(&["-dc"], &joined);
    let n_bytes: usize = frames.iter().map(|(_, n_bytes)| n_bytes).sum();
    assert_eq!(content.len(), n_bytes, "the `lz4` command");
}

fn calls_of(subject: &Subject) -> Calls<'_> {
    let device = &subject.device;
    let mut calls = calls_of_codecs(move || Codec::with_device(device.clone()).unwrap());
    calls.extend(calls_of_devices(device));
    calls
}

/// Tests every kind of page at every size and level.
fn write_every_kind(calls: &mut Calls<'_>, page_sizes: &[u32], levels: &[Level]) {
    let mut frames = Vec::new();
    for (i, &page_size) in page_sizes.iter().enumerate() {
        for (j, &level) in levels.iter().enumerate() {
            let tail = TAILS[(5 * i + 2 * j) % TAILS.len()];
            let seed = 10 * i as u64 + j as u64;
            let content = every_kind(page_size, seed, Some(tail));
            check(calls, &content, level, &mut frames);
        }
    }
    check(calls, &every_kind(4096, 77, None), levels[0], &mut frames);
    through_the_command(&frames);
}

/// Tests short last pages of every length at every size; kinds and levels alternate.
fn write_tails(calls: &mut Calls<'_>, page_sizes: &[u32], levels: &[Level]) {
    let mut frames = Vec::new();
    let n_kinds = every_generator().count();
    for (i, &page_size) in page_sizes.iter().enumerate() {
        for (j, length) in TAILS.into_iter().enumerate() {
            let mut content = Content {
                bytes: Vec::new(),
                page_size,
                kinds: Vec::new(),
            };
            // After a whole page, or alone.
            if j % 3 != 0 {
                content.push_tail(page_size as usize, (7 * i + j) % n_kinds, j as u64);
            }
            // Counted from the last kind, so that fills come first: a short page ends within a word of its fill.
            content.push_tail(length, n_kinds - 1 - (i + 5 * j) % n_kinds, i as u64);
            check(calls, &content, levels[(i + j) % levels.len()], &mut frames);
        }
    }
    through_the_command(&frames);
}

/// Runs both in one test, because a software GPU needs longer to compile the kernels of a size and level than to run
/// them. Calls of one engine launch the same kernels, so that a second software GPU needs few of them.
pub fn every_call_writes_what_others_read(subject: &mut Subject) {
    let mut calls = calls_of(subject);
    let writes_all = subject.is_main() && std::env::var_os("PAGEPRESS_FEW_CALLS").is_none();
    let (page_sizes, levels): (&[u32], &[Level]) = match writes_all {
        true => (&PAGE_SIZES, &[Level::Fast, Level::High]),
        false => (&[4096, 16_384], &[Level::Fast]),
    };
    write_every_kind(&mut calls, page_sizes, levels);
    write_tails(&mut calls, page_sizes, levels);
}

/// Decodes blocks of liblz4 as pages, and frames of liblz4 with independent and with linked blocks.
pub fn blocks_and_frames_of_liblz4_are_read(subject: &mut Subject) {
    for page_size in PAGE_SIZES {
        let Content {
            bytes: content,
            kinds,
            ..
        } = every_kind(page_size, 3, Some(1001));
        let (mut packed, mut table) = (Vec::new(), Vec::new());
        for page in content.chunks(page_size as usize) {
            let offset = packed.len() as u64;
            lzzzz::lz4::compress_to_vec(page, &mut packed, 1).unwrap();
            table.push(PageEntry {
                offset,
                length: (packed.len() as u64 - offset) as u32,
                kind: PageKind::Lz4,
            });
            packed.resize(packed.len().next_multiple_of(4), 0);
        }
        let pages = PackedPages {
            packed,
            table,
            page_size,
            n_bytes: content.len() as u64,
            dictionary_id: 0,
        };
        let (found, report) = subject.codec.decompress_pages(&pages).unwrap();
        let what = format!("{}, {page_size}", subject.name);
        assert_content(&found, &content, page_size, &kinds, &what);
        assert_eq!(read_pages(&pages, &what), content, "{what}");
        assert_eq!(report.engine, subject.device.name());
    }
    let content = every_kind(16_384, 4, Some(999)).bytes;
    for mode in [BlockMode::Independent, BlockMode::Linked] {
        for size in [BlockSize::Max64KB, BlockSize::Max1MB] {
            let preferences = PreferencesBuilder::new()
                .block_mode(mode)
                .block_size(size)
                .build();
            let mut written = Vec::new();
            lz4f::compress_to_vec(&content, &mut written, &preferences).unwrap();
            let (found, _) = subject.codec.decompress_frame(&written, None).unwrap();
            assert!(found == content, "{} {mode:?} {size:?}", subject.name);
            let codec = Codec::with_device(subject.device.clone()).unwrap();
            let mut reader = DecompressReader::new(written.as_slice(), codec, None);
            let mut found = Vec::new();
            std::io::copy(&mut reader, &mut found).unwrap();
            assert!(
                found == content,
                "{} {mode:?} {size:?}: reader",
                subject.name
            );
        }
    }
}

pub fn every_call_of_the_cpu_writes_what_others_read() {
    let codec = |backend| {
        let options = CodecOptions {
            backend,
            ..CodecOptions::default()
        };
        move || Codec::new(options.clone()).unwrap()
    };
    let mut calls = calls_of_codecs(codec(BackendRequest::Cpu));
    calls.extend(calls_of_codecs(codec(BackendRequest::Auto)));
    calls.extend([
        pages("lz4::compress_pages", |bytes, page_size, level| {
            lz4::compress_pages(bytes, page_size, level).unwrap()
        }),
        frames("frame::compress", |bytes, options| {
            frame::compress(bytes, options).unwrap()
        }),
        frames("frame::compress_stream", |bytes, options| {
            let mut out = Vec::new();
            let input = Cursor::new(bytes.to_vec());
            frame::compress_stream(input, &mut out, options, |_| ControlFlow::Continue(()))
                .unwrap();
            out
        }),
    ]);
    let levels = [Level::Fast, Level::High, Level::Sequential];
    write_every_kind(&mut calls, &PAGE_SIZES, &levels);
    write_tails(&mut calls, &PAGE_SIZES, &levels);
}
