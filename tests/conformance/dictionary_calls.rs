//! All calls that take a dictionary write and read what the CPU does.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use pagepress::Error;
use pagepress::batch::{
    Algorithm, Codec, CompressWriter, ResidentDictionary, decompress_resident_async,
};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuBatchCompressor, GpuBatchConfig, HostMemory, HostUse};
use pagepress::lz4::frame::{self, FrameOptions};
use pagepress::lz4::{self, Dictionary, Level, PackedPages};

use crate::common::pages::Random;
use crate::dictionary::{LEVELS, content};
use crate::guarded;
use crate::pages::assert_same;
use crate::subject::Subject;

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
    for level in LEVELS {
        let expected = dictionary.compress_pages(&bytes, 4096, level).unwrap();
        let plain = lz4::compress_pages(&bytes, 4096, level).unwrap();
        assert!(expected.packed.len() < plain.packed.len() / 2);
        let case = Case {
            dictionary: &dictionary,
            bytes: &bytes,
            level,
            expected: &expected,
        };
        by_codec(subject, &case);
        by_batches(subject, &case);
        by_frames(subject, &case);
        in_pinned_memory(subject, &case);
        in_device_memory(subject, &case);
    }
}

/// Pages, and what a call makes of them.
#[derive(Clone, Copy)]
struct Case<'a> {
    dictionary: &'a Dictionary,
    bytes: &'a [u8],
    level: Level,
    expected: &'a PackedPages,
}

impl Case<'_> {
    /// Returns settings of batches at the level.
    fn config(&self) -> GpuBatchConfig {
        let algorithm = match self.level {
            Level::High => Algorithm::Lz4High,
            _ => Algorithm::Lz4,
        };
        GpuBatchConfig {
            algorithm,
            ..GpuBatchConfig::default()
        }
    }
}

fn by_codec(subject: &Subject, case: &Case<'_>) {
    let (dictionary, bytes, level, expected) =
        (case.dictionary, case.bytes, case.level, case.expected);
    let what = subject.name;
    let open = || Codec::with_device(subject.device.clone()).unwrap();
    let mut codec = open().with_dictionary(dictionary.clone());
    for _ in 0..2 {
        let (found, report) = codec.compress_pages(bytes, 4096, level).unwrap();
        assert_eq!(report.engine, subject.device.name());
        assert_same(&found, expected, what);
        let (back, report) = codec.decompress_pages(&found).unwrap();
        assert_eq!(report.engine, subject.device.name());
        assert!(back == bytes, "{what}");
    }
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
    let (plain, _) = open().compress_pages(bytes, 4096, level).unwrap();
    assert!(codec.decompress_pages(&plain).unwrap().0 == bytes, "{what}");
    let mut empty = open().with_dictionary(Dictionary::with_id(b"", 0));
    let (found, _) = empty.compress_pages(bytes, 4096, level).unwrap();
    assert_same(&found, &plain, what);
}

fn by_frames(subject: &Subject, case: &Case<'_>) {
    let (dictionary, bytes, level) = (case.dictionary, case.bytes, case.level);
    let open = || Codec::with_device(subject.device.clone()).unwrap();
    let mut codec = open().with_dictionary(dictionary.clone());
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
        assert_eq!(report.engine, subject.device.name(), "{}", report.reason);
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

fn by_batches(subject: &Subject, case: &Case<'_>) {
    let (dictionary, expected) = (case.dictionary, case.expected);
    let (pages, _) = case.bytes.as_chunks::<4096>();
    for (batch_size, async_dma) in [(1000, true), (5, true), (7, false)] {
        let config = GpuBatchConfig {
            batch_size,
            async_dma,
            ..case.config()
        };
        let open = || GpuBatchCompressor::with_device(subject.device.clone(), config.clone());
        let mut plain = open().unwrap();
        let mut compressor = open().unwrap().with_dictionary(dictionary.clone());
        let found = compressor.compress_batch(pages).unwrap().pages;
        assert_same(&found, expected, subject.name);
        let back = compressor.decompress_batch(&found).unwrap();
        assert!(back.into_pages().unwrap() == pages, "{}", subject.name);
        let id = dictionary.id();
        let needed = plain.decompress_batch(&found).unwrap_err();
        assert_eq!(needed, Error::DictionaryNeeded { id });
    }
}

fn in_pinned_memory(subject: &Subject, case: &Case<'_>) {
    let (bytes, expected) = (case.bytes, case.expected);
    let (device, n_bytes) = (&subject.device, bytes.len() as u64);
    let compressor = GpuBatchCompressor::with_device(device.clone(), case.config()).unwrap();
    let mut compressor = compressor.with_dictionary(case.dictionary.clone());
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

fn in_device_memory(subject: &Subject, case: &Case<'_>) {
    let (dictionary, bytes, level, expected) =
        (case.dictionary, case.bytes, case.level, case.expected);
    let (device, n_bytes) = (&subject.device, bytes.len() as u64);
    let pages = guarded::upload(device, bytes);
    let back = guarded::upload(device, &vec![0xa5; bytes.len()]);
    block_on(async {
        let on_device = ResidentDictionary::new_async(device, dictionary)
            .await
            .unwrap();
        assert_eq!(on_device.dictionary(), dictionary);
        let found = on_device
            .compress_resident_async(device, &pages, n_bytes, 4096, level)
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
        let sequential =
            on_device.compress_resident_async(device, &pages, n_bytes, 4096, Level::Sequential);
        assert_eq!(sequential.await.unwrap_err().code(), "INVALID_ARGUMENT");
    });
}
