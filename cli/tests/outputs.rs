//! Outputs of the command on Linux: file modes while they are written, sparse files, full disks, and the state after a
//! kill.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use common::command::{Folder, Run, command, repetitions, shell, start, wait_for};
use common::lz4_command::lz4_ok;
use common::pages::{self, Random};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

/// Returns the modes of the files in `folder` that a process has open for writing, unnamed files included.
fn modes_of_open_files(child: &Child, folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{}/fd", child.id())) else {
        return Vec::new();
    };
    let in_folder =
        |path: &Path| fs::read_link(path).is_ok_and(|target| target.starts_with(folder));
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .filter(|path| in_folder(path))
        .filter_map(|path| path.metadata().ok())
        .filter(|metadata| metadata.is_file() && metadata.nlink() == 0)
        .map(|metadata| metadata.mode() & 0o7777)
        .collect()
}

/// Returns the command with a umask.
fn with_umask(folder: &Folder, arguments: &[&str], mask: u32) -> Command {
    let mut command = command(folder.root(), arguments);
    let set = move || {
        umask(Mode::from_raw_mode(mask));
        Ok(())
    };
    // SAFETY: between fork and exec this makes one system call and takes no lock.
    unsafe { command.pre_exec(set) };
    command
}

#[test]
fn an_output_is_never_more_readable_than_its_input() {
    let folder = Folder::new();
    folder.write("file", &pages::random(48_000_000, 1));
    for mask in [0o000, 0o022, 0o077] {
        for mode in [0o600, 0o640, 0o644] {
            fs::set_permissions(folder.path("file"), fs::Permissions::from_mode(mode))
                .expect("sets");
            let arguments = ["compress", "-qf", "--level", "high", "file"];
            let mut child = with_umask(&folder, &arguments, mask)
                .spawn()
                .expect("starts");
            let mut seen = Vec::new();
            let status = loop {
                seen.extend(modes_of_open_files(&child, folder.root()));
                if let Some(status) = child.try_wait().expect("waits") {
                    break status;
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            assert!(status.success());
            assert!(!seen.is_empty(), "the output was seen while it was written");
            // It gets the input's mode at the end, before it has its name.
            assert!(
                seen.iter().all(|seen| *seen == 0o600 || *seen == mode),
                "umask {mask:o}, input {mode:o}: {seen:?}"
            );
            let done = folder.path("file.lz4").metadata().expect("exists").mode() & 0o7777;
            assert_eq!(done, mode, "umask {mask:o}");
        }
    }
}

#[test]
fn the_output_of_a_pipe_obeys_the_umask() {
    let folder = Folder::new();
    for mask in [0o000, 0o022, 0o077] {
        for input in ["-", "fifo"] {
            let _ = fs::remove_file(folder.path("fifo"));
            shell(folder.root(), "mkfifo -m 600 fifo").succeeds();
            let arguments = ["compress", "-qf", input, "-o", "out"];
            let mut child = with_umask(&folder, &arguments, mask)
                .spawn()
                .expect("starts");
            let mut pipe: Box<dyn Write> = match input {
                "-" => Box::new(child.stdin.take().expect("is piped")),
                _ => Box::new(
                    File::options()
                        .write(true)
                        .open(folder.path("fifo"))
                        .expect("opens"),
                ),
            };
            pipe.write_all(&pages::text(100_000, 1)).expect("writes");
            // The pipe blocks.
            let mut seen = Vec::new();
            wait_for("output", || {
                seen = modes_of_open_files(&child, folder.root());
                !seen.is_empty()
            });
            assert_eq!(seen, [0o666 & !mask], "{input}, umask {mask:o}");
            drop(pipe);
            assert!(child.wait().expect("ends").success());
            let done = folder.path("out").metadata().expect("exists").mode() & 0o7777;
            assert_eq!(done, 0o666 & !mask, "{input}");
        }
    }
}

/// Returns a frame of `n_blocks` blocks of 4 MiB of zeros, without a checksum.
fn frame_of_zeros(n_blocks: usize) -> Vec<u8> {
    let one = lz4_ok(&["-c", "-B7", "--no-frame-crc"], &vec![0; 4 << 20]);
    let (header, block, end) = (&one[..7], &one[7..one.len() - 4], &one[one.len() - 4..]);
    [header, &block.repeat(n_blocks), end].concat()
}

#[test]
fn zeros_take_no_space_on_the_disk() {
    const N_BLOCKS: usize = 768;
    let folder = Folder::new();
    folder.write("zeros.lz4", &frame_of_zeros(N_BLOCKS));
    folder.run(&["d", "-q", "zeros.lz4"]).succeeds();
    let metadata = folder.path("zeros").metadata().expect("exists");
    assert_eq!(metadata.len(), 3 << 30);
    assert!(
        metadata.blocks() * 512 < 1 << 20,
        "{} blocks",
        metadata.blocks()
    );
    let mut content = File::open(folder.path("zeros")).expect("opens");
    let (mut buffer, zeros) = (vec![1; 1 << 20], vec![0; 1 << 20]);
    for _ in 0..3 << 10 {
        content.read_exact(&mut buffer).expect("reads");
        assert!(buffer == zeros);
    }
}

#[test]
fn holes_are_where_lz4_makes_them() {
    let folder = Folder::new();
    let mut content = vec![0; 12 << 20];
    content[5 << 20..6 << 20].copy_from_slice(&pages::random(1 << 20, 1));
    content[(9 << 20) + 77] = 1;
    folder.write("file.lz4", &lz4_ok(&["-c"], &content));
    let used = |name: &str| folder.path(name).metadata().expect("exists").blocks() * 512;
    for (script, sparse) in [
        ("$PAGEPRESS d -qf file.lz4 -o out", true),
        ("$PAGEPRESS d -qf --sparse file.lz4 -o out", true),
        ("$PAGEPRESS d -qf --no-sparse file.lz4 -o out", false),
        (
            "$PAGEPRESS d -qf --sparse --no-sparse file.lz4 -o out",
            false,
        ),
        ("$PAGEPRESS d -qf --range 0+99999999 file.lz4 -o out", true),
        ("$PAGEPRESS d -qc file.lz4 >out", false),
        ("$PAGEPRESS d -qc --sparse file.lz4 >out", true),
        ("$PAGEPRESS d -qc --sparse file.lz4 | cat >out", false),
        (": >out; $PAGEPRESS d -qc --sparse file.lz4 >>out", false),
    ] {
        shell(folder.root(), script).succeeds();
        assert!(folder.read("out") == content, "{script}");
        assert_eq!(used("out") < 3 << 20, sparse, "{script}: {}", used("out"));
        fs::remove_file(folder.path("out")).expect("removes");
    }
    // Each starts at the end of the previous one, and old content does not show through.
    let script = "(printf abc; $PAGEPRESS d -qc --sparse file.lz4 file.lz4; printf def) >out";
    shell(folder.root(), script).succeeds();
    let expected = [b"abc", &content[..], &content, b"def"].concat();
    assert!(folder.read("out") == expected);
    folder.write("old", &vec![1; content.len() + 5]);
    shell(folder.root(), "$PAGEPRESS d -qc --sparse file.lz4 1<>old").succeeds();
    assert!(folder.read("old") == [&content[..], &[1; 5]].concat());
}

/// Runs the command with a file size limit of `limit` bytes.
fn limited(folder: &Folder, arguments: &[&str], limit: u64) -> Run {
    let mut command = command(folder.root(), arguments);
    let set = move || {
        let limit = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        Ok(setrlimit(Resource::Fsize, limit)?)
    };
    // SAFETY: between fork and exec this makes one system call and takes no lock.
    unsafe { command.pre_exec(set) };
    command.output().expect("starts").into()
}

#[test]
fn a_file_that_cannot_grow_is_an_error_at_every_size() {
    let folder = Folder::new();
    let content = [
        pages::text(300_000, 1),
        vec![0; 100_000],
        pages::random(100_000, 2),
        vec![0; 50_000],
    ]
    .concat();
    folder.write("file", &content);
    folder
        .run(&["compress", "-q", "file", "-o", "whole.lz4"])
        .succeeds();
    let frame_length = folder.read("whole.lz4").len();
    for (arguments, length) in [
        (["compress", "-q", "file", "-o", "out"], frame_length),
        (
            ["decompress", "-q", "whole.lz4", "-o", "out"],
            content.len(),
        ),
    ] {
        for i in 0..100 {
            let limit = length * i / 100;
            let run = limited(&folder, &arguments, limit as u64).fails(1);
            assert!(
                run.errors.contains("writing out: "),
                "{limit}: {}",
                run.errors
            );
            assert_eq!(folder.names(), ["file", "whole.lz4"], "{limit}");
        }
        limited(&folder, &arguments, length as u64).succeeds();
        fs::remove_file(folder.path("out")).expect("removes");
    }
    folder.write("out", b"old");
    limited(
        &folder,
        &["decompress", "-qf", "whole.lz4", "-o", "out"],
        99_999,
    )
    .fails(1);
    assert_eq!(folder.read("out"), b"old");
    for command in [
        "c -c file",
        "d -c whole.lz4",
        "d -c --sparse whole.lz4",
        "devices",
    ] {
        let run = shell(folder.root(), &format!("$PAGEPRESS {command} >/dev/full")).fails(1);
        assert!(
            run.errors.contains("standard output: No space left"),
            "{command}: {}",
            run.errors
        );
    }
}

#[test]
fn an_input_that_is_truncated_meanwhile_is_an_error() {
    let folder = Folder::new();
    let content = pages::random(64_000_000, 1);
    let frame = [
        lz4_ok(&["-c"], &content[..32_000_000]),
        lz4_ok(&["-c"], &content[32_000_000..]),
    ];
    for (arguments, input, shorter) in [
        (
            ["compress", "-q", "file", "-o", "fifo"],
            content.clone(),
            40_000_000,
        ),
        (
            ["compress", "-q", "-", "-o", "fifo"],
            content.clone(),
            40_000_000,
        ),
        // The remainder is the first of two frames, which is complete.
        (
            ["decompress", "-q", "file", "-o", "fifo"],
            frame.concat(),
            frame[0].len(),
        ),
    ] {
        folder.write("file", &input);
        shell(folder.root(), "rm -f fifo; mkfifo fifo").succeeds();
        let stdin = File::open(folder.path("file")).expect("opens");
        let child = command(folder.root(), &arguments)
            .stdin(stdin)
            .spawn()
            .expect("starts");
        let mut output = File::open(folder.path("fifo")).expect("opens");
        // The command now blocks on its output, far from the end of the input.
        output.read_exact(&mut [0; 4096]).expect("reads");
        let file = File::options()
            .write(true)
            .open(folder.path("file"))
            .expect("opens");
        file.set_len(shorter as u64).expect("becomes shorter");
        std::io::copy(&mut output, &mut std::io::sink()).expect("reads");
        let run = Run::from(child.wait_with_output().expect("ends")).fails(1);
        assert!(
            run.errors.contains("was truncated"),
            "{arguments:?}: {}",
            run.errors
        );
    }
    // A file that is always shorter than its stated length is complete.
    folder
        .run(&[
            "compress",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "-o",
            "sys.lz4",
        ])
        .succeeds();
}

/// PAGEPRESS_KILLS=1000 makes a long run.
#[test]
fn a_kill_leaves_the_whole_output_or_nothing() {
    let folder = Folder::new();
    let content = [pages::text(6_000_000, 1), pages::random(6_000_000, 2)].concat();
    folder.write("in.lz4", &lz4_ok(&["-c"], &content));
    let mut random = Random::new(1);
    let mut n_killed = 0;
    for i in 0..repetitions("PAGEPRESS_KILLS", 50) {
        let mut child = start(folder.root(), &["decompress", "-q", "in.lz4", "-o", "out"]);
        std::thread::sleep(Duration::from_micros(random.below(40_000) as u64));
        child.kill().expect("kills");
        let status = child.wait().expect("ends");
        n_killed += usize::from(status.signal() == Some(9));
        match folder.names().as_slice() {
            [input] => assert_eq!(input, "in.lz4"),
            [input, output] => {
                assert_eq!((&input[..], &output[..]), ("in.lz4", "out"), "run {i}");
                assert!(folder.read("out") == content, "run {i}");
                fs::remove_file(folder.path("out")).expect("removes");
            }
            names => assert_eq!(names.len(), 2, "run {i}: {names:?}"),
        }
    }
    assert!(n_killed > 0, "some runs did not end before the kill");
}
