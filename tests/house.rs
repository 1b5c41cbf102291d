//! Rules of the source tree that no compiler checks.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// The sources of a test target: one file, or all of a folder.
fn sources(name: &str) -> Vec<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let file = tests.join(format!("{name}.rs"));
    if file.exists() {
        return vec![file];
    }
    let folder = fs::read_dir(tests.join(name)).unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// Without Rust's own harness the built-in `#[test]` removes its function, and no warning says so.
#[test]
fn tests_without_the_built_in_harness_are_registered_with_ours() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.unwrap();
    let targets = manifest.split("\n[[test]]\n").skip(1);
    let own_harness = targets.filter(|target| target.contains("harness = false"));
    let names: Vec<&str> = own_harness
        .map(|target| target.split('"').nth(1).unwrap())
        .collect();
    assert!(!names.is_empty());
    for name in names {
        for path in sources(name) {
            let text = fs::read_to_string(&path).unwrap();
            let is_registered = text.contains("use pagepress_test_harness::test");
            assert!(
                is_registered || !text.contains("#[test]"),
                "{} needs `use pagepress_test_harness::test;`",
                path.display()
            );
        }
    }
}
