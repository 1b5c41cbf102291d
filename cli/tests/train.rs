//! `train`, with the real `lz4 -D` as the reader of its dictionaries.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::command::{Folder, pagepress_with_input};
use common::lz4_command::lz4_ok;
use common::records::records;
use pagepress::lz4::train_dictionary;

const JSON: usize = 2;

/// A folder with the records `0` to `199`.
fn folder_of_records() -> (Folder, Vec<Vec<u8>>) {
    let (folder, records) = (Folder::new(), records(JSON, 200, 1));
    for (record, name) in records.iter().zip(0..) {
        folder.write(&format!("{name}"), record);
    }
    (folder, records)
}

/// `train`, the names of all records, and more arguments.
fn train(folder: &Folder, more: &[&str]) -> common::command::Run {
    let names: Vec<String> = (0..200).map(|name| name.to_string()).collect();
    let names = names.iter().map(String::as_str);
    let arguments: Vec<&str> = ["train"].into_iter().chain(names).collect();
    folder.run(&[&arguments[..], more].concat())
}

#[test]
fn lz4_compresses_and_restores_with_the_dictionary() {
    let (folder, samples) = folder_of_records();
    let run = train(&folder, &["-o", "dict", "--size", "20000"]).succeeds();
    let n_bytes = samples.concat().len();
    let line = format!("200 files -> dict: {n_bytes} bytes in 200 samples -> 20000 bytes in");
    assert!(run.errors.starts_with(&line), "{}", run.errors);
    let dictionary = folder.read("dict");
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    let expected = train_dictionary(&samples, 20_000).expect("trains");
    assert!(dictionary == expected.as_bytes());
    let path = folder.path("dict").display().to_string();
    let (mut with, mut without) = (0, 0);
    for record in records(JSON, 20, 2) {
        let frame = lz4_ok(&["-c", "-D", &path], &record);
        assert!(lz4_ok(&["-d", "-c", "-D", &path], &frame) == record);
        with += frame.len();
        without += lz4_ok(&["-c"], &record).len();
    }
    assert!(with * 3 < without * 2, "{with} {without}");
}

#[test]
fn files_are_cut_into_samples() {
    let folder = Folder::new();
    let pages = common::pages::mixed(300_000, 1);
    folder.write("pages", &pages);
    for (more, cut, n_samples) in [(&["--sample", "4096"][..], 4096, 74), (&[], 65_536, 5)] {
        let arguments = [&["train", "pages", "-f", "-o", "dict"][..], more].concat();
        let run = folder.run(&arguments).succeeds();
        let samples = format!("300000 bytes in {n_samples} samples -> 65536 bytes");
        assert!(run.errors.contains(&samples), "{}", run.errors);
        let expected: Vec<&[u8]> = pages.chunks(cut).collect();
        let expected = train_dictionary(&expected, 65_536).expect("trains");
        assert!(folder.read("dict") == expected.as_bytes(), "{cut}");
    }
}

#[test]
fn pipes_quiet_and_outputs_that_exist() {
    let (folder, samples) = folder_of_records();
    let run = train(&folder, &["-q", "-o", "dict"]).succeeds();
    assert_eq!(run.errors, "");
    let arguments = [
        "train", "-", "-o", "-", "--sample", "1000", "--size", "5000",
    ];
    let run = pagepress_with_input(folder.root(), &arguments, &samples.concat()).succeeds();
    assert_eq!(run.stdout.len(), 5000);
    folder.write("dict", b"precious");
    let run = train(&folder, &["-o", "dict"]).fails(1);
    assert!(run.errors.contains("-f"), "{}", run.errors);
    assert_eq!(folder.read("dict"), b"precious");
    train(&folder, &["-f", "-o", "dict"]).succeeds();
    assert_eq!(folder.read("dict").len(), 65_536);
    // The output is one of the inputs, by another name, and not the first.
    let run = train(&folder, &["-f", "-o", "./7"]).fails(1);
    assert!(run.errors.contains("also the input"), "{}", run.errors);
    assert!(folder.read("7") == samples[7]);
}

#[test]
fn failures_leave_no_output() {
    let folder = Folder::new();
    folder.write("sample", &[1; 100]);
    folder.write("empty", b"");
    let names = folder.names();
    for (arguments, code, words) in [
        (
            &["train", "sample", "missing", "-o", "dict"][..],
            1,
            "missing",
        ),
        (&["train", ".", "-o", "dict"], 1, "directory"),
        (
            &["train", "empty", "-o", "dict"],
            1,
            "samples of 1 to 4294967296 bytes",
        ),
        (
            &["train", "sample", "-o", "no/such/folder"],
            1,
            "no/such/folder",
        ),
        (&["train", "sample"], 2, "--output"),
        (&["train", "-o", "dict"], 2, "FILE"),
        (
            &["train", "sample", "-o", "dict", "--size", "0"],
            2,
            "1..=65536",
        ),
        (
            &["train", "sample", "-o", "dict", "--size", "65537"],
            2,
            "1..=65536",
        ),
        (
            &["train", "sample", "-o", "dict", "--sample", "7"],
            2,
            "8..=65536",
        ),
    ] {
        let run = folder.run(arguments).fails(code);
        assert!(run.errors.contains(words), "{arguments:?}: {}", run.errors);
        assert_eq!(folder.names(), names, "{arguments:?}");
    }
    folder.run(&["train", "sample", "-o", "dict"]).succeeds();
    assert_eq!(folder.read("dict"), [1; 100]);
    let help = folder.run(&["train", "--help"]).succeeds().text();
    assert!(help.contains("lz4 -D records.dict"), "{help}");
}

#[test]
fn the_command_and_lz4_read_each_other_with_a_dictionary() {
    let (folder, _) = folder_of_records();
    train(&folder, &["-o", "dict"]).succeeds();
    let path = folder.path("dict").display().to_string();
    let content = records(JSON, 300, 3).concat();
    folder.write("new", &content);
    for level in ["auto", "fast", "high", "sequential"] {
        let arguments = [
            "compress", "-q", "-f", "--index", "-D", "dict", "--level", level, "new",
        ];
        folder.run(&arguments).succeeds();
        let frame = folder.read("new.lz4");
        assert!(
            lz4_ok(&["-d", "-c", "-D", &path], &frame) == content,
            "{level}"
        );
        let arguments = [
            "decompress",
            "-q",
            "-f",
            "-D",
            "dict",
            "new.lz4",
            "-o",
            "back",
        ];
        folder.run(&arguments).succeeds();
        assert!(folder.read("back") == content, "{level}");
    }
    let range = [
        "decompress",
        "-q",
        "-f",
        "-D",
        "dict",
        "--range",
        "1000+77",
        "new.lz4",
        "-o",
        "part",
    ];
    folder.run(&range).succeeds();
    assert!(folder.read("part") == content[1000..1077]);
    folder.write(
        "foreign.lz4",
        &lz4_ok(&["-9", "-B4", "-BD", "-c", "-D", &path], &content),
    );
    let foreign = [
        "decompress",
        "-q",
        "-f",
        "-D",
        "dict",
        "foreign.lz4",
        "-o",
        "back",
    ];
    folder.run(&foreign).succeeds();
    assert!(folder.read("back") == content);
}

#[test]
fn a_missing_or_another_dictionary_is_named() {
    let (folder, _) = folder_of_records();
    folder.run(&["compress", "-q", "-D", "0", "1"]).succeeds();
    let without = folder.run(&["decompress", "-q", "-c", "1.lz4"]).fails(1);
    assert!(
        without.errors.contains("dictionary 0x") && without.errors.contains("-D FILE"),
        "{}",
        without.errors
    );
    let other = folder
        .run(&["decompress", "-q", "-c", "-D", "2", "1.lz4"])
        .fails(1);
    assert!(other.errors.contains("dictionary 0x"), "{}", other.errors);
    let missing = folder
        .run(&["decompress", "-q", "-c", "-D", "missing", "1.lz4"])
        .fails(1);
    assert!(missing.errors.contains("missing: "), "{}", missing.errors);
    let block = ["decompress", "-c", "-D", "0", "--format", "block", "1.lz4"];
    folder.run(&block).fails(2);
}
