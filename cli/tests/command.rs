//! The `pagepress` command against the real `lz4`, in temporary folders.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::fs;

use common::command::{Folder, pagepress_with_input};
use common::lz4_command::lz4_ok;
use common::pages;

#[test]
fn files_are_exchanged_with_lz4_without_options() {
    let folder = Folder::new();
    for size in [
        0, 1, 12, 13, 4095, 4096, 4097, 65_535, 65_536, 65_537, 9_000_000,
    ] {
        let content = pages::mixed(size, 1);
        folder.write("file", &content);
        folder.run(&["compress", "-f", "file"]).succeeds();
        lz4_ok(&["-t"], &folder.read("file.lz4"));
        assert!(
            lz4_ok(&["-d", "-c"], &folder.read("file.lz4")) == content,
            "{size}"
        );
        assert!(folder.read("file") == content, "the input is kept");
        fs::remove_file(folder.path("file")).expect("removes");
        folder.run(&["decompress", "file.lz4"]).succeeds();
        assert!(folder.read("file") == content, "{size}");
        assert_eq!(folder.names(), ["file", "file.lz4"]);
    }
}

#[test]
fn every_block_size_and_level_is_read_by_lz4() {
    let folder = Folder::new();
    let content = pages::mixed(600_000, 2);
    folder.write("file", &content);
    for block_size in [
        "4096", "16384", "65536", "100000", "262144", "1048576", "4194304",
    ] {
        for level in ["fast", "high", "sequential"] {
            let arguments = [
                "compress",
                "-c",
                "--block-size",
                block_size,
                "--level",
                level,
                "file",
            ];
            let run = folder.run(&arguments).succeeds();
            assert!(
                lz4_ok(&["-d", "-c"], &run.stdout) == content,
                "{block_size} {level}"
            );
        }
    }
}

#[test]
fn files_of_lz4_are_decompressed() {
    let folder = Folder::new();
    let content = pages::mixed(9_000_000, 3);
    for options in [
        &["-c"][..],
        &["-c", "-BD", "-B4"],
        &["-c", "-l"],
        &["-c", "-BX", "-9"],
    ] {
        folder.write("file.lz4", &lz4_ok(options, &content));
        let run = folder.run(&["decompress", "-c", "file.lz4"]).succeeds();
        assert!(run.stdout == content, "{options:?}");
    }
}

#[test]
fn range_writes_that_part_of_the_content() {
    let folder = Folder::new();
    let content = pages::mixed(5_000_000, 6);
    folder.write("file", &content);
    folder.run(&["compress", "--index", "file"]).succeeds();
    folder
        .run(&["compress", "file", "-o", "plain.lz4"])
        .succeeds();
    folder.write("linked.lz4", &lz4_ok(&["-c", "-BD"], &content));
    assert!(lz4_ok(&["-d", "-c"], &folder.read("file.lz4")) == content);
    assert!(
        folder
            .read("file.lz4")
            .starts_with(&folder.read("plain.lz4"))
    );
    for name in ["file.lz4", "plain.lz4", "linked.lz4"] {
        for (range, expected) in [
            ("0+10", &content[..10]),
            ("65535+2", &content[65_535..65_537]),
            ("1000000+3000000", &content[1_000_000..4_000_000]),
            ("4999999+99", &content[4_999_999..]),
            ("9000000+1", &[]),
        ] {
            let run = folder.run(&["decompress", "--range", range, "-c", name]);
            assert!(run.succeeds().stdout == expected, "{name} {range}");
        }
    }
    folder
        .run(&["d", "--range", "5+6", "-o", "part", "file.lz4"])
        .succeeds();
    assert_eq!(folder.read("part"), &content[5..11]);
    for wrong in ["5", "5-6", "a+b", "5+", "-1+5"] {
        let run = folder.run(&["d", "--range", wrong, "-c", "file.lz4"]);
        let run = run.fails(2);
        assert!(
            wrong.starts_with('-') || run.errors.contains("OFFSET+LENGTH"),
            "{}",
            run.errors
        );
    }
    let run = folder.run(&["d", "--range", "1+1", "-"]).fails(1);
    assert!(run.errors.contains("FILE"), "{}", run.errors);
    let run = folder.run(&["d", "--range", "1+1", "-c", "file"]).fails(1);
    assert!(run.errors.contains("not an LZ4 frame"), "{}", run.errors);
}

#[test]
fn blocks_without_a_frame_are_read_with_format() {
    let folder = Folder::new();
    let content = pages::text(200_000, 7);
    let mut block = Vec::new();
    lzzzz::lz4::compress_to_vec(&content, &mut block, lzzzz::lz4::ACC_LEVEL_DEFAULT)
        .expect("compresses");
    folder.write(
        "prefixed",
        &[&200_000_u32.to_le_bytes()[..], &block].concat(),
    );
    folder.write("block", &block);
    for (name, format) in [("block", "block"), ("prefixed", "size-prefixed")] {
        let run = folder
            .run(&["d", "--format", format, "-c", name])
            .succeeds();
        assert!(run.stdout == content, "{name}");
        let arguments = ["d", "--format", format, "--limit", "199999", "-c", name];
        assert!(folder.run(&arguments).fails(1).errors.contains("--limit"));
        folder.run(&["d", "-c", name]).fails(1);
    }
}

#[test]
fn pipes_and_dashes() {
    let folder = Folder::new();
    let content = pages::text(3_000_000, 4);
    let frame = pagepress_with_input(folder.root(), &["compress"], &content)
        .succeeds()
        .stdout;
    assert!(lz4_ok(&["-d", "-c"], &frame) == content);
    let run = pagepress_with_input(folder.root(), &["d", "-"], &frame).succeeds();
    assert!(run.stdout == content);
    pagepress_with_input(folder.root(), &["c", "-", "-o", "out"], &content).succeeds();
    assert!(folder.read("out") == frame);
    folder.run(&["d", "out", "-o", "-"]).succeeds();
    assert!(folder.run(&["d", "out", "-o", "-"]).stdout == content);
    assert_eq!(folder.names(), ["out"]);
}

#[test]
fn each_file_has_its_output_and_a_failure_does_not_stop_the_others() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.write(name, name.repeat(10_000).as_bytes());
    }
    let run = folder.run(&["compress", "a", "missing", "b", "c"]).fails(1);
    assert!(run.errors.contains("missing"), "{}", run.errors);
    assert_eq!(folder.names(), ["a", "a.lz4", "b", "b.lz4", "c", "c.lz4"]);
    for name in ["a", "b", "c"] {
        fs::remove_file(folder.path(name)).expect("removes");
    }
    folder
        .run(&["decompress", "a.lz4", "b.lz4", "c.lz4"])
        .succeeds();
    assert_eq!(folder.read("b"), "b".repeat(10_000).as_bytes());
    let joined = folder.run(&["compress", "-c", "a", "b"]).succeeds().stdout;
    let both = [folder.read("a"), folder.read("b")].concat();
    assert!(lz4_ok(&["-d", "-c"], &joined) == both);
    folder.run(&["compress", "a", "b", "-o", "x"]).fails(2);
}

#[test]
fn no_file_is_overwritten_without_force() {
    let folder = Folder::new();
    folder.write("file", b"content");
    folder.write("file.lz4", b"precious");
    let run = folder.run(&["compress", "file"]).fails(1);
    assert!(
        run.errors.contains("file.lz4") && run.errors.contains("-f"),
        "{}",
        run.errors
    );
    assert_eq!(folder.read("file.lz4"), b"precious");
    folder.run(&["compress", "-f", "file"]).succeeds();
    folder.write("file", b"newer");
    folder.run(&["decompress", "file.lz4"]).fails(1);
    assert_eq!(folder.read("file"), b"newer");
    folder.run(&["decompress", "-f", "file.lz4"]).succeeds();
    assert_eq!(folder.read("file"), b"content");
    folder
        .run(&["compress", "-f", "file", "-o", "file"])
        .fails(1);
    folder
        .run(&["compress", "-f", "file", "-o", "./file"])
        .fails(1);
    assert_eq!(folder.read("file"), b"content");
    assert_eq!(folder.names(), ["file", "file.lz4"]);
}

#[test]
fn a_failure_leaves_no_output_and_its_message_has_the_remedy() {
    let folder = Folder::new();
    let content = pages::text(9_000_000, 5);
    let whole = lz4_ok(&["-c"], &content);
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    folder.write("truncated.lz4", &whole[..whole.len() - 1000]);
    folder.write("damaged.lz4", &damaged);
    folder.write("garbage.lz4", b"this is not lz4");
    folder.write("trailing.lz4", &[&whole[..], b"garbage"].concat());
    folder.write("empty.lz4", b"");
    folder.write("whole.lz4", &whole);
    for (name, words) in [
        ("truncated.lz4", "truncated"),
        ("damaged.lz4", "content checksum"),
        ("garbage.lz4", "pagepress compress"),
        ("trailing.lz4", "data after the frame"),
        ("empty.lz4", "truncated"),
        ("missing.lz4", "No such file"),
        ("whole.txt", "No such file"),
    ] {
        let before = folder.names();
        let run = folder.run(&["decompress", name, "-o", "out"]).fails(1);
        assert!(
            run.errors.contains(name) && run.errors.contains(words),
            "{name}: {}",
            run.errors
        );
        assert_eq!(folder.names(), before, "{name}");
        // An old output survives a failure, too.
        folder.write("out", b"old");
        folder
            .run(&["decompress", "-f", name, "-o", "out"])
            .fails(1);
        assert_eq!(folder.read("out"), b"old", "{name}");
        fs::remove_file(folder.path("out")).expect("removes");
    }
    let run = folder
        .run(&["decompress", "--limit", "1000", "whole.lz4"])
        .fails(1);
    assert!(run.errors.contains("--limit"), "{}", run.errors);
    assert!(!folder.path("whole").exists());
}

#[test]
fn usage_errors_and_unusual_inputs() {
    let folder = Folder::new();
    folder.write("file", b"content");
    fs::create_dir(folder.path("folder")).expect("makes a folder");
    folder.run(&[]).fails(2);
    folder.run(&["unknown"]).fails(2);
    folder
        .run(&["compress", "--block-size", "100", "file"])
        .fails(2);
    folder
        .run(&["compress", "--level", "medium", "file"])
        .fails(2);
    folder.run(&["compress", "-c", "-o", "x", "file"]).fails(2);
    let run = folder.run(&["compress", "folder"]).fails(1);
    assert!(run.errors.contains("directory"), "{}", run.errors);
    let run = folder.run(&["decompress", "file"]).fails(1);
    assert!(
        run.errors.contains(".lz4") && run.errors.contains("-o"),
        "{}",
        run.errors
    );
    let run = folder.run(&["compress", "file", "-o", "folder"]).fails(1);
    assert!(run.errors.contains("directory"), "{}", run.errors);
    let run = folder
        .run(&["compress", "file", "-o", "no/such/folder/x"])
        .fails(1);
    assert!(run.errors.contains("no/such/folder/x"), "{}", run.errors);
    assert!(
        folder
            .run(&["--help"])
            .succeeds()
            .text()
            .contains("Exit codes")
    );
    assert!(
        folder
            .run(&["--version"])
            .succeeds()
            .text()
            .contains(env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(folder.names(), ["file", "folder"]);
}

#[test]
fn quiet_prints_nothing_and_otherwise_a_line_names_both_files() {
    let folder = Folder::new();
    folder.write("file", &pages::text(10_000, 1));
    let run = folder.run(&["compress", "file"]).succeeds();
    assert!(
        run.errors.contains("file -> file.lz4: 10000 ->"),
        "{}",
        run.errors
    );
    assert_eq!(
        folder
            .run(&["compress", "-q", "-f", "file"])
            .succeeds()
            .errors,
        ""
    );
}

#[test]
fn bench_prints_a_line_of_json_for_each_file() {
    let folder = Folder::new();
    let once = pages::text(10 * 16_384, 1);
    folder.write("a", &[&once[..], &once[16_384..], b"end"].concat());
    folder.write("empty", b"");
    let arguments = [
        "bench",
        "a",
        "empty",
        "--json",
        "--backend",
        "cpu",
        "--page-size",
        "16384",
        "--runs",
        "2",
    ];
    let run = folder.run(&arguments).succeeds();
    let lines: Vec<serde_json::Value> = run
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    assert_eq!(lines.len(), 2);
    let line = &lines[0];
    assert_eq!(line["file"], "a");
    assert_eq!(line["page_size"], 16_384);
    assert_eq!(line["engine"], "cpu");
    assert_eq!(line["level"], "fast");
    assert_eq!(line["verified"], true);
    assert!(line["ratio"].as_f64().is_some_and(|ratio| ratio > 1.5));
    for (line, n_pages, n_identical) in [(line, 20, 9), (&lines[1], 0, 0)] {
        let counts = (&line["n_pages"], &line["n_identical_pages"]);
        assert_eq!(counts, (&n_pages.into(), &n_identical.into()));
    }
    for form in ["end_to_end", "into", "frame", "frame_into"] {
        for direction in ["compress", "decompress"] {
            let speed = &line[format!("{form}_{direction}_gbps")];
            let is_measured = speed.as_f64().is_some_and(|speed| speed > 0.0);
            assert!(is_measured, "{form} {direction}: {speed}");
        }
    }
    assert!(
        line["compress_gbps"].is_null(),
        "nothing is resident on a CPU"
    );
    assert_eq!(
        (&line["block_size"], &line["content_checksum"]),
        (&16_384.into(), &true.into())
    );
    let frames = ["--block-size", "65536", "--no-content-checksum"];
    let run = folder.run(&[&arguments[..], &frames].concat()).succeeds();
    let line = run.text();
    let line: serde_json::Value =
        serde_json::from_str(line.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&line["block_size"], &line["content_checksum"]),
        (&65_536.into(), &false.into())
    );
    let table = folder.run(&["bench", "a", "--backend", "cpu", "--runs", "1"]);
    let text = table.succeeds().text();
    assert!(
        text.contains("36 of 77 pages equal to an earlier one"),
        "{text}"
    );
    let dictionary = ["--dictionary", "a"];
    let run = folder.run(&[&arguments[..], &dictionary].concat());
    let line = run.succeeds().text();
    let behind: serde_json::Value =
        serde_json::from_str(line.lines().next().expect("a line")).expect("JSON");
    assert_eq!(behind["dictionary_bytes"], 65_536);
    assert!(behind["ratio"].as_f64() > lines[0]["ratio"].as_f64());
    assert!(behind["frame_compress_gbps"].is_number());
    let missing = ["bench", "a", "--dictionary", "missing"];
    folder.run(&missing).fails(1);
    let run = folder.run(&["bench", "a", "missing", "--json"]).fails(1);
    assert_eq!(run.text().lines().count(), 1, "the other file is benched");
    folder.run(&["bench", "a", "--page-size", "5000"]).fails(1);
    folder.run(&["bench"]).fails(2);
}

#[test]
fn devices_prints_the_choice_of_auto() {
    let text = Folder::new().run(&["devices"]).succeeds().text();
    assert!(
        text.contains("cpu") && text.contains("auto takes"),
        "{text}"
    );
}
