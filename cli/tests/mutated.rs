//! Mutated files: the command and `lz4` must agree on every one.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::fs;

use common::command::{Folder, repetitions};
use common::lz4_command::{lz4, lz4_ok};
use common::pages::{self, Random};

/// Files per run of the command.
const AT_ONCE: usize = 100;

/// Returns files of all kinds.
fn originals(folder: &Folder) -> Vec<Vec<u8>> {
    let content = pages::mixed(70_000, 1);
    folder.write("file", &content);
    let ours = |options: &[&str]| {
        let arguments = [&["compress", "-c", "file"], options].concat();
        folder.run(&arguments).succeeds().stdout
    };
    let skippable = [
        &0x184d_2a53_u32.to_le_bytes()[..],
        &5_u32.to_le_bytes(),
        b"hello",
    ]
    .concat();
    let mut files = vec![
        ours(&[]),
        ours(&["--block-size", "4096", "--index"]),
        ours(&["--block-size", "4194304", "--level", "high"]),
        [
            ours(&[]),
            skippable,
            lz4_ok(&["-c", "-BD"], &content[..900]),
        ]
        .concat(),
    ];
    for options in [
        &["-c", "-BD", "-B4"][..],
        &["-c", "-BD", "-B4", "--no-frame-crc"],
        &["-c", "-BX", "-9"],
        &["-c", "-l"],
        &["-c", "--no-frame-crc"],
    ] {
        files.push(lz4_ok(options, &content));
        files.push(lz4_ok(options, &content[..300]));
    }
    files
}

/// Returns `file` with a few changes.
fn mutated(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..=random.below(3) {
        // Half of the changes hit the first bytes, which are headers.
        let range = if random.below(2) == 0 { 24 } else { file.len() };
        let at = random.below(range.min(file.len()).max(1));
        let end = (at + 1 + random.below(16)).min(file.len());
        match random.below(7) {
            0 | 1 if at < file.len() => file[at] ^= 1 << random.below(8),
            2 if at < file.len() => file[at] = [0, 0xff, 0x7f, random.byte()][random.below(4)],
            3 => file.truncate(at),
            4 => drop(file.drain(at..end)),
            5 => {
                let piece = file[at..end].to_vec();
                file.splice(at..at, piece);
            }
            _ => {
                let piece: Vec<u8> = (at..end).map(|_| random.byte()).collect();
                file.splice(at..end, piece);
            }
        }
    }
    file
}

/// Returns true for damaged files that `lz4` 1.9.4 accepts: an empty file, and offset 0, which the format forbids.
fn is_rejected_here_only(file: &[u8], message: Option<&str>) -> bool {
    file.is_empty() || message.is_some_and(|message| message.contains("a match has offset 0"))
}

/// PAGEPRESS_MUTATED_FILES=100000 makes a long run.
#[test]
fn mutated_files_decompress_as_with_lz4() {
    let folder = Folder::new();
    let originals = originals(&folder);
    let n_files = repetitions("PAGEPRESS_MUTATED_FILES", 2000);
    let names: Vec<String> = (0..AT_ONCE).map(|i| format!("{i}.lz4")).collect();
    let (mut n_read, mut n_refused) = (0, 0);
    let mut differing = Vec::new();
    for batch in 0..n_files.div_ceil(AT_ONCE) {
        let mut random = Random::new(batch as u64);
        let files: Vec<Vec<u8>> = (0..AT_ONCE)
            .map(|_| mutated(&originals[random.below(originals.len())], &mut random))
            .collect();
        for (name, file) in names.iter().zip(&files) {
            folder.write(name, file);
        }
        let arguments: Vec<&str> = ["d", "-q"]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect();
        let run = folder.run(&arguments);
        assert!(
            matches!(run.code, Some(0 | 1)),
            "batch {batch}: {:?} {}",
            run.code,
            run.errors
        );
        assert!(!run.errors.contains("panicked"), "{}", run.errors);
        for (i, file) in files.iter().enumerate() {
            let told = run.errors.contains(&format!("pagepress: {i}.lz4: "));
            let theirs = lz4(&["-d", "-c"], file);
            let ours = fs::read(folder.path(&i.to_string())).ok();
            assert_eq!(
                ours.is_none(),
                told,
                "batch {batch}, file {i}: {}",
                run.errors
            );
            let expected = theirs.status.success().then_some(theirs.stdout);
            let name = format!("pagepress: {i}.lz4: ");
            let message = run.errors.lines().find(|line| line.starts_with(&name));
            if ours != expected && !is_rejected_here_only(file, message) {
                differing.push(format!(
                    "batch {batch}, file {i}: read by lz4: {}, here: {}, {message:?}",
                    expected.is_some(),
                    ours.is_some(),
                ));
            }
            match ours {
                Some(_) => {
                    n_read += 1;
                    fs::remove_file(folder.path(&i.to_string())).expect("removes");
                }
                None => n_refused += 1,
            }
        }
        assert_eq!(folder.names().len(), 1 + AT_ONCE, "batch {batch}");
    }
    println!("{n_read} read, {n_refused} refused");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(n_read > 0 && n_refused > 0);
}
