//! Mutated sources compile or are refused: none panics, and each takes bounded time.
//!
//! `PAGEPRESS_MUTATED_SOURCES` is their number.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a fault is a panic"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use cuda_c::{CudaOptions, compile_cuda, kernels};

/// Longest time that a source may take, on a busy machine and without optimisation.
const LIMIT: Duration = Duration::from_secs(20);

/// An xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.extension().is_some_and(|extension| extension == "cu") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Splits a source into words, numbers, signs and spaces.
fn words(source: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, c) in source.char_indices() {
        let before = source[..at].chars().next_back();
        if at > start && !(is_word(c) && before.is_some_and(is_word)) {
            words.push(&source[start..at]);
            start = at;
        }
    }
    words.push(&source[start..]);
    words
}

fn mutated(source: &str, random: &mut Random) -> String {
    if random.below(8) == 0 {
        let mut bytes = source.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut words = words(source);
    for _ in 0..=random.below(6) {
        let (a, b) = (random.below(words.len()), random.below(words.len()));
        match random.below(5) {
            0 => drop(words.remove(a)),
            1 => words.insert(a, words[b]),
            2 => words.swap(a, b),
            3 => words[a] = words[b],
            _ => {
                let end = (a + random.below(40)).min(words.len());
                let copied = words[a..end].to_vec();
                words.splice(b..b, copied);
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

/// Compiles all kernels of a source; returns how many succeed.
fn compile(source: &str, random: &mut Random) -> usize {
    let Ok(found) = kernels(source, &[]) else {
        // The front end must not depend on the list.
        drop(compile_cuda(source, &CudaOptions::new("kernel")));
        return 0;
    };
    let mut n_compiled = 0;
    for kernel in found.iter().take(3) {
        let entry = if kernel.template.is_empty() {
            kernel.name.clone()
        } else {
            format!("{}<float>", kernel.name)
        };
        let options = CudaOptions::new(&entry)
            .block([32, 2, 1])
            .shared_bytes(256)
            .narrow_f64(random.below(2) == 0)
            .int64(random.below(2) == 0)
            .subgroups(random.below(2) == 0);
        match compile_cuda(source, &options) {
            Ok(compiled) => {
                n_compiled += 1;
                let wgsl = compiled.wgsl().unwrap();
                if let Err(error) = naga::front::wgsl::parse_str(&wgsl) {
                    panic!("{}\n{wgsl}\n{source}", error.emit_to_string(&wgsl));
                }
            }
            Err(error) => assert!(!error.message.contains("defect"), "{error}\n{source}"),
        }
    }
    n_compiled
}

#[test]
fn mutated_sources_are_compiled_or_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    sources(&root.join("tests/in"), &mut all);
    sources(&root.join("../tests/cuda_c/kernels"), &mut all);
    let n_sources =
        std::env::var("PAGEPRESS_MUTATED_SOURCES").map_or(5_000, |text| text.parse().unwrap());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut n_compiled = 0;
    for n in 0..n_sources {
        let source = mutated(&all[n % all.len()], &mut random);
        let start = Instant::now();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            compile(&source, &mut random)
        }));
        match result {
            Ok(n) => n_compiled += n,
            Err(_) => panic!("source {n} panics:\n{source}"),
        }
        assert!(
            start.elapsed() < LIMIT,
            "source {n} takes {:?}:\n{source}",
            start.elapsed()
        );
    }
    assert!(
        n_compiled > 0,
        "no mutated source compiles: the mutations are too strong"
    );
}
