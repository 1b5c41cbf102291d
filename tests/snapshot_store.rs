//! Snapshots through the native API: on the CPU, in files and in stores.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use pagepress::Error;
use pagepress::batch::{BackendRequest, Codec, CodecOptions};
use pagepress::snapshot::{Snapshot, SnapshotOptions, SnapshotStore};

const MAX_BYTES: u64 = 1 << 30;

fn codec() -> Codec {
    let backend = BackendRequest::Cpu;
    Codec::new(CodecOptions {
        backend,
        ..CodecOptions::default()
    })
    .expect("the CPU")
}

/// Returns versions of an image of 40 MB, of which each changes some pages, and their images.
fn versions(n: usize) -> (Vec<Snapshot>, Vec<Vec<u8>>) {
    let mut codec = codec();
    let mut image: Vec<u8> = (0..40_000_000_u32).map(|i| (i >> (i % 19)) as u8).collect();
    let (mut all, mut images): (Vec<Snapshot>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    for round in 0..n {
        for at in (round * 4096..image.len()).step_by(900_001) {
            image[at] ^= 0x40;
        }
        let regions = [("ram", &image[..39_999_000]), ("rom", &image[39_999_000..])];
        let taken = Snapshot::take(
            &mut codec,
            &regions,
            all.last(),
            &SnapshotOptions::default(),
        );
        all.push(taken.expect("a version"));
        images.push(image.clone());
    }
    (all, images)
}

fn image_of(snapshot: &Snapshot) -> std::io::Result<Vec<u8>> {
    let mut image = vec![0; snapshot.version().n_bytes() as usize];
    let mut rest = &mut image[..];
    for (i, region) in snapshot.version().regions().iter().enumerate() {
        let (part, others) = rest.split_at_mut(region.n_bytes as usize);
        snapshot.restore(i, 0..region.n_bytes, part)?;
        rest = others;
    }
    Ok(image)
}

#[test]
fn versions_are_kept_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SnapshotStore::open(folder.path().join("new/store")).expect("a store");
    let (all, images) = versions(4);
    for (snapshot, image) in all.iter().zip(&images) {
        assert!(image_of(snapshot).expect("sound") == *image);
    }
    assert!(all[1].counts().added < 60);
    store.save("first", &all[0]).expect("saved");
    store.save("last ä/..", &all[3]).expect("saved");
    let names: Vec<_> = store
        .list()
        .expect("a list")
        .into_iter()
        .map(|version| version.name)
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"last ä/..".to_owned()));

    let other = SnapshotStore::open(folder.path().join("new/store")).expect("a store");
    let loaded = other.load("last ä/..", MAX_BYTES).expect("a version");
    assert_eq!(loaded.id(), all[3].id());
    assert!(image_of(&loaded).expect("sound") == images[3]);
    assert_eq!(
        other
            .load("none", MAX_BYTES)
            .map(|_| ())
            .map_err(|e| e.kind()),
        Err(ErrorKind::NotFound)
    );
    assert!(other.load("first", 5000).is_err(), "the image is larger");

    // A flattened version replaces its chain.
    assert_eq!(store.collect(Some(Duration::ZERO)).expect("collected").0, 0);
    store
        .save("last ä/..", &loaded.flatten().expect("memory"))
        .expect("saved");
    store.delete("first").expect("deleted");
    assert_eq!(store.collect(None).expect("collected").0, 0, "too young");
    assert_eq!(store.collect(Some(Duration::ZERO)).expect("collected").0, 4);
    assert!(
        image_of(&store.load("last ä/..", MAX_BYTES).expect("a version")).expect("sound")
            == images[3]
    );
    for name in ["", &"x".repeat(201)] {
        assert_eq!(
            store.save(name, &all[0]).map_err(|e| e.kind()),
            Err(ErrorKind::InvalidInput)
        );
    }
}

#[test]
fn files_are_read_by_lz4_and_damage_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (all, images) = versions(2);
    let path = folder.path().join("base.lz4");
    all[0]
        .write_to(fs::File::create(&path).expect("a file"))
        .expect("written");
    let content = pagepress::lz4::frame::decompress(&fs::read(&path).expect("a file"), None);
    assert!(content.expect("an LZ4 file") == images[0]);
    let mut next = Vec::new();
    all[1].write_to(&mut next).expect("written");
    let base = Snapshot::open(&path, None, MAX_BYTES).expect("a snapshot");
    let opened =
        Snapshot::from_file_bytes(next.clone(), Some(&base), MAX_BYTES).expect("an increment");
    assert!(image_of(&opened).expect("sound") == images[1]);
    assert_eq!(
        opened.diff(&base).expect("one page size").n_pages,
        all[1].diff(&all[0]).expect("one page size").n_pages
    );
    let missing = Snapshot::from_file_bytes(next, None, MAX_BYTES);
    assert!(matches!(missing, Err(Error::WrongBase { .. })));

    let mut bytes = fs::read(&path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let damaged = Snapshot::open(&path, None, MAX_BYTES).expect("the manifest is sound");
    assert_eq!(
        image_of(&damaged).map_err(|e| e.kind()),
        Err(ErrorKind::InvalidData)
    );
    fs::write(&path, &bytes[..middle]).expect("written");
    assert_eq!(
        Snapshot::open(&path, None, MAX_BYTES)
            .map(|_| ())
            .map_err(|e| e.kind()),
        Err(ErrorKind::InvalidData)
    );
    // The open file became shorter.
    assert!(image_of(&damaged).is_err());
}

#[test]
fn wrong_files_in_a_folder_are_harmless() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SnapshotStore::open(folder.path()).expect("a store");
    let (a, b) = ("0".repeat(32), "1".repeat(32));
    for name in [
        &format!("{a}-{b}.lz4"),
        &format!("{b}-{a}.lz4"),
        "x.lz4",
        "%zz.version",
        "%.version",
        "note.txt",
        ".tmp-1-1",
    ] {
        fs::write(folder.path().join(name), b"?").expect("written");
    }
    fs::write(folder.path().join("loop.version"), format!("{a} 5\n")).expect("written");
    fs::write(folder.path().join("damaged.version"), &a).expect("written");
    assert_eq!(store.list().expect("a list").len(), 1);
    assert_eq!(
        store
            .load("loop", MAX_BYTES)
            .map(|_| ())
            .map_err(|e| e.kind()),
        Err(ErrorKind::NotFound)
    );
    let (n_files, _) = store.collect(Some(Duration::ZERO)).expect("collected");
    assert_eq!(n_files, 3, "two versions and an unfinished file");
    assert!(folder.path().join("note.txt").exists());
}
