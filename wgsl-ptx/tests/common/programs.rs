//! The programs of `tests/in`, one for each construct of WGSL, and their results (`tests/results`). Tests of two packages
//! include this file: those of the compiler, and `tests/ptx_run.rs` of Pagepress, which runs the programs on GPUs.
//!
//! Every program has an entry point `main`, reads binding 0 ([`INPUT_WORDS`] words, see [`input`]) and writes binding 1,
//! which starts with all bits set. Its first lines are parameters: `grid: X Y Z` in workgroups, `output: N` words,
//! `uniform: N` words at binding 2 (word i is i + 1), `floats: T` if the results are floats that may differ by T
//! relative to the larger of 1 and the value, `needs: F` for a feature that some devices lack.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};

pub const INPUT_WORDS: u32 = 256;

pub struct Program {
    pub name: String,
    pub wgsl: String,
    pub grid: [u32; 3],
    pub n_output_words: u32,
    pub n_uniform_words: u32,
    pub tolerance: Option<f64>,
    pub needs: Option<String>,
}

/// Returns a folder of the compiler's tests, in whichever package this file is compiled.
pub fn folder(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = if env!("CARGO_PKG_NAME") == "wgsl-ptx" {
        package.join("tests")
    } else {
        package.join("wgsl-ptx/tests")
    };
    tests.join(name)
}

/// Returns all programs, sorted by name.
pub fn programs() -> Vec<Program> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder("in"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no program found");
    paths.iter().map(read).collect()
}

fn read(path: &PathBuf) -> Program {
    let wgsl = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let field = |key: &str| {
        let lines = wgsl.lines().take_while(|line| line.starts_with("//"));
        let mut found = lines.filter_map(|line| {
            line.strip_prefix("// ")?
                .strip_prefix(key)?
                .strip_prefix(": ")
        });
        found.next().map(str::to_owned)
    };
    let number = |key: &str| field(key).map(|text| text.parse::<u32>().unwrap());
    let grid: Vec<u32> = field("grid")
        .unwrap()
        .split(' ')
        .map(|n| n.parse().unwrap())
        .collect();
    Program {
        grid: grid.try_into().unwrap(),
        n_output_words: number("output").unwrap(),
        n_uniform_words: number("uniform").unwrap_or(0),
        tolerance: field("floats").map(|text| text.parse().unwrap()),
        needs: field("needs"),
        name,
        wgsl,
    }
}

/// Returns the content of binding 0.
pub fn input() -> Vec<u32> {
    (0..INPUT_WORDS)
        .map(|i| i.wrapping_add(1).wrapping_mul(2_654_435_761) ^ (i << 9))
        .collect()
}

impl Program {
    /// Returns true if factors of f32 are rounded to TF32.
    pub fn has_tf32(&self) -> bool {
        self.needs.as_deref() == Some("tf32")
    }

    pub fn uniform(&self) -> Vec<u32> {
        (1..=self.n_uniform_words).collect()
    }

    fn results_path(&self) -> PathBuf {
        folder("results").join(format!("{}.txt", self.name))
    }

    /// Compares results with the committed ones; the error has the first difference.
    pub fn compare(&self, found: &[u32]) -> Result<(), String> {
        let text = std::fs::read_to_string(self.results_path())
            .map_err(|e| format!("{}: {e}", self.name))?;
        let expected: Vec<u32> = text
            .split_whitespace()
            .map(|word| u32::from_str_radix(word, 16).unwrap())
            .collect();
        if found.len() != expected.len() {
            return Err(format!(
                "{}: {} words instead of {}",
                self.name,
                found.len(),
                expected.len()
            ));
        }
        for (i, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
            if !self.agrees(found, expected) {
                let (f, e) = (f32::from_bits(found), f32::from_bits(expected));
                return Err(format!(
                    "{}: word {i} is {found:#010x} ({f}) instead of {expected:#010x} ({e})",
                    self.name
                ));
            }
        }
        Ok(())
    }

    fn agrees(&self, found: u32, expected: u32) -> bool {
        let Some(tolerance) = self.tolerance else {
            return found == expected;
        };
        let (found, expected) = (
            f64::from(f32::from_bits(found)),
            f64::from(f32::from_bits(expected)),
        );
        found == expected
            || (found.is_nan() && expected.is_nan())
            || (found - expected).abs() <= tolerance * expected.abs().max(1.0)
    }

    /// Rewrites the committed results.
    pub fn write(&self, found: &[u32]) {
        let lines: Vec<String> = found
            .chunks(8)
            .map(|words| {
                words
                    .iter()
                    .map(|word| format!("{word:08x}"))
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        std::fs::create_dir_all(folder("results")).unwrap();
        std::fs::write(self.results_path(), lines.join("\n") + "\n").unwrap();
    }
}
