//! Pages with a dictionary before each: matches that lie in it, that go on from its end into the page, and that reach before its
//! first byte; all calls that take one.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use pagepress::Error;
use pagepress::batch::{
    Algorithm, Codec, CompressWriter, ResidentDictionary, decompress_resident_async,
};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuBatchCompressor, GpuBatchConfig, HostMemory, HostUse};
use pagepress::kernels::ComputeUnits;
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, BlockError, Dictionary, Level, PackedPages, PageEntry, PageKind};

use crate::common::naive;
use crate::common::pages::Random;
use crate::foreign::Block;
use crate::guarded;
use crate::pages::assert_same;
use crate::subject::{PAGE_SIZES, Subject};

/// Bytes of dictionaries: the least, one word, less and more than most pages.
const SIZES: [usize; 5] = [1, 4, 4096, 65_533, 65_536];
/// Pages of each kind of block.
const N_PAGES: usize = 8;

/// A kind of block for a page of so many bytes, behind a dictionary of so many.
type Make = fn(usize, usize, &mut Random) -> Vec<u8>;

/// Returns the largest offset at byte `at` of a page.
fn most_offset(at: usize, dictionary: usize) -> usize {
    (at + dictionary).min(65_535)
}

/// Appends random sequences, with room for a last one. The first match may begin the page.
fn sequences(block: &mut Block, n: usize, dictionary: usize, random: &mut Random) {
    let most_length = [1, 9, 40, 300][random.below(4)];
    while block.n + 60 + most_length <= n {
        let n_literals = [0, 0, 1, 5, 17, 40][random.below(6)];
        let at = block.n + n_literals;
        let most = most_offset(at, dictionary);
        // The first byte of the dictionary, its last ones and what follows, or any.
        let offset = match random.below(5) {
            0 => most,
            1 | 2 => (at + random.below(12)).clamp(1, most),
            _ => 1 + random.below(most),
        };
        block.sequence(n_literals, offset, 4 + random.below(most_length), random);
    }
}

fn sound(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    sequences(&mut block, n, dictionary, random);
    block.end(n, random)
}

/// Matches of bytes that repeat the end of the dictionary.
fn periods(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    let n_literals = random.below(4);
    let offset = n_literals + 1 + random.below(dictionary.min(9));
    block.sequence(n_literals, offset, 4 + random.below(n - 60), random);
    sequences(&mut block, n, dictionary, random);
    block.end(n, random)
}

/// Nothing but matches of four bytes: one sequence more than a page without a dictionary can have.
fn shortest_matches(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    // lavapipe ends the loops of an invocation after 65,535 iterations.
    while block.n + 4 <= n.min(16_384) {
        let offset = 1 + random.below(most_offset(block.n, dictionary));
        block.sequence(0, offset, 4, random);
    }
    block.end(n, random)
}

/// A match from before the dictionary, or one that no offset can reach from, in place of the last sequence.
fn too_far(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    if random.below(3) > 0 {
        sequences(&mut block, n - 200, dictionary, random);
    }
    let offset = block.n + dictionary + 1 + random.below(3);
    block.sequence(0, offset.min(65_535), 4, random);
    block.end(n, random)
}

fn truncated(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = sound(n, dictionary, random);
    block.truncate(1 + random.below(block.len()));
    block
}

fn mutated(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = sound(n, dictionary, random);
    for _ in 0..1 + random.below(4) {
        let at = random.below(block.len());
        block[at] = random.byte();
    }
    block
}

/// Makes pages of one kind of block. Returns them, their content and their status.
fn pages(
    make: Make,
    page_size: usize,
    dictionary: &[u8],
    random: &mut Random,
) -> (PackedPages, Vec<u8>, Vec<Option<BlockError>>) {
    let tail = [1000, page_size][random.below(2)];
    let mut pages = PackedPages {
        page_size: page_size as u32,
        n_bytes: ((N_PAGES - 1) * page_size + tail) as u64,
        ..PackedPages::default()
    };
    let (mut content, mut status) = (Vec::new(), Vec::new());
    for i in 0..N_PAGES {
        let n = if i + 1 < N_PAGES { page_size } else { tail };
        let block = make(n, dictionary.len(), random);
        let page = naive::decompress_block_with(&block, n, dictionary);
        status.push(page.as_ref().err().copied());
        content.extend(page.unwrap_or_else(|_| vec![0; n]));
        pages.table.push(PageEntry {
            offset: pages.packed.len() as u64,
            length: block.len() as u32,
            kind: PageKind::Lz4,
        });
        pages.packed.extend(block);
        let padded = pages.packed.len().next_multiple_of(4);
        pages.packed.resize(padded, 0);
    }
    (pages, content, status)
}

pub fn matches_reach_into_a_dictionary(subject: &Subject) {
    let mut random = Random::new(17);
    let kinds: [(&str, Make); 6] = [
        ("sound", sound),
        ("periods", periods),
        ("shortest matches", shortest_matches),
        ("too far", too_far),
        ("truncated", truncated),
        ("mutated", mutated),
    ];
    // Software GPUs need longer to compile the kernels for a page size than to run them.
    let step = if subject.is_main() { 1 } else { 4 };
    for (i, page_size) in PAGE_SIZES.into_iter().enumerate().step_by(step) {
        for size in SIZES {
            let bytes: Vec<u8> = (0..size).map(|_| random.byte()).collect();
            let dictionary = Dictionary::new(&bytes);
            for (name, make) in kinds {
                let what = format!("{page_size} behind {size}, {name}");
                let (pages, content, status) = pages(make, page_size as usize, &bytes, &mut random);
                let found = guarded::decompress(&subject.device, &pages, Some(&dictionary), i);
                let twin = dictionary.decompress_pages_status(&pages).unwrap();
                assert!(twin == (content.clone(), status.clone()), "{what}: the CPU");
                assert_eq!(found.1, status, "{} {what}", subject.name);
                assert!(found.0 == content, "{} {what}", subject.name);
                let is_sound = status.iter().all(Option::is_none);
                match name {
                    "truncated" => assert!(!is_sound, "{what}"),
                    "mutated" => {}
                    "too far" if size + 4096 < 65_535 => {
                        assert!(status.contains(&Some(BlockError::OffsetTooFar)), "{what}");
                    }
                    "too far" => {}
                    _ => assert!(is_sound, "{what}"),
                }
            }
        }
    }
}

/// Returns pages of parts of the dictionary, of noise, of bytes before, and of other content.
fn content(page_size: usize, dictionary: &[u8], random: &mut Random) -> Vec<u8> {
    let n_bytes = 5 * page_size + [0, 5, 12, 13, 1000][random.below(5)];
    let mut bytes = Vec::with_capacity(n_bytes);
    while bytes.len() < n_bytes {
        let most = [8, 20, 100, 700][random.below(4)];
        let n = 1 + random.below(most);
        match random.below(8) {
            0 => bytes.extend((0..n).map(|_| random.byte())),
            1 => bytes.extend(std::iter::repeat_n(random.byte(), n)),
            2 if !bytes.is_empty() => {
                let from = random.below(bytes.len());
                bytes.extend_from_within(from..(from + n).min(bytes.len()));
            }
            // Some end with the dictionary.
            _ => {
                let from = random.below(dictionary.len());
                let end = if random.below(8) == 0 {
                    dictionary.len()
                } else {
                    from + n
                };
                bytes.extend(&dictionary[from..end.min(from + 700).min(dictionary.len())]);
            }
        }
    }
    bytes.truncate(n_bytes);
    bytes
}

pub fn pages_are_compressed_with_a_dictionary(subject: &Subject) {
    let mut random = Random::new(18);
    let step = if subject.is_main() { 1 } else { 4 };
    for page_size in PAGE_SIZES.into_iter().step_by(step) {
        for size in SIZES {
            let what = format!("{} {page_size} behind {size}", subject.name);
            let mut dictionary: Vec<u8> = (0..size).map(|_| random.byte()).collect();
            let bytes = content(page_size as usize, &dictionary, &mut random);
            if size > 5000 {
                // The latest of equal positions counts.
                dictionary.copy_within(..2000, 3000);
            }
            let dictionary = Dictionary::new(&dictionary);
            let expected = dictionary.compress_pages(&bytes, page_size, Level::Fast);
            let expected = expected.unwrap();
            let compress = |compute_units| {
                let dictionary = Some(&dictionary);
                guarded::compress(
                    &subject.device,
                    &bytes,
                    page_size,
                    dictionary,
                    compute_units,
                )
            };
            assert_same(&compress(None), &expected, &what);
            // With a copy of the page in workgroup memory, for one page size: software GPUs need long to compile it.
            if subject.is_main() && page_size == 4096 {
                let roomy = ComputeUnits {
                    n: 132,
                    workgroup_bytes: 228 << 10,
                };
                assert_same(&compress(Some(roomy)), &expected, &what);
            }
        }
    }
}

/// Returns content of the dictionary in pages of 4 KiB, some of which are fills or noise.
fn content_of_batch(dictionary: &Dictionary, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..12 {
        match i {
            3 => bytes.extend([7; 4096]),
            5 => bytes.extend((0..4096).map(|_| random.byte())),
            _ => bytes.extend(&content(4096, dictionary.as_bytes(), random)[..4096]),
        }
    }
    bytes
}

pub fn calls_with_a_dictionary_equal_the_twins(subject: &Subject) {
    let mut random = Random::new(19);
    let mut bytes: Vec<u8> = (0..9001).map(|_| random.byte()).collect();
    // The encoder of frames matches a fill with the dictionary, too.
    bytes[1000..1300].fill(7);
    let dictionary = Dictionary::new(&bytes);
    let bytes = content_of_batch(&dictionary, &mut random);
    let expected = dictionary.compress_pages(&bytes, 4096, Level::Fast);
    let expected = expected.unwrap();
    let plain = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
    assert!(expected.packed.len() < plain.packed.len() / 2);
    by_codec(subject, &dictionary, &bytes, &expected);
    by_batches(subject, &dictionary, &bytes, &expected);
    by_frames(subject, &dictionary, &bytes);
    in_pinned_memory(subject, &dictionary, &bytes, &expected);
    in_device_memory(subject, &dictionary, &bytes, &expected);
}

fn by_codec(subject: &Subject, dictionary: &Dictionary, bytes: &[u8], expected: &PackedPages) {
    let what = subject.name;
    let open = || Codec::with_device(subject.device.clone()).unwrap();
    let mut codec = open().with_dictionary(dictionary.clone());
    for _ in 0..2 {
        let (found, report) = codec.compress_pages(bytes, 4096, Level::Fast).unwrap();
        assert_eq!(report.engine, subject.device.name());
        assert_same(&found, expected, what);
        let (back, report) = codec.decompress_pages(&found).unwrap();
        assert_eq!(report.engine, subject.device.name());
        assert!(back == bytes, "{what}");
    }
    let (high, report) = codec.compress_pages(bytes, 4096, Level::High).unwrap();
    assert_eq!(
        report.reason,
        "only the CPU writes the level high with a dictionary"
    );
    let twin = dictionary.compress_pages(bytes, 4096, Level::High).unwrap();
    assert_same(&high, &twin, what);
    assert!(codec.decompress_pages(&high).unwrap().0 == bytes, "{what}");
    // A block that is longer than any valid one is left to the CPU.
    let mut long = expected.clone();
    long.table[0].length = 5000;
    long.packed.resize(long.packed.len().max(8000), 0);
    let twin = dictionary.decompress_pages_status(&long).unwrap();
    assert!(twin.1[0].is_some());
    let found = block_on(codec.decompress_pages_status_async(&long))
        .unwrap()
        .0;
    assert!(found == twin, "{what}");
    // Other dictionaries.
    let id = dictionary.id();
    let needed = open().decompress_pages(expected).unwrap_err();
    assert_eq!(needed, Error::DictionaryNeeded { id });
    let other = Dictionary::new(b"another dictionary");
    let wrong = open()
        .with_dictionary(other.clone())
        .decompress_pages(expected);
    let (expected_id, actual) = (id, other.id());
    let error = Error::WrongDictionary {
        expected: expected_id,
        actual,
    };
    assert_eq!(wrong.unwrap_err(), error);
    let (plain, _) = open().compress_pages(bytes, 4096, Level::Fast).unwrap();
    assert!(codec.decompress_pages(&plain).unwrap().0 == bytes, "{what}");
    let mut empty = open().with_dictionary(Dictionary::with_id(b"", 0));
    let (found, _) = empty.compress_pages(bytes, 4096, Level::Fast).unwrap();
    assert_same(&found, &plain, what);
}

fn by_frames(subject: &Subject, dictionary: &Dictionary, bytes: &[u8]) {
    let open = || Codec::with_device(subject.device.clone()).unwrap();
    let mut codec = open().with_dictionary(dictionary.clone());
    for (level, engine) in [(Level::Fast, subject.device.name()), (Level::High, "cpu")] {
        let plain = FrameOptions {
            block_size: 4096,
            level,
            ..FrameOptions::default()
        };
        let options = FrameOptions {
            dictionary: Some(dictionary.clone()),
            ..plain.clone()
        };
        let expected = frame::compress(bytes, &options).unwrap();
        // The dictionary of the codec, and that of the options.
        for (mut codec, options) in [
            (open().with_dictionary(dictionary.clone()), &plain),
            (open(), &options),
        ] {
            let (found, report) = codec.compress_frame(bytes, options).unwrap();
            assert_eq!(report.engine, engine, "{}", report.reason);
            assert!(found == expected, "{} {level:?}", subject.name);
        }
        let (back, report) = codec.decompress_frame(&expected, None).unwrap();
        assert_eq!(report.engine, subject.device.name(), "{}", report.reason);
        assert!(back == bytes, "{} {level:?}", subject.name);
        let id = dictionary.id();
        let needed = open().decompress_frame(&expected, None).unwrap_err();
        assert_eq!(needed, Error::DictionaryNeeded { id });
        let mut streamed = Vec::new();
        let go_on = |_| ControlFlow::Continue(());
        let input = Cursor::new(bytes.to_vec());
        let run = codec.compress_stream(input, &mut streamed, &plain, go_on);
        run.unwrap();
        assert!(streamed == expected, "{} {level:?}: a stream", subject.name);
        let mut back = Vec::new();
        let input = Cursor::new(streamed);
        codec
            .decompress_stream(input, &mut back, None, go_on)
            .unwrap();
        assert!(back == bytes, "{} {level:?}: a stream", subject.name);
        let codec = open().with_dictionary(dictionary.clone());
        let mut writer = CompressWriter::new(Vec::new(), codec, &plain).unwrap();
        writer.write_all(bytes).unwrap();
        assert!(
            writer.finish().unwrap().0 == expected,
            "{} {level:?}",
            subject.name
        );
    }
}

fn by_batches(subject: &Subject, dictionary: &Dictionary, bytes: &[u8], expected: &PackedPages) {
    let (pages, _) = bytes.as_chunks::<4096>();
    for (batch_size, async_dma) in [(1000, true), (5, true), (7, false)] {
        let config = GpuBatchConfig {
            batch_size,
            async_dma,
            ..GpuBatchConfig::default()
        };
        let open = || GpuBatchCompressor::with_device(subject.device.clone(), config.clone());
        let mut plain = open().unwrap();
        let mut compressor = open().unwrap().with_dictionary(dictionary.clone()).unwrap();
        let found = compressor.compress_batch(pages).unwrap().pages;
        assert_same(&found, expected, subject.name);
        let back = compressor.decompress_batch(&found).unwrap();
        assert!(back.into_pages().unwrap() == pages, "{}", subject.name);
        let id = dictionary.id();
        let needed = plain.decompress_batch(&found).unwrap_err();
        assert_eq!(needed, Error::DictionaryNeeded { id });
    }
    let config = GpuBatchConfig {
        algorithm: Algorithm::Lz4High,
        ..GpuBatchConfig::default()
    };
    let high = GpuBatchCompressor::with_device(subject.device.clone(), config).unwrap();
    let error = high.with_dictionary(dictionary.clone()).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}

fn in_pinned_memory(
    subject: &Subject,
    dictionary: &Dictionary,
    bytes: &[u8],
    expected: &PackedPages,
) {
    let (device, n_bytes) = (&subject.device, bytes.len() as u64);
    let config = GpuBatchConfig::default();
    let compressor = GpuBatchCompressor::with_device(device.clone(), config).unwrap();
    let mut compressor = compressor.with_dictionary(dictionary.clone()).unwrap();
    block_on(async {
        let host = device.allocate_host(n_bytes, HostUse::Upload).unwrap();
        host.write_async(0, bytes).await.unwrap();
        let found = compressor.compress_pinned_async(&host, bytes.len() / 4096);
        let found = found.await.unwrap();
        let [part] = &found.parts[..] else {
            panic!("{} parts", found.parts.len());
        };
        assert_eq!(part.table, expected.table);
        let read = part.packed.read_async(0..part.packed_bytes, <[u8]>::to_vec);
        let packed = read.await.unwrap();
        assert!(packed == expected.packed, "{}", subject.name);
        let up = device.allocate_host(part.packed_bytes.next_multiple_of(8), HostUse::Upload);
        let up = up.unwrap();
        up.write_async(0, &packed).await.unwrap();
        let down = device.allocate_host(n_bytes, HostUse::Download).unwrap();
        let run = compressor.decompress_pinned_async(&up, part.packed_bytes, &part.table, &down);
        let (errors, _) = run.await.unwrap();
        assert!(errors.iter().all(Option::is_none));
        let same = down.read_async(0..n_bytes, |found| found == bytes);
        assert!(same.await.unwrap(), "{}", subject.name);
    });
}

fn in_device_memory(
    subject: &Subject,
    dictionary: &Dictionary,
    bytes: &[u8],
    expected: &PackedPages,
) {
    let (device, n_bytes) = (&subject.device, bytes.len() as u64);
    let pages = guarded::upload(device, bytes);
    let back = guarded::upload(device, &vec![0xa5; bytes.len()]);
    block_on(async {
        let on_device = ResidentDictionary::new_async(device, dictionary)
            .await
            .unwrap();
        assert_eq!(on_device.dictionary(), dictionary);
        let found = on_device
            .compress_resident_async(device, &pages, n_bytes, 4096, Level::Fast)
            .await
            .unwrap();
        assert_eq!(found.dictionary_id, dictionary.id());
        let part = &found.parts[0];
        let packed = device
            .download_async(&part.packed, 0..part.packed_bytes)
            .await;
        assert!(packed.unwrap() == expected.packed, "{}", subject.name);
        let outcome = on_device.decompress_resident_async(device, &found, &back);
        assert!(outcome.await.unwrap().errors.iter().all(Option::is_none));
        let read = device.download_async(&back, 0..n_bytes).await.unwrap();
        assert!(read == bytes, "{}", subject.name);
        let id = dictionary.id();
        let needed = decompress_resident_async(device, &found, &back).await;
        assert_eq!(needed.unwrap_err(), Error::DictionaryNeeded { id });
        let high = on_device.compress_resident_async(device, &pages, n_bytes, 4096, Level::High);
        assert_eq!(high.await.unwrap_err().code(), "INVALID_ARGUMENT");
    });
}
