//! The `pagepress` command with devices, pipes, permissions and signals.
#![cfg(all(feature = "wgpu", target_os = "linux"))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;

use common::command::{Folder, Run, command, copy_command, run_with, shell, start};
use common::lz4_command::lz4_ok;
use common::pages;

#[test]
fn a_full_disk_is_reported() {
    let folder = Folder::new();
    folder.write("file", &pages::random(1_000_000, 1));
    let run = folder
        .run(&["compress", "file", "-o", "/dev/full"])
        .fails(1);
    assert!(
        run.errors.contains("/dev/full") && run.errors.contains("space"),
        "{}",
        run.errors
    );
    folder
        .run(&["compress", "file", "-o", "/dev/null"])
        .succeeds();
    assert!(Path::new("/dev/null").exists());
}

#[test]
fn permissions_and_time_are_the_inputs_and_links_remain() {
    let folder = Folder::new();
    folder.write("file", b"content");
    let mode = |name: &str| {
        folder
            .path(name)
            .metadata()
            .expect("exists")
            .permissions()
            .mode()
    };
    let time = |name: &str| {
        folder
            .path(name)
            .metadata()
            .expect("exists")
            .modified()
            .ok()
    };
    fs::set_permissions(folder.path("file"), fs::Permissions::from_mode(0o640)).expect("sets");
    folder.run(&["compress", "file"]).succeeds();
    assert_eq!(mode("file.lz4") & 0o777, 0o640);
    assert_eq!(time("file.lz4"), time("file"));
    symlink(folder.path("file.lz4"), folder.path("link.lz4")).expect("links");
    folder
        .run(&["compress", "-f", "file", "-o", "link.lz4"])
        .succeeds();
    assert!(folder.path("link.lz4").is_symlink(), "the link is kept");
    folder
        .run(&["decompress", "link.lz4", "-o", "back"])
        .succeeds();
    assert_eq!(folder.read("back"), b"content");
}

#[test]
fn a_fifo_is_an_input_and_an_output() {
    let folder = Folder::new();
    let content = pages::text(500_000, 1);
    folder.write("file", &content);
    for name in ["in", "out"] {
        let made = Command::new("mkfifo")
            .arg(folder.path(name))
            .status()
            .expect("mkfifo runs");
        assert!(made.success());
    }
    std::thread::scope(|scope| {
        scope.spawn(|| fs::write(folder.path("in"), &content).expect("writes"));
        let reader = scope.spawn(|| folder.read("out"));
        folder.run(&["compress", "in", "-o", "out"]).succeeds();
        let frame = reader.join().expect("reads");
        assert!(lz4_ok(&["-d", "-c"], &frame) == content);
    });
}

#[test]
fn a_signal_ends_the_command_and_leaves_no_file() {
    for (signal, number) in [("-HUP", 1), ("-INT", 2), ("-QUIT", 3), ("-TERM", 15)] {
        let folder = Folder::new();
        // Writes 9 MB, then waits for more input.
        let frame = lz4_ok(&["-c"], &pages::random(20_000_000, 1));
        let mut command = command(folder.root(), &["decompress", "-", "-o", "out"]);
        // The tests may run in the background of a shell, and so with some signals ignored.
        let restore = move || {
            // SAFETY: SIG_DFL is not a handler, so no code of this process runs on the signal.
            unsafe { libc::signal(number, libc::SIG_DFL) };
            Ok(())
        };
        // SAFETY: between fork and exec this makes one system call and takes no lock.
        unsafe { command.pre_exec(restore) };
        let mut child = command.spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        std::io::Write::write_all(&mut stdin, &frame[..15_000_000]).expect("writes");
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .expect("kills")
                .success()
        );
        let status = child.wait().expect("ends");
        assert_eq!(status.signal(), Some(number), "{signal}");
        assert_eq!(folder.names(), Vec::<String>::new(), "{signal}");
        drop(stdin);
    }
}

#[test]
fn a_closed_output_pipe_ends_the_command_silently() {
    let folder = Folder::new();
    folder.write("file", &pages::random(20_000_000, 1));
    let mut child = start(folder.root(), &["compress", "-q", "-c", "file"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.signal(), Some(13), "SIGPIPE");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let run = shell(
        folder.root(),
        "trap '' PIPE; ($PAGEPRESS c -qc file; echo $? >code) | true",
    );
    assert_eq!(
        (folder.read("code"), run.errors.contains("Broken pipe")),
        (b"1\n".to_vec(), true)
    );
    for command in ["devices", "c -c file", "bench file --backend cpu --runs 1"] {
        let script = format!("($PAGEPRESS {command}; echo $? >code) | true");
        let run = shell(folder.root(), &script);
        assert!(!run.errors.contains("panicked"), "{}", run.errors);
        assert_eq!(folder.read("code"), b"141\n", "{command}");
    }
}

#[test]
fn a_shell_reports_the_exit_code_of_the_signal() {
    let folder = Folder::new();
    for (signal, code) in [("HUP", "129\n"), ("TERM", "143\n")] {
        let script = format!(
            "mkfifo f; $PAGEPRESS c -c f >out & sleep 0.3; kill -{signal} $!; wait $!; echo $?"
        );
        assert_eq!(
            shell(folder.root(), &format!("rm -f f; {script}")).text(),
            code
        );
    }
    // A signal that the command was started to ignore, as by nohup, stays ignored.
    folder.write("content", b"content");
    let script = "rm -f f; mkfifo f; trap '' HUP; $PAGEPRESS c -q f -o done & sleep 0.3; kill -HUP $!; sleep 0.2; cat content >f; wait $!; echo $?";
    assert_eq!(shell(folder.root(), script).text(), "0\n");
    assert_eq!(lz4_ok(&["-dc"], &folder.read("done")), b"content");
}

#[test]
fn a_closed_standard_stream_is_an_error() {
    let folder = Folder::new();
    folder.write("file", b"content");
    folder.run(&["compress", "file"]).succeeds();
    for command in [
        "compress -c file >&-",
        "decompress -c file.lz4 >&-",
        "decompress -c file.lz4 >&- </dev/null",
        "decompress --range 0+2 -c file.lz4 >&-",
        "bench file --backend cpu >&-",
        "devices >&-",
        "compress <&-",
        "decompress -o new <&-",
    ] {
        let run = shell(folder.root(), &format!("$PAGEPRESS {command}")).fails(1);
        assert!(
            run.errors.contains("Bad file descriptor"),
            "{command}: {}",
            run.errors
        );
    }
    // Other streams are not needed, and /dev/null is a valid output.
    shell(folder.root(), "$PAGEPRESS c file -o a >&- <&- 2>&-").succeeds();
    shell(folder.root(), "$PAGEPRESS c -c file <&- >/dev/null 2>&1").succeeds();
    assert_eq!(folder.names(), ["a", "file", "file.lz4"]);
}

#[test]
fn a_read_error_is_reported_as_such() {
    let folder = Folder::new();
    // No memory is mapped at its first bytes.
    let run = folder
        .run(&["compress", "/proc/self/mem", "-o", "out"])
        .fails(1);
    assert!(
        run.errors.contains("reading /proc/self/mem"),
        "{}",
        run.errors
    );
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn an_unreadable_file_is_reported() {
    let folder = Folder::new();
    folder.write("file", b"content");
    fs::set_permissions(folder.path("file"), fs::Permissions::from_mode(0o000)).expect("sets");
    let run = if fs::read(folder.path("file")).is_err() {
        folder.run(&["compress", "file"])
    } else {
        run_as_nobody(&folder, &["compress", "file"])
    }
    .fails(1);
    assert!(
        run.errors.contains("file: Permission denied"),
        "{}",
        run.errors
    );
    assert_eq!(folder.names(), ["file"]);
}

/// The superuser can read every file, so a test that runs as superuser starts the command as another user, from a
/// folder that this user can access.
fn run_as_nobody(folder: &Folder, arguments: &[&str]) -> Run {
    const NOBODY: u32 = 65_534;
    let open_to_all = fs::Permissions::from_mode(0o777);
    let place = Folder::new();
    let command = place.path("pagepress");
    copy_command(&command);
    for reached in [folder.root(), place.root(), &command] {
        fs::set_permissions(reached, open_to_all.clone()).expect("sets");
    }
    let mut process = Command::new(command);
    process.args(arguments).current_dir(folder.root());
    let output = process.uid(NOBODY).gid(NOBODY).output();
    output.expect("starts").into()
}

#[test]
fn without_a_gpu_auto_works_and_a_forced_gpu_is_an_error() {
    let folder = Folder::new();
    folder.write("file", &pages::text(100_000, 1));
    // Hides the Vulkan drivers with a path that does not exist.
    let run = |backend: &str| {
        let arguments = ["compress", "-f", "file", "--backend", backend];
        let hide = [
            ("VK_ICD_FILENAMES", "/nowhere.json"),
            ("VK_DRIVER_FILES", "/nowhere.json"),
        ];
        run_with(folder.root(), &arguments, &hide)
    };
    assert!(run("auto").succeeds().errors.contains("on the CPU"));
    let failed = run("wgpu").fails(1);
    assert!(
        failed.errors.contains("wgpu is not available"),
        "{}",
        failed.errors
    );
    assert!(
        failed.errors.contains("pagepress devices"),
        "{}",
        failed.errors
    );
    run("cpu").succeeds();
}

/// Needs a Vulkan driver, possibly a software one (on Debian the package `mesa-vulkan-drivers`).
#[test]
fn a_gpu_writes_the_bytes_of_the_cpu() {
    let folder = Folder::new();
    folder.write("file", &pages::mixed(300_000, 1));
    let gpu = ["--backend", "wgpu", "--allow-software"];
    for level in ["fast", "high"] {
        let compress = [
            "compress",
            "-f",
            "-c",
            "file",
            "--block-size",
            "4096",
            "--level",
            level,
        ];
        let run = folder.run(&[&compress[..], &gpu].concat()).succeeds();
        assert!(run.errors.contains("on wgpu: "), "{}", run.errors);
        let expected = folder
            .run(&[&compress[..], &["--backend", "cpu"]].concat())
            .succeeds();
        assert!(run.stdout == expected.stdout, "{level}");
        folder.write("file.lz4", &run.stdout);
        let back = folder
            .run(&[&["decompress", "-c", "file.lz4"][..], &gpu].concat())
            .succeeds();
        assert!(back.stdout == folder.read("file"), "{level}");
    }
    // Without a level, each engine uses its fastest level; with --deterministic, all use the same.
    for (engine, quickest) in [(&gpu[..], "fast"), (&["--backend", "cpu"], "sequential")] {
        let compress = [&["compress", "-f", "-c", "file"], engine].concat();
        let named = [&compress[..], &["--level", quickest]].concat();
        let (run, named) = (folder.run(&compress), folder.run(&named));
        assert!(
            run.succeeds().stdout == named.succeeds().stdout,
            "{quickest}"
        );
        let deterministic = [&compress[..], &["--deterministic"]].concat();
        let fast = [&compress[..], &["--level", "fast"]].concat();
        let (run, fast) = (folder.run(&deterministic), folder.run(&fast));
        assert!(run.succeeds().stdout == fast.succeeds().stdout);
    }
    let bench = ["bench", "file", "--resident", "--json", "--runs", "1"];
    let run = folder.run(&[&bench[..], &gpu].concat()).succeeds();
    let line: serde_json::Value = serde_json::from_str(&run.text()).expect("a line is JSON");
    assert_eq!(
        (&line["engine"], &line["verified"]),
        (&"wgpu".into(), &true.into())
    );
    assert_eq!(
        line["resident_bytes"], 300_000,
        "a software adapter takes the file as it is"
    );
    let dictionary = ["--dictionary", "file"];
    let run = folder.run(&[&bench[..], &gpu, &dictionary].concat());
    let behind: serde_json::Value =
        serde_json::from_str(&run.succeeds().text()).expect("a line is JSON");
    assert!(behind["ratio"].as_f64() > line["ratio"].as_f64());
    assert!(behind["compress_gbps"].is_number() && behind["decompress_gbps"].is_number());
    folder
        .run(&[
            "compress",
            "file",
            "--block-size",
            "5000",
            "--backend",
            "wgpu",
        ])
        .fails(2);
}

#[test]
fn drivers_print_nothing_without_a_display() {
    let folder = Folder::new();
    folder.write("file", &pages::text(100_000, 1));
    let gpu = [
        "compress",
        "-q",
        "file",
        "--backend",
        "wgpu",
        "--allow-software",
    ];
    let run = run_with(folder.root(), &gpu, &[("XDG_RUNTIME_DIR", "")]).succeeds();
    assert_eq!(run.errors, "");
}
