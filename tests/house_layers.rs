//! The layers of the crate: which modules a module may name. No compiler checks it.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Modules above all others.
const UPPER: [&str; 3] = ["batch", "gpu", "tensor"];

/// Each lower module, and the modules that it must not name.
const LAYERS: [(&str, &[&str]); 5] = [
    ("engine", &UPPER),
    ("gpu", &["batch", "tensor"]),
    ("kernels", &UPPER),
    ("lz4", &UPPER),
    ("ops", &UPPER),
];

/// Leaf modules. Of the crate, they may name only themselves and items of `error`, by their names in lib.rs.
const LEAVES: [&str; 2] = ["engine", "ops"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Returns the Rust files of a module of the crate, each with its text without line comments.
fn module(name: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&source().join(name), &mut found);
    assert!(!found.is_empty(), "{name}");
    let texts = found.into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().map(|line| line.split("//").next().unwrap());
        let code = code.collect::<Vec<_>>().join("\n");
        (path, code)
    });
    texts.collect()
}

/// Returns the first segments of the items of `{a, b::{c, d}}`, whose first brace is already removed, or of a single
/// item.
fn first_segments(text: &str) -> Vec<String> {
    let word = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let text = text.trim_start();
        text.chars().take_while(|&c| is_part(c)).collect::<String>()
    };
    let Some(group) = text.trim_start().strip_prefix('{') else {
        return vec![word(text)];
    };
    let (mut depth, mut found, mut start) = (0, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(word(&group[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(word(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Returns the modules of the crate, and items of lib.rs, that a text names by `crate::`.
fn named(code: &str) -> Vec<String> {
    code.split("crate::")
        .skip(1)
        .flat_map(first_segments)
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn paths_are_read() {
    let code =
        "use crate::{Error, gpu::{a, b}, ops};\nlet x = crate::batch::C; use crate::memory::d;";
    assert_eq!(named(code), ["Error", "gpu", "ops", "batch", "memory"]);
}

#[test]
fn lower_modules_name_no_upper_ones() {
    for (name, forbidden) in LAYERS {
        for (path, code) in module(name) {
            for used in named(&code) {
                assert!(
                    !forbidden.contains(&used.as_str()),
                    "{} names crate::{used}: src/{name} is below it",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn leaves_name_errors_alone() {
    for leaf in LEAVES {
        for (path, code) in module(leaf) {
            for used in named(&code) {
                let is_allowed = ["Error", "Result", "error", leaf].contains(&used.as_str());
                assert!(is_allowed, "{} names crate::{used}", path.display());
            }
        }
    }
}

/// lib.rs re-exports items of upper modules beside those of `src/gpu/`, where `super::` would find them.
#[test]
fn the_gpu_module_uses_no_name_that_its_facade_adds() {
    let lib = fs::read_to_string(source().join("lib.rs")).unwrap();
    let facade = lib.split("pub mod gpu {").nth(1).unwrap();
    let facade = facade.split("\n}\n").next().unwrap();
    let lists = ["pub use crate::batch::{", "pub use crate::tensor::{"];
    let added = lists.iter().flat_map(|list| {
        let list = facade.split(list).nth(1).unwrap();
        list.split('}').next().unwrap().split(',')
    });
    // `src/gpu/detect.rs` has a type of the same name, by which the documents call both.
    let added: Vec<&str> = added
        .map(str::trim)
        .filter(|name| !name.is_empty() && *name != "GpuBackend")
        .collect();
    assert!(added.len() > 20, "{added:?}");
    for (path, code) in module("gpu") {
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words {
            assert!(!added.contains(&word), "{} names {word}", path.display());
        }
    }
}
