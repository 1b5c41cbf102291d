//! Replays the targets of `fuzz/` on stable Rust: the corpus, all past crashes, and mutations of both.
//!
//! `PAGEPRESS_FUZZ_SECONDS` is the duration of the mutations of each target.
#![cfg(all(feature = "cuda", feature = "cuda-c", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a fault is a panic"
)]

#[path = "../fuzz/targets/src/lib.rs"]
mod targets;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use targets::{Random, TARGETS, mutated};

/// Returns the files of a folder of `fuzz/`, by name; none if the folder does not exist.
fn files(folder: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz"))
        .join(folder)
        .join(target);
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

fn replay(name: &str) {
    let (_, target) = TARGETS.iter().find(|(other, _)| *other == name).unwrap();
    let seconds = std::env::var("PAGEPRESS_FUZZ_SECONDS").map_or(2, |text| text.parse().unwrap());
    let started = Instant::now();
    let mut n_inputs = 0;
    let corpus = files("corpus", name);
    assert!(!corpus.is_empty(), "no corpus for {name}");
    for (path, bytes) in files("crashes", name).iter().chain(&corpus) {
        println!("{}", path.display());
        n_inputs += target(bytes);
    }
    let mut n_mutations = 0;
    let mut random = Random::of(name.as_bytes());
    while started.elapsed() < Duration::from_secs(seconds) {
        let (path, bytes) = &corpus[random.below(corpus.len())];
        let bytes = mutated(bytes, &mut random);
        let tried = std::panic::catch_unwind(|| target(&bytes));
        match tried {
            Ok(n) => n_inputs += n,
            Err(_) => {
                let kept = std::env::temp_dir().join(format!("pagepress-{name}"));
                std::fs::write(&kept, &bytes).unwrap();
                panic!(
                    "a mutation of {} fails, kept as {}",
                    path.display(),
                    kept.display()
                );
            }
        }
        n_mutations += 1;
    }
    println!(
        "{name}: {} files, {n_mutations} mutations, {n_inputs} inputs",
        corpus.len()
    );
}

/// `PAGEPRESS_WRITE_CORPUS=1` writes the seeds of the corpus; a fuzzer adds more.
#[test]
fn the_corpus_has_all_seeds() {
    let write = std::env::var_os("PAGEPRESS_WRITE_CORPUS").is_some();
    for (target, name, bytes) in targets::seeds() {
        let folder =
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus")).join(target);
        if write {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(&name), &bytes).unwrap();
        }
        assert!(folder.join(&name).exists(), "{target}/{name} is missing");
    }
}

macro_rules! replays {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        #[test]
        fn every_target_is_replayed() {
            let replayed = [$(stringify!($name)),*];
            assert!(TARGETS.iter().all(|(name, _)| replayed.contains(name)));
        }
    };
}

replays!(block containers cuda_c dictionary frame gguf pages raw_blocks reader round_trip seek snapshots wgsl_ptx);
