#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use proptest::prelude::*;

use super::*;
use crate::lz4::frame;
use crate::lz4::{Level, compress_pages};
use crate::{Error, Result};

const PAGE: usize = 4096;

/// A version with the bytes of its layers.
#[derive(Clone)]
struct Taken {
    version: Version,
    layers: Vec<Vec<u8>>,
}

fn take(regions: &[(&str, &[u8])], previous: Option<&Taken>, page_size: usize) -> Taken {
    let list = regions.iter().map(|(name, bytes)| Region {
        name: (*name).into(),
        n_bytes: bytes.len() as u64,
    });
    let base = previous.map(|previous| &previous.version);
    let mut capture = Capture::new(page_size as u32, list.collect(), base).expect("in range");
    let mut layer = Vec::new();
    for (_, bytes) in regions {
        // Two parts, to cross borders of parts.
        let at = bytes.len() / 2 / page_size * page_size;
        for part in [&bytes[..at], &bytes[at..]] {
            let ranges = capture.add(part).expect("whole pages");
            let pages: Vec<&[u8]> = ranges.into_iter().map(|range| &part[range]).collect();
            let pages = pages.concat();
            let packed = compress_pages(&pages, page_size as u32, Level::Fast).expect("memory");
            capture
                .store(&packed.table, layer.len() as u64)
                .expect("entries");
            layer.extend(packed.packed);
        }
    }
    let mut layers = previous.map_or(Vec::new(), |previous| previous.layers.clone());
    layers.push(layer);
    Taken {
        version: capture.finish().expect("all pages"),
        layers,
    }
}

fn staged(layers: &[Vec<u8>], pieces: &[Piece]) -> Vec<u8> {
    let bytes = pieces
        .iter()
        .map(|piece| &layers[usize::from(piece.layer)][piece.start as usize..piece.end as usize]);
    bytes.collect::<Vec<_>>().concat()
}

impl Taken {
    fn read(&self, region: usize, range: std::ops::Range<u64>) -> Result<Vec<u8>> {
        let mut restore = Restore::new(&self.version, region, range)?;
        let mut all = Vec::new();
        while restore.next_bytes() > 0 {
            let mut part = vec![0xee; restore.next_bytes()];
            restore.supply(&staged(&self.layers, &restore.wanted()?), &mut part)?;
            all.extend(part);
        }
        Ok(all)
    }

    fn file(&self) -> Vec<u8> {
        let mut writer = FileWriter::new(&self.version).expect("memory");
        let mut file = Vec::new();
        while let Some(pieces) = writer.wanted().expect("memory") {
            writer
                .supply(&staged(&self.layers, &pieces), &mut file)
                .expect("the wanted bytes");
        }
        file
    }

    fn open(file: &[u8], previous: Option<&Self>) -> Result<Self> {
        let n_bytes = file.len() as u64;
        let foot = &file[file.len().saturating_sub(Version::FOOT_BYTES)..];
        let range = Version::manifest_range(foot, n_bytes)?;
        let base = previous.map(|previous| &previous.version);
        let manifest = &file[range.start as usize..];
        let version = Version::read(manifest, n_bytes, base, 1 << 30)?;
        let mut layers = previous.map_or(Vec::new(), |previous| previous.layers.clone());
        layers.truncate(version.n_layers() - 1);
        layers.push(file.to_vec());
        Ok(Self { version, layers })
    }

    fn flat(&self) -> Self {
        let (version, pieces) = self.version.flatten().expect("memory");
        Self {
            version,
            layers: vec![staged(&self.layers, &pieces)],
        }
    }

    fn assert_is(&self, regions: &[(&str, &[u8])]) {
        for (i, (name, bytes)) in regions.iter().enumerate() {
            assert_eq!(self.version.regions()[i].name, *name);
            let content = self
                .read(i, 0..bytes.len() as u64)
                .expect("a sound version");
            assert!(content == *bytes, "{name} is restored");
        }
    }
}

/// Bytes that compress to about half.
fn noise(n_bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8 & 15
    };
    (0..n_bytes).map(|_| next()).collect()
}

/// An image with zero, filled, equal and other pages and a short last page.
fn image(seed: u64) -> Vec<u8> {
    let other = noise(PAGE, seed);
    let pages = [
        &vec![0; 3 * PAGE][..],
        &other,
        &[1, 2, 3, 4, 5, 6, 7, 8].repeat(PAGE / 8),
        &noise(2 * PAGE, seed + 1),
        &other,
        &noise(100, 9),
    ];
    pages.concat()
}

#[test]
fn every_kind_of_page_is_counted_and_restored() {
    let image = image(1);
    let first = take(&[("memory", &image)], None, PAGE);
    let counts = first.version.counts();
    assert_eq!(
        (counts.pages, counts.filled, counts.copied, counts.added),
        (9, 4, 1, 4)
    );
    first.assert_is(&[("memory", &image)]);

    let mut later = image.clone();
    later[4 * PAGE + 5] ^= 1; // No longer filled.
    later.copy_within(5 * PAGE..6 * PAGE, 0); // Equals another page of the base.
    let next = take(&[("memory", &later)], Some(&first), PAGE);
    let counts = next.version.counts();
    assert_eq!((counts.unchanged, counts.copied, counts.added), (7, 1, 1));
    assert!(next.layers[1].len() < 2 * PAGE);
    next.assert_is(&[("memory", &later)]);
    assert_eq!(next.version.base(), Some(first.version.id()));
    let diff = next.version.diff(&first.version).expect("one page size");
    let ranges: Vec<_> = diff
        .changed
        .iter()
        .map(|range| (range.start, range.end))
        .collect();
    assert_eq!(ranges, [(0, 4096), (4 * 4096, 5 * 4096)]);
    assert_eq!(diff.n_pages, 2);
}

#[test]
fn a_version_without_a_base_is_the_image_to_every_lz4_reader() {
    let (a, b) = (image(1), image(7));
    let regions: &[(&str, &[u8])] = &[("a", &a), ("", &[]), ("b", &b)];
    let first = take(regions, None, PAGE);
    let file = first.file();
    let content = frame::decompress(&file, None).expect("a file");
    assert!(content == [&a[..], &b].concat());
    let opened = Taken::open(&file, None).expect("a snapshot");
    assert_eq!(opened.version.id(), first.version.id());
    assert_eq!(
        opened.version.counts().filled,
        first.version.counts().filled
    );
    opened.assert_is(regions);
    assert!(
        opened.file() == file,
        "the file of an opened version is equal"
    );
}

#[test]
fn chains_are_saved_opened_and_flattened() {
    let mut memory = noise(64 * PAGE, 5);
    let mut kept = vec![take(&[("m", &memory)], None, PAGE)];
    let mut images = vec![memory.clone()];
    for round in 0..6 {
        memory[round * 9 * PAGE + 77] ^= 0x55;
        memory.extend(noise(PAGE, 100 + round as u64));
        let next = take(&[("m", &memory)], kept.last(), PAGE);
        assert_eq!(next.version.counts().added, 2);
        kept.push(next);
        images.push(memory.clone());
    }
    let mut opened: Option<Taken> = None;
    for (taken, image) in kept.iter().zip(&images) {
        let next = Taken::open(&taken.file(), opened.as_ref()).expect("a snapshot");
        assert_eq!(next.version.id(), taken.version.id());
        next.assert_is(&[("m", image)]);
        let flat = next.flat();
        assert_eq!(
            (flat.version.id(), flat.version.base()),
            (taken.version.id(), None)
        );
        flat.assert_is(&[("m", image)]);
        assert!(frame::decompress(&flat.file(), None).expect("a file") == *image);
        opened = Some(next);
    }
    // An increment continues the flattened form of its base, too.
    let last = &kept[6];
    let flat = kept[5].flat();
    Taken::open(&last.file(), Some(&flat))
        .expect("the base")
        .assert_is(&[("m", &images[6])]);
    let wrong = |base| Taken::open(&last.file(), base).err();
    let needed = kept[5].version.id().to_string();
    let given = Some(kept[4].version.id().to_string());
    let expected = Error::WrongBase {
        needed: needed.clone(),
        given,
    };
    assert_eq!(wrong(Some(&kept[4])), Some(expected));
    assert_eq!(
        wrong(None),
        Some(Error::WrongBase {
            needed,
            given: None
        })
    );
}

#[test]
fn regions_are_matched_by_name_and_may_grow_shrink_and_move() {
    let (a, b) = (noise(10 * PAGE + 50, 1), noise(5 * PAGE, 2));
    let first = take(&[("a", &a), ("b", &b)], None, PAGE);
    let grown = [&b[..], &noise(3 * PAGE, 3)].concat();
    let regions: &[(&str, &[u8])] = &[("b", &grown), ("c", &a[..PAGE]), ("a", &a[..10 * PAGE])];
    let next = take(regions, Some(&first), PAGE);
    let counts = next.version.counts();
    assert_eq!((counts.unchanged, counts.copied, counts.added), (15, 1, 3));
    next.assert_is(regions);
    Taken::open(&next.file(), Some(&first))
        .expect("a snapshot")
        .assert_is(regions);
    let back = first.version.diff(&next.version).expect("one page size");
    assert_eq!(back.removed, ["c"]);
    assert_eq!(back.n_pages, 1, "the short page of a");
}

#[test]
fn damaged_files_are_refused() {
    let image = image(3);
    let first = take(&[("m", &image)], None, PAGE);
    let mut changed = image.clone();
    changed[0] = 9;
    let next = take(&[("m", &changed)], Some(&first), PAGE);
    for (taken, base) in [(&first, None), (&next, Some(&first))] {
        let file = taken.file();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let opened = Taken::open(&damaged, base);
            let read = opened.and_then(|opened| opened.read(0, 0..image.len() as u64));
            // Headers and sizes of blocks are not read again.
            let content = taken.read(0, 0..image.len() as u64).expect("sound");
            assert!(read.is_err() || read == Ok(content), "byte {at}");
        }
        for n_bytes in 0..file.len() {
            assert!(
                Taken::open(&file[..n_bytes], base).is_err(),
                "{n_bytes} bytes"
            );
        }
    }
}

#[test]
fn misuse_is_refused() {
    let region = |name: &str, n_bytes| Region {
        name: name.into(),
        n_bytes,
    };
    let refused = |page_size, regions| {
        Capture::new(page_size, regions, None)
            .err()
            .map(|error| error.code())
    };
    assert_eq!(
        refused(5000, vec![region("a", 1)]),
        Some("INVALID_ARGUMENT")
    );
    assert_eq!(refused(4096, vec![]), Some("INVALID_ARGUMENT"));
    assert_eq!(
        refused(4096, vec![region("a", 1), region("a", 1)]),
        Some("INVALID_ARGUMENT")
    );
    assert_eq!(
        refused(4096, vec![region("a", u64::MAX), region("b", u64::MAX)]),
        Some("INVALID_ARGUMENT")
    );
    assert_eq!(
        refused(4096, vec![region(&"a".repeat(256), 1)]),
        Some("INVALID_ARGUMENT")
    );
    let mut capture = Capture::new(4096, vec![region("a", 5000)], None).expect("in range");
    assert!(capture.add(&[0; 100]).is_err(), "no whole page");
    assert!(capture.add(&[0; 8192]).is_err(), "more than the region");
    let entry = crate::lz4::PageEntry {
        offset: 0,
        length: 4,
        kind: crate::lz4::PageKind::Lz4,
    };
    assert!(capture.store(&[entry], 0).is_err(), "no page to store");
    assert!(capture.finish().is_err(), "no bytes");
    let mut capture = Capture::new(4096, vec![region("a", 4096)], None).expect("in range");
    capture.add(&noise(4096, 1)).expect("a page");
    for (at, offset) in [(u64::MAX, 4), (0, u64::MAX - 3), (1 << 62, 4)] {
        let entry = crate::lz4::PageEntry { offset, ..entry };
        assert!(
            capture.store(&[entry], at).is_err(),
            "offset {at} + {offset}"
        );
    }
    let file = take(&[("a", &image(1))], None, PAGE).file();
    let foot = &file[file.len() - Version::FOOT_BYTES..];
    let range = Version::manifest_range(foot, file.len() as u64).expect("a manifest");
    let manifest = &file[range.start as usize..];
    for n_bytes in [0, range.end - range.start, u64::MAX] {
        assert!(Version::read(manifest, n_bytes, None, 1 << 30).is_err());
    }
    let first = take(&[("a", &image(1))], None, PAGE);
    assert!(Capture::new(8192, vec![region("a", 1)], Some(&first.version)).is_err());
    for (start, end) in [(0, u64::MAX), (5, 4)] {
        assert!(Restore::new(&first.version, 0, start..end).is_err());
    }
    assert!(Restore::new(&first.version, 1, 0..0).is_err());
    let mut restore = Restore::new(&first.version, 0, 0..8 * 4096).expect("in range");
    let mut out = vec![0; restore.next_bytes()];
    assert!(
        restore.supply(&[], &mut out).is_err(),
        "too few bytes of layers"
    );
    assert!(
        restore.supply(&first.layers[0], &mut []).is_err(),
        "too little room"
    );
}

/// A damaged manifest whose checksum is right, as an attacker makes it.
fn resealed(file: &[u8], at: usize, value: u8) -> Vec<u8> {
    let n_manifest =
        u32::from_le_bytes(*file[file.len() - 8..].first_chunk().expect("4 bytes")) as usize;
    let mut file = file.to_vec();
    let start = file.len() - n_manifest;
    let end = file.len() - Version::FOOT_BYTES;
    file[start + 8 + at % (n_manifest - 8 - Version::FOOT_BYTES)] = value;
    let sum = ContentHash::of(&file[start..end]).to_le_bytes();
    file[end..end + 16].copy_from_slice(&sum);
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_range_is_restored(start in 0..9 * 4096_u64, n_bytes in 0..9 * 4096_u64, big in any::<bool>()) {
        let image = image(4);
        let page_size = if big { 16_384 } else { PAGE };
        let first = take(&[("m", &image)], None, page_size);
        let end = (start + n_bytes).min(image.len() as u64);
        let start = start.min(end);
        let part = first.read(0, start..end).expect("sound");
        prop_assert!(part == image[start as usize..end as usize]);
    }

    #[test]
    fn hostile_manifests_are_harmless(at in any::<usize>(), value in any::<u8>(), increment in any::<bool>()) {
        let (old, new) = (image(3), image(4));
        let first = take(&[("m", &old)], None, PAGE);
        let next = take(&[("m", &new)], Some(&first), PAGE);
        let (taken, base) = if increment { (&next, Some(&first)) } else { (&first, None) };
        let hostile = resealed(&taken.file(), at, value);
        if let Ok(opened) = Taken::open(&hostile, base) {
            prop_assert_eq!(opened.version.id(), taken.version.id());
        }
    }
}

#[test]
fn the_format_is_the_same_on_every_target() {
    // The suites of the npm package expect the same id and the same length.
    let image: Vec<u8> = (0..10_000_u32).map(|i| ((i * i) >> 5) as u8).collect();
    let first = take(&[("memory", &image)], None, PAGE);
    assert_eq!(
        first.version.id().to_string(),
        "7fb34f3d36d40e9bd5117c883125d32e"
    );
    assert_eq!(
        ContentHash::parse(&first.version.id().to_string()),
        Some(first.version.id())
    );
    assert_eq!(
        ContentHash::of(b"").to_string(),
        "99aa06d3014798d86001c324468d497f"
    );
}
