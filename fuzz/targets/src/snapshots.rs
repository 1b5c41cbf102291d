//! Snapshots: versions of images, their files, and files with damage.

use pagepress::batch::{BackendRequest, Codec, CodecOptions};
use pagepress::lz4::frame;
use pagepress::snapshot::{ContentHash, Snapshot, SnapshotOptions, Version};

use super::random::{Random, mutated};

/// Files per execution: the input, and a base and an increment of it with damage.
pub const INPUTS: u64 = 9;

const PAGE: usize = 4096;
const LIMIT: u64 = 1 << 20;

/// Takes versions of an image of the input, which are restored and read as LZ4 files; damaged files give the same content or an
/// error.
pub fn snapshots(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    let old = image(data, &mut random);
    let mut new = old.clone();
    for _ in 0..random.below(4) {
        change(&mut new, &mut random);
    }
    let mut codec = Codec::new(CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    })
    .unwrap();
    let options = SnapshotOptions::default();
    let base = Snapshot::take(&mut codec, &[("a", &old)], None, &options).unwrap();
    let next = Snapshot::take(&mut codec, &[("a", &new)], Some(&base), &options).unwrap();
    assert_eq!(next.id() == base.id(), new == old);
    let counts = next.counts();
    let sum = counts.unchanged + counts.filled + counts.copied + counts.added;
    assert_eq!(sum, counts.pages);
    assert!(content(&next).is_some_and(|content| content == new));
    let flat = next.flatten().unwrap();
    assert_eq!(flat.id(), next.id());
    assert_eq!(
        frame::decompress(&file(&flat), Some(LIMIT)).as_ref(),
        Ok(&new)
    );
    let _ = Snapshot::from_file_bytes(data.to_vec(), Some(&base), LIMIT);
    for (snapshot, previous, image) in [(&base, None, &old), (&next, Some(&base), &new)] {
        let sound = file(snapshot);
        let opened = Snapshot::from_file_bytes(sound.clone(), previous, LIMIT).unwrap();
        assert!(content(&opened).is_some_and(|content| content == *image));
        for _ in 0..INPUTS / 4 {
            read(mutated(&sound, &mut random), previous, snapshot, image);
            read(
                resealed(sound.clone(), &mut random),
                previous,
                snapshot,
                image,
            );
        }
    }
    INPUTS
}

/// Opens and restores a damaged file of `snapshot`. A manifest with a right checksum may describe another image.
fn read(file: Vec<u8>, previous: Option<&Snapshot>, snapshot: &Snapshot, image: &[u8]) {
    let Ok(opened) = Snapshot::from_file_bytes(file, previous, LIMIT) else {
        return;
    };
    let restored = content(&opened);
    if opened.id() == snapshot.id() {
        assert!(restored.is_none_or(|content| content == image));
    }
}

/// Returns pages of the input, zeros and repetitions.
fn image(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut image = data[..data.len().min(3 * PAGE)].to_vec();
    image.resize(image.len() + random.below(2 * PAGE), 0);
    if !data.is_empty() {
        image.extend(data.iter().cycle().take(random.below(2 * PAGE)));
    }
    image
}

fn change(image: &mut Vec<u8>, random: &mut Random) {
    match random.below(4) {
        0 => image.resize(random.below(8 * PAGE), 7),
        1 if image.len() > PAGE => {
            let last = (image.len() - PAGE) / PAGE * PAGE;
            image.copy_within(..PAGE, last);
        }
        _ if image.is_empty() => {}
        _ => {
            let at = random.below(image.len());
            image[at] ^= 0x21;
        }
    }
}

fn content(snapshot: &Snapshot) -> Option<Vec<u8>> {
    let n_bytes = snapshot.version().regions()[0].n_bytes;
    let mut content = vec![0; n_bytes as usize];
    snapshot.restore(0, 0..n_bytes, &mut content).ok()?;
    Some(content)
}

fn file(snapshot: &Snapshot) -> Vec<u8> {
    let mut file = Vec::new();
    snapshot.write_to(&mut file).unwrap();
    file
}

/// Changes a byte of the manifest and its checksum.
fn resealed(mut file: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let foot = &file[file.len() - Version::FOOT_BYTES..];
    let start = Version::manifest_range(foot, file.len() as u64)
        .unwrap()
        .start as usize;
    let end = file.len() - Version::FOOT_BYTES;
    let at = start + random.below(end - start);
    file[at] ^= 1 << random.below(8);
    let sum = ContentHash::of(&file[start..end]).to_le_bytes();
    file[end..end + sum.len()].copy_from_slice(&sum);
    file
}
